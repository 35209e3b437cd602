"""What a staged mask picks, on JAX: sums and the like, arithmetic, and writes under a mask."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.row("A7", "A11")
X = np.array([1.0, -2.0, 3.0, 0.1, -0.7])


def summed(x):
    return np.sum(x[x > 0.2] ** 2), x[x > 0].sum() / 3


def reduced(x):
    many = x[x > -5]
    return many.mean() + many.max() - np.min(x[x < 2]) + np.prod(x[x > 1]), np.any(many > 2), np.all(many > 0)


def written(x):
    y = x * x
    y[x > 0] = np.sin(x[x > 0])
    y[x < -0.5] *= 3.0
    y[np.isnan(y)] = 0.0
    return y


def chosen_by_one_mask(x):
    y, m = x * x, x > 0
    y[m] = y[m] * x[m]
    y[~m] = 0.5
    np.add.at(y, y > 1, 2.0 * y[y > 1])
    return y


def returned(x):
    return x[x > 0] * 2 + 1.0, -x[x > 0], 1.0 / x[x > 1]


def through_branches_and_loops(x):
    m = x > 0
    picked = x[m] * 2 if np.sum(x) > 0 else x[m] - 1
    total = 0.0
    for i in range(100):
        total = total + np.sum(x[m]) * i
    return total, picked


def of_matrices(x):
    a, m = np.outer(x, x), x > 0
    rows = a[m]
    a[m] = np.arange(5.0)
    a[a < 0] += 1.0
    return np.sum(rows), np.sum(np.log(x[m])), x[m].size, a


def of_integers(x):
    y = np.zeros(5, int)
    y[x > 0] = x[x > 0] * 2.6
    return y


def known_masks(x):
    y = x.copy()
    y[np.array([True, False, True, False, True])] = x[0]
    return y, x[:1][np.array([True])]


PROGRAMS = [
    *(summed, reduced, written, chosen_by_one_mask, returned, through_branches_and_loops, of_matrices),
    *(of_integers, known_masks),
]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("x", [X, -np.ones(5)], ids=["some", "none"])
def test_as_in_python(program, x):
    expected = program(x)
    found = lsp_ad.staged(program, backend="jax")(x)
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-12)
        assert np.shape(one) == np.shape(other)


def test_the_extreme_of_none_and_masks_that_differ():
    def largest(x):
        return np.max(x[x > 100])

    with pytest.raises(ValueError, match=r"test_staged_masks.py:\d+: max of no elements"):
        lsp_ad.staged(largest, backend="jax")(X)

    def differ(x):
        return np.sum(x[x > 0] + x[x > 1])

    with pytest.raises(ValueError, match=r"test_staged_masks.py:\d+: two masks pick different elements"):
        lsp_ad.staged(differ, backend="jax")(X)


def of_a_number(x):
    return x[x > 0][0]


def with_an_array(x):
    return x[x > 0] * np.arange(2.0)


def gone_over(x):
    total = 0.0
    for v in x[x > 0]:
        total += v
    return total


def sorted_(x):
    return np.sort(x[x > 0])


@pytest.mark.parametrize("program", [of_a_number, with_an_array, gone_over, sorted_])
def test_refused(program):
    with pytest.raises(lsp_ad.StagingError, match=r"test_staged_masks.py:\d+: .*known only at run time"):
        lsp_ad.staged(program, backend="jax")(X)


def test_gradients_and_jit():
    def loss(x):
        return np.sum(x[x > 0.2] ** 2)

    def logarithms(x):
        return np.sum(np.log(x[x > 0.2]))

    gradient = lsp_ad.grad(loss)
    np.testing.assert_allclose(lsp_ad.staged(gradient, backend="jax")(X), gradient(X), rtol=1e-12)
    with jax.enable_x64(True):
        by_jax = jax.jit(jax.grad(lsp_ad.staged(logarithms)))(X)
    np.testing.assert_allclose(by_jax, np.where(X > 0.2, 1 / X, 0.0), rtol=1e-12)
    with pytest.raises(
        lsp_ad.StagingError, match=r"test_staged_masks.py:\d+: the result of `returned` is what"
    ):
        jax.jit(lsp_ad.staged(returned))(X)
