"""Gradients with tapes, compiled by Lantern, against the eager ones."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad

pytest.importorskip("numba")

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


def test_the_gradient_of_an_lstm():
    rng = np.random.default_rng(0)
    args = (rng.normal(size=(5, 3)), rng.normal(size=(16, 3)), rng.normal(size=(16, 4)), rng.normal(size=16))
    gradient = lsp_ad.grad(lstm, ("w", "u", "b"))
    compiled = lsp_ad.staged(gradient, backend="lantern")
    for found, expected in zip(compiled(*args), gradient(*args), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10)
