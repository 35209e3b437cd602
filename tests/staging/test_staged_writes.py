"""Writes into arrays that other names may share, on JAX: what NumPy does, or an error with line and name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lsp_ad
from tests.staging.test_staged_programs import assert_equal

pytest.importorskip("jax")
pytestmark = pytest.mark.row("A7", "A14")
X = np.array([1.0, 2.0, 3.0])
M = np.arange(6.0).reshape(2, 3)


def another_name(x):
    y = x * 2.0
    z = y
    y[0] = 1.0
    return y, z


def in_a_list(x):
    y = x * 2.0
    ys = [y, x]
    y[0] = 1.0
    ys[0][1] = 7.0
    return ys, y


def in_a_branch(x):
    y = x * 2.0
    z = y
    if x[0] > 0.0:
        y[0] = 1.0
    return y, z


def copies(x):
    y = x * 2.0
    z = y.copy()
    w = np.array(y)
    y[0] = 1.0
    return y, z, w


def elements(x):
    y = x * 2.0
    first = y[0]
    y[0] = first + y[1]
    return y, first


def updated(x):
    y = x * 2.0
    z = y
    y += x
    y *= 2.0
    n = 0
    n += 1
    m = n
    n += 1
    return y, z, n, m


def numbers(x):
    total = np.sum(x)
    before = total
    total += 1.0
    return total, before


def known_array_in_a_branch(x):
    y = np.zeros(3)
    z = y
    if x[0] > 10.0:
        y[0] = 1.0
    else:
        y[1] = 1.0
    return y, z


def known_array_in_a_loop(x, n):
    k = np.zeros(3)
    total = 0.0
    for i in range(n):
        total = total + np.sum(k * x)
        k[i % 3] = k[i % 3] + i
    return total, k


def rows(m):
    y = m * 2.0
    y[1][0] = 5.0
    y[0, 1:] += 1.0
    y[-1][1:][0] = 3.0
    return y


def added_at_places(x):
    y = np.zeros(3)
    np.add.at(y, [0, 0, 1], x)
    np.subtract.at(y, 2, x[0])
    return y


def in_a_callee(x):
    def fill(out, v):
        out[0] = v
        return out

    y = fill(np.zeros(3), x[1])
    y = fill(y, x[2])
    return y


def of_an_object(x):
    class Box:
        pass

    box = Box()
    box.y = x * 2.0
    box.y[0] = 1.0
    entry = {"y": x * 3.0}
    entry["y"][1] = 4.0
    return box.y, entry["y"]


RIGHT = [
    (another_name, X),
    (in_a_list, X),
    (in_a_branch, X),
    (copies, X),
    (elements, X),
    (updated, X),
    (numbers, X),
    (known_array_in_a_branch, X),
    (known_array_in_a_loop, X, 4),
    (known_array_in_a_loop, X, 70),
    (rows, M),
    (added_at_places, X),
    (in_a_callee, X),
    (of_an_object, X),
]


@pytest.mark.parametrize(("program", "arguments"), [(p, a) for p, *a in RIGHT])
def test_right(program, arguments):
    expected = program(*(a.copy() if hasattr(a, "copy") else a for a in arguments))
    assert_equal(lsp_ad.staged(program, backend="jax")(*arguments), expected)
    assert_equal(lsp_ad.staged(program)(*arguments), expected)


def a_row(m):
    y = m * 2.0
    row = y[1]
    row[0] = 2.0
    return y


def the_array_of_a_row(m):
    y = m * 2.0
    row = y[1]
    y[1, 0] = 2.0
    return row


def the_transpose(m):
    y = m * 2.0
    z = y.T
    y[0, 0] = 1.0
    return z


def reshaped(m):
    y = m * 2.0
    z = y.reshape(-1)
    z[0] = 1.0
    return y


def a_view_or_a_copy(m):
    y = m * 2.0
    y.ravel()[0] = 1.0
    return y


def in_a_staged_list(x):
    y = x * 2.0
    ys = []
    for v in x:
        ys.append(y)
        y[0] = v
    return ys


def an_argument(out, x):
    out[0] = x[0]
    return out[0] + 1.0


def an_argument_updated(out, x):
    out += x
    return np.sum(out)


def an_argument_in_a_branch(out, x):
    if x[0] > 0.0:
        out[0] = x[0]
    return x[0]


def a_callee_writes(x, y):
    def fill(out, v):
        out[0] = v

    z = x * 1.0
    fill(z, y[0])
    return z


def sorted_in_place(x, y):
    z = x * 1.0
    z.sort()
    return z


def filled_in_a_branch(x, y):
    z = np.zeros(3)
    if x[0] > 0.0:
        z.fill(1.0)
    return z + x


OUTSIDE = np.zeros(3)


def outside(x, y):
    OUTSIDE[0] = x[0]
    return x


REFUSED = [
    (a_row, "y", "row[0] = 2.0", M),
    (the_array_of_a_row, "row", "y[1, 0] = 2.0", M),
    (the_transpose, "z", "y[0, 0] = 1.0", M),
    (reshaped, "y", "z[0] = 1.0", M),
    (a_view_or_a_copy, "ravel", "y.ravel()[0] = 1.0", M),
    (in_a_staged_list, "ys", "y[0] = v", X),
    (an_argument, "out", "out[0] = x[0]", X, X),
    (an_argument_updated, "out", "out += x", X, X),
    (an_argument_in_a_branch, "out", "out[0] = x[0]", X, X),
    (a_callee_writes, "", "out[0] = v", X, X),
    (sorted_in_place, "sort", "z.sort()", X, X),
    (filled_in_a_branch, "fill", "z.fill(1.0)", X, X),
    (outside, "", "OUTSIDE[0] = x[0]", X, X),
]


@pytest.mark.parametrize(("program", "name", "text", "arguments"), [(p, n, t, a) for p, n, t, *a in REFUSED])
def test_refused(program, name, text, arguments):
    with pytest.raises(lsp_ad.StagingError) as error:
        lsp_ad.staged(program, backend="jax")(*(a.copy() for a in arguments))
    lines = Path(__file__).read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"def {program.__name__}("))
    line = next(i for i in range(start, len(lines)) if text in lines[i]) + 1
    assert f"test_staged_writes.py:{line}" in str(error.value)
    if name:
        assert f"`{name}`" in str(error.value)


def returned_early(a):
    made = np.zeros(3)
    for i in range(3):
        if a[i] <= 0.0:
            return made, False
        made[i] = np.sqrt(a[i])
    return made, True


def bound_later(x):
    y = np.zeros(3)
    total = 0.0
    for i in range(3):
        y[i] = x[i]
        if i > 0:
            total += before[i] * x[0]  # noqa: F821
        before = y  # noqa: F841
    return y, total


@pytest.mark.parametrize("f", [returned_early, bound_later], ids=lambda f: f.__name__)
def test_a_name_that_has_no_value_yet_shares_no_memory(f):
    for x in (np.array([1.0, 4.0, 9.0]), np.array([1.0, -4.0, 9.0])):
        assert_equal(lsp_ad.staged(f)(x.copy()), f(x))
        assert_equal(lsp_ad.staged(f, backend="jax")(x), f(x))
