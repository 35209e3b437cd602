"""Hessian-vector products, Hessians and Jacobians; derivatives of derivatives, to the third order."""

from __future__ import annotations

import copy
import inspect

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
    "a linear function of one parameter": """
def f(x, w):
    return np.sum(x * np.sin(w))
""",
    "a bilinear function": """
def f(x, w):
    return x @ w
""",
    "a loop with a tape": """
def f(x, w):
    s = 0.0
    for i in range(3):
        x = np.sin(x) * w
        s = s + np.sum(x * x) / (i + 1.0)
        if s > 50.0:
            break
    return s
""",
    "augmented assignments": """
def f(x, w):
    s = x * w
    s *= x
    total = 0.0
    for i in range(2):
        s += np.sin(s) * w
        total += np.sum(s * s)
    return total
""",
    "objects that are handed on": """
from typing import NamedTuple


class State(NamedTuple):
    h: np.ndarray
    count: int


def step(state, x, w):
    return State(np.tanh(x * w + state.h), state.count + 1)


def f(x, w):
    state = State(np.zeros(3), 0)
    for _ in range(3):
        state = step(state, x, w)
    return np.sum(state.h) / state.count
""",
    "a while loop": """
def f(x, w):
    while np.sum(x) < 20.0:
        x = x * w + 1.5
    return np.sum(x * x)
""",
    "a pair, in a loop": """
def g(u, v, n: int):
    for i in range(n):
        u = np.sin(u) * v
    return u * v


def f(x, w):
    for k in range(2):
        x = g(x, w, k + 1)
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
    "elements": """
def f(x, w):
    s = 1.0
    for a, b in zip(x, w):
        s = s * a + np.exp(-b) * s
    return s
""",
    "an array written in a loop": """
def f(x, w):
    y = np.zeros(3)
    y[0] = x[0] * w[0]
    for i in range(1, 3):
        y[i] = np.sin(y[i - 1]) * x[i] + w[i] * x[i]
    return np.sum(y * y)
""",
    "a recurrence in place": """
def f(x, w):
    y = x * x
    for i in range(1, 3):
        y[i] *= y[i - 1] * w[i]
    return np.sum(y * w)
""",
    "a list that grows": """
def f(x, w):
    steps = [x]
    for i in range(2):
        steps.append(np.sin(steps[-1]) * w)
    total = 0.0
    for step in steps:
        total = total + np.sum(step * step)
    return total
""",
    "branches": """
def f(x, w):
    if np.sum(x) > 0.0:
        y = x**3 * w
    else:
        y = np.exp(x) * w
    return np.sum(np.where(y > 0.1, y * y, y * w))
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
}
ARGS = (np.array([0.3, -0.4, 0.8]), np.array([0.7, 1.2, 1.1]))
DIRECTIONS = (np.array([0.5, -0.2, 0.1]), np.array([0.3, 0.4, -0.6]))


@pytest.fixture(params=PROGRAMS)
def source(request):
    return HEAD + PROGRAMS[request.param]


def gradient(source, name="f", wrt=("x", "w")):
    derivative, text = oracle.generate(source, name, list(wrt))
    return oracle.run(text)[derivative.name]


def numerical_hessian(source):
    """The blocks of the Hessian by central differences of the gradient: [parameter][direction of which]."""
    g, blocks = gradient(source), [[None, None], [None, None]]
    for q in range(2):
        columns = []
        for i in range(3):
            sides = []
            for sign in (1.0, -1.0):
                moved = [a.copy() for a in ARGS]
                moved[q][i] += sign * 1e-6
                sides.append(g(*moved))
            columns.append([(a - b) / 2e-6 for a, b in zip(*sides, strict=True)])
        for p in range(2):
            blocks[p][q] = np.stack([c[p] for c in columns], axis=-1)
    return blocks


def close(got, want, tolerance=1e-6):
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def test_the_hessian_vector_product_is_the_hessian_times_a_vector(source):
    derivative, text = oracle.generate(source, "f", ["x", "w"], "hvp")
    assert derivative.name == "f_hvp" and derivative.tangents == ("vx", "vw")
    given = copy.deepcopy((*ARGS, *DIRECTIONS))
    got = oracle.run(text)["f_hvp"](*given)
    for before, after in zip((*ARGS, *DIRECTIONS), given, strict=True):
        np.testing.assert_array_equal(before, after)
    want = numerical_hessian(source)
    for p in range(2):
        close(got[p], want[p][0] @ DIRECTIONS[0] + want[p][1] @ DIRECTIONS[1])


def test_the_hessian_is_symmetric_and_that_of_differences(source):
    _, text = oracle.generate(source, "f", ["x", "w"], "hessian")
    got = oracle.run(text)["f_hessian"](*copy.deepcopy(ARGS))
    want = numerical_hessian(source)
    for p in range(2):
        for q in range(2):
            close(got[p][q], want[p][q])
            np.testing.assert_allclose(got[p][q], got[q][p].T, rtol=1e-9, atol=1e-12)


def test_the_jacobian_of_the_gradient_is_the_hessian(source):
    derivative, text = oracle.generate(source, "f", ["x"])
    try:
        _, text = oracle.generate(text, derivative.name, ["x"], "jacobian")
    except oracle.Refused as refused:  # of a linear function, or written in place
        code = refused.args[0].code
        assert code == "AD302" or (code == "AD503" and not np.any(numerical_hessian(source)[0][0]))
        return
    _, hessian = oracle.generate(source, "f", ["x"], "hessian")
    got = oracle.run(text)["f_grad_jacobian"](*ARGS)
    np.testing.assert_allclose(got, oracle.run(hessian)["f_hessian"](*ARGS), rtol=1e-10, atol=1e-12)


# --- shapes, names, places ---------------------------------------------------------------------


def quadratic(x, a):
    return 0.5 * np.sum(x * (a @ x))


def table(x, n: int = 2):
    return np.outer(x, x) ** n


def of_matrices(u, v):
    return np.sum((u @ v) ** 2)


A = np.array([[2.0, 0.5], [0.5, 1.0]])
X = np.array([0.3, -0.7])


def test_closed_forms():
    np.testing.assert_allclose(lsp_ad.hessian(quadratic, "x")(X, A), A)
    np.testing.assert_allclose(lsp_ad.hvp(quadratic, "x")(X, A, np.array([1.0, 2.0])), A @ [1.0, 2.0])
    jacobian = lsp_ad.jacobian(table)(X, 1)
    assert jacobian.shape == (2, 2, 2)
    want = np.einsum("ik,j->ijk", np.eye(2), X) + np.einsum("jk,i->ijk", np.eye(2), X)
    np.testing.assert_allclose(jacobian, want)
    assert lsp_ad.hessian(cubic)(2.0) == pytest.approx(12.0)
    assert lsp_ad.jacobian(cubic)(2.0) == pytest.approx(12.0)


def cubic(x: float):
    return x**3


def test_blocks_have_the_shapes_of_both_parameters():
    u, v = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    hessian = lsp_ad.hessian(of_matrices)(u, v)
    assert [[b.shape for b in row] for row in hessian] == [
        [(2, 3, 2, 3), (2, 3, 3, 4)],
        [(3, 4, 2, 3), (3, 4, 3, 4)],
    ]
    np.testing.assert_allclose(hessian[0][1], np.moveaxis(hessian[1][0], (0, 1), (2, 3)))
    np.testing.assert_allclose(hessian[0][0], 2.0 * np.einsum("ac,bd->abcd", np.eye(2), v @ v.T))


def test_an_empty_parameter():
    empty = np.zeros(0)
    assert lsp_ad.hessian(quadratic, "x")(empty, np.zeros((0, 0))).shape == (0, 0)
    assert lsp_ad.jacobian(table)(empty).shape == (0, 0, 0)


def test_float32_stays_float32():
    x = X.astype(np.float32)
    assert lsp_ad.hessian(quadratic, "x")(x, A.astype(np.float32)).dtype == np.float32
    assert lsp_ad.jacobian(table)(x).dtype == np.float32


def test_a_direction_of_another_shape_is_an_error():
    with pytest.raises(ValueError, match="vx must have the shape of x"):
        lsp_ad.hvp(quadratic, "x")(X, A, np.ones(3))


def test_the_result_must_be_a_number():
    with pytest.raises(ValueError, match="must be a number"):
        lsp_ad.hvp(table)(X, 2, X)
    for mode in ("hessian", "jacobian"):
        with pytest.raises(oracle.Refused) as refused:
            oracle.generate(HEAD + "def f(x):\n    return x * x, np.sin(x)\n", "f", mode=mode)
        assert refused.value.args[0].code == "AD507"


def test_a_parameter_must_be_an_array():
    for source in (
        "def f(p):\n    return np.sum(p['w'] * p['b'])\n",
        "def f(xs: list[float]):\n    return xs[0] * xs[1]\n",
    ):
        for mode in ("hessian", "jacobian"):
            with pytest.raises(oracle.Refused) as refused:
                oracle.generate(HEAD + source, "f", mode=mode)
            assert refused.value.args[0].code == "AD507"


def test_a_product_of_dictionaries():
    source = HEAD + "def f(p):\n    return np.sum(p['w'] ** 2 * p['b'])\n"
    derivative, text = oracle.generate(source, "f", mode="hvp")
    p, v = {"w": X, "b": 2.0 * X}, {"w": np.ones(2), "b": np.array([0.5, -1.0])}
    got = oracle.run(text)[derivative.name](p, v)
    np.testing.assert_allclose(got["w"], 2.0 * p["b"] * v["w"] + 2.0 * p["w"] * v["b"])
    np.testing.assert_allclose(got["b"], 2.0 * p["w"] * v["w"])


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return np.sum(np.exp(self.w * x))


def test_methods():
    w = np.array([0.5, 2.0])
    want = np.diag(w**2 * np.exp(w * X))
    np.testing.assert_allclose(lsp_ad.hessian(Model(w).loss, "x")(X), want)
    np.testing.assert_allclose(lsp_ad.hvp(Model(w).loss, "x")(X, np.ones(2)), np.diag(want))


def test_defaults_and_keywords():
    source = HEAD + "def f(x, /, n: int = 2, *, scale=1.0):\n    return np.sum(x**n) * scale\n"
    for mode, want in (("hessian", np.diag([18.0, 36.0])), ("jacobian", np.array([9.0, 36.0]))):
        derivative, text = oracle.generate(source, "f", ["x"], mode)
        got = oracle.run(text)[derivative.name](np.array([1.0, 2.0]), 3, scale=3.0)
        np.testing.assert_allclose(got, want)


def test_insertion_after_the_product_is_there():
    source = HEAD + PROGRAMS["straight code"].lstrip()
    _, text = oracle.generate(source, "f", ["x"], "hvp")
    _, text = oracle.generate(text, "f", ["x"], "hessian")
    assert text.count("def f_hvp(") == 1
    close(oracle.run(text)["f_hessian"](*ARGS), numerical_hessian(source)[0][0])


def test_a_function_with_the_name_of_the_product_is_not_overwritten():
    source = HEAD + PROGRAMS["straight code"].lstrip() + "\n\ndef f_hvp(x):\n    return x\n"
    with pytest.raises(oracle.Refused) as refused:
        oracle.generate(source, "f", ["x"], "hessian")
    assert refused.value.args[0].code == "AD506"


def test_comments_and_lines_of_the_function_are_kept():
    source = HEAD + "def f(x):\n    # scaled\n    y = 2.0 * np.sin(x)  # twice\n    return np.sum(y * y)\n"
    derivative, _ = oracle.generate(source, "f", mode="hvp")
    lines = derivative.text.splitlines()
    assert "    # scaled" in lines and "Generated by lsp-ad" in lines[1]
    origins = {line.origin.line for line in derivative.lines if line.origin is not None}
    assert origins == {6, 7}


# --- derivatives of derivatives ----------------------------------------------------------------


def product(x, y):
    return np.sum(np.sin(x * y) * x)


def test_live_functions_in_every_order():
    x, y = X, np.array([1.1, 0.4])
    second = -np.sin(x * y) * y * y * x + 2.0 * np.cos(x * y) * y
    one = np.ones(2)
    over_reverse = lsp_ad.jvp(lsp_ad.grad(product, "x"), "x")
    close(over_reverse(x, y, 1.0, one)[1], second, 1e-12)
    close(lsp_ad.vjp(lsp_ad.grad(product, "x"), "x")(x, y, 1.0, one), second, 1e-12)
    forward = lsp_ad.jvp(product, "x")
    over_forward = lsp_ad.vjp(forward, "x")
    close(over_forward(x, y, one, (0.0, 1.0)), second, 1e-12)
    twice = lsp_ad.jvp(forward, "x")
    close(twice(x, y, one, one)[1][1], np.sum(second), 1e-12)
    close(lsp_ad.hvp(product, "x")(x, y, one), second, 1e-12)
    assert "def product_grad_jvp" in inspect.getsource(over_reverse)


def quartic(x):
    return np.sum(x**4 + np.sin(x))


def mixed(x):
    total = 1.0 + np.sum(x)
    total *= total
    return total - x[0]


def test_a_sum_of_an_array_and_a_number_is_spread_back():
    # the gradient adds a number to an array of adjoints
    np.testing.assert_allclose(lsp_ad.hessian(mixed)(X), np.full((2, 2), 2.0))
    seed = np.array([1.0, 0.5])
    close(lsp_ad.vjp(lsp_ad.grad(mixed), "x")(X, 1.0, seed), np.full(2, 3.0), 1e-12)


def test_third_order():
    x, one = X, np.ones(2)
    want = 24.0 * x - np.cos(x)
    gradient = lsp_ad.grad(quartic)
    second = lsp_ad.vjp(gradient, "x")
    close(lsp_ad.vjp(second, "x")(x, 1.0, one, one), want, 1e-12)
    close(lsp_ad.jvp(lsp_ad.hvp(quartic), "x")(x, one, one)[1], want, 1e-12)
    close(lsp_ad.vjp(lsp_ad.hvp(quartic), "x")(x, one, one), want, 1e-12)
    close(lsp_ad.grad(lsp_ad.hvp(cubic), "x")(2.0, 1.0), 6.0)
    third = lsp_ad.jacobian(lsp_ad.hessian(quartic), "x")(x)
    assert third.shape == (2, 2, 2)
    close(third, np.einsum("ij,jk->ijk", np.diag(want), np.eye(2)), 1e-12)


def test_no_confusion_of_perturbations():
    # d/dx (x * d/dy (x + y)) at x = 1 is 1, not 2
    source = (
        "import lsp_ad\nimport numpy as np\n\n\ndef inner(y, x):\n    return (x + y) ** 2 * 0.5\n\n\n"
        'def f(x):\n    return x * lsp_ad.grad(inner, "y")(1.0, x)\n'
    )
    # x * (x + 1): slope 2x + 1, second derivative 2
    for mode, args, want in (
        ("grad", (3.0,), 7.0),
        ("jvp", (3.0, 1.0), (12.0, 7.0)),
        ("hvp", (3.0, 1.0), 2.0),
    ):
        derivative, text = oracle.generate(source, "f", ["x"], mode)
        got = oracle.run(text)[derivative.name](*args)
        np.testing.assert_allclose(got, want)
