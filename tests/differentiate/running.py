"""After any pass the tree is Python: print it, run it, compare it with the original."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

import gast
import numpy as np

from lsp_ad.differentiate.desugar import structure
from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.differentiate.functions import inline
from lsp_ad.differentiate.normal import webs
from lsp_ad.differentiate.pipeline import ordinary
from lsp_ad.differentiate.unit import prepare
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.names import Program, local_names
from lsp_ad.source.printing import plain_assignment
from tests import oracle


def text(tree: gast.AST | list[gast.stmt]) -> str:
    """The text of a tree, or of a list of statements."""
    whole = gast.Module(tree, []) if isinstance(tree, list) else tree
    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(copy.deepcopy(whole))))


def statements(source: str) -> list[gast.stmt]:
    """The statements of a text, without places."""
    tree = gast.parse(source)
    for node in gast.walk(tree):
        for place in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if hasattr(node, place):
                delattr(node, place)
    return tree.body


def lifted(source: str, name: str = "f") -> Program:
    """The program in which a function calls ordinary functions only."""
    program = oracle.program(source)
    return ordinary(program, program.functions[name])


def runnable(program: Program, tree: gast.FunctionDef) -> Callable:
    """A function of the program, run by its changed tree; whatever it calls is that of the program."""
    namespace = oracle.run(program.parsed.document.text)
    for made in program.made.values():
        exec(compile(text(made), "made", "exec"), namespace)
    exec(compile(text(tree), "after a pass", "exec"), namespace)
    return namespace[tree.name]


def assert_same(program: Program, tree: gast.FunctionDef, args: tuple) -> None:
    """The changed tree gives, to the last bit, what the function gives."""
    want = oracle.run(program.parsed.document.text)[tree.name](*copy.deepcopy(args))
    got = runnable(program, tree)(*copy.deepcopy(args))
    assert oracle.shapes(got) == oracle.shapes(want), text(tree)
    for a, b in zip(oracle.leaves(got), oracle.leaves(want), strict=True):
        assert np.array_equal(a, b, equal_nan=True), text(tree)


# --- the passes in their order, each with those before it


def plain(program: Program, name: str = "f") -> tuple[gast.FunctionDef, Fresh]:
    """A copy of a function in which augmented assignments are plain, and a source of new names."""
    function = program.functions[name]
    tree = copy.deepcopy(function)

    def block(body: list[gast.stmt]) -> list[gast.stmt]:
        kept = []
        for s in body:
            if isinstance(s, (gast.If, gast.For, gast.While)):
                s.body, s.orelse = block(s.body), block(s.orelse)
            if not (isinstance(s, gast.AnnAssign) and s.value is None):
                kept.append(plain_assignment(s))
        return kept

    tree.body = block(tree.body)
    return tree, Fresh(local_names(function) | program.bound)


def inlined(program: Program) -> tuple[gast.FunctionDef, Fresh]:
    tree, fresh = plain(program)
    scope = Scope(program, frozenset(local_names(tree)))
    inline.inline(tree, scope, lambda: local_names(tree), fresh)
    return tree, fresh


def structured(program: Program) -> tuple[gast.FunctionDef, Fresh]:
    tree, fresh = inlined(program)
    structure.structure(tree, fresh)
    return tree, fresh


def split(program: Program) -> tuple[gast.FunctionDef, Fresh]:
    tree, fresh = structured(program)
    webs.split(tree, fresh)
    return tree, fresh


def normal(program: Program, wrt: tuple[str, ...] | None = None) -> gast.FunctionDef:
    return prepare(program, program.functions["f"], wrt).tree


def every_block(body: list[gast.stmt]):
    """The blocks of a body, itself included."""
    yield body
    for s in flow.statements(body):
        yield from flow.blocks(s)
