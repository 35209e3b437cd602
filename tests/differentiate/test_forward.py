"""Forward mode: what the generated code looks like, what it checks, and what is refused."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from lsp_ad.rules import RULES
from tests import oracle

pytestmark = pytest.mark.row("T3", "T1")

HEAD = "import numpy as np\n\n\n"


def body(source: str, **options) -> list[str]:
    """The lines of the derivative below its docstring and checks, without indentation."""
    derivative, _ = oracle.generate(HEAD + source, mode="jvp", **options)
    return [line.text.strip() for line in derivative.lines if line.sweep != "head"]


def test_each_tangent_stands_after_its_statement_and_the_lines_of_the_user_stay():
    source = "def f(x, w):\n    z = x @ w  # linear\n    y = np.tanh(z)\n    return y\n"
    assert body(source) == [
        "z = x @ w  # linear",
        "dz = dx @ w + x @ dw",
        "y = np.tanh(z)",
        "dy = dz * (1.0 - y * y)",
    ]
    derivative, _ = oracle.generate(HEAD + source, mode="jvp")
    assert [line.sweep for line in derivative.lines if line.sweep != "head"] == ["forward", "tangent"] * 2
    assert {line.origin.line for line in derivative.lines if line.sweep == "tangent"} == {5, 6}
    assert derivative.lines[0].text == "def f_jvp(x, w, dx, dw):"
    assert derivative.lines[-1].text == "    return y, dy"


def test_what_a_statement_overwrites_is_read_before():
    assert body("def f(x, y: float):\n    for i in range(3):\n        x = x * y\n    return x\n") == [
        "for i in range(3):",
        "dx = dx * y + x * dy",
        "x = x * y",
    ]
    for operation in ("np.exp(x)", "np.hypot(x, y)", "x / y", "y / x", "x * x + np.cos(x)"):
        source = f"{HEAD}def f(x, y):\n    for i in range(2):\n        x = {operation}\n    return x\n"
        oracle.assert_jvp(source, 0.7, 0.4)
        oracle.assert_jvp(source, np.array([0.7, 0.3]), 0.4)


@pytest.mark.row("T24")
def test_nothing_is_written_for_what_does_not_move():
    source = "def f(x, w, n: int):\n    k = w * w\n    s = 0.0\n    for i in range(n):\n        s = s + x * k\n    return s\n"
    text = "\n".join(body(source, wrt=["x"]))
    assert "dk" not in text and "dw" not in text and "ds = 0.0\n" in text
    oracle.assert_jvp(HEAD + source, 0.3, 0.7, 3, wrt=["x"])
    oracle.assert_jvp(HEAD + source, 0.3, 0.7, 0, wrt=["x"])


def test_loops_go_over_values_and_tangents():
    source = (
        "def f(xs, ys):\n    t = 0.0\n    for x, y in zip(xs, ys):\n        t = t + x * y\n    return t\n"
    )
    assert "for x, y, dx, dy in zip(xs, ys, dxs, dys):" in body(source)
    assert "for x, y, dx in zip(xs, ys, dxs):" in body(source, wrt=["xs"])


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(x, dx):\n    return x * dx\n", ("d_x",)),
        ("def f(x, dx, d_x):\n    return x * dx * d_x\n", ("x_bar",)),
    ],
)
def test_a_name_of_the_user_is_never_taken(source, names):
    derivative, _ = oracle.generate(HEAD + source, wrt=["x"], mode="jvp")
    assert derivative.tangents == names
    oracle.assert_jvp(HEAD + source, *[0.5, 0.7, 0.9][: source.split(":")[0].count(",") + 1], wrt=["x"])


def test_tangents_have_the_shape_of_the_result_where_an_operand_stands_still():
    source = HEAD + "def f(x, c):\n    return x + c, x * 2.0, np.where(c > 0, x, c)\n"
    oracle.assert_jvp(source, 0.5, np.array([0.3, -0.7]), wrt=["x"])
    oracle.assert_jvp(source, np.array([[0.3], [-0.7]]), np.array([0.3, -0.7]), wrt=["x"])
    oracle.assert_jvp(source, np.array([[0.3], [-0.7]]), np.array([0.3, -0.7]), wrt=["c"])


def test_the_result_of_a_path_that_does_not_move_has_a_zero_tangent():
    source = HEAD + "def f(x, flag):\n    if flag:\n        return np.ones(3)\n    return x * x\n"
    oracle.assert_jvp(source, np.array([0.3, 0.4, 0.5]), True, wrt=["x"])
    oracle.assert_jvp(source, np.array([0.3, 0.4, 0.5]), False, wrt=["x"])


def test_a_recursive_function_calls_its_own_derivative():
    source = (
        HEAD
        + "def f(x, n: int):\n    if n == 0:\n        return x\n    return np.sin(f(x * 1.1, n - 1)) + x\n"
    )
    derivative, _ = oracle.generate(source, mode="jvp")
    assert sum("def " in line.text for line in derivative.lines) == 1
    oracle.assert_jvp(source, 0.3, 3)


def test_shapes_of_tangents_are_checked_whatever_the_options_of_python():
    _, text = oracle.generate(HEAD + "def f(x, y: float):\n    return x * y\n", mode="jvp")
    text += "\n\ntry:\n    f_jvp(np.ones(3), 2.0, 1.0, 1.0)\nexcept ValueError as error:\n    print(error)\n"
    done = subprocess.run([sys.executable, "-O", "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "dx must have the shape of x\n"


def test_defaults():
    derivative, text = oracle.generate(
        HEAD + "def f(x, k=2.0, *, m=3.0):\n    return x * k * m\n", mode="jvp", wrt=["x"]
    )
    jvp = oracle.run(text)["f_jvp"]
    assert derivative.lines[0].text == "def f_jvp(x, k=2.0, dx=None, *, m=3.0):"
    assert jvp(2.0, dx=1.0) == (12.0, 6.0) and jvp(2.0, 1.0, 1.0, m=1.0) == (2.0, 1.0)
    with pytest.raises(TypeError, match="f_jvp needs dx"):
        jvp(2.0)


REVERSE_ONLY = {"numpy.linalg.svd", "numpy.linalg.qr"}  # refused by name in forward mode


@pytest.mark.parametrize("name", [n for n, r in RULES.items() if not r.is_zero and n not in REVERSE_ONLY])
def test_every_rule_has_both_modes(name):
    """A rule has a tangent of its own, or its adjoints are elementwise, of which the tangent is made.

    That they are right is shown by tests/rules/test_rules.py, which runs every rule in both modes.
    """
    from lsp_ad.rules.describe import _READINGS, _adjoints

    rule = RULES[name]
    if rule.tangent is not None or rule.elementwise is not None:
        return
    import gast

    shown = [p for p in rule.parameters if p not in rule.defaults or p in rule.differentiable]
    given = [gast.keyword(p, gast.Name(p, gast.Load(), None, None)) for p in shown]
    assert all(a.elementwise for a in _adjoints(rule, given, _READINGS[0]).values())


def test_a_rule_without_a_tangent_is_refused():
    source = """import lsp_ad


def rule(x, y, dy):
    return 2.0 * x * dy


@lsp_ad.custom_vjp(rule)
def square(x):
    return x * x


def f(x):
    return square(x) + x
"""
    with pytest.raises(oracle.Refused) as refused:
        oracle.generate(source, mode="jvp")
    assert "forward mode" in refused.value.args[0].message


def test_code_for_the_backward_sweep_is_refused():
    source = """import lsp_ad


def f(x):
    y = x * x
    with lsp_ad.insert_grad_of(y) as dy:
        dy = dy * 2.0
    return y + x
"""
    with pytest.raises(oracle.Refused) as refused:
        oracle.generate(source, mode="jvp")
    assert refused.value.args[0].code == "AD601"


WRITTEN = {
    "two arrays in turn": (
        "a = x + 1.0\nb = x - 2.0\nfor i in range(3):\n    b[0] = a[1] * x[2]\n    a, b = b, a\nreturn np.sum(a * a) * np.sum(x * b)"
    ),
    "one of two arrays": (
        "a = x + 1.0\nif np.sum(x) > 0:\n    b = a\nelse:\n    b = x * 2.0\nb[0] = x[1] * x[2]\nreturn np.sum(b * b) * np.sum(x)"
    ),
    "a view": "a = (x * 1.0).T\na[0] = x[1] * x[2]\nreturn np.sum(a * a) * np.sum(x)",
}


@pytest.mark.row("T14")
@pytest.mark.parametrize("body", WRITTEN.values(), ids=WRITTEN)
def test_a_tangent_that_the_caller_gives_is_not_written_under_another_name(body):
    source = "import numpy as np\n\n\ndef f(x):\n" + textwrap.indent(body, "    ") + "\n"
    oracle.assert_jvp(source, np.array([0.4, 1.2, -0.3]))
    oracle.assert_gradient(source, np.array([0.4, 1.2, -0.3]))
