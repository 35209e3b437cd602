"""Reads of variables that may have no value, and `del`.

A variable that a converted statement may leave without a value holds a mark then; `ag.read(y)` raises what
Python would.
"""

from __future__ import annotations

import gast

from lsp_ad.semantics import flow
from lsp_ad.simplify.algebra import constant
from lsp_ad.staging.converters.building import at, operator, store
from lsp_ad.staging.converters.scopes import Scopes


def reads(scopes: Scopes, marked: set[str]) -> None:
    """Wrap the reads of marked variables where these may be unbound, before statements are converted."""
    if not marked:
        return
    for s in flow.statements(scopes.function.body):
        suspects = {n for n in marked if scopes.maybe_unbound(n, s)}
        if suspects:
            wrap = _Wrap(suspects)
            for part in flow.header(s):
                for field, value in gast.iter_fields(part) if part is s else ():
                    setattr(part, field, _visited(wrap, value))
            if isinstance(s, (gast.If, gast.While)):
                s.test = wrap.visit(s.test)
            elif isinstance(s, gast.For):
                s.iter = wrap.visit(s.iter)


def _visited(wrap: gast.NodeTransformer, value: object) -> object:
    if isinstance(value, list):
        return [wrap.visit(v) if isinstance(v, gast.AST) else v for v in value]
    return wrap.visit(value) if isinstance(value, gast.AST) else value


def deletions(body: list[gast.stmt], local: set[str]) -> set[str]:
    """`del y` of a local variable as the mark that it has no value; returns the variables."""
    found: set[str] = set()
    for position, s in enumerate(body):
        for block in flow.blocks(s):
            found |= deletions(block, local)
        if isinstance(s, gast.Delete) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name):
            name = s.targets[0].id
            if name in local:
                made = at(gast.Assign([store(name)], operator("undefined", constant(name)), None), s)
                made.deletes = name
                body[position] = made
                found.add(name)
    return found


class _Wrap(gast.NodeTransformer):
    def __init__(self, names: set[str]):
        self.names = names

    def visit_keyword(self, node: gast.keyword) -> gast.AST:
        return node if getattr(node, "handed", False) else self.generic_visit(node)

    def visit_Name(self, node: gast.Name) -> gast.AST:
        if node.id in self.names and isinstance(node.ctx, gast.Load):
            return at(operator("read", node), node)
        return node
