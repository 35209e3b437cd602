"""Dropping dead statements: the result stays, what nothing reads goes."""

from __future__ import annotations

import pytest

from lsp_ad.simplify.dead import drop_dead
from tests.differentiate import running
from tests.differentiate.programs.everything import CASES

pytestmark = pytest.mark.row("T25")

ONCE = [c for c in CASES if c.is_first]


def dropped(source: str) -> str:
    return running.text(drop_dead(running.statements(source)))


@pytest.mark.parametrize("program", ONCE, ids=[c.name for c in ONCE])
def test_a_function_computes_the_same_without_its_dead_statements(program):
    compiled = running.lifted(program.source)
    tree, _ = running.split(compiled)
    tree.body = drop_dead(tree.body)
    running.assert_same(compiled, tree, program.args)


def test_an_assignment_that_nothing_reads():
    assert dropped("z = x @ w\nloss = z + 1\ndz = z * z\nreturn_ = 0\nprint(dz)") == (
        "z = x @ w\ndz = z * z\nprint(dz)"
    )


def test_a_chain_of_them():
    assert dropped("a = x\nb = a + 1\nc = b * 2\nprint(x)") == "print(x)"


def test_an_assignment_that_is_overwritten_before_it_is_read():
    assert dropped("a = x\na = y\nprint(a)") == "a = y\nprint(a)"


def test_a_value_that_the_next_iteration_reads_stays():
    source = "a = x\nfor i in range(3):\n    print(a)\n    a = a + i"
    assert dropped(source) == source


def test_a_loop_that_only_assigns_what_nothing_reads():
    assert dropped("s = 0.0\nfor i in range(3):\n    s = s + i\nprint(x)") == "print(x)"


def test_a_loop_that_prints_stays():
    source = "for i in range(3):\n    print(i)\nprint(x)"
    assert dropped(source) == source


def test_a_branch_without_effect():
    assert dropped("if c:\n    a = x\nelse:\n    b = x\nprint(x)") == "print(x)"


def test_only_the_other_branch_has_an_effect():
    assert dropped("if c:\n    a = x\nelse:\n    b = x\n    print(b)") == "if not c:\n    b = x\n    print(b)"


def test_a_tape_that_nothing_reads():
    source = "tape = []\nfor i in range(3):\n    tape.append(x)\n    x = x * x\nprint(x)"
    assert dropped(source) == "for i in range(3):\n    x = x * x\nprint(x)"


def test_a_tape_that_is_read_stays():
    source = "tape = []\nfor i in range(3):\n    tape.append(x)\n    x = x * x\nprint(tape)"
    assert dropped(source) == source


@pytest.mark.parametrize("statement", ["assert x > 0", "raise ValueError(x)", "dx[0] += 1", "print(x)"])
def test_what_has_another_effect_than_a_name_stays(statement):
    assert dropped(statement) == statement
