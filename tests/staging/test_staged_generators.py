"""`sum`, `any` and `all` of generator expressions over what has an unknown number of items."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging import StagingError

pytest.importorskip("jax")
pytest.importorskip("numba")
pytestmark = pytest.mark.row("A8", "A15")
X = np.array([1.0, 5.0, 2.0])
A = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])


def of_arrays(x, low, high):
    squares = sum(v * v for v in x)
    return (
        any(v > high for v in x),
        all(low < v < high for v in x),
        squares,
        sum((v for v in x), 1.0),
        sum(i * v for i, v in enumerate(x)),
        sum(v * w for v, w in zip(x, x[::-1], strict=True)),
    )


def of_ranges(x, n):
    return any(x[k] > 4.0 for k in range(n)), all(x[k] > 0.0 for k in range(n)), sum(x[k] for k in range(n))


def cholesky(a):
    n = len(a)
    factor = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j] - sum(factor[i, k] * factor[j, k] for k in range(j))
            if i == j:
                if s <= 0.0:
                    return factor, False
                factor[i, i] = np.sqrt(s)
            else:
                factor[i, j] = s / factor[j, j]
    return factor, True


def nested(m):
    return sum(sum(v for v in row) for row in m)


def equal(got, expected):
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other)


def test_of_arrays_of_unknown_size():
    f = lsp_ad.staged(of_arrays, backend="lantern")
    for x in (X, -X, np.zeros(0)):
        for high in (12.0, 4.0):
            equal(f(x, 0.0, high), of_arrays(x, 0.0, high))


@pytest.mark.parametrize("backend", ["jax", "lantern"])
def test_of_ranges_to_a_staged_bound(backend):
    f = lsp_ad.staged(of_ranges, backend=backend)
    for n in (0, 1, 2, 3):
        equal(f(X, np.int64(n)), of_ranges(X, n))


def test_items_after_the_one_that_decides_are_not_computed():
    f = lsp_ad.staged(lambda x, n: any(x[k] > 4.0 for k in range(n)), backend="lantern")
    assert f(X, np.int64(9))
    with pytest.raises(IndexError):
        f(-X, np.int64(9))


def test_inside_of_loops_and_of_one_another():
    f = lsp_ad.staged(cholesky, backend="lantern")
    for a in (A, -A):
        equal(f(a), cholesky(a))
    assert lsp_ad.staged(nested, backend="lantern")(A) == nested(A)


def pairs(x):
    return sum(v * w for v in x for w in x)


def listed(x):
    return list(v * 2.0 for v in x)  # noqa: C400


def kept(x):
    return sum(v for v in x if v > 2.0)


@pytest.mark.parametrize("f", [pairs, listed, kept], ids=lambda f: f.__name__)
def test_what_stays_refused(f):
    with pytest.raises(StagingError, match=r"test_staged_generators.py:\d+: .* (`for` statement|np.where)"):
        lsp_ad.staged(f, backend="lantern")(X)
