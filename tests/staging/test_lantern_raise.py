"""`raise` in staged branches on Lantern: the program raises what Python raises, with its type and text."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad

pytest.importorskip("numba")

pytestmark = pytest.mark.row("A10", "A16")


class TooLong(Exception):
    pass


def checked(x, y):
    if x > 0.0:
        raise ValueError("positive")
    if y.shape[0] > 3:
        raise TooLong("long", 3)
    return x * 2.0


def with_a_value(x):
    if x > 0.0:
        raise TooLong(f"x is {x}, not {{negative}}")
    return x


def in_a_loop(x, n):
    s = 0.0
    for i in range(n):
        if i * x > 10.0:
            raise KeyError("big")
        s += i * x
    return s


def on_both_sides(x):
    if x > 0.0:
        if x > 1.0:
            raise ValueError("a")
        else:
            raise TypeError("b")
    return x


def in_every_iteration(x, n):
    for _ in range(n):
        raise ValueError("never mind")
    return x


def in_every_iteration_of_while(x):
    while x > 0.0:
        if x > 5.0:
            raise ValueError("five")
        else:
            raise ValueError(f"four {x}")
    return x


def binds_in_the_other_branch(x):
    if x > 0.0:
        y = x * 2.0
    else:
        raise ValueError("negative")
    return y


def in_recursion(x, n):
    if n == 0:
        if x > 3.0:
            raise ValueError("deep")
        return x
    return in_recursion(x * 1.5, n - 1)


CASES = [
    (checked, [(-1.0, np.ones(2)), (1.0, np.ones(2)), (-1.0, np.ones(5))]),
    (with_a_value, [(-1.0,), (1.5,)]),
    (in_a_loop, [(1.0, np.int64(5)), (1.0, np.int64(50))]),
    (on_both_sides, [(-1.0,), (0.5,), (1.5,)]),
    (in_every_iteration, [(1.0, np.int64(0)), (1.0, np.int64(1))]),
    (in_every_iteration_of_while, [(-1.0,), (1.0,), (6.0,)]),
    (binds_in_the_other_branch, [(1.0,), (-1.0,)]),
    (in_recursion, [(1.0, np.int64(2)), (1.0, np.int64(5))]),
]


@pytest.mark.parametrize(("function", "calls"), CASES)
def test_raise(function, calls):
    staged = lsp_ad.staged(function, backend="lantern")
    for arguments in calls:
        try:
            expected = function(*arguments)
        except Exception as error:
            with pytest.raises(type(error)) as caught:
                staged(*arguments)
            assert type(caught.value) is type(error)
            assert caught.value.args == error.args
        else:
            assert staged(*arguments) == expected


def recovered(x):
    try:
        y = on_both_sides(x)
    except ValueError:
        y = 0.0
    return y


def test_a_try_statement_would_have_to_catch_it():
    """What is raised when the program runs passes by the `except` of Python."""
    with pytest.raises(lsp_ad.StagingError, match="this staged branch has a `raise`"):
        lsp_ad.staged(recovered, backend="lantern")(2.0)


def formatted(x):
    if x > 0.0:
        raise ValueError(f"x is {x:.3f}")
    return x


def bare(x):
    if x > 0.0:
        raise ValueError(x)
    return x


@pytest.mark.parametrize(("function", "message"), [(formatted, "a format"), (bare, "staged value in it")])
def test_texts_that_are_not_known(function, message):
    with pytest.raises(lsp_ad.StagingError, match=message):
        lsp_ad.staged(function, backend="lantern")(2.0)
