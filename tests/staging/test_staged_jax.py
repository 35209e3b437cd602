"""What is special about JAX: lists where NumPy takes arrays, loops without iterations, lists in lists."""

from __future__ import annotations

import re

import numpy as np
import pytest

import lsp_ad
from tests.staging.test_staged_programs import assert_equal

pytest.importorskip("jax")
pytestmark = pytest.mark.row("A10")
X = np.array([1.0, -2.0, 3.0])


def lists_for_arrays(x):
    return (
        np.take(x, [0, 2, 2]),
        np.cumsum([x[0], x[1]]),
        np.reshape([x, x], [3, 2]),
        np.dot([1.0, 2.0, 3.0], x),
    )


def nothing_to_go_over(x):
    total, seen = 0.0, np.zeros_like(x)
    for i, v in enumerate(x[:0]):
        total += v
        seen[i] += v
    return total, seen


def picked(x):
    chosen = []
    for i in range(len(x)):
        chosen.append(2 - i)
    return x[chosen] * 2.0


@pytest.mark.parametrize("program", [lists_for_arrays, nothing_to_go_over, picked])
def test_as_in_numpy(program):
    assert_equal(lsp_ad.staged(program, backend="jax")(X), program(X))
    assert_equal(lsp_ad.staged(picked, backend="jax")(np.arange(100.0)[:3]), picked(np.arange(100.0)[:3]))


def picked_under_a_condition(x):
    chosen = []
    for i in range(len(x)):
        if x[i] > 0:
            chosen.append(i)
    return x[chosen]


def test_an_index_of_unknown_length():
    with pytest.raises(lsp_ad.StagingError, match="known only at run time, and with it the shape"):
        lsp_ad.staged(picked_under_a_condition, backend="jax")(X)


def lists_in_lists(x):
    tape = []
    for i in range(3):
        inner = []
        for j in range(i):
            inner.append(x[j])
        tape.append((i, inner))
        if x[i] > 2.0:
            break
    return len(tape)


def test_lists_of_other_lengths_in_a_list():
    message = "tuple of 2, a new one is a tuple of 2, with lists in it of other lengths"
    with pytest.raises(lsp_ad.StagingError, match=re.escape(message)):
        lsp_ad.staged(lists_in_lists, backend="jax")(X)
