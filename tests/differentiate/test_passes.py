"""Each pass by running its output: after any pass a function computes the same, to the last bit."""

from __future__ import annotations

import gc
import re

import gast
import pytest

from lsp_ad.differentiate import differentiate
from lsp_ad.differentiate.functions import inline
from lsp_ad.differentiate.unit import prepare
from lsp_ad.rules import products
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.names import local_names
from tests import oracle
from tests.differentiate import running
from tests.differentiate.programs import branches, callables, calls, for_loops, jumps, while_loops
from tests.differentiate.programs.case import Case
from tests.differentiate.programs.everything import CASES

JUMPING = [*branches.CASES, *for_loops.CASES, *while_loops.CASES, *jumps.CASES]


def named(cases: list[Case]):
    return pytest.mark.parametrize("program", cases, ids=[c.name for c in cases])


def once(cases: list[Case]) -> list[Case]:
    """Each program once, however many inputs it has."""
    return [c for c in cases if c.is_first]


@pytest.mark.row("T6")
@named(callables.CASES)
def test_lifting_changes_no_result(program):
    compiled = running.lifted(program.source)
    running.assert_same(compiled, compiled.functions["f"], program.args)
    for function in (compiled.functions["f"], *compiled.made.values()):
        inner = [n for s in function.body for n in flow.walk(s)]
        assert not any(isinstance(n, (gast.FunctionDef, gast.Lambda)) for n in inner), running.text(function)


@pytest.mark.row("T6")
@named([*calls.CASES, *callables.CASES])
def test_inlining_changes_no_result(program):
    compiled = running.lifted(program.source)
    running.assert_same(compiled, running.inlined(compiled)[0], program.args)


@pytest.mark.row("T6")
@named(JUMPING)
def test_structure_changes_no_result(program):
    compiled = running.lifted(program.source)
    running.assert_same(compiled, running.structured(compiled)[0], program.args)


@pytest.mark.row("T6")
@named(once(CASES))
def test_splitting_names_changes_no_result(program):
    compiled = running.lifted(program.source)
    running.assert_same(compiled, running.split(compiled)[0], program.args)


@pytest.mark.row("T6")
@named(CASES)
def test_normal_form_changes_no_result(program):
    compiled = running.lifted(program.source)
    running.assert_same(compiled, running.normal(compiled, program.wrt), program.args)


# --- what each pass promises


@named(once(calls.CASES))
def test_no_small_function_is_called_after_inlining(program):
    compiled = running.lifted(program.source)
    tree, _ = running.inlined(compiled)
    scope = Scope(compiled, frozenset(local_names(tree)))
    for s in tree.body:
        if isinstance(s, (gast.Assign, gast.Return)):
            for call in unconditional_calls(s.value):
                callee = scope.callee(call)
                assert callee is None or not inline.is_small(callee, scope), running.text(tree)


def unconditional_calls(node):
    if isinstance(node, gast.Call):
        yield node
    if not isinstance(node, (gast.IfExp, gast.BoolOp, gast.Compare)):
        for child in gast.iter_child_nodes(node):
            yield from unconditional_calls(child)


@named(once(JUMPING))
def test_jumps_are_last_on_their_paths_after_structure(program):
    tree, _ = running.structured(running.lifted(program.source))
    *body, last = tree.body
    assert isinstance(last, gast.Return) and isinstance(last.value, gast.Name)
    for block in running.every_block(body):
        for position, s in enumerate(block):
            assert not isinstance(s, (gast.Return, gast.Continue)), running.text(tree)
            assert not isinstance(s, gast.Break) or position == len(block) - 1, running.text(tree)


@named(once(CASES))
def test_every_read_has_one_web_after_splitting(program):
    """A name has one web: splitting again finds nothing to do."""
    tree, fresh = running.split(running.lifted(program.source))
    before = running.text(tree)
    running.webs.split(tree, fresh)
    assert running.text(tree) == before


@named(once(CASES))
def test_an_active_statement_does_one_thing_in_normal_form(program):
    compiled = running.lifted(program.source)
    unit = prepare(compiled, compiled.functions["f"], program.wrt)
    for s in flow.statements(unit.tree.body):
        if not isinstance(s, gast.Assign):
            continue
        if flow.stored(s) & unit.active and unit.carries(s.value) & unit.active:
            assert len(s.targets) == 1 and isinstance(s.targets[0], gast.Name), running.text(s)
            for operand in operands(s.value):
                carried = unit.carries(operand) & unit.active
                assert not carried or isinstance(operand, (gast.Name, gast.Tuple, gast.List)), running.text(s)


def operands(node):
    """The operands of an operation; those in literal lists too. A power that is written out is one operation."""
    if (factors := products.factors(node)) is not None:
        return factors
    if isinstance(node, gast.BinOp):
        return [node.left, node.right]
    if isinstance(node, gast.UnaryOp):
        return [node.operand]
    if isinstance(node, gast.Call):
        return [*node.args, *(k.value for k in node.keywords)]
    if isinstance(node, (gast.Subscript, gast.Attribute)):
        return [node.value]
    if isinstance(node, (gast.Tuple, gast.List)):
        return [inner for e in node.elts for inner in ([e] if isinstance(e, gast.Name) else operands(e))]
    return []


# --- before and after


def after(source: str, stage) -> str:
    tree, _ = stage(oracle.program(source))
    return running.text(tree).split("\n", 1)[1]


def test_inlining_keeps_the_callees_names_where_they_are_free():
    source = """
def rms(r):
    t = r * r
    return t / 2

def f(x, y):
    r = rms(x - y)
    return r * x
"""
    assert (
        after(source, running.inlined)
        == """\
    r2 = x - y
    t = r2 * r2
    r = t / 2
    return r * x"""
    )


def test_inlining_leaves_alone_what_runs_only_sometimes():
    source = """
def g(x):
    return x * x

def f(x):
    return g(x) if x > 0 else x
"""
    assert after(source, running.inlined) == "    return g(x) if x > 0 else x"


def test_inlining_leaves_alone_what_a_local_name_would_capture():
    source = """
SCALE = 2.0

def g(x):
    return x * SCALE

def f(x):
    SCALE = 3.0
    return g(x) * SCALE
"""
    assert after(source, running.inlined) == "    SCALE = 3.0\n    return g(x) * SCALE"


def test_early_returns_become_branches():
    source = """
def f(r, d):
    if r <= d:
        return r * r
    return d * r
"""
    assert (
        after(source, running.structured)
        == """\
    if r <= d:
        result__1 = r * r
    else:
        result__1 = d * r
    return result__1"""
    )


def test_continue_becomes_the_other_branch():
    source = """
def f(xs):
    s = 0.0
    for x in xs:
        if x > 0:
            continue
        s = s + x
    return s
"""
    assert (
        after(source, running.structured)
        == """\
    s = 0.0
    for x in xs:
        if x > 0:
            pass
        else:
            s = s + x
    result__1 = s
    return result__1"""
    )


def test_a_return_in_a_loop_sets_a_flag_and_breaks():
    source = """
def f(x, n):
    for i in range(n):
        x = x * x
        if x > 9:
            return x
    return -x
"""
    assert (
        after(source, running.structured)
        == """\
    returned__1 = False
    for i in range(n):
        x = x * x
        if x > 9:
            result__1 = x
            returned__1 = True
            break
    if returned__1:
        pass
    else:
        result__1 = -x
    return result__1"""
    )


def test_unrelated_values_of_a_name_are_split():
    source = """
def f(a, b):
    y = a * b
    z = y + 1
    y = a - b
    return y * z
"""
    found = re.search(r"(\w+) = a - b\n    result__1 = (\w+) \* z", after(source, running.split))
    assert found and found[1] == found[2] != "y"


def test_values_that_meet_in_a_loop_stay_one_name():
    source = """
def f(x, n):
    y = x
    for i in range(n):
        y = y * x
    return y
"""
    assert "__" not in after(source, running.split).replace("result__1", "")


def normal_text(source: str) -> str:
    return running.text(running.normal(oracle.program(source))).split("\n", 1)[1]


def test_expressions_are_cut_into_operations():
    source = "import numpy as np\ndef f(x, w, b):\n    return np.tanh(x @ w + b)\n"
    assert (
        normal_text(source)
        == """\
    t__2 = x @ w
    t__1 = t__2 + b
    result__1 = np.tanh(t__1)
    return result__1"""
    )


@pytest.mark.row("T24")
def test_passive_parts_stay_whole():
    source = "def f(x, n: int):\n    return x * ((n + 1) * 2)\n"
    lines = normal_text(source).split("\n")
    assert any("(n + 1) * 2" in line for line in lines)


def test_conditional_expressions_become_branches():
    source = "def f(x):\n    y = x if x > 0 else x * x\n    return y\n"
    assert normal_text(source).startswith("    if x > 0:\n        y = x\n    else:\n        y = x * x\n")


@pytest.mark.parametrize("module", [branches, calls, for_loops])
def test_no_trees_wait_for_the_collector(module):
    """What holds one another is freed late, and takes memory and time until then."""
    program = oracle.program(module.CASES[0].source)
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        kept = differentiate(program, "f")
        gc.collect()
        left = [type(node).__name__ for node in gc.garbage if isinstance(node, gast.AST)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert kept and not left
