"""Putting single-use values back into expressions, and merging sums, where nothing changes in between."""

from __future__ import annotations

import pytest

from lsp_ad.differentiate.fresh import is_adjoint, is_temporary
from lsp_ad.differentiate.unit import prepare
from lsp_ad.simplify.dead import drop_dead
from lsp_ad.simplify.substitute import tidy_up
from tests.differentiate import running
from tests.differentiate.programs.everything import CASES

pytestmark = pytest.mark.row("T25")

ONCE = [c for c in CASES if c.is_first]


def tidied(source: str) -> str:
    body = running.statements(source)
    tidy_up(body, is_temporary, is_adjoint, {"x", "y"})
    return running.text(body)


@pytest.mark.parametrize("program", ONCE, ids=[c.name for c in ONCE])
def test_a_function_in_normal_form_computes_the_same_when_put_together_again(program):
    compiled = running.lifted(program.source)
    unit = prepare(compiled, compiled.functions["f"], program.wrt)
    tidy_up(unit.tree.body, is_temporary, is_adjoint, set(unit.parameters))
    unit.tree.body = drop_dead(unit.tree.body)
    running.assert_same(compiled, unit.tree, program.args)


MOVED = {
    "into the next expression": ("t__1 = x @ w\nz = t__1 + b", "z = x @ w + b"),
    "through several": ("t__1 = x @ w\nt__2 = t__1 + b\nz = np.tanh(t__2)", "z = np.tanh(x @ w + b)"),
    "into the test of a branch": ("t__1 = x @ w\nif t__1 > 0:\n    z = x", "if x @ w > 0:\n    z = x"),
    "into the one branch that reads it": (
        "t__1 = x @ w\nif x > 0:\n    z = t__1\nelse:\n    z = y",
        "if x > 0:\n    z = x @ w\nelse:\n    z = y",
    ),
    "past what has nothing to do with it": ("t__1 = x * 2\ny = w\nz = t__1 + y", "y = w\nz = x * 2 + y"),
    "a copy": ("t__1 = x\nz = t__1 * t__1", "z = x * x"),
    "signs go outwards": ("d__t__1 = -p\nd__w = d__t__1 * q", "d__w = -(p * q)"),
    "a sum of contributions": ("d__w = a\nd__w = d__w + b", "d__w = a + b"),
    "a sum with an augmented assignment": ("d__w = a\nd__w += b", "d__w = a + b"),
    "a difference": ("d__w = a\nd__w = d__w - b", "d__w = a - b"),
}
LEFT = {
    "past an assignment of what it reads": "t__1 = x * 2\nx = y\nz = t__1 + x",
    "past a change in place of what it reads": "t__1 = d__v[0]\nd__v[0] += 1\nz = t__1",
    "past np.add.at on what it reads": "t__1 = d__v[0]\nnp.add.at(d__v, i, g)\nz = t__1",
    "past a branch that changes what it reads": "t__1 = v * 2\nif y:\n    v = y\nz = t__1 + v",
    "past a loop that changes what it reads": "t__1 = v * 2\nfor i in y:\n    v = v * i\nz = t__1 + v",
    "into a loop": "t__1 = x * 2\nfor i in y:\n    z = z + t__1",
    "into the test of a while": "t__1 = x * 2\nwhile t__1 > z:\n    z = z + 1",
    "out of a loop": "for i in y:\n    t__1 = x * i\nz = t__1 + x",
    "a value that is read twice": "t__1 = x @ w\nz = t__1 * t__1",
    "a name of the user's": "h = x @ w\nz = h + b",
    "a copy of what changes after": "v = x\nt__1 = v\nv = v * 2\nz = t__1 * v",
    "a sum whose name is read in between": "d__w = a\nz = d__w * 2\nd__w = d__w + b",
    "a sum over a branch": "d__w = a\nif y:\n    d__w = d__w + b",
    "a sum over a change of its first part": "d__w = v\nv = b\nd__w = d__w + v",
}


@pytest.mark.parametrize(("before", "after"), MOVED.values(), ids=MOVED)
def test_moves(before, after):
    assert tidied(before) == after


@pytest.mark.parametrize("source", LEFT.values(), ids=LEFT)
def test_does_not_move(source):
    assert tidied(source) == source
