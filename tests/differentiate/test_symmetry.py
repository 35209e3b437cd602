"""Which matrices are told to be symmetric, and that their derivatives are right."""

from __future__ import annotations

import gast
import numpy as np
import pytest

from lsp_ad.differentiate.unit import prepare
from tests import oracle

pytestmark = pytest.mark.row("T25")
HEAD = "import numpy as np\n\n\n"
DECLARED = '''    """A number.

    Parameters
    ----------
    x : ndarray, shape (n, d)
    v : ndarray, shape (n,)
    """
'''

# Of a number s, a matrix x and a vector v: statements that bind k.
SYMMETRIC = {
    "squared distances": "k = np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2) + s * np.eye(len(x))",
    "their exponentials": """
d = np.sum((x[:, None] - x[None]) ** 2, axis=2)
k = np.exp(-d * s) + np.identity(len(x))
""",
    "the last axis": "k = np.exp(-((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=-1) / s)",
    "new axes by their names": """
d = x[:, np.newaxis, :] - x[np.newaxis, ...]
k = np.eye(len(x)) + s / (1.0 + np.mean(np.square(d), -1))
""",
    "an array beside itself": "k = np.exp(-s * np.sum((x[:, None] - x) ** 2, axis=2)) + np.eye(len(x))",
    "of a vector": "k = np.exp(-s * (v[:, None] - v[None, :]) ** 2) + np.eye(len(v))",
    "a product of differences": """
z = x * 1.5
d = z[:, None, :] - z[None, :, :]
k = np.exp(-np.sum(d * (2.0 * d), axis=2)) + s * np.eye(len(x))
""",
    "a scale for each column": """
w = np.exp(s * x[0])
d = (x[:, None, :] - x[None, :, :]) ** 2 / w
k = np.exp(-np.sum(d, axis=2)) + s * np.eye(len(x))
""",
    "views with names": """
rows = x[:, None, :]
columns = x[None, :, :]
k = np.sum((rows - columns) ** 2, axis=2) + s * np.eye(len(x))
""",
    "absolute differences of floats": """
z = x / 2.0
k = np.exp(-s * np.sum(np.abs(z[:, None, :] - z[None, :, :]), axis=2)) + 0.1 * np.eye(len(x))
""",
    "sums and products": "k = s * (v[:, None] * v[None, :]) + np.eye(len(v)) + 0.1 * (v[:, None] + v)",
    "x @ x.T": "k = x @ x.T + s * np.eye(len(x))",
    "x.T @ x": "w = x[0] * s\nk = x.T @ x + np.eye(x.shape[1])\nv = w",
    "a + a.T": "a = s * np.outer(v, np.exp(v))\nk = a + a.T + 9.0 * np.eye(len(v))",
    "outer product with itself": "k = np.outer(v, v) + s * np.eye(len(v))",
    "a diagonal": "k = np.diag(s + v * v)",
    "an inverse": "c = np.exp(-s * (v[:, None] - v) ** 2) + np.eye(len(v))\nk = np.linalg.inv(c)",
    "a copy, turned": "c = np.outer(v, v) + s * np.eye(len(v))\nk = c.copy().T",
    "where": """
d = np.sum((x[:, None] - x[None]) ** 2, axis=2)
k = np.where(d < 2.0, s * d, 0.1 * np.maximum(d, 1.0)) + 7.0 * np.eye(len(x))
""",
    "in a branch": """
if s > 0.0:
    k = np.outer(v, v) + s * np.eye(len(v))
else:
    k = np.exp(-(v[:, None] * v)) + 2.0 * np.eye(len(v))
""",
    "of two branches": """
if s > 5.0:
    d = v[:, None] - v
    k = np.exp(-s * d ** 2) + np.eye(len(v))
else:
    d = np.eye(len(v))
    k = np.outer(v, v) + s * d
k = k + 0.1 * np.eye(len(v))
""",
    "in a loop": """
k = 3.0 * np.eye(len(v))
for _ in range(2):
    k = s * np.eye(len(v)) + np.outer(v, v)
    v = v + 0.1
""",
}

OTHER = {
    "another array": "z = s * x\nk = np.sum((x[:, None, :] - z[None, :, :]) ** 2, axis=2) + np.eye(len(x))",
    "the array before": """
rows = x[:, None, :]
x = x + s
k = np.sum((rows - x[None, :, :]) ** 2, axis=2) + np.eye(len(x))
""",
    "the array of the last iteration": """
rows = v[:, None]
for _ in range(2):
    k = s * rows - v[None, :] + 9.0 * np.eye(len(v))
    v = v * 1.1
    rows = v[:, None]
""",
    "a sum over one of the two": """
z = np.outer(v, v + 1.0)
k = s * np.sum((z[:, None, :] - z[None, :, :]) ** 2, axis=1) + np.eye(len(x))
""",
    "a sum over the first": """
z = np.outer(v, v + 1.0)
k = s * ((z[:, None, :] - z[None, :, :]) ** 2).sum(0) + np.eye(len(x))
""",
    "odd powers": "k = s * (v[:, None] - v[None, :]) ** 3 + np.eye(len(v))",
    "differences themselves": "k = s * (v[:, None] - v[None, :]) + np.eye(len(v))",
    "a maximum of differences": "k = np.maximum(v[:, None] - v[None, :], 0.0) + s * np.eye(len(v))",
    "a vector along one of the two": """
z = np.outer(v, v + 1.0)
d = (z[:, None, :] - z[None, :, :]) ** 2 * v[:, None]
k = s * np.sum(d, axis=2) + np.eye(len(x))
""",
    "a vector added": "k = np.outer(v, v) + s * v + np.eye(len(v))",
    "scaled rows": "k = s * v[:, None] * np.exp(-(v[:, None] - v[None, :]) ** 2) + np.eye(len(v))",
    "a later diagonal": "k = np.outer(v, v) + s * np.eye(len(v), k=1) + 5.0 * np.eye(len(v))",
    "two vectors": "k = np.outer(v, s * v * v) + 5.0 * np.eye(len(v))",
    "an element is written": "k = np.outer(v, v) + s * np.eye(len(v))\nk[0, 1] = 0.3 * s",
    "a view of it is written": "k = np.outer(v, v) + s * np.eye(len(v))\nt = k.T\nt[0, 1] = 0.3 * s",
    "on one path only": """
k = np.outer(v, v) + s * np.eye(len(v))
if s > 0.0:
    k = k + v
""",
    "on the other path": """
k = np.outer(v, v) + s * np.eye(len(v))
if s > 5.0:
    r = 1.0 * k
else:
    r = k + v
k = 2.0 * r
""",
    "a part of it": "c = np.outer(v, v) + s * np.eye(len(v))\nk = c[::-1]",
    "turned over": "k = np.outer(v, v) + s * np.eye(len(v))\nk = np.flip(k, 0)",
    "a difference of a and a.T": "a = s * np.outer(v, np.exp(v))\nk = a - a.T + 9.0 * np.eye(len(v))",
    "further axes": "k = np.sum((v[:, None, None] - v) ** 2, axis=1) * s + np.eye(len(v))",
    "x @ z.T": "z = s * x * x\nk = x @ z.T + 5.0 * np.eye(len(x))",
}


RESULT = "np.sum(np.linalg.solve(k, v) * np.arange(1.0, 1.0 + len(v)))"


def program(statements: str, result: str = RESULT, head: str = DECLARED) -> str:
    body = "".join(f"    {line}\n" for line in statements.strip().splitlines())
    return f"{HEAD}def f(s: float, x, v):\n{head}{body}    return {result}\n"


def is_told(source: str) -> bool:
    """Whether the matrix of the system is known to be symmetric."""
    compiled = oracle.program(source)
    unit = prepare(compiled, compiled.functions["f"], None)
    (call,) = (n for n in gast.walk(unit.tree) if getattr(getattr(n, "func", None), "attr", "") == "solve")
    return call.args[0].id in unit.symmetric


def arguments() -> tuple:
    rng = np.random.default_rng(3)
    return 1.3, rng.normal(size=(4, 2)), rng.normal(size=4)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_matrices_are_told(name):
    source = program(SYMMETRIC[name])
    assert is_told(source)
    value = oracle.run(program(SYMMETRIC[name], "k"))["f"](*arguments())
    np.testing.assert_allclose(value, value.T, rtol=1e-12)
    assert "solve(k.T" not in oracle.assert_gradient(source, *arguments())


DETERMINANT = "np.sum(np.log(np.diag(np.linalg.cholesky(k + 90.0 * np.eye(len(k))))))"


@pytest.mark.parametrize("name", SYMMETRIC)
def test_the_symmetric_part_of_an_adjoint_is_all_that_counts(name):
    source = program(SYMMETRIC[name], DETERMINANT)
    text = oracle.assert_gradient(source, *arguments())
    assert "cholesky_adjoint" not in text or "for _" in source


@pytest.mark.parametrize("name", OTHER)
def test_other_matrices_are_not(name):
    source = program(OTHER[name])
    assert not is_told(source)
    oracle.assert_gradient(source, *arguments())


UNKNOWN = {
    "squared distances": "k = np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2) + s * np.eye(len(x))",
    "of a vector": "k = np.exp(-s * (v[:, None] - v[None, :]) ** 2) + np.eye(len(v))",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_without_known_ranks(name):
    source = program(UNKNOWN[name], head="")
    assert is_told(source)
    oracle.assert_gradient(source, *arguments())


@pytest.mark.parametrize(
    "statements",
    [
        "k = x @ x.T + s * np.eye(len(x))",
        "k = np.diag(s + v)",
        "k = v + s * np.eye(len(v))",
        "k = np.sum((v[:, None] - v) ** 2, axis=-1) + s * np.eye(len(v))",
        "k = np.sum(np.abs(x[:, None, :] - x[None, :, :]), axis=2) + s * np.eye(len(x))",
        "k = np.exp(-np.sum(((x[:, None, :] - x[None, :, :]) / 0.5) ** 2, axis=2)) + s * np.eye(len(x))",
    ],
)
def test_what_might_be_of_another_rank_or_unsigned_is_not_told(statements):
    source = program(statements, "np.linalg.solve(k, k)[0, 0] + s", head="")
    assert not is_told(source)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.float32, complex])
def test_what_is_told_of_any_type_is_so(dtype):
    x = np.array([[1, 0], [3, 2], [0, 7]], dtype=dtype)
    value = oracle.run(program(SYMMETRIC["squared distances"], "k", head=""))["f"](1.0, x, None)
    np.testing.assert_array_equal(value, value.T)


def test_stacks_are_as_before():
    source = program(UNKNOWN["squared distances"], "np.sum(np.linalg.solve(k, v))", head="")
    x = np.random.default_rng(0).normal(size=(3, 2, 3))
    gradient = oracle.run(oracle.generate(source, "f", ("s",))[1])["f_grad"]
    with pytest.raises(ValueError, match="one matrix, not a stack"):
        gradient(1.0, x, np.ones((3, 3, 1)))


def test_a_block_in_the_backward_sweep_sees_the_adjoint_of_what_is_read():
    """The adjoint of a Cholesky factor's matrix is that of the triangle that is read."""
    inserted = "    with lsp_ad.insert_grad_of(k) as dk:\n        dk = np.clip(dk, -0.1, 0.1)\n"
    body = "    k = np.outer(v, v) + s * np.eye(len(v))\n"
    source = f"import lsp_ad\n{HEAD}def f(s: float, v):\n{body}{inserted}"
    source += "    return np.sum(np.log(np.diag(np.linalg.cholesky(k))))\n"
    text = oracle.generate(source, "f", ("s",))[1]
    v = np.array([0.3, 0.4, 2.0])
    dk = np.linalg.inv(np.outer(v, v) + 0.2 * np.eye(3))
    dk = np.clip(np.tril(dk) - 0.5 * np.diag(np.diag(dk)), -0.1, 0.1)
    assert np.isclose(oracle.run(text)["f_grad"](0.2, v), np.trace(dk))


def test_numbers_that_it_relies_on_are_checked():
    """`noise` is in no statement that carries a derivative, but where it is a vector k is not symmetric."""
    source = f"""{HEAD}def f(s: float, noise: float, x, v):
{DECLARED}    passive = noise * np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2)
    k = s * np.eye(len(x)) + passive
    return np.sum(np.linalg.solve(k, v))
"""
    gradient = oracle.run(oracle.generate(source, "f", ("s",))[1])["f_grad"]
    s, x, v = arguments()
    gradient(s, 0.1, x, v)
    with pytest.raises(ValueError, match="noise a number"):
        gradient(s, v, x, v)
