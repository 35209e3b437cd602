"""Functions whose derivative the user declares."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests import oracle

pytestmark = pytest.mark.row("T22")
ROOT = Path(__file__).resolve().parents[2]
HEAD = "import numpy as np\nimport lsp_ad\n"
SQUARE = (
    HEAD
    + "def square_rule(x, y, dy):\n    return 2.0 * x * dy\n\n@lsp_ad.custom_vjp(square_rule)\ndef square(x):\n    return x * x\n\n"
)
SOLVE = (
    HEAD
    + """
def solve_rule(a, b, n, y, dy):
    db = np.linalg.solve(a.T, dy)
    return -np.outer(db, y), db, None


@lsp_ad.custom_vjp(solve_rule)
def solve(a, b, n=0):
    class Nothing:
        pass
    try:
        return np.linalg.solve(a, b)
    finally:
        del Nothing


"""
)


def refusals(source: str, name: str = "f", mode: str = "grad") -> list:
    with pytest.raises(oracle.Refused) as caught:
        oracle.generate(source, name, mode=mode)
    return list(caught.value.args)


def messages(declaration: str) -> list[str]:
    found = refusals(HEAD + declaration + "\ndef f(x):\n    return np.sum(g(x))\n")
    assert {p.code for p in found} == {"AD602"}
    return [p.message for p in found]


# --- a rule of the user's --------------------------------------------------------------------


def test_the_example():
    text = (ROOT / "examples" / "own_rules.py").read_text(encoding="utf-8")
    made = oracle.assert_gradient(
        text, np.array([1.0, 2.0, 0.5]), np.array([0.31, 0.72, 0.55]), name="loss", wrt=["a"]
    )
    assert re.search(r"root_vjp\(a \* x, \w+, ", made)


def test_the_rule_is_what_counts():
    source = (
        HEAD
        + "def wrong(x, y, dy):\n    return dy * 100.0\n\n@lsp_ad.custom_vjp(wrong)\ndef g(x):\n    return x * x\n\ndef f(x):\n    return np.sum(g(x) + x)\n"
    )
    derivative, text = oracle.generate(source)
    np.testing.assert_allclose(oracle.run(text)[derivative.name](np.ones(2)), [101.0, 101.0])


@pytest.mark.parametrize(
    "call", ["solve(a, b)", "solve(b=b, a=a)", "solve(a, b, 3)", "solve(a, b, n=len(b))"]
)
def test_several_parameters(call):
    a, b = np.array([[2.0, 0.5], [0.3, 1.5]]), np.array([0.4, 0.9])
    oracle.assert_gradient(SOLVE + f"def f(a, b):\n    y = {call}\n    return np.sum(y * y)\n", a, b)


def test_in_a_loop_and_twice_the_same_argument():
    a, b = np.array([[2.0, 0.5], [0.3, 1.5]]), np.array([0.4, 0.9])
    oracle.assert_gradient(
        SOLVE
        + "def f(a, b):\n    for _ in range(3):\n        b = solve(a, b) + solve(a, solve(a, b))\n    return b\n",
        a,
        b,
    )


def test_only_one_argument_is_active():
    a, b = np.array([[2.0, 0.5], [0.3, 1.5]]), np.array([0.4, 0.9])
    oracle.assert_gradient(SOLVE + "def f(a, b):\n    return np.sum(solve(a, b))\n", a, b, wrt=["b"])


def test_no_derivative_through_a_parameter_for_which_the_rule_returns_none():
    source = (
        HEAD
        + "def rule(x, w, y, dy):\n    return w * dy, None\n\n@lsp_ad.custom_vjp(rule)\ndef g(x, w):\n    return x * w\n\ndef f(x):\n    return g(x, x * x)\n"
    )
    derivative, text = oracle.generate(source, mode="vjp")
    assert oracle.run(text)[derivative.name](3.0, 1.0) == 9.0


def test_a_function_that_returns_several_values():
    source = (
        HEAD
        + "def polar_rule(r, t, y, dy):\n    c, s = np.cos(t), np.sin(t)\n    return dy[0] * c + dy[1] * s, r * (dy[1] * c - dy[0] * s)\n\n@lsp_ad.custom_vjp(polar_rule)\ndef polar(r, t):\n    return r * np.cos(t), r * np.sin(t)\n\ndef f(r, t):\n    a, b = polar(r, t)\n    return np.sum(a * b * b)\n"
    )
    oracle.assert_gradient(source, np.array([1.0, 2.0]), np.array([0.3, 0.4]))


def test_parameters_with_the_names_that_rules_use():
    source = (
        HEAD
        + "def rule(y, dy, np, z, dz):\n    return dy * np * dz, y * np * dz, y * dy * dz\n\n@lsp_ad.custom_vjp(rule)\ndef g(y, dy, np):\n    return y * dy * np\n\ndef f(a, b, c):\n    return np.sum(g(a, b, c))\n"
    )
    oracle.assert_gradient(source, np.array([1.0, 2.0]), np.array([0.3, 0.4]), np.array([0.7, -0.4]))


def test_the_adjoint_that_a_rule_gets_has_the_shape_of_the_result():
    source = (
        HEAD
        + "def rule(x, y, dy):\n    assert np.shape(dy) == np.shape(y)\n    return dy * 3.0\n\n@lsp_ad.custom_vjp(rule)\ndef g(x):\n    return 3.0 * x\n\ndef f(x):\n    return np.mean(g(x))\n"
    )
    oracle.assert_gradient(source, np.ones((2, 3)))


@pytest.mark.parametrize("mode", ["grad", "value_and_grad", "vjp"])
def test_the_derivative_of_the_function_itself(mode):
    derivative, text = oracle.generate(SQUARE, "square", mode=mode)
    got = oracle.run(text)[derivative.name](3.0, 1.0)
    assert got == ((9.0, 6.0) if mode == "value_and_grad" else 6.0)


def test_the_derivative_of_the_function_itself_with_options():
    derivative, text = oracle.generate(SOLVE, "solve", ["b"], "vjp")
    a, b = np.array([[2.0, 0.5], [0.3, 1.5]]), np.array([0.4, 0.9])
    got = oracle.run(text)[derivative.name](a, b, n=1, dsolve=np.ones(2))
    np.testing.assert_allclose(got, np.linalg.solve(a.T, np.ones(2)))


def test_gradient_of_a_gradient():
    _, text = oracle.generate(SQUARE + "def f(x):\n    return np.sum(square(x))\n")
    oracle.assert_gradient(
        text + "\n\ndef h(x):\n    return np.sum(f_grad(x, 1.0))\n", np.array([0.5, 1.5]), name="h"
    )


BOTH = (
    HEAD
    + """
def g_vjp(x, w, n, y, dy):
    return 2.0 * x * w * dy, x * x * dy, None

def g_tangent(x, w, n, y, dx, dw, dn):
    return 2.0 * x * w * dx + x * x * dw

@lsp_ad.custom_vjp(g_vjp)
@lsp_ad.custom_jvp(g_tangent)
def g(x, w, n=2):
    return x * x * w

def f(w, x):
    return g(w * x, w, n=3) * g(x, 2.0)
"""
)


def test_both_modes_agree():
    rng = np.random.default_rng(0)
    w, x, dw, dx, df = rng.normal(size=(5, 3))
    _, text = oracle.generate(BOTH, mode="jvp")
    value, tangent = oracle.run(text)["f_jvp"](w, x, dw, dx)
    _, text = oracle.generate(BOTH, mode="vjp")
    adjoints = oracle.run(text)["f_vjp"](w, x, df)
    np.testing.assert_allclose(value, (w * x) ** 2 * w * x**2 * 2.0)
    np.testing.assert_allclose(tangent @ df, adjoints[0] @ dw + adjoints[1] @ dx)


def test_the_tangent_of_the_function_itself():
    _, text = oracle.generate(BOTH, "g", ["x"], "jvp")
    assert oracle.run(text)["g_jvp"](3.0, 2.0, dx=0.5) == (18.0, 6.0)


def test_no_derivative():
    source = (
        HEAD
        + "calls = []\n\n@lsp_ad.non_differentiable\ndef seen(x):\n    calls.append(x)\n    return x\n\ndef f(x):\n    return np.sum(x * seen(x))\n"
    )
    derivative, text = oracle.generate(source)
    namespace = oracle.run(text)
    np.testing.assert_array_equal(namespace[derivative.name](np.array([2.0])), [2.0])
    assert len(namespace["calls"]) == 1
    assert [p.code for p in refusals(source, "seen")] == ["AD503"]


def test_the_marks_leave_a_function_as_it_is():
    code = """import sys, lsp_ad
def f(x): return x
assert lsp_ad.custom_vjp(f)(f) is f and lsp_ad.custom_jvp(f)(f) is f and lsp_ad.non_differentiable(f) is f
assert 'numpy' not in sys.modules"""
    subprocess.run([sys.executable, "-c", code], check=True)


# --- what is no rule -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "declaration, said",
    [
        ("@lsp_ad.custom_vjp(np.cos)\ndef g(x):\n    return x\n", "not a function of this file"),
        ("@lsp_ad.custom_vjp\ndef g(x):\n    return x\n", "is missing"),
        (
            "def r(x, dy):\n    return dy\n@lsp_ad.custom_vjp(r)\ndef g(x):\n    return x\n",
            "takes 2 parameters, and is called with 3",
        ),
        (
            "def r(x, y, dy, *more):\n    return dy\n@lsp_ad.custom_vjp(r)\ndef g(x):\n    return x\n",
            "takes 3 parameters",
        ),
        (
            "def r(x, w, y, dy):\n    return dy\n@lsp_ad.custom_vjp(r)\ndef g(x, w=1.0):\n    return x\n",
            "does not return a tuple, written out, of 2 values",
        ),
        (
            "def r(x, w, y, dy):\n    if w:\n        return dy, None\n    return dy, dy\n@lsp_ad.custom_vjp(r)\ndef g(x, w=1.0):\n    return x\n",
            "on some paths only",
        ),
        ("def r(x, y, dy):\n    pass\n@lsp_ad.custom_vjp(r)\ndef g(x):\n    return x\n", "returns nothing"),
        (
            "def r(xs, y, dy):\n    return dy\n@lsp_ad.custom_vjp(r)\ndef g(*xs):\n    return xs[0]\n",
            "any number of arguments",
        ),
        (
            "def r(x, y, dy):\n    return dy\n@lsp_ad.custom_vjp(r)\n@lsp_ad.non_differentiable\ndef g(x):\n    return x\n",
            "and something else",
        ),
        (
            "def r(x, y, dy):\n    return dy\n@lsp_ad.custom_vjp(r)\ndef g(x):\n    x[0] = 1.0\n    return x\n",
            "changes its argument `x`",
        ),
        ("@lsp_ad.opaque(by='jax')\ndef g(x):\n    x += 1.0\n    return x\n", "changes its argument `x`"),
        ("@lsp_ad.non_differentiable()\ndef g(x):\n    return x\n", "and something else"),
    ],
)
def test_what_is_wrong_with_a_declaration(declaration, said):
    assert any(said in m for m in messages(declaration))


def test_only_a_vjp_gives_no_tangent():
    assert (
        "forward mode"
        in refusals(SQUARE + "def f(x):\n    return np.sum(square(x))\n", mode="jvp")[0].message
    )


def test_only_a_jvp_gives_no_gradient():
    source = (
        HEAD
        + "def rule(x, y, dx):\n    return 2.0 * x * dx\n\n@lsp_ad.custom_jvp(rule)\ndef g(x):\n    return x * x\n\ndef f(x):\n    return np.sum(g(x))\n"
    )
    assert "custom_jvp" in refusals(source)[0].message


def test_a_variable_hides_the_rule():
    assert [
        p.code
        for p in refusals(
            SQUARE + "def f(x):\n    square_rule = 2.0\n    return np.sum(square(x) * square_rule)\n"
        )
    ] == ["AD506"]


def test_an_argument_that_the_function_does_not_take():
    assert [p.code for p in refusals(SQUARE + "def f(x):\n    return np.sum(square(x, where=True))\n")] == [
        "AD202"
    ]
