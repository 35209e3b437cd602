"""Recursion, mutual recursion and specialisation, from Python to programs of the language."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad

pytestmark = pytest.mark.row("A16")

LEFT, RIGHT = np.array([1, 3, -1, -1]), np.array([2, -1, -1, -1])
VALUES = np.array([2.0, 3.0, 5.0, 0.5])


def tree_prod(base, left, right, value, i):
    if i < 0:
        return base
    below = tree_prod(base, left, right, value, left[i]) * tree_prod(base, left, right, value, right[i])
    return below * value[i]


def even(n):
    if n == 0:
        return True
    return odd(n - 1)


def odd(n):
    if n == 0:
        return False
    return even(n - 1)


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def inner(x, xs):
    def go(i):
        if i >= len(xs):
            return x
        return go(i + 1) + xs[i] * x

    return go(0)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


CASES = [
    (tree_prod, (1.5, LEFT, RIGHT, VALUES, np.int64(0))),
    (even, (np.int64(7),)),
    (even, (np.int64(10),)),
    (power, (1.5, 5)),  # a known exponent: five products
    (power, (1.5, np.int64(5))),
    (power, (1.5, 80)),
    (inner, (2.0, np.arange(4.0))),
    (ackermann, (np.int64(2), np.int64(3))),
]


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_recursion(function, arguments):
    assert lsp_ad.staged(function, backend="lantern")(*arguments) == function(*arguments)


def test_no_path_without_a_call():
    def endless(x):
        return endless(x + 1.0)

    with pytest.raises(lsp_ad.StagingError, match="on every path"):
        lsp_ad.staged(endless, backend="lantern")(1.0)


def tree_sine(base, left, right, i):
    if i < 0:
        return base
    return np.sin(tree_sine(base, left, right, left[i])) * tree_sine(base, left, right, right[i]) + 1.0


@pytest.mark.row("A17")
@pytest.mark.parametrize(
    ("function", "wrt", "arguments"),
    [
        (tree_sine, "base", (1.5, LEFT, RIGHT, np.int64(0))),
        (tree_prod, ("base", "value"), (1.5, LEFT, RIGHT, VALUES, np.int64(0))),
    ],
)
def test_gradients_through_recursion(function, wrt, arguments):
    """What the forward sweep of a recursive function saves is data of any depth."""
    gradient = lsp_ad.grad(function, wrt)
    found, expected = lsp_ad.staged(gradient, backend="lantern")(*arguments), gradient(*arguments)
    for one, other in (
        zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True)
        if wrt == "base"
        else zip(found, expected, strict=True)
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def tree_rnn(i, left, right, x, w, u, b):
    """x: (k, f), w: (n, f), u: (n, n), b: (n,)"""
    if left[i] < 0:
        return np.tanh(w @ x[i] + b)
    one = tree_rnn(left[i], left, right, x, w, u, b)
    other = tree_rnn(right[i], left, right, x, w, u, b)
    return np.tanh(u @ one + u @ other + w @ x[i] + b)


def sum_of_tree(x, w, u, b, left, right):
    return np.sum(tree_rnn(0, left, right, x, w, u, b))


def downwards(n, x, w):
    """x: (n,), w: (n,)"""
    if n == 0:
        return x * w
    return upwards(n - 1, x, w) * w


def upwards(n, x, w):
    """x: (n,), w: (n,)"""
    if n == 0:
        return x + w
    return np.sin(downwards(n - 1, x, w)) + downwards(n - 1, x * w, w)


def sum_of_both(x, w, n):
    return np.sum(downwards(n, x, w))


@pytest.mark.row("A17")
@pytest.mark.parametrize("size", [3, 1])
def test_adjoints_of_parameters_of_recursive_functions(size):
    """Sums over calls, which are handed down and added to in place."""
    rng = np.random.default_rng(0)
    x, w, u, b = (rng.normal(size=shape) for shape in ((5, 2), (size, 2), (size, size), size))
    left, right = np.array([1, 3, -1, -1, -1]), np.array([2, 4, -1, -1, -1])
    for gradient, arguments in [
        (lsp_ad.grad(sum_of_tree, ("x", "w", "u", "b")), (x, w, u, b, left, right)),
        (lsp_ad.grad(sum_of_both, ("x", "w")), (b, u[0], np.int64(4))),
    ]:
        found = lsp_ad.staged(gradient, backend="lantern")(*arguments)
        for one, other in zip(found, gradient(*arguments), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
            assert np.shape(one) == np.shape(other)


def best(x, n):
    found = None
    for i in range(n):
        v = np.sin(x * i)
        if found is None or v > found:
            found = v
    return found


def last_below(x, n):
    last = None
    for i in range(n):
        v = np.sin(x * i)
        if v < -0.5:
            last = (v, i)
    if last is None:
        return 0.0
    a, b = last
    return a * b


def product_of_last(x, n):
    last = None
    for i in range(n):
        last = x * i
    return last * 2.0


@pytest.mark.row("A4")
def test_values_that_may_be_none():
    for n in (0, 1, 3, 30):
        for function in (best, last_below):
            assert lsp_ad.staged(function, backend="lantern")(0.3, np.int64(n)) == function(0.3, n)
    staged = lsp_ad.staged(product_of_last, backend="lantern")
    assert staged(0.3, np.int64(3)) == product_of_last(0.3, 3)
    with pytest.raises(TypeError, match="None"):
        staged(0.3, np.int64(0))


def used_in_one_branch(c, n, x):
    last = None
    for i in range(n):
        last = x * i
    y = 0.0
    if c > 0.0:
        y = last * 2.0
    if last is None:
        return -100.0
    return last * 3.0 + y


@pytest.mark.row("A4")
def test_a_use_in_a_branch_says_nothing_of_what_follows():
    for c, n in ((1.0, 2), (-1.0, 2), (-1.0, 0)):
        found = lsp_ad.staged(used_in_one_branch, backend="lantern")(c, np.int64(n), 0.5)
        assert found == used_in_one_branch(c, n, 0.5)


TABLE = np.array([1.0, 2.0, 3.0])


def with_a_table(w, x, n):
    if n == 0:
        return np.sum(w) * x
    return with_a_table(w, x * 2.0, n - 1) + with_a_table(w + 1.0, x, n - 1)


def from_a_table(x, n):
    return with_a_table(TABLE, x, n) + with_a_table(np.array([1.0, 2.0]), x, n)


def test_arrays_of_numpy_as_arguments_of_a_recursive_function():
    found = lsp_ad.staged(from_a_table, backend="lantern")(1.5, np.int64(3))
    assert found == pytest.approx(from_a_table(1.5, 3))


def written_to(c, n, x):
    y = None
    for i in range(n):
        y = x * i
    y[0] = 3.0
    y += c
    return y


@pytest.mark.row("A4", "A8")
def test_what_may_be_none_is_written_into():
    staged = lsp_ad.staged(written_to, backend="lantern")
    x = np.ones(3)
    np.testing.assert_array_equal(staged(1.0, np.int64(2), x), written_to(1.0, 2, x))
    with pytest.raises(TypeError, match="None"):
        staged(1.0, np.int64(0), x)


def weights_below(left, right, w, i):
    """The result, and what was met on the way: data of any depth, of which little is read."""
    if i < 0:
        return w * 1.0, (w, i, None)
    a, _ = weights_below(left, right, w, left[i])
    b, below = weights_below(left, right, w, right[i])
    c = a * b + i
    return c, (c[:2], i, below)


def last_index(left, right, w):
    c, below = weights_below(left, right, w, 0)
    top, _, inner = below
    return c, top.shape[0] * 1.0, inner[1]


def test_of_data_of_any_depth_what_is_read_is_kept():
    staged = lsp_ad.staged(last_index, backend="lantern")
    w = np.array([0.5, 1.5, 2.5])
    found, expected = staged(LEFT, RIGHT, w), last_index(LEFT, RIGHT, w)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other)


@pytest.mark.row("A3")
def test_a_python_number_takes_on_the_type_of_an_array():
    def scaled(x, a):
        return x * a

    x = np.ones(2, np.float32)
    assert lsp_ad.staged(scaled, backend="lantern")(x, 2.0).dtype == np.float32
    assert lsp_ad.staged(scaled, backend="lantern")(x, np.float64(2.0)).dtype == np.float64
