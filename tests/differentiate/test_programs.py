"""The oracle sweep: generated gradients of whole programs against finite differences, construct by construct.

Each program is checked as vjp (with its first input as grad and value_and_grad too), for the shapes of its
gradients, for leaving its arguments alone, and in forward mode against both (`tests/oracle.py`).
"""

from __future__ import annotations

import pytest

from tests import oracle
from tests.differentiate.programs import (
    applied,
    arrays,
    augmented,
    blocks,
    branches,
    builtin_functions,
    callables,
    calls,
    changing_types,
    complex_numbers,
    conditions,
    containers,
    for_loops,
    in_place,
    in_place_traps,
    indexing,
    iterators,
    jumps,
    loop_else,
    matching,
    products,
    straight,
    structured,
    structures,
    tries,
    walrus,
    while_loops,
    writers,
)
from tests.differentiate.programs.case import Case

pytestmark = pytest.mark.row("T3")


def named(cases: list[Case]):
    return pytest.mark.parametrize("program", cases, ids=[c.name for c in cases])


def check(program: Case) -> None:
    oracle.assert_gradient(program.source, *program.args, wrt=program.wrt, all_modes=program.is_first)
    oracle.assert_jvp(program.source, *program.args, wrt=program.wrt)


@pytest.mark.row("T1")
@named([*straight.CASES, *products.CASES])
def test_straight_code(program):
    check(program)


@pytest.mark.row("T8")
@named(branches.CASES)
def test_branches(program):
    check(program)


@pytest.mark.row("T9")
@named(for_loops.CASES)
def test_for(program):
    check(program)


@pytest.mark.row("T9")
@named(while_loops.CASES)
def test_while(program):
    check(program)


@pytest.mark.row("T10")
@named(jumps.CASES)
def test_jumps(program):
    check(program)


@pytest.mark.row("T16")
@named(calls.CASES)
def test_calls(program):
    check(program)


@pytest.mark.row("T16", "T17")
@named(callables.CASES)
def test_callables(program):
    check(program)


@pytest.mark.row("T11")
@named(containers.CASES)
def test_tuples_and_lists(program):
    check(program)


@pytest.mark.row("T11", "T12")
@named([*structures.CASES, *structured.CASES])
def test_lists_that_change_and_dicts(program):
    check(program)


@pytest.mark.row("T13")
@named(indexing.CASES)
def test_indexing(program):
    check(program)


@pytest.mark.row("T13", "T15", "T18")
@named(arrays.CASES)
def test_arrays(program):
    check(program)


@pytest.mark.row("T14")
@named(augmented.CASES)
def test_augmented_assignment(program):
    check(program)


@pytest.mark.row("T8")
@named(conditions.CASES + walrus.CASES + matching.CASES + builtin_functions.CASES)
def test_conditions(program):
    check(program)


@pytest.mark.row("T9", "T10")
@named(iterators.CASES + loop_else.CASES)
def test_what_loops_go_over_and_how_they_end(program):
    check(program)


@pytest.mark.row("T19")
@named(blocks.CASES)
def test_blocks(program):
    check(program)


@pytest.mark.row("T19")
@named(tries.CASES)
def test_try(program):
    oracle.assert_gradient(program.source, *program.args, wrt=program.wrt, all_modes=program.is_first)
    if program.name.split(", input")[0] not in tries.REVERSE_ONLY:
        oracle.assert_jvp(program.source, *program.args, wrt=program.wrt)


@pytest.mark.row("T27")
@named(complex_numbers.CASES)
def test_complex_numbers(program):
    check(program)


@pytest.mark.row("T14")
@named(in_place.CASES + in_place_traps.CASES)
def test_in_place(program):
    check(program)


@pytest.mark.row("T8", "T9", "T15", "T27")
@named(changing_types.CASES)
def test_types_that_change(program):
    check(program)


@pytest.mark.row("T14", "T16")
@named(writers.CASES)
def test_functions_that_write(program):
    check(program)


@pytest.mark.row("T8", "T10")
@named(applied.CASES)
def test_applied(program):
    check(program)
