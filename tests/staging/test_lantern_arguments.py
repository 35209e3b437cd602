"""Writes into the arrays of the caller, which Lantern refuses however they come about."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad

pytestmark = pytest.mark.row("A16")


def by_view(x, s, n):
    v = x[1:]
    v[0] = s
    return np.sum(v)


def by_branch(x, s, n):
    if s > 0:
        u = x
    else:
        u = x * 1.0
    u[0] = s
    return np.sum(u)


def by_swap(x, s, n):
    u = x * 1.0
    v = x
    for _ in range(n):
        u[0] = s
        u, v = v, u
    return np.sum(u)


def first_added(u, s):
    u[0] += s
    return u


def by_callee(x, s, n):
    return np.sum(first_added(x[1:], s))


def added_often(u, s, n):
    if n == 0:
        return np.sum(u)
    u[0] += s
    return added_often(u, s, n - 1)


def by_recursion(x, s, n):
    return added_often(x, s, n)


def added_in_turn(u, v, s, n):
    if n == 0:
        return np.sum(u)
    u[0] += s
    return added_in_turn(v, u, s, n - 1)


def by_recursion_in_turn(x, s, n):
    return added_in_turn(x * 1.0, x, s, n)


@pytest.mark.parametrize(
    "function", [by_view, by_branch, by_swap, by_callee, by_recursion, by_recursion_in_turn]
)
def test_writes_into_arguments_are_refused(function):
    with pytest.raises(
        lsp_ad.StagingError, match=r"argument of a function that is traced .* written into.*`x`"
    ):
        lsp_ad.staged(function, backend="lantern")(np.arange(4.0), 0.5, np.int64(3))


def on_a_copy(x, s, n):
    return added_often(x * 1.0, s, n)


def raised(u, s, n):
    if n == 0:
        return u * 1.0
    w = raised(u, s, n - 1)
    w[0] += s
    return w


def into_a_result(x, s, n):
    w = raised(x, s, n)
    w[1] = 3.0
    return np.sum(w)


def swapped_copies(x, s, n):
    u = x * 1.0
    v = x[::-1].copy()
    for _ in range(n):
        u[1:] += v[:-1]
        u, v = v, u
    return np.sum(u * v)


@pytest.mark.parametrize("function", [on_a_copy, into_a_result, swapped_copies])
def test_writes_into_what_is_new(function):
    staged, x = lsp_ad.staged(function, backend="lantern"), np.arange(4.0)
    for n in map(np.int64, (0, 3)):
        assert np.isclose(staged(x, 0.5, n), function(x.copy(), 0.5, n))
    assert np.array_equal(x, np.arange(4.0))


def of_an_argument(x, s, n):
    xs = []
    for _ in range(n):
        xs.append(x)
    xs[2][0] = s
    return np.sum(xs[1])


def of_one_array(x, s, n):
    z = x * 2.0
    xs = []
    for _ in range(n):
        xs.append(z)
    xs[2][0] = s
    return np.sum(xs[1])


def of_two_in_turn(x, s, n):
    xs = []
    for i in range(n):
        z = x * i
        xs.append(z)
        xs.append(z)
    for i in range(n):
        xs[i][1] += s
    return np.sum(xs[1]) + np.sum(xs[2])


def of_what_is_carried(x, s, n):
    z = x * 1.0
    xs = []
    for i in range(n):
        xs.append(z)
        if i % 2 == 0:
            z = z + 1.0
    xs[1][0] = s
    return np.sum(xs[1]) + np.sum(xs[2])


@pytest.mark.parametrize("function", [of_an_argument, of_one_array, of_two_in_turn, of_what_is_carried])
def test_writes_into_arrays_that_are_several_items_are_refused(function):
    with pytest.raises(lsp_ad.StagingError, match="may be several items of the list"):
        lsp_ad.staged(function, backend="lantern")(np.arange(4.0), 0.5, np.int64(5))


def of_new_items(x, s, n):
    xs = []
    for i in range(n):
        xs.append(x * i)
    xs[2][0] = s
    for i in range(n):
        xs[i][1] += s
    return np.sum(xs[1]) + np.sum(xs[2])


def test_writes_into_items():
    x = np.arange(4.0)
    assert lsp_ad.staged(of_new_items, backend="lantern")(x, 0.5, np.int64(5)) == of_new_items(x, 0.5, 5)


def pair(a, b, n):
    if n == 0:
        return [a, b * 2.0]
    c, d = pair(b, a * 0.5, n - 1)
    return [d, c + a]


def of_a_list(a, b, n):
    c, d = pair(a, b, n)
    return np.sum(c * d)


def test_gradient_of_a_recursive_function_that_returns_a_list():
    gradient = lsp_ad.grad(of_a_list, ("a", "b"))
    a, b = np.arange(3.0), np.array([0.5, -1.0, 2.0])
    found = lsp_ad.staged(gradient, backend="lantern")(a, b, np.int64(3))
    assert np.allclose(found, gradient(a, b, 3))
