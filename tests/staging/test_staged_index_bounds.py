"""Indices outside of arrays and lists on JAX, which itself takes another element: an error where the index is known
when the code is traced, and with `check_bounds` when it runs."""

from __future__ import annotations

import re

import numpy as np
import pytest

import lsp_ad

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.row("A14", "A16")
X = np.arange(6.0).reshape(2, 3)
V = np.arange(3.0)


def read(x):
    return x[5]


def read_from_the_end(x):
    return x[-4]


def read_of_two_axes(x):
    return x[np.newaxis, ..., 3]


def read_by_an_array(x):
    return x[[0, 7]]


def written(x):
    x = x.copy()
    x[3] = 1.0
    return x


def added(x):
    x = x.copy()
    x[3] += 1.0
    return x


def of_a_range(x):
    total = 0.0
    for i in range(4):
        total += x[i]
    return total


PROGRAMS = [
    (read, V),
    (read_from_the_end, V),
    (read_of_two_axes, X),
    (read_by_an_array, V),
    (written, V),
    (added, V),
    (of_a_range, V),
]


@pytest.mark.parametrize("program, x", PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_known_when_traced(program, x):
    """The error of NumPy, with its line."""
    with pytest.raises(IndexError) as expected:
        program(x)
    said = re.search(r"index -?\d+ is out of bounds for axis \d with size \d", str(expected.value))[0]
    for staged in (lsp_ad.staged(program, backend="jax"), jax.jit(lsp_ad.staged(program))):
        with pytest.raises(IndexError, match=rf"test_staged_index_bounds.py:\d+: {said}"):
            staged(x)


def test_in_bounds():
    def program(x):
        return x[-2, 2], x[1, None, 0], x[..., 1], x[np.array([[1, -2]])], x[:7, 2:9], x[x[:, 0] < 9.0][1]

    for found, expected in zip(program(X), program(X), strict=True):
        np.testing.assert_array_equal(found, expected)

    def without_mask(x):
        return x[-2, 2], x[1, None, 0], x[..., 1], x[np.array([[1, -2]])], x[:7, 2:9]

    for found, expected in zip(lsp_ad.staged(without_mask, backend="jax")(X), without_mask(X), strict=True):
        np.testing.assert_array_equal(found, expected)


def in_a_branch(x):
    if x[0] > 0.0:
        y = x[3]
    else:
        y = x[0]
    return y


def test_in_a_staged_branch():
    with pytest.raises(lsp_ad.StagingError, match=r"index 3 is out of bounds .* whatever the staged values"):
        lsp_ad.staged(in_a_branch, backend="jax")(V)


def chosen(x, i):
    return x[i] + x[0]


def changed(x, i):
    x = x.copy()
    x[i] = 7.0
    return x


def popped(x, n):
    xs = []
    for v in x:
        if v < n:
            xs.append(v)
    return xs.pop() + xs.pop()


def item(x, n):
    xs = []
    for v in x:
        if v < n:
            xs.append(v)
    return xs[1]


def item_at(x, n):
    xs = []
    for v in x:
        if v < 2:
            xs.append(v)
    return xs[n]


@pytest.mark.parametrize(
    "program, inside, outside",
    [
        (chosen, [0, 2, -3], [3, -4]),
        (changed, [0, 2, -3], [3, -4]),
        (popped, [2, 9], [0, 1]),
        (item, [2, 9], [0, 1]),
        (item_at, [1, -2], [2, -3]),
    ],
)
def test_known_when_it_runs(program, inside, outside):
    checked = lsp_ad.staged(program, backend="jax", check_bounds=True)
    for i in inside:
        np.testing.assert_array_equal(checked(V, np.int64(i)), program(V, i))
    for i in outside:
        with pytest.raises(IndexError):
            program(V, i)
        with pytest.raises(IndexError, match=r"test_staged_index_bounds.py:\d+: "):
            checked(V, np.int64(i))


def guarded(x, k):
    try:
        y = x[k] * 2.0
    except IndexError:
        y = -x[0]
    return y


def until_the_end(x, k):
    total = 0.0
    for i in range(k, 10):
        try:
            total += x[i]
        except IndexError:
            break
    return total


@pytest.mark.parametrize("program", [guarded, until_the_end])
@pytest.mark.parametrize("k", [1, 2, 7, -3, -9])
@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_a_handler_of_what_is_known_when_tracing(program, k, backend):
    pytest.importorskip(backend)
    assert lsp_ad.staged(program, backend=backend)(V, k) == program(V, k)


@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_a_handler_of_what_is_not_known(backend):
    pytest.importorskip(backend)
    with pytest.raises(
        lsp_ad.StagingError, match=r"test_staged_index_bounds.py:\d+: `except IndexError` sees"
    ):
        lsp_ad.staged(guarded, backend=backend)(V, np.int64(1))
