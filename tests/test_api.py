"""`lsp_ad.grad` and its like on live functions."""

from __future__ import annotations

import bdb
import doctest
import functools
import gc
import importlib
import inspect
import linecache
import pathlib
import pickle
import re
import subprocess
import sys
import textwrap
import traceback

import numpy as np
import pytest

import lsp_ad
import lsp_ad.api

SCALE = 2.0


def loss(w, x, y=0.5, *, power: int = 2):
    """Sum of powers."""
    r = w * x - y
    return np.sum(r**power) * SCALE


def double(x):
    return 2.0 * x


def refused(x):
    return x * 2.0 + eval("x")


def differences(f, arguments, index, seed=1.0):
    """The gradient of sum(seed * f) in one argument, by central differences."""
    base = np.asarray(arguments[index], dtype=float)
    out = np.zeros_like(base)
    for place in np.ndindex(base.shape):
        step = np.zeros_like(base)
        step[place] = 1e-6
        sides = [
            np.sum(seed * f(*arguments[:index], base + s * step, *arguments[index + 1 :])) for s in (1, -1)
        ]
        out[place] = (sides[0] - sides[1]) / 2e-6
    return out


W, X, Y = np.array([0.3, -0.7]), np.array([1.1, 0.4]), np.array([0.2, 0.9])


def check(got, *wrt: int):
    wanted = [differences(loss, (W, X, Y), index) for index in wrt]
    for one, want in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, want, rtol=1e-6)


# --- what is differentiated


@pytest.mark.row("T1")
@pytest.mark.parametrize("wrt", ["w", 0, -4, ["w"], (0,), np.int64(0)])
def test_one_parameter_gives_its_gradient(wrt):
    check([lsp_ad.grad(loss, wrt)(W, X, Y)], 0)


@pytest.mark.row("T1")
@pytest.mark.parametrize("wrt", [("y", "w"), [2, 0], ("y", -4)])
def test_several_give_a_tuple_in_their_order(wrt):
    got = lsp_ad.grad(loss, wrt)(W, X, Y)
    assert isinstance(got, tuple)
    check(got, 2, 0)


@pytest.mark.row("T1")
def test_none_stands_for_every_float_parameter():
    check(lsp_ad.grad(loss)(W, X, Y), 0, 1, 2)


def test_none_with_one_parameter_gives_its_gradient():
    assert lsp_ad.grad(double)(3.0) == pytest.approx(2.0)


@pytest.mark.row("T1")
def test_value_and_grad():
    value, gradient = lsp_ad.value_and_grad(loss, "w")(W, X, Y)
    assert value == loss(W, X, Y)
    check([gradient], 0)
    value, gradients = lsp_ad.value_and_grad(loss, ("w", "x"))(W, X, Y)
    check(gradients, 0, 1)


@pytest.mark.row("T1")
def test_the_seed_of_a_vjp_comes_last():
    seed = np.array([1.5, -2.0])
    np.testing.assert_allclose(
        lsp_ad.vjp(double, "x")(W, seed), differences(double, (W,), 0, seed), rtol=1e-6
    )


@pytest.mark.row("T1", "T3")
def test_the_tangents_of_a_jvp_come_last_in_the_order_of_wrt():
    dw, dy = np.array([0.3, 1.0]), np.array([-0.2, 0.7])
    value, tangent = lsp_ad.jvp(loss, ("y", "w"))(W, X, Y, dy, dw)
    assert value == loss(W, X, Y)
    gw, gy = differences(loss, (W, X, Y), 0), differences(loss, (W, X, Y), 2)
    assert tangent == pytest.approx(np.sum(gw * dw) + np.sum(gy * dy), rel=1e-6)
    assert lsp_ad.jvp(loss, "w")(W, X, power=3, dw=dw)[0] == loss(W, X, power=3)
    with pytest.raises(TypeError, match="loss_jvp needs dw"):
        lsp_ad.jvp(loss, "w")(W, X)
    with pytest.raises(ValueError, match="dw must have the shape of w"):
        lsp_ad.jvp(loss, "w")(W, X, dw=1.0)
    with pytest.raises(lsp_ad.DifferentiationError):
        lsp_ad.jvp(loss, "nothing")


# --- the function that comes out


def test_it_is_named_and_documented():
    g = lsp_ad.grad(loss, "w")
    assert (g.__name__, g.__qualname__, g.__module__) == ("loss_grad", "loss_grad", __name__)
    assert "loss" in g.__doc__ and g.__doc__ != loss.__doc__


def test_it_has_the_parameters_and_defaults_of_its_primal():
    signature = inspect.signature(lsp_ad.grad(loss, "w"))
    for name, parameter in inspect.signature(loss).parameters.items():
        assert signature.parameters[name] == parameter


def test_defaults_are_the_objects_that_the_primal_has():
    default = np.array([5.0])

    def f(x, k=default):
        return np.sum(x * k)

    assert lsp_ad.grad(f, "x").__defaults__[0] is default


@pytest.mark.row("T7")
def test_its_source_is_the_generated_code():
    source = inspect.getsource(lsp_ad.grad(loss, "w"))
    assert source.startswith("def loss_grad(w, x, y=0.5, ") and "# backward" in source and "return " in source


def test_it_reads_the_globals_of_its_primal_when_it_runs(monkeypatch):
    g = lsp_ad.grad(loss, "w")
    before = g(W, X, Y)
    monkeypatch.setitem(globals(), "SCALE", 20.0)
    np.testing.assert_allclose(g(W, X, Y), 10 * before)


def test_it_adds_nothing_to_the_module_of_its_primal():
    before = set(globals())
    lsp_ad.grad(loss)(W, X, Y)
    assert set(globals()) == before


@pytest.mark.row("T7")
def test_tracebacks_show_its_lines():
    g = lsp_ad.grad(loss, "w")
    with pytest.raises(ValueError, match="broadcast") as failure:
        g(np.ones(2), np.ones(3))
    last = [f for f in traceback.extract_tb(failure.tb) if f.filename.startswith("<lsp-ad ")][-1]
    assert last.name == "loss_grad" and last.line == "r = w * x - y"


@pytest.mark.row("T7")
def test_a_debugger_steps_through_it():
    seen = []

    class Stepper(bdb.Bdb):
        def user_line(self, frame):
            if frame.f_code.co_name == "loss_grad":
                seen.append(linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip())
            self.set_step()

    g = lsp_ad.grad(loss, "w")
    Stepper().runcall(g, W, X, Y)
    assert "r = w * x - y" in seen


def test_its_text_goes_when_it_goes():
    name = lsp_ad.grad(loss, "w").__code__.co_filename
    gc.collect()
    assert name not in linecache.cache


# --- functions that stand in other places


def outer(scale):
    step = 0.5

    def inner(x, n: int = 2):
        """A closure.

        Over two lines.
        """
        z = x * scale + step
        return np.sum(z**n)

    def move(to):
        nonlocal step
        step = to

    return inner, move


@pytest.mark.row("T17")
def test_a_closure_shares_its_variables():
    f, move = outer(3.0)
    g = lsp_ad.grad(f, "x")
    assert g.__qualname__ == "outer.<locals>.inner_grad"
    np.testing.assert_allclose(g(W), differences(f, (W,), 0), rtol=1e-6)
    move(5.0)
    np.testing.assert_allclose(g(W), differences(f, (W,), 0), rtol=1e-6)


def test_two_closures_of_one_definition_differ():
    (f, _), (h, _) = outer(1.0), outer(10.0)
    np.testing.assert_allclose(lsp_ad.grad(h, "x")(W), differences(h, (W,), 0), rtol=1e-6)
    np.testing.assert_allclose(lsp_ad.grad(f, "x")(W), differences(f, (W,), 0), rtol=1e-6)


def test_a_static_method():
    class Model:
        @staticmethod
        def f(x):
            return np.sum(x * x)

    np.testing.assert_allclose(lsp_ad.grad(Model.f)(W), 2 * W)


def test_a_variable_that_hides_a_builtin_is_not_taken_for_it():
    def enclosing(sum):
        def f(x):
            return sum(x)

        return f

    with pytest.raises(lsp_ad.DifferentiationError, match=r"AD505.* hides another"):
        lsp_ad.grad(enclosing(np.prod))


def test_a_decorated_definition():
    def register(f):
        return f

    @register
    @register
    def f(x):
        return np.sum(x * x)

    np.testing.assert_allclose(lsp_ad.grad(f)(W), 2 * W)


def test_as_a_decorator():
    @lsp_ad.grad
    def f(x):
        return np.sum(x * x)

    np.testing.assert_allclose(f(W), 2 * W)


def test_a_notebook_cell_takes_its_imports_from_the_session():
    text = "def cell(x):\n    return np.sum(np.exp(x)) + inf\n"
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(True), "<cell 1>")
    session: dict = {"np": np, "__name__": "session", "inf": 0.0}
    exec(compile(text, "<cell 1>", "exec"), session)
    np.testing.assert_allclose(lsp_ad.grad(session["cell"])(W), np.exp(W))


def test_the_examples_of_the_documentation():
    assert doctest.testmod(lsp_ad.api).failed == 0


def module_of(tmp_path, monkeypatch, text: str, name: str):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    importlib.invalidate_caches()
    return importlib.import_module(name)


def test_a_file_with_postponed_annotations(tmp_path, monkeypatch):
    text = "from __future__ import annotations\nimport numpy as np\n\n"
    text += "def f(x: Nowhere, n: int):\n    return np.sum(x) * n\n"
    f = module_of(tmp_path, monkeypatch, text, "postponed").f
    np.testing.assert_allclose(lsp_ad.grad(f, "x")(W, 3), 3.0)


def test_lines_that_moved_since_the_import_do_not_matter(tmp_path, monkeypatch):
    text = "import numpy as np\n\ndef f(x):\n    return np.sum(x * x)\n"
    module = module_of(tmp_path, monkeypatch, text, "moved")
    (tmp_path / "moved.py").write_text("# a new line\n" + text)
    np.testing.assert_allclose(lsp_ad.grad(module.f)(W), 2 * W)


def test_a_function_that_changed_since_the_import_is_refused(tmp_path, monkeypatch):
    text = "import numpy as np\n\ndef f(x):\n    return np.sum(x * x)\n"
    module = module_of(tmp_path, monkeypatch, text, "changed")
    (tmp_path / "changed.py").write_text(text.replace("x * x", "x * 3.0"))
    with pytest.raises(lsp_ad.DifferentiationError, match=r"AD505.*has changed"):
        lsp_ad.grad(module.f)


# --- refusals


@pytest.mark.row("T30")
def test_a_refusal_carries_its_problems():
    with pytest.raises(lsp_ad.DifferentiationError) as failure:
        lsp_ad.grad(refused)
    assert isinstance(failure.value, ValueError)
    (found,) = failure.value.problems
    line = inspect.getsourcelines(refused)[1] + 1
    assert (found.code, found.line, found.column) == ("AD105", line, 22)
    assert pathlib.Path(found.file) == pathlib.Path(__file__)
    assert "eval" in found.message and found.way_out
    assert str(failure.value).startswith("refused cannot be differentiated:\n  ")
    assert f"{found.file}:{line}:22: AD105" in str(failure.value)


@pytest.mark.row("T30")
def test_the_place_of_a_refusal_in_a_nested_function():
    def f(x):
        return eval("x")

    with pytest.raises(lsp_ad.DifferentiationError) as failure:
        lsp_ad.grad(f)
    (found,) = failure.value.problems
    assert (found.line, found.column) == (inspect.getsourcelines(f)[1] + 1, 16)


@pytest.mark.row("T1")
@pytest.mark.parametrize("wrt", ["z", 4, -5, ("w", "z")])
def test_an_unknown_parameter(wrt):
    with pytest.raises(lsp_ad.DifferentiationError, match="AD501"):
        lsp_ad.grad(loss, wrt)


@pytest.mark.row("T1")
def test_a_parameter_that_is_no_float():
    with pytest.raises(lsp_ad.DifferentiationError, match="AD502"):
        lsp_ad.grad(loss, "power")


@pytest.mark.row("T1")
@pytest.mark.parametrize("wrt", [1.5, True, {"w"}, ["w", None], [], (), b"w", object()])
def test_a_wrt_that_makes_no_sense(wrt):
    with pytest.raises(TypeError, match="wrt"):
        lsp_ad.grad(loss, wrt)


@pytest.mark.parametrize("f", [None, 3, "loss"])
def test_what_is_no_function(f):
    for transform in (lsp_ad.grad, lsp_ad.vjp, lsp_ad.value_and_grad):
        with pytest.raises(TypeError, match="takes a function"):
            transform(f)


@pytest.mark.row("T30")
@pytest.mark.parametrize(
    "f",
    [np.sin, len, lambda x: x * x, functools.partial(loss, W), functools.cache(double), [].append, int],
    ids=["ufunc", "builtin", "lambda", "partial", "cache", "method", "class"],
)
def test_what_has_no_source(f):
    with pytest.raises(lsp_ad.DifferentiationError, match="AD505"):
        lsp_ad.grad(f)


def test_code_from_nowhere():
    namespace: dict = {}
    exec("def f(x):\n    return x * x\n", namespace)
    with pytest.raises(lsp_ad.DifferentiationError, match="AD505"):
        lsp_ad.grad(namespace["f"])


# --- the package


def test_importing_the_package_loads_next_to_nothing():
    code = "import sys, lsp_ad\nlsp_ad.staged\n"
    code += "assert not {'numpy', 'gast', 'pygls', 'lsp_ad.api'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_version_is_that_of_the_distribution():
    text = (pathlib.Path(lsp_ad.__file__).parents[1] / "pyproject.toml").read_text()
    assert re.search(r'^version = "(.+)"$', text, re.M)[1] == lsp_ad.__version__


def test_names_that_do_not_exist():
    with pytest.raises(AttributeError, match="nonsense"):
        lsp_ad.nonsense  # noqa: B018
    assert set(lsp_ad.__all__) <= set(dir(lsp_ad))


def test_staged_on_plain_values_is_the_function():
    assert lsp_ad.staged(double)(3.0) == double(3.0)
    assert lsp_ad.grad(lsp_ad.staged(double))(3.0) == lsp_ad.grad(double)(3.0)


def test_the_error_can_be_sent_to_another_process():
    with pytest.raises(lsp_ad.DifferentiationError) as failure:
        lsp_ad.grad(refused)
    copy = pickle.loads(pickle.dumps(failure.value))
    assert str(copy) == str(failure.value) and copy.problems == failure.value.problems
