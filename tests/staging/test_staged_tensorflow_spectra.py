"""Fourier transforms, indices of triangles, and Kronecker products of NumPy on TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad

pytest.importorskip("tensorflow")
pytestmark = pytest.mark.row("A8", "A15")
REAL = np.random.default_rng(1).normal(size=(4, 6))
COMPLEX = REAL + 1j * REAL[::-1]
OF_ONE_AXIS = ["fft", "ifft", "rfft", "irfft"]
OPTIONS = [{}, {"n": 4}, {"n": 9}, {"axis": 0}, {"norm": "ortho"}, {"norm": "forward", "axis": -2, "n": 5}]


def assert_equal(function, *arguments):
    expected = function(*arguments)
    found = lsp_ad.staged(function, backend="tensorflow")(*arguments)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    assert np.asarray(found).dtype == np.asarray(expected).dtype


@pytest.mark.parametrize("name", OF_ONE_AXIS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_of_one_axis(name, options):
    transform = getattr(np.fft, name)
    for x in (REAL, COMPLEX) if name != "rfft" else (REAL,):
        assert_equal(lambda x: transform(x, **options), x)


@pytest.mark.parametrize("name", OF_ONE_AXIS)
@pytest.mark.parametrize("kind", ["2", "n"])
@pytest.mark.parametrize("options", [{}, {"s": (3, 8)}, {"axes": (1, 0)}, {"norm": "ortho"}], ids=str)
def test_of_several_axes(name, kind, options):
    if "s" in options:
        options = options | {"axes": (0, 1)}
    transform = getattr(np.fft, name + kind)
    assert_equal(lambda x: transform(x, **options), REAL if name != "irfft" else COMPLEX)


@pytest.mark.parametrize("shape", [(5,), (2, 3), (4, 2)])
def test_shifts(shape):
    x = np.arange(float(np.prod(shape))).reshape(shape)
    assert_equal(lambda x: np.fft.fftshift(x), x)
    assert_equal(lambda x: np.fft.ifftshift(x, axes=0), x)


def test_kron_and_sums_without_nan():
    for a, b in [(REAL[0], REAL[1]), (REAL, REAL[:2, :3]), (REAL[0], REAL[:2]), (REAL[None], REAL)]:
        assert_equal(lambda a, b: np.kron(a, b), a, b)
    assert_equal(lambda x: np.nansum(x), np.where(REAL > 0, np.nan, REAL))
    assert_equal(lambda x: np.nansum(x, axis=1), np.where(REAL > 0, np.nan, REAL))


@pytest.mark.parametrize("axes", [(0, 2), (-1, 0), ((0, 1), (1, 2)), ((2, 0), (0, 1))])
def test_moved_axes(axes):
    assert_equal(lambda x: np.moveaxis(x, *axes), REAL.reshape(2, 3, 4))


def test_indices():
    def program(k):
        y = k * 2.0
        y[np.diag_indices_from(y)] += 1.0
        return np.sum(k[np.tril_indices_from(k)]) + y, k[np.triu_indices_from(k, 1)]

    found = lsp_ad.staged(program, backend="tensorflow")(REAL[:, :4])
    for one, other in zip(found, program(REAL[:, :4]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
