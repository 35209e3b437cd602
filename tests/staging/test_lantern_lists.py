"""Lists in lists on Lantern, such as the tape of an inner loop on that of an outer one: what Python gives."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad
from tests.staging.test_staged_programs import assert_equal

pytest.importorskip("numba")
pytestmark = pytest.mark.row("A7", "A16")
X = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def numbers(x, n):
    tape = []
    for i in range(n):
        inner = []
        for j in range(i):
            inner.append(x[j % 5] * i)
        tape.append((i, inner))
    s = 0.0
    for i, inner in reversed(tape):
        for v in reversed(inner):
            s = s * 0.5 + v * i
    return s


def tuples_with_arrays(x, n):
    tape = []
    for i in range(n):
        inner = []
        for j in range(i):
            inner.append((j, x * i))
        tape.append((i, inner))
    s = 0.0
    for i, inner in reversed(tape):
        for j, v in reversed(inner):
            s = s * 0.5 + v.sum() * i * j
    return s


def three_deep(x, n):
    outer = []
    for i in range(n):
        middle = []
        for j in range(i % 3):
            inner = []
            for k in range(j + 1):
                inner.append(x[k] + i)
            middle.append(inner)
        outer.append(middle)
    s = 0.0
    for middle in outer:
        for inner in reversed(middle):
            s = s * 0.5
            for v in inner:
                s = s + np.sin(v)
    return s


def popped(x, n):
    outer = []
    for i in range(n):
        inner = []
        for j in range(i + 1):
            inner.append(x[j % 5])
        outer.append(inner)
    s = 0.0
    while len(outer) > 1:
        inner = outer.pop()
        while len(inner) > 0:
            s = s * 0.9 + inner.pop()
    return s


@pytest.mark.parametrize("count", [3, 7, np.array(7)])
@pytest.mark.parametrize("program", [numbers, tuples_with_arrays, three_deep, popped])
def test_lists_in_lists(program, count):
    expected = program(X, int(count))
    assert_equal(lsp_ad.staged(program, backend="lantern")(X, count), expected)
