"""Derivatives of generated code: forward over reverse, reverse over forward, forward over forward."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import lsp_ad
from tests import oracle

pytestmark = pytest.mark.row("T20")

HEAD = "import numpy as np\n\n\n"
PROGRAMS = {
    "straight code": """
def f(x, w):
    z = np.tanh(x * w)
    return np.sum(z * z * x) / np.mean(w)
""",
    "a loop that is left": """
def f(x, w):
    s = 0.0
    for i in range(3):
        x = np.sin(x) * w
        s = s + np.sum(x * x) / (i + 1.0)
        if s > 50.0:
            break
    return s
""",
    "a while loop": """
def f(x, w):
    while np.sum(x) < 20.0:
        x = x * w + 1.5
    return np.sum(x * x)
""",
    "a recursive callee": """
def g(u, n):
    if n == 0:
        return u
    return g(np.sin(u) * u, n - 1) + u


def f(x, w):
    return np.sum(g(x * w, 2))
""",
    "products of matrices": """
def f(x, w):
    a = np.outer(x, w)
    return x @ a @ w + np.sum((a @ a) @ x)
""",
    "a linear system": """
def f(x, w):
    a = np.outer(x, w) + 3.0 * np.eye(3)
    y = np.linalg.solve(a, x)
    return np.sum(y * w)
""",
    "elements": """
def f(x, w):
    s = 1.0
    for a, b in zip(x, w):
        s = s * a + np.exp(-b) * s
    return s
""",
}
ARGS = (np.array([0.3, -0.4, 0.8]), np.array([0.7, 1.2, 1.1]))
# the backward sweep adds to elements in place
IN_PLACE = ("elements",)


@pytest.fixture(params=PROGRAMS)
def name(request):
    return request.param


def second(source: str, outer: str, inner: str):
    """(the file with the derivative `inner` of f, the derivative `outer` of that, as a function)."""
    derivative, text = oracle.generate(source, "f", ["x", "w"], inner)
    derivative, text = oracle.generate(text, derivative.name, ["x", "w"], outer)
    return oracle.run(text)[derivative.name], derivative


def hessian_times(source: str, du) -> list[np.ndarray]:
    """The Hessian times a direction, by central differences of the gradient."""
    derivative, text = oracle.generate(source, "f", ["x", "w"])
    gradient = oracle.run(text)[derivative.name]
    sides = [gradient(*(a + s * 1e-6 * d for a, d in zip(ARGS, du, strict=True))) for s in (1, -1)]
    return [(a - b) / 2e-6 for a, b in zip(*sides, strict=True)]


def test_forward_over_reverse(name):
    source, du = HEAD + PROGRAMS[name], (np.array([0.5, -0.2, 0.1]), np.array([0.3, 0.4, -0.6]))
    try:
        hvp, derivative = second(source, "jvp", "grad")
    except oracle.Refused as refused:
        assert name in IN_PLACE, refused.args
        return
    _, found = hvp(*ARGS, **dict(zip(derivative.tangents, du, strict=True)))
    for got, want in zip(found, hessian_times(source, du), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_reverse_over_forward_and_forward_over_forward(name):
    source = HEAD + PROGRAMS[name]
    _derivative, text = oracle.generate(source, "f", ["x", "w"], "jvp")
    args = (*ARGS, 0.5 * ARGS[1], 0.3 * ARGS[0])
    oracle.assert_gradient(text, *copy.deepcopy(args), name="f_jvp", wrt=["x", "w"], all_modes=False)
    oracle.assert_jvp(text, *copy.deepcopy(args), name="f_jvp", wrt=["x", "dw"])


def test_third_order():
    source = HEAD + "def f(x):\n    return np.sum(x**4 + np.sin(x))\n"
    _, text = oracle.generate(source, "f", mode="jvp")
    _, text = oracle.generate(text, "f_jvp", ["x"], "jvp")
    derivative, text = oracle.generate(text, "f_jvp_jvp", ["x"], "jvp")
    x, one = np.array([0.7, -0.4]), np.ones(2)
    third = oracle.run(text)[derivative.name](x, one, one, one)[1][1][1]
    assert third == pytest.approx(np.sum(24.0 * x - np.cos(x)))


def energy(x):
    return np.sum(np.exp(x) * x)


def test_live_functions():
    x, dx = np.array([0.3, -0.7]), np.array([1.0, 2.0])
    want = (np.exp(x) * (x + 2.0)) * dx
    _, hvp = (
        lsp_ad.jvp(lsp_ad.grad(energy), "x")(x, dx=dx)
        if False
        else lsp_ad.jvp(lsp_ad.grad(energy), "x")(x, 1.0, dx)
    )
    np.testing.assert_allclose(hvp, want, rtol=1e-12)
