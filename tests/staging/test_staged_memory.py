"""Copies, views and lists of arrays of which one is written into: what NumPy does, or an error with the name."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging.backends import lantern
from lsp_ad.staging.lantern.interpreter import interpret
from tests.staging.random_memory import check
from tests.staging.test_staged_programs import assert_equal

pytest.importorskip("jax")
pytest.importorskip("numba")
pytestmark = pytest.mark.row("A7", "A14")
X = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
M = np.arange(6.0).reshape(2, 3)
INEXACT = "may share its memory"


def by_method(x, is_copied):
    y = x * 2.0
    z = y
    if is_copied:
        z = y.copy()
    y[0] = 5.0
    return z


def by_function(x, is_copied):
    y = x * 2.0
    z = y
    if is_copied:
        z = np.array(y)
    y[0] = 5.0
    return z


def by_type(x, is_copied):
    y = x * 2.0
    z = y
    if is_copied:
        z = y.astype(float)
    y[0] = 5.0
    return z


def by_sign(x, is_copied):
    y = x * 2.0
    z = y
    if is_copied:
        z = +y
    y[0] = 5.0
    return z


def flattened(x, is_copied):
    y = x * 2.0
    z = y
    if is_copied:
        z = y.flatten()
    y[0] = 5.0
    return z


def same_type(x, is_copied):
    y = x * 2.0
    z = y
    if is_copied:
        z = np.float64(y)
    y[0] = 5.0
    return z.sum()


COPIES = [by_method, by_function, by_type, by_sign, flattened]


@pytest.mark.parametrize("backend", ["jax", "lantern"])
@pytest.mark.parametrize("is_copied", [True, False])
@pytest.mark.parametrize("program", [*COPIES, same_type])
def test_a_copy_is_not_the_array(program, is_copied, backend):
    try:
        found = lsp_ad.staged(program, backend=backend)(X, is_copied)
    except lsp_ad.StagingError as error:
        assert is_copied and INEXACT in str(error)
    else:
        assert_equal(found, program(X, is_copied))


@pytest.mark.parametrize("program", [p for p in COPIES if p is not flattened])
def test_lantern_knows_copies(program):
    assert_equal(lsp_ad.staged(program, backend="lantern")(X, True), program(X, True))


def a_list_with_a_view(x, k):
    y = x * 2.0
    ys = [y, y[k:]]
    y[1] = 5.0
    return ys[1]


def a_view_of_a_view(x, k):
    y = x * 2.0
    z = y[k:].reshape(2, 2)
    ys = [y, z]
    y[1] = 5.0
    return ys[1]


def another_array(x, k):
    y = x * 2.0
    ys = [y, x[k:]]
    y[1] = 5.0
    return ys[0] + 1.0, ys[1]


def views_in_a_loop(x, n):
    y = x * 2.0
    kept = []
    for _ in range(n):
        kept.append(y[1:])
        y[1:-1] = y[1:-1] * 0.5
    return kept


def two_in_turn(x, n):
    u = x * 1.0
    v = np.zeros_like(u)
    kept = []
    for _ in range(n):
        v[1:-1] = u[1:-1] * 2.0
        kept.append((u, v))
        t = u
        u = v
        v = t
    return [a.sum() * b[1] for a, b in kept]


def kept_from_the_iteration_before(x, n):
    y = x * 1.0
    z = y
    kept = []
    for i in range(n):
        kept.append(z)
        z = y * 2.0
        y[1] = z[1] + i
        z = y
    return kept


@pytest.mark.parametrize("backend", ["jax", "lantern"])
@pytest.mark.parametrize("program", [a_list_with_a_view, a_view_of_a_view])
def test_views_are_refused(program, backend):
    with pytest.raises(lsp_ad.StagingError, match=f"`ys` {INEXACT}"):
        lsp_ad.staged(program, backend=backend)(X, 1)


@pytest.mark.parametrize("backend", ["jax", "lantern"])
def test_a_list_with_another_array(backend):
    assert_equal(lsp_ad.staged(another_array, backend=backend)(X, 1), another_array(X, 1))


@pytest.mark.parametrize("backend", ["jax", "lantern"])
@pytest.mark.parametrize("program", [views_in_a_loop, two_in_turn])
def test_views_that_a_list_keeps_are_refused(program, backend):
    with pytest.raises(lsp_ad.StagingError, match=INEXACT):
        lsp_ad.staged(program, backend=backend)(X, 70)


def numbers_in_a_list(x, n):
    y = x * 1.0
    kept = []
    for i in range(n):
        kept.append((i, y[i % 5]))
        y[i % 5] = y[i % 5] * 0.5 + i
    total = 0.0
    for i, old in reversed(kept):
        y[i % 5] = old
        total = total + old * (i + 1)
    return total, y


def copies_in_a_list(m, n):
    y = m * 1.0
    kept = []
    for i in range(n):
        kept.append((i, y[i % 2].copy(), y[:, [0, 2]], y @ y.T))
        y[i % 2] *= 0.5
    total = 0.0
    for i, row, columns, product in kept:
        total = total + np.sum(row) * (i + 1) + np.sum(columns) + np.sum(product)
    return total, y


def two_arrays_and_a_list(m, n):
    y = m * 1.0
    z = m.T * 1.0
    kept = []
    for i in range(n):
        row = z[i % 3]
        kept.append(row)
        y[i % 2, 0] = row[0] + y[i % 2, 1]
    return y, kept[2].sum(), z


def known_arrays(x, n):
    y = np.zeros(5)
    kept = []
    for i in range(n):
        old = y[[0, 1]]
        kept.append(old)
        y[[0, 1]] = x[:2] * i + old
    return y, kept[1].sum()


def kept_in_branches(x, n):
    y = x * 1.0
    old = x * 0.0
    total = 0.0
    for i in range(n):
        if y[0] < 10.0:
            old = y.copy()
        else:
            old = y[::-1] * 2.0
        y[i % 5] = y[i % 5] + 1.5
        total = total + np.sum(old)
    return total, y, old


@pytest.mark.parametrize("count", [3, 70])
@pytest.mark.parametrize(
    ("program", "array"),
    [
        (numbers_in_a_list, X),
        (copies_in_a_list, M),
        (two_arrays_and_a_list, M),
        (known_arrays, X),
        (kept_in_branches, X),
    ],
)
def test_what_a_list_keeps_is_no_part_of_what_is_written(program, array, count):
    expected = program(array, count)
    assert_equal(lsp_ad.staged(program, backend="lantern")(array, count), expected)


def test_a_new_array_is_kept_before_it_stands_for_another():
    with pytest.raises(lsp_ad.StagingError, match=INEXACT):
        lsp_ad.staged(kept_from_the_iteration_before, backend="lantern")(X, 70)


def inner_and_outer(x, n):
    y = x * 1.0
    w = y
    total = 0.0
    for i in range(n):
        w = y if i < 2 else w
        for j in range(n):
            y[j % 5] = y[j % 5] + i
        total = total + np.sum(w)
    return total, y


def test_what_an_outer_loop_makes_one_is_refused_in_the_inner_one():
    with pytest.raises(lsp_ad.StagingError, match=f"`w` {INEXACT}"):
        lsp_ad.staged(inner_and_outer, backend="lantern")(X, 70)


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(monkeypatch, seed):
    monkeypatch.setattr(lantern.BACKEND, "enter", lambda program: partial(interpret, program))
    check(seed)
