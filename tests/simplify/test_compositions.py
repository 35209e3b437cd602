"""Helpers that are put together: the same derivative, and only where nothing else reads what is between them."""

from __future__ import annotations

import numpy as np
import pytest

from tests import oracle

pytestmark = pytest.mark.row("T25")
HEAD = "import numpy as np\n\n\n"
TOGETHER = "cholesky_adjoint_of_diagonal"

COMPOSED = {
    "half a log-determinant": "def f(k):\n    return np.sum(np.log(np.diag(np.linalg.cholesky(k))))\n",
    "any function of the diagonal": """
def f(k):
    chol = np.linalg.cholesky(k)
    d = np.diag(chol)
    return np.prod(d) + d[0] * np.sin(d[1])
""",
}
APART = {
    "the factor is read elsewhere": """
def f(k):
    chol = np.linalg.cholesky(k)
    return np.sum(np.log(np.diag(chol))) + np.sum(chol * chol)
""",
    "another diagonal": "def f(k):\n    return np.sum(np.diag(np.linalg.cholesky(k), -1))\n",
    "in a loop, of what a branch may change": """
def f(k):
    total = 0.0
    for i in range(3):
        chol = np.linalg.cholesky(k)
        if i > 1:
            chol = 2.0 * chol
        total = total + np.sum(np.log(np.diag(chol)))
        k = 1.1 * k + np.eye(3)
    return total
""",
}


def matrix() -> np.ndarray:
    """A matrix of which only the lower triangle counts."""
    a = np.random.default_rng(0).normal(size=(3, 3))
    return a @ a.T + 3.0 * np.eye(3) + np.triu(a, 1)


@pytest.mark.parametrize("name", COMPOSED)
def test_helpers_are_put_together(name):
    source = HEAD + COMPOSED[name].lstrip()
    assert TOGETHER in oracle.generate(source)[1]
    oracle.assert_gradient(source, matrix(), all_modes=True)


@pytest.mark.parametrize("name", APART)
def test_helpers_stay_apart(name):
    source = HEAD + APART[name].lstrip()
    assert TOGETHER not in oracle.generate(source)[1]
    oracle.assert_gradient(source, matrix(), all_modes=True)


def test_the_type_stays():
    source = HEAD + COMPOSED["half a log-determinant"]
    gradient = oracle.run(oracle.generate(source)[1])["f_grad"]
    assert gradient(matrix().astype(np.float32)).dtype == np.float32
