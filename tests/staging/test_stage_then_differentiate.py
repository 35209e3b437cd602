"""The gradient that JAX takes of staged code is the one that lsp-ad writes, and that one can be staged."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad
from tests.staging import test_staged_lists, test_staged_loops

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.row("A17")
X = np.array([0.3, -0.4, 1.2])
W = np.random.default_rng(1).normal(size=(3, 3))


def branch_in_a_loop(x, n):
    y = x
    for _ in range(n):
        if np.sum(y) > 1.0:
            y = y * y * 0.5
        else:
            y = np.sin(y) + x
    return np.sum(y)


def rnn(x, w, n):
    h = np.zeros(3)
    hs = []
    for t in range(n):
        h = np.tanh(w @ h + x * np.cos(0.1 * t))
        hs.append(h)
    total = 0.0
    for h in hs:
        total = total + np.sum(h * h)
    return total


def solver(x, c, n):
    u = x * 1.0
    for _ in range(n):
        u[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def helper(x):
    def cell(a, b):
        return np.sin(a) * b + np.cos(a)

    total = 0.0
    for v in x:
        total = total + cell(v, total)
    return total


CASES = [
    (branch_in_a_loop, X, 3),
    (branch_in_a_loop, X, 100),
    (rnn, X, W, 4),
    (rnn, X, W, 80),
    (solver, np.linspace(0.0, 1.0, 8) ** 2, 0.1, 70),
    (helper, X),
]


@pytest.mark.parametrize(("function", "arguments"), [(f, a) for f, *a in CASES])
def test_the_same_gradient(function, arguments):
    gradient = lsp_ad.grad(function, wrt=("x",))
    expected = gradient(*arguments)
    np.testing.assert_allclose(lsp_ad.staged(gradient, backend="jax")(*arguments), expected, rtol=1e-9)
    static = tuple(i for i, a in enumerate(arguments) if isinstance(a, int))
    with jax.enable_x64(True):
        found = jax.jit(jax.grad(lsp_ad.staged(function)), static_argnums=static)(*arguments)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize(
    "program",
    [
        test_staged_lists.rnn_over_rows,
        test_staged_lists.there_and_back,
        test_staged_lists.popped,
        test_staged_lists.tapes_in_tapes,
    ],
)
def test_lists_can_be_differentiated_by_jax(program):
    def loss(xs):
        found = program(xs, test_staged_lists.W)
        return np.sum(found[0] if isinstance(found, tuple) else found)

    xs = test_staged_lists.XS[:5]
    with jax.enable_x64(True):
        gradient = jax.grad(lsp_ad.staged(loss))(xs)
    step = np.zeros_like(xs)
    step[2, 1] = 1e-6
    numerical = (loss(xs + step) - loss(xs - step)) / 2e-6
    np.testing.assert_allclose(gradient[2, 1], numerical, rtol=1e-5, atol=1e-8)


def test_a_gradient_of_a_scan_does_not_read_the_array_anew():
    with jax.enable_x64(True):
        text = str(
            jax.make_jaxpr(jax.grad(lsp_ad.staged(lambda m: np.sum(test_staged_loops.over_rows(m)))))(
                test_staged_loops.M
            )
        )
    assert "scatter" not in text
