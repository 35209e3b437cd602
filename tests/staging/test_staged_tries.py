"""`except IndexError` in staged code: an index that is known when the body is traced raises there."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad
from tests.staging.test_staged_programs import assert_equal

pytestmark = pytest.mark.row("A12")
X = np.array([0.4, 1.2, -0.3])


def picked(x, k):
    try:
        y = x[k] * 2.0
    except IndexError:
        y = x[0] * x[0]
    return y


def up_to_the_end(x, k):
    total = 0.0
    while True:
        try:
            v = x[k]
        except LookupError:
            break
        total = total * v + v
        k += 1
    return total


def written(x, k):
    y = x * 1.0
    try:
        y[k] = 2.0
        y[k, 0] = 3.0
    except IndexError as error:
        y = y + len(error.args)
    return y


def ended(x, k):
    kept = list(x)
    try:
        while True:
            last = kept.pop()
    except IndexError:
        pass
    return last * k


@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
@pytest.mark.parametrize("function", [picked, up_to_the_end, written, ended])
@pytest.mark.parametrize("k", [1, 7, -4])
def test_known_indices(function, k, backend):
    pytest.importorskip(backend)
    if function is up_to_the_end and k < 0:
        k = -3
    assert_equal(lsp_ad.staged(function, backend=backend)(X, k), function(X.copy(), k))


@pytest.mark.parametrize("backend", ["jax", "tensorflow", "lantern"])
def test_indices_that_are_staged(backend):
    pytest.importorskip({"lantern": "numba"}.get(backend, backend))

    def f(x):
        k = 0
        while x[0] > 0.1:
            x = x * 0.5
            k += 1
        try:
            y = x[k]
        except IndexError:
            y = 0.0
        return y

    with pytest.raises(lsp_ad.StagingError, match="`except IndexError` sees no errors"):
        lsp_ad.staged(f, backend=backend)(X)


def test_a_function_that_picks():
    pytest.importorskip("jax")

    def f(x, k):
        try:
            y = np.take(x, k)
        except IndexError:
            y = 0.0
        return y

    with pytest.raises(lsp_ad.StagingError, match="sees no errors"):
        lsp_ad.staged(f, backend="jax")(X, 7)


def test_of_other_errors_the_strictest_clause_decides():
    pytest.importorskip("jax")

    def f(x, k):
        try:
            y = x[k] / k
        except IndexError:
            y = x[0]
        except ZeroDivisionError:
            y = x[1]
        return y

    with pytest.raises(lsp_ad.StagingError, match="`except ZeroDivisionError` sees no errors"):
        lsp_ad.staged(f, backend="jax")(X, 1)
    assert_equal(lsp_ad.staged(f, backend="jax")(X, 7), f(X, 7))
