"""Gradients with tapes, compiled by Lantern, against the eager ones."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad

pytest.importorskip("numba")

from lsp_ad.staging.lantern.compiler import driver
from tests.benchmarks import lantern as benchmark

pytestmark = pytest.mark.row("A16")


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm(xs, w, u, b):
    n = u.shape[1]
    h = np.zeros(n)
    c = np.zeros(n)
    for t in range(xs.shape[0]):
        z = w @ xs[t] + u @ h + b
        i = sigmoid(z[:n])
        f = sigmoid(z[n : 2 * n])
        o = sigmoid(z[2 * n : 3 * n])
        g = np.tanh(z[3 * n :])
        c = f * c + i * g
        h = o * np.tanh(c)
    return np.sum(h * h)


def test_the_gradient_of_an_lstm(monkeypatch):
    """No axis is stretched: the adjoint of c begins as a number in the shape of what the tape has for it."""
    versions = []
    built = driver._built

    def noted(program, stretching, places=False):
        versions.append(stretching)
        return built(program, stretching, places)

    monkeypatch.setattr(driver, "_built", noted)
    monkeypatch.setattr(driver, "_compiled", {})
    gradient = lsp_ad.grad(lstm, ("w", "u", "b"))
    compiled = lsp_ad.staged(gradient, backend="lantern")
    rng = np.random.default_rng(0)
    w, u, b = rng.normal(size=(16, 3)), rng.normal(size=(16, 4)), rng.normal(size=16)
    for steps in (5, 0, 1):
        args = rng.normal(size=(steps, 3)), w, u, b
        for found, expected in zip(compiled(*args), gradient(*args), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10)
        assert versions == [False]


def shrinking(x, n):
    """x: (n,)"""
    total = 0.0
    for _ in range(n):
        y = np.sin(x)
        total = total + np.sum(y * y)
        x = y[1:] * x[:-1]
    return total


@pytest.mark.parametrize("n", [0, 1, 3])
def test_what_is_taken_from_a_tape_changes_its_size(n):
    compared(shrinking, "x", np.linspace(0.1, 1.0, 6), n)


def compared(function, wrt, *arguments):
    """The gradient, compiled and in Python; a Python int would be known when tracing."""
    gradient = lsp_ad.grad(function, wrt)
    given = [np.int64(a) if isinstance(a, int) else a for a in arguments]
    found, expected = lsp_ad.staged(gradient, backend="lantern")(*given), gradient(*arguments)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("name", ["joined", "stencil"])
def test_stencils(name):
    compared(getattr(benchmark, name), "u", np.sin(np.arange(7.0)), 0.2, 4)


def scaled(x, y, n):
    """x: (3,)
    y: (3,)"""
    s = np.zeros(3)
    for _ in range(n):
        s = s * y + x
    return np.sum(s)


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("wrt", ["x", "y"])
def test_adjoints_that_begin_as_numbers_have_the_shape_of_their_variable(n, wrt):
    compared(scaled, wrt, np.arange(3.0), np.arange(3.0) + 0.5, n)


def until_small(x):
    while True:
        x = 0.5 * x + 0.1 * np.sin(x)
        if x < 0.3:
            return x * x


def test_a_loop_that_is_staged_after_its_first_iteration():
    compared(until_small, "x", 2.3)


def spread(x):
    z = np.exp(1j * x) * x
    return np.std(z) + np.var(z)


def test_the_spread_of_complex_numbers():
    compared(spread, "x", np.arange(1.0, 5.0))


def test_calls_with_arguments_of_other_types():
    """A Python number takes on the type of what it meets, a NumPy scalar has its own; an int is known."""

    def scaled_by(x, y, n=1):
        return x * y + n

    run = lsp_ad.staged(scaled_by, backend="lantern")
    half, row = np.float32(0.5), np.array([1.0, 2.0], np.float32)
    arguments = [
        (row, 2.0),
        (row, np.float64(2.0)),
        (row, half),
        (row, 3),
        (row, 3, 2),
        (row, True),
        (2.0, half),
        (np.float64(2.0), half),
        (row.astype(np.int64), half),
        (row.reshape(1, 2), half),
        (row.reshape(1, 2), row),
        (np.array(2.0), row),
        (2, row),
        (np.int64(2), row),
        (row[::-1], row),
    ]
    for _ in range(2):
        for args in arguments:
            found, expected = run(*args), scaled_by(*args)
            assert np.asarray(found).dtype == np.asarray(expected).dtype, args
            np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(run(row, y=half), row * half + 1)
