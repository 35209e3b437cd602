"""Code that the user gives for the backward sweep, and gradients that stop."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lsp_ad.markers import insert_grad_of, stop_gradient
from tests import oracle

pytestmark = pytest.mark.row("T21")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
HEAD = "import numpy as np\nimport lsp_ad\n"


def derived(source: str, name: str = "f", wrt=None, mode: str = "grad") -> tuple:
    """The function and its derivative."""
    derivative, text = oracle.generate(source, name, wrt, mode)
    namespace = oracle.run(text)
    return namespace[name], namespace[derivative.name]


def example(stem: str, wrt, name: str = "loss") -> tuple:
    return derived((EXAMPLES / f"{stem}.py").read_text(encoding="utf-8"), name, wrt)


def without(source: str) -> str:
    """A program without its blocks for the backward sweep."""
    lines, kept, inside = source.splitlines(keepends=True), [], None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if inside is not None and line.strip() and indent <= inside:
            inside = None
        if "insert_grad_of" in line:
            inside = indent
            kept.append(" " * indent + "pass\n")
        elif inside is None:
            kept.append(line)
    return "".join(kept)


def messages(body: str, head: str = "def f(x):") -> list[str]:
    source = HEAD + head + "\n" + "".join(f"    {line}\n" for line in body.splitlines())
    with pytest.raises(oracle.Refused) as caught:
        oracle.generate(source)
    assert {p.code for p in caught.value.args} == {"AD601"}
    return [p.message for p in caught.value.args]


# --- the examples ----------------------------------------------------------------------------


def rng(*shapes):
    made = np.random.default_rng(1)
    return [made.normal(size=s) for s in shapes]


@pytest.mark.parametrize(
    "stem, shapes",
    [
        ("clipping", [(3, 3), (3,), (4, 3)]),
        ("scaling", [(2, 3), (2,), (2,), (3,)]),
        ("straight_through", [(3,), (4, 3), (4,)]),
        ("truncated", [(3, 3), (3,), (7, 3)]),
    ],
)
def test_the_function_itself_is_what_it_is_without_the_block(stem, shapes):
    source = (EXAMPLES / f"{stem}.py").read_text(encoding="utf-8")
    arguments = rng(*shapes)
    assert oracle.run(source)["loss"](*arguments) == oracle.run(without(source))["loss"](*arguments)


def test_clipping():
    """By hand, step by step."""
    _, gradient = example("clipping", ["w", "h"])
    w, h, xs = rng((3, 3), (3,), (4, 3))
    states = [h]
    for x in xs:
        states.append(np.tanh(w @ states[-1] + x))
    dw, dh = 0.0, 2.0 * (states[-1] - 1.0)
    for before, after in zip(states[-2::-1], states[:0:-1], strict=True):
        size = np.linalg.norm(dh)
        dz = (dh * 0.5 / size if size > 0.5 else dh) * (1.0 - after**2)
        dw, dh = dw + np.outer(dz, before), w.T @ dz
    np.testing.assert_allclose(gradient(w, h, xs)[0], dw)
    np.testing.assert_allclose(gradient(w, h, xs)[1], dh)


def test_scaling():
    source = (EXAMPLES / "scaling.py").read_text(encoding="utf-8")
    arguments = rng((2, 3), (2,), (2,), (3,))
    _, gradient = derived(source, "loss", ["trunk"])
    _, plain = derived(without(source), "loss", ["trunk"])
    no_side = [*arguments[:2], 0.0 * arguments[2], arguments[3]]
    head_only = plain(*no_side)
    np.testing.assert_allclose(gradient(*arguments), head_only + 0.1 * (plain(*arguments) - head_only))


def test_straight_through():
    _, gradient = example("straight_through", ["w"])
    _, by_stopping = example("straight_through", ["w"], "loss_by_stopping")
    w, x, target = rng((3,), (4, 3), (4,))
    w[0] = 2.7
    straight = 2.0 * x.T @ (x @ np.round(w) - target) / 4
    np.testing.assert_allclose(by_stopping(w, x, target), straight)
    np.testing.assert_allclose(gradient(w, x, target), [0.0, *straight[1:]])


def test_truncated():
    """The sum of the gradients of the stretches, each from a state that is taken for a constant."""
    source = (EXAMPLES / "truncated.py").read_text(encoding="utf-8")
    _, gradient = derived(source, "loss", ["w", "h"])
    _, plain = derived(without(source), "loss", ["w"])
    w, h, xs = rng((3, 3), (3,), (12, 3))
    wanted, state = 0.0, h
    for first in range(0, 12, 5):
        wanted = wanted + plain(w, state, xs[first : first + 5])
        for x in xs[first : first + 5]:
            state = np.tanh(w @ state + x)
    dw, dh = gradient(w, h, xs)
    np.testing.assert_allclose(dw, wanted)
    np.testing.assert_array_equal(dh, np.zeros(3))


def test_watching(capsys, monkeypatch):
    stopped = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: stopped.append(True))
    loss, gradient = example("watching", ["w"])
    w, x = np.array([1.0, 2.0]), np.array([1.0, 1.0])
    loss(100.0 * w, x)
    gradient(w, x)
    assert capsys.readouterr().out == "" and not stopped
    gradient(100.0 * w, x)
    assert capsys.readouterr().out == "a large gradient arrives at r: [300. 600.]\n" and not stopped
    with np.errstate(all="ignore"):
        loss(np.array([-1.0]), x)
        assert not stopped
        gradient(np.array([-1.0]), x)
    assert stopped


# --- what a block may be ---------------------------------------------------------------------


def test_a_number():
    f, gradient = derived(
        HEAD
        + "import math\ndef f(x: float):\n    y = x * x\n    with lsp_ad.insert_grad_of(y) as g:\n        g *= 0.5\n    return math.sin(y)\n"
    )
    assert f(2.0) == np.sin(4.0)
    assert gradient(2.0) == pytest.approx(0.5 * np.cos(4.0) * 4.0)


def test_a_value_of_a_name_that_is_bound_again():
    """The adjoint, and the values that the block reads, are those of its place."""
    _, gradient = derived(
        HEAD
        + """def f(x):
    y = x * 2.0
    with lsp_ad.insert_grad_of(y) as dy:
        dy = dy * y
    y = y * y
    y = np.sin(y)
    return np.sum(y)
"""
    )
    x = np.array([0.3, 0.7])
    y = 2.0 * x
    np.testing.assert_allclose(gradient(x), np.cos(y * y) * 2.0 * y * y * 2.0)


def test_an_adjoint_that_is_zero_so_far():
    _, gradient = derived(
        HEAD
        + """def f(x, w):
    y = np.floor(x)
    with lsp_ad.insert_grad_of(x) as dx, lsp_ad.insert_grad_of(y) as dy:
        part = 0.5 * dy
        dx = part
    return np.sum(y * w)
""",
        wrt=["x"],
    )
    np.testing.assert_allclose(gradient(np.array([0.5, 1.5]), np.array([2.0, 4.0])), [1.0, 2.0])


def test_the_seed_is_not_changed():
    _, vjp = derived(
        HEAD
        + "def f(x):\n    y = x + 0.0\n    with lsp_ad.insert_grad_of(y) as dy:\n        dy *= 0.0\n    return y\n",
        mode="vjp",
    )
    seed = np.ones(3)
    np.testing.assert_array_equal(vjp(np.ones(3), seed), np.zeros(3))
    np.testing.assert_array_equal(seed, np.ones(3))


def test_a_wrong_shape_is_an_error():
    _, gradient = derived(
        HEAD
        + "def f(x):\n    y = x * 2.0\n    with lsp_ad.insert_grad_of(y) as dy:\n        dy = np.outer(dy, dy)\n    return np.sum(y)\n"
    )
    with pytest.raises(ValueError):
        gradient(np.ones(3))


def test_a_block_that_is_not_on_the_way_does_nothing():
    """The derivative with respect to w has no adjoint of y to clip."""
    source = (
        HEAD
        + "def f(x, w):\n    y = x * x\n    with lsp_ad.insert_grad_of(y) as dy:\n        dy = 0.0\n    return np.sum(y * w)\n"
    )
    _, gradient = derived(source, wrt=["w"])
    np.testing.assert_array_equal(gradient(np.array([3.0]), np.array([1.0])), [9.0])


def test_in_a_function_that_is_called():
    source = (
        HEAD
        + "def g(x):\n    with lsp_ad.insert_grad_of(x) as dx:\n        dx = 0.25 * dx\n    return x * x\n\ndef f(x):\n    return np.sum(g(x) + x)\n"
    )
    _, gradient = derived(source)
    np.testing.assert_allclose(gradient(np.array([3.0])), [2.5])


def test_in_a_checkpointed_loop_a_with_block_and_a_nested_function():
    source = (
        HEAD
        + """def f(x, n: int):
    def half(y):
        z = y * 1.0
        with lsp_ad.insert_grad_of(z) as dz:
            dz = 0.5 * dz
        return z
    with lsp_ad.checkpoint(every=2):
        for t in range(n):
            with np.errstate(all="ignore"):
                x = x * x
                with lsp_ad.insert_grad_of(x) as dx:
                    dx = dx * (t + 1.0) / x
    return np.sum(half(x))
"""
    )
    _, gradient = derived(source)
    x = np.array([0.9, 1.1])
    states = [x, x**2, x**4, x**8]
    wanted = 0.5
    for t in (2, 1, 0):
        wanted = wanted * (t + 1.0) / states[t + 1] * 2.0 * states[t]
    np.testing.assert_allclose(gradient(x, 3), wanted)


def test_the_adjoint_of_a_structure_is_refused():
    for value, use in (("[x, x * 2.0]", "y[0] * y[1]"), ("{'w': x}", "y['w']")):
        with pytest.raises(oracle.Refused):
            oracle.generate(
                HEAD
                + f"def f(x):\n    y = {value}\n    with lsp_ad.insert_grad_of(y) as dy:\n        dy = dy\n    return np.sum({use})\n"
            )


def test_arrays_that_are_changed_in_place():
    source = (
        HEAD
        + """def f(x):
    u = np.zeros(3)
    u[0] = x[0] * 2.0
    y = np.sin(u)
    with lsp_ad.insert_grad_of(u) as du, lsp_ad.insert_grad_of(y) as dy:
        du = 0.5 * du + u * dy
    u[1] = u[0] * x[1]
    return np.sum(u) + 10.0 * y[0]
"""
    )
    _, gradient = derived(source)
    x = np.array([0.3, 0.8])
    u = 2.0 * x[0]
    at_u = 0.5 * (1.0 + x[1]) + u * 10.0
    np.testing.assert_allclose(gradient(x), [2.0 * (at_u + 10.0 * np.cos(u)), u])
    part = "y = x * 2.0\nrow = y[1:]\nwith lsp_ad.insert_grad_of(row) as drow:\n    drow = 0.5 * drow\nrow[0] = row[0] * 3.0\nreturn np.sum(y * y)"
    assert "with no adjoint of its own" in messages(part)[0]


def test_in_one_branch():
    source = (
        HEAD
        + "def f(x, n: int):\n    y = x * x\n    if n > 0:\n        with lsp_ad.insert_grad_of(y) as dy:\n            dy = 0.5 * dy\n    return np.sum(y)\n"
    )
    _, gradient = derived(source)
    assert gradient(np.array([3.0]), 1) == [3.0] and gradient(np.array([3.0]), 0) == [6.0]


def test_gradient_of_a_gradient():
    """d/dx of 0.5 * 2 x is 1."""
    source = (
        HEAD
        + "def f(x):\n    y = x * x\n    with lsp_ad.insert_grad_of(y) as dy:\n        dy = 0.5 * dy\n    return np.sum(y)\n"
    )
    _, text = oracle.generate(source)
    second, text = oracle.generate(text + "\n\ndef g(x):\n    return np.sum(f_grad(x, 1.0))\n", "g", ["x"])
    np.testing.assert_allclose(oracle.run(text)[second.name](np.array([3.0])), [1.0])


def test_the_function_leaves_a_block_at_the_first_use():
    for use in (
        lambda d: d * 2,
        lambda d: 2.0 * d,
        lambda d: np.ones(3) @ d,
        lambda d: np.clip(d, -1, 1),
        str,
        float,
        np.size,
        np.asarray,
        lambda d: d.shape,
        lambda d: d[0],
        lambda d: np.where(True, d, 0.0),
        bool,
        lambda d: np.ones(3).__setitem__(0, d),
        lambda d: np.stack([d, d]),
        lambda d: np.einsum("i", d),
    ):
        with insert_grad_of(1.0) as d:
            use(d)
            pytest.fail("not left")
    with pytest.raises(ValueError), insert_grad_of(1.0) as d:
        raise ValueError


@pytest.mark.row("T7")
def test_the_marks_need_nothing_else():
    code = "import sys, lsp_ad; lsp_ad.stop_gradient(1)\nwith lsp_ad.insert_grad_of(2) as d: d + 1\nassert 'numpy' not in sys.modules and 'gast' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- what it may not be ----------------------------------------------------------------------


def test_what_a_block_assigns_is_used_elsewhere():
    assert messages("with lsp_ad.insert_grad_of(x) as dx:\n    dx = 2.0 * dx\nreturn x * dx") == [
        "Code for the backward sweep: `dx`, which it assigns, is used outside of it."
    ]
    assert len(messages("y = x\nwith lsp_ad.insert_grad_of(x) as dx:\n    y = 2.0 * dx\nreturn x * y")) == 1


@pytest.mark.parametrize(
    "effect",
    [
        "print('here')",
        "breakpoint()",
        "print('dx', dx)",
        "if x.size:\n        print(1)",
        "if dx is None:\n        print(1)",
        "y = dx\n    breakpoint()",
        "if x.size and dx > 1:\n        print(1)",
    ],
)
def test_an_effect_before_the_adjoint_is_used(effect):
    assert (
        "in the function itself"
        in messages(f"with lsp_ad.insert_grad_of(x) as dx:\n    {effect}\nreturn x * x")[0]
    )


@pytest.mark.parametrize(
    "effect",
    [
        "print(f'{dx}')",
        "if dx.size:\n        breakpoint()",
        "dx *= 2.0\n    print('dx', dx)",
        "print(np.sum(dx))",
    ],
)
def test_an_effect_after_the_adjoint_is_used(effect, capsys, monkeypatch):
    monkeypatch.setattr(sys, "breakpointhook", lambda: print("stopped"))
    f, gradient = derived(
        HEAD
        + f"def f(x):\n    y = x * x\n    with lsp_ad.insert_grad_of(y) as dx:\n        {effect.replace(chr(10), chr(10) + '    ')}\n    return np.sum(y)\n"
    )
    f(np.ones(2))
    assert capsys.readouterr().out == ""
    gradient(np.ones(2))
    assert capsys.readouterr().out != ""


@pytest.mark.parametrize(
    "line",
    [
        "x[0] = dx",
        "for i in dx: pass",
        "return dx",
        "dx.fill(0)",
        "a, b = dx, dx",
        "del dx",
        "dx = sum([dx * k for k in range(3)])",
        "dx = (y := dx) * 2.0",
    ],
)
def test_a_statement_that_is_not_one_for_a_block(line):
    assert messages(f"with lsp_ad.insert_grad_of(x) as dx:\n    {line}\nreturn x * x")


@pytest.mark.parametrize(
    "item",
    [
        "lsp_ad.insert_grad_of(x)",
        "lsp_ad.insert_grad_of(x * 2) as dx",
        "lsp_ad.insert_grad_of(np) as dx",
        "lsp_ad.insert_grad_of(x) as dx, np.errstate() as e",
        "lsp_ad.insert_grad_of(x) as (a, b)",
    ],
)
def test_a_wrong_header(item):
    assert messages(f"with {item}:\n    pass\nreturn x * x")


def test_forward_mode_has_no_place_for_it():
    with pytest.raises(oracle.Refused) as caught:
        oracle.generate(
            HEAD
            + "def f(x):\n    with lsp_ad.insert_grad_of(x) as dx:\n        dx = 2.0 * dx\n    return x * x\n",
            mode="jvp",
        )
    assert [p.code for p in caught.value.args] == ["AD601"]


# --- gradients that stop ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "body, wanted", [("x * lsp_ad.stop_gradient(x)", 3.0), ("lsp_ad.stop_gradient(x * x) + x", 1.0)]
)
def test_stop_gradient(body, wanted):
    source = HEAD + f"def f(x: float):\n    return {body}\n"
    f, gradient = derived(source)
    assert gradient(3.0) == wanted
    assert derived(source, mode="jvp")[1](3.0, 1.0)[1] == wanted
    assert f(3.0) == (9.0 if "x * lsp" in body else 12.0)


def test_stop_gradient_is_the_value_itself():
    x = np.ones(3)
    assert stop_gradient(x) is x


def test_nothing_is_left():
    with pytest.raises(oracle.Refused) as caught:
        oracle.generate(HEAD + "def f(x):\n    return lsp_ad.stop_gradient(x) * 2.0\n")
    assert caught.value.args[0].code == "AD503"
