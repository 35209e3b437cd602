"""Functions of NumPy on Lantern that are made of its primitives: values, dtypes and shapes are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging import StagingError

pytest.importorskip("numba")
pytestmark = pytest.mark.row("A14", "A15")
X = np.array([[1.5, -2.0, 0.25, 3.0], [0.5, 4.0, -1.0, 2.5], [-0.75, 1.0, 2.0, -3.5]])
N = np.array([[5, -3, 0, 2], [1, 4, -6, 7], [2, 2, -1, 3]])


def differences(x):
    return np.diff(x), np.diff(x, axis=0), np.diff(x, n=2), np.diff(x > 0)


def products(x):
    return np.inner(x, x), np.vdot(x, x), np.dot(x, x.T), x @ x[0], x[0] @ x.T, np.inner(x[0], x[1])


def diagonals(x):
    return (
        np.diag(x[0]),
        np.diag(x),
        np.diag(x, 1),
        np.diagonal(x, -1),
        np.trace(x),
        np.tril(x),
        np.triu(x, 1),
    )


def rearranged(x):
    return (
        np.flip(x),
        np.fliplr(x),
        np.flipud(x),
        np.roll(x, 2),
        np.roll(x, -1, axis=1),
        np.repeat(x, 2, axis=1),
    )


def joined(x):
    return np.vstack([x, x[0]]), np.hstack([x, x]), np.column_stack([x, x[:, 0]]), np.tile(x[0], 2)


def picked(x):
    return np.take(x, 2), np.take(x, [1, 0], axis=1), np.unravel_index(np.argmax(x), (3, 4))


def summaries(x):
    return np.median(x), np.median(x, axis=0), np.ptp(x), np.average(x), np.count_nonzero(x > 1, axis=0)


def spread(x):
    return np.std(x), np.var(x, axis=(0, 1)), np.var(x, axis=1, ddof=1), x.std(axis=0)


def rounded(x):
    return (
        np.round(x / 3),
        np.round(x / 3, 1),
        np.isclose(x, x + 1e-12),
        np.allclose(x, x),
        np.linspace(x[0, 0], 2, 1),
    )


FUNCTIONS = [differences, products, diagonals, rearranged, joined, picked, summaries, spread, rounded]


@pytest.mark.parametrize("x", [X, X.astype(np.float32), N], ids=["float64", "float32", "int64"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_function_gives_what_numpy_gives(f, x):
    if f is rounded and x.dtype == np.float32:
        pytest.skip("linspace computes in float64")
    for got, expected in zip(lsp_ad.staged(f, backend="lantern")(x), f(x), strict=True):
        assert np.shape(got) == np.shape(expected)
        assert np.asarray(got).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(got, expected, rtol=2e-5 if x.dtype == np.float32 else 1e-12)


def bits(n, k):
    return n << 2, n >> 1, n & 6, n | k, n ^ k, 1 << k, ~n, (n > 0) & k, n << 70, n >> 70, k >> n


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_operators_of_bits(dtype):
    n, k = np.array([5, -3, 0, 2], dtype), np.array([1, 2, 3, 4], dtype)
    with np.errstate(all="ignore"):
        expected = bits(n, k)
    for got, wanted in zip(lsp_ad.staged(bits, backend="lantern")(n, k), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
        assert got.dtype == wanted.dtype
    for got, wanted in zip(lsp_ad.staged(bits, backend="lantern")(n[0], k[1]), bits(n[0], k[1]), strict=True):
        assert got == wanted


def test_reciprocals_of_integers_are_refused():
    with pytest.raises(StagingError, match="reciprocal"):
        lsp_ad.staged(lambda n: np.reciprocal(n), backend="lantern")(N)


def divided(z, w):
    return z / w, (z * 2.0) / (w * w), 1.0 / w, z[0] / w[2]


def test_complex_numbers_are_divided_as_numpy_divides_them():
    z = np.array([1.0 + 2.0j, 0.0 + 1.0j, 3.0 - 1.0j, 0.0j])
    w = np.array([0.5 - 1.5j, 2.0 + 0.1j, 0.0j, 0.0j])
    with np.errstate(all="ignore"):
        expected = divided(z, w)
    for got, wanted in zip(lsp_ad.staged(divided, backend="lantern")(z, w), expected, strict=True):
        np.testing.assert_allclose(got, wanted)
