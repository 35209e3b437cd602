"""Conditional expressions, `and`, `or`, `not`, comparisons: lazy where Python is, and staged where a value is."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging import StagingError

pytestmark = pytest.mark.row("A6")
pytest.importorskip("jax")
GRID = [(x, y) for x in (-1.0, 0.0, 2.0) for y in (-1.0, 0.0, 2.0)]

PROGRAMS = {
    "and": lambda x, y: 1.0 if x > 0 and y > 0 else 2.0,
    "or": lambda x, y: 1.0 if x > 0 or y > 0 else 2.0,
    "not": lambda x, y: 1.0 if not (x > 0 and not y > 0) else 2.0,
    "values": lambda x, y: (x and y) + (x or y),
    "chained": lambda x, y: 1.0 if -1 < x <= y < 3 else 2.0,
    "equal": lambda x, y: 1.0 if x == y != 2 else 2.0,
    "in": lambda x, y: 1.0 if x in (0.0, y) and y not in [1.0, -1.0] else 2.0,
    "array": lambda x, y: 1.0 if y in np.array([x, 2.0]) else 2.0,
    "nested": lambda x, y: (x if x > y else y) if x > 0 else (-x if y > 0 else -y),
    "none": lambda x, y: 1.0 if x is not None and (y is None or x > y) else 2.0,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name):
    function = PROGRAMS[name]
    plain, compiled = lsp_ad.staged(function), lsp_ad.staged(function, backend="jax")
    for x, y in GRID:
        assert plain(x, y) == function(x, y)
        assert compiled(x, y) == function(x, y)


def test_the_right_side_runs_only_where_python_runs_it():
    calls = []

    def right(value):
        calls.append(value)
        return value

    def run(flag, value):
        return (flag and right(value)), (flag or right(value)), (right(1) if flag else right(2))

    for flag in (True, False):
        calls.clear()
        expected = run(flag, 5)
        count = len(calls)
        calls.clear()
        assert lsp_ad.staged(run)(flag, 5) == expected
        assert len(calls) == count


def test_each_operand_of_a_chain_is_evaluated_once():
    calls = []

    @lsp_ad.do_not_convert
    def seen(name, value):
        calls.append(name)
        return value

    def run(x):
        return 1.0 if seen("a", 0.0) < seen("b", x) < seen("c", 5.0) else 2.0

    for x, expected in ((3.0, ["a", "b", "c"]), (-1.0, ["a", "b"])):
        calls.clear()
        lsp_ad.staged(run)(x)
        assert calls == expected
    with pytest.raises(
        StagingError, match="`calls` is changed"
    ):  # the third operand is evaluated when it runs
        lsp_ad.staged(run, backend="jax")(3.0)


def test_a_division_that_a_condition_guards():
    def run(x, y):
        return 1.0 if y != 0 and x / y > 1 else 2.0

    for x, y in GRID:
        assert lsp_ad.staged(run, backend="jax")(x, y) == run(x, y)


def test_structures_of_conditional_expressions():
    def run(x):
        a, b = (x, 1) if x > 0 else (-x, 2)
        d = {"k": [x, a]} if x > 1 else {"k": [a, x]}
        return a * b + d["k"][0]

    for x in (-1.0, 0.5, 2.0):
        assert lsp_ad.staged(run, backend="jax")(x) == run(x)
    with pytest.raises(StagingError, match=r"test_staged_logic.py:[0-9]+: .*tuple of 2 in one branch"):
        lsp_ad.staged(lambda x: (x, x) if x > 0 else x, backend="jax")(1.0)
