"""Adjoints of solutions and determinants of symmetric matrices: shorter, and the same."""

from __future__ import annotations

import numpy as np
import pytest

from tests import oracle

pytestmark = pytest.mark.row("T25")
DECLARED = '''    """A number.

    Parameters
    ----------
    x : ndarray, shape (n, d)
    y : ndarray, shape (n,)
    """
'''
MATRIX = "    k = np.exp(-s * np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2)) + t * np.eye(len(x))\n"

# What is computed of k and y; for the gradient, no system is solved that has been solved before.
SOLUTIONS = {
    "y @ a": "a = np.linalg.solve(k, y)\nreturn y @ a",
    "half of it": "a = np.linalg.solve(k, y)\nreturn 0.5 * y @ a",
    "half of it, otherwise": "a = np.linalg.solve(k, y)\nreturn 0.5 * (y @ a)",
    "minus a part": "a = np.linalg.solve(k, y)\nreturn -y @ a / 3.0 * t",
    "scaled with a number": "a = np.linalg.solve(k, y)\nc = s * y / 2.0\nreturn np.exp(c @ a)",
    "without a name": "return 0.1 * y @ np.linalg.solve(k, y)",
    "turned": "a = np.linalg.solve(k, y)\nreturn 0.5 * y.T @ a",
    "a residual": "r = y - t\na = np.linalg.solve(k, r)\nreturn r @ a",
    "two systems": "r = y * y\na = np.linalg.solve(k, y)\nb = np.linalg.solve(k, r)\nreturn y @ a + r @ b",
}
# Of vectors that are declared to be such.
OF_VECTORS = {
    "a @ y": "a = np.linalg.solve(k, y)\nreturn 0.5 * a @ y",
    "dot": "a = np.linalg.solve(k, y)\nreturn np.dot(y, a) / 2.0",
    "method dot": "a = np.linalg.solve(k, y)\nreturn a.dot(s * y)",
    "a sum": "a = np.linalg.solve(k, y)\nreturn 0.5 * np.sum(y * a)",
}
DETERMINANTS = {
    "half of the logarithm": "return np.sum(np.log(np.diag(np.linalg.cholesky(k))))",
    "all of it": "chol = np.linalg.cholesky(k)\nreturn 2.0 * np.sum(np.log(np.diag(chol))) * s",
    "as a diagonal": "chol = np.linalg.cholesky(k)\nreturn np.log(np.diagonal(chol)).sum()",
    "the mean": "chol = np.linalg.cholesky(k)\nreturn np.mean(np.log(chol.diagonal()))",
}
SOLVED_AGAIN = {
    "another right side": "a = np.linalg.solve(k, y)\nreturn (y * y) @ a",
    "no number": "a = np.linalg.solve(k, y)\nc = y * np.arange(1.0, 1.0 + len(y))\nreturn c @ a",
    "another matrix": "a = np.linalg.solve(k, y)\nb = np.linalg.solve(2.0 * k, y * y)\nreturn y * y @ a + y @ b",
    "y is another": "a = np.linalg.solve(k, y)\nif s > 0.0:\n    y = y * s\nreturn y @ a",
    "y is written": "y = 1.0 * y\na = np.linalg.solve(k, y)\ny[0] = s\nreturn y @ a",
    "only a branch has solved it": """
r = y * s
if t > 5.0:
    r = r + np.linalg.solve(k, y)
a = np.linalg.solve(k, r)
return (y * y) @ a
""",
}
FACTORED = {
    "the factor is read": "chol = np.linalg.cholesky(k)\nreturn np.sum(np.log(np.diag(chol))) + chol[1, 0]",
    "weights": "chol = np.linalg.cholesky(k)\nreturn np.sum(np.log(np.diag(chol)) * y)",
    "another function": "chol = np.linalg.cholesky(k)\nreturn np.sum(np.sqrt(np.diag(chol)))",
    "another diagonal": "chol = np.linalg.cholesky(k)\nreturn np.sum(np.log(np.diag(chol, -1) ** 2))",
    "in a loop": """
total = 0.0
for i in range(2):
    k = np.outer(y, y) + (i + t) * np.eye(len(y))
    total = total + np.sum(np.log(np.diag(np.linalg.cholesky(k))))
return total
""",
}


def program(statements: str, head: str = DECLARED) -> str:
    body = "".join(f"    {line}\n" for line in statements.strip().splitlines())
    return f"import numpy as np\n\n\ndef f(s: float, t: float, x, y):\n{head}{MATRIX}{body}"


def arguments(n: int = 4) -> tuple:
    rng = np.random.default_rng(1)
    return 0.7, 1.9, rng.normal(size=(n, 2)), rng.normal(size=n)


def gradient_text(source: str) -> str:
    """The generated function alone, without helpers."""
    return oracle.generate(source)[0].text


@pytest.mark.parametrize("head", ["", DECLARED], ids=["unknown", "declared"])
@pytest.mark.parametrize("name", SOLUTIONS)
def test_what_is_solved_is_not_solved_again(name, head):
    source = program(SOLUTIONS[name], head)
    if (name, head) != ("turned", DECLARED):
        assert gradient_text(source).count("solve(") == source.count("solve("), gradient_text(source)
        assert "solve_adjoint_right(" not in gradient_text(source)
    oracle.assert_gradient(source, *arguments())


@pytest.mark.parametrize("name", OF_VECTORS)
def test_of_vectors(name):
    source = program(OF_VECTORS[name])
    assert gradient_text(source).count("solve(") == 1, gradient_text(source)
    oracle.assert_gradient(source, *arguments())
    oracle.assert_gradient(program(OF_VECTORS[name], head=""), *arguments())


@pytest.mark.parametrize("head", ["", DECLARED], ids=["unknown", "declared"])
@pytest.mark.parametrize("name", DETERMINANTS)
def test_a_determinant_needs_the_inverse_alone(name, head):
    source = program(DETERMINANTS[name], head)
    if head or "diagonal" not in DETERMINANTS[name]:  # else it may be that of a stack
        assert "cholesky_adjoint" not in gradient_text(source)
    oracle.assert_gradient(source, *arguments())


@pytest.mark.parametrize("head", ["", DECLARED], ids=["unknown", "declared"])
@pytest.mark.parametrize("name", SOLVED_AGAIN)
def test_another_system_is_solved(name, head):
    source = program(SOLVED_AGAIN[name], head)
    assert "solved_adjoint" not in gradient_text(source)
    oracle.assert_gradient(source, *arguments())


@pytest.mark.parametrize("head", ["", DECLARED], ids=["unknown", "declared"])
@pytest.mark.parametrize("name", FACTORED)
def test_other_functions_of_the_factor(name, head):
    source = program(FACTORED[name], head)
    assert "cholesky_adjoint" in gradient_text(source)
    oracle.assert_gradient(source, *arguments())


@pytest.mark.parametrize("name", ["y @ a", "half of it", "half of it, otherwise", "turned"])
def test_of_matrices(name):
    """Where y is no vector, y @ a is a product of matrices."""
    y = np.random.default_rng(2).normal(size=(4, 4))
    oracle.assert_gradient(program(SOLUTIONS[name], head=""), *arguments()[:3], y)


LIKELIHOOD = program(
    "a = np.linalg.solve(k, y)\nreturn 0.5 * y @ a + np.sum(np.log(np.diag(np.linalg.cholesky(k))))", head=""
)


def test_a_gradient_of_the_gradient():
    given = arguments(3)
    derivative, text = oracle.generate(LIKELIHOOD)
    assert "solved_adjoint(" in derivative.text
    names = ("s", "t")
    second = text + "\n\ndef g(s: float, t: float, x, y):\n    ds, dt, dx, dy = f_grad(s, t, x, y)\n"
    second += "    return ds * dt + np.sum(np.sin(dx)) + np.sum(dy * dy)\n"
    oracle.assert_gradient(second, *given, name="g", wrt=names, tolerance=1e-5)
    oracle.assert_gradient(second, *given, name="g", wrt=("x", "y"), tolerance=1e-5)
    oracle.assert_jvp(second, *given, name="g", wrt=names, tolerance=1e-5)


def test_the_type_stays():
    source = LIKELIHOOD.replace("np.eye(len(x))", "np.eye(len(x), dtype=x.dtype)")
    gradient = oracle.run(oracle.generate(source, "f", ("x", "y"))[1])["f_grad"]
    s, t, x, y = arguments()
    single = gradient(np.float32(s), np.float32(t), x.astype(np.float32), y.astype(np.float32))
    assert {g.dtype for g in single} == {np.dtype(np.float32)}


def test_products_with_the_hessian():
    s, t, x, y = arguments(3)
    gradient = oracle.run(oracle.generate(LIKELIHOOD, "f", ("x",))[1])["f_grad"]
    product = oracle.run(oracle.generate(LIKELIHOOD, "f", ("x",), "hvp")[1])["f_hvp"]
    v = np.random.default_rng(4).normal(size=x.shape)
    want = (gradient(s, t, x + 1e-5 * v, y) - gradient(s, t, x - 1e-5 * v, y)) / 2e-5
    np.testing.assert_allclose(product(s, t, x, y, v), want, rtol=1e-6, atol=1e-7)


def test_split_motion():
    given = arguments()
    whole = oracle.run(oracle.generate(LIKELIHOOD)[1])["f_grad"](*given)
    namespace = oracle.run(oracle.generate(LIKELIHOOD, mode="split")[1])
    value, saved = namespace["f_forward"](*given)
    assert np.isclose(value, namespace["f"](*given))
    for a, b in zip(namespace["f_backward"](saved, 1.0), whole, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_in_a_function_that_is_called():
    called = LIKELIHOOD.replace("def f(", "def likelihood(")
    caller = "    z = np.tanh(x)\n    return np.exp(0.1 * likelihood(s, t, z, y)) * s\n"
    source = f"{called}\n\ndef f(s: float, t: float, x, y):\n{caller}"
    oracle.assert_gradient(source, *arguments())
