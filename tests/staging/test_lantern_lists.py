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


def a_total_before_each_item(x):
    total = 0
    kept = []
    for v in x:
        kept.append((v, total))
        total = total + v * v
    s = 0.0
    for v, before in reversed(kept):
        s = s * 0.5 + v * before
    return s


def none_at_first(x):
    best = None
    kept = []
    for v in x:
        kept.append((v, best))
        if best is None or v > best:
            best = v * 2.0
    s = 0.0
    for v, before in kept:
        s = s + (v if before is None else before * v)
    return s, best


@pytest.mark.parametrize("program", [a_total_before_each_item, none_at_first])
def test_items_have_the_types_that_the_variables_come_to_have(program):
    assert_equal(lsp_ad.staged(program, backend="lantern")(X), program(X))


def of_an_array(x, n):
    made = []
    for _ in range(n):
        rows = list(x)
        last = rows.pop()
        rows.append(last * 2.0)
        made.append(rows)
    s = 0.0
    for rows in made:
        for v in rows:
            s = s * 0.5 + v
    return s, len(list(x))


def of_a_range_and_a_zip(x, n):
    positions = list(range(n))
    pairs = list(zip(x, x * 2.0))  # noqa: B905
    s = 0.0
    for i in positions:
        s = s + i
    for a, b in reversed(pairs):
        s = s * 0.5 + a * b
    return s


@pytest.mark.parametrize("count", [3, np.array(7)])
@pytest.mark.parametrize("program", [of_an_array, of_a_range_and_a_zip])
def test_a_list_of_as_many_items_as_there_are(program, count):
    assert_equal(lsp_ad.staged(program, backend="lantern")(X, count), program(X, int(count)))


def strict_with_a_list(x, a, b):
    total = 0.0
    for v, w in zip(x, [a, b], strict=True):
        total = total + v * w
    return total


def test_a_strict_zip_with_a_list_of_python():
    staged = lsp_ad.staged(strict_with_a_list, backend="lantern")
    assert_equal(staged(X[:2], 3.0, 4.0), strict_with_a_list(X[:2], 3.0, 4.0))
    with pytest.raises(ValueError, match="different lengths"):
        staged(X, 3.0, 4.0)


def or_one(value, other):
    return other if value is None else value * other


def handed_on(x, n):
    best = None
    total = 0.0
    for i in range(n):
        total = total + or_one(best, x[i % 5])
        if x[i % 5] > 2.0:
            best = x[i % 5]
    return total


@pytest.mark.parametrize("count", [3, 7])
def test_what_may_be_none_is_handed_to_a_function(count):
    assert_equal(lsp_ad.staged(handed_on, backend="lantern")(X, count), handed_on(X, count))


def chosen(x):
    places = []
    for i in range(len(x)):
        if x[i] > 1.5:
            places.append(i)
    y = x * 1.0
    np.add.at(y, places, 2.0)
    y[places] = y[places] * 3.0
    return x[places], y


def test_a_list_as_an_index():
    assert_equal(lsp_ad.staged(chosen, backend="lantern")(X), chosen(X))
