"""Reads and writes of elements.

    y[i]             ag.get_item(y, i)
    y[i] = e         y = ag.set_item(y, i, e)
    y[i] += e        y = ag.update_item(y, i, lambda old: old + e)

A write gives the variable a new value where it is staged: staged arrays cannot be changed. An index of
constants only is read as it stands.
"""

from __future__ import annotations

import gast

from lsp_ad.source.trees import copied
from lsp_ad.staging.converters.building import at, name, operator, store
from lsp_ad.staging.converters.expressions import Expressions


class Slices(Expressions):
    kinds = (gast.Subscript,)

    def visit_Assign(self, node: gast.Assign) -> gast.AST | list[gast.AST]:
        target = node.targets[0]
        if len(node.targets) == 1 and _is_written(target):
            base, index = target.value, _index(target.slice)
            self.generic_visit(base)
            value = self.visit(node.value)
            made = operator("set_item", base, self.visit(index), value)
            return at(gast.Assign([_as_target(base)], made, None), node)
        return self.generic_visit(node)

    def visit(self, node: gast.AST) -> gast.AST:
        if isinstance(node, gast.Assign):
            return self.visit_Assign(node)
        if isinstance(node, gast.AugAssign) and _is_written(node.target):
            base, index = node.target.value, _index(node.target.slice)
            changed = gast.Lambda(
                gast.arguments([gast.Name("old", gast.Param(), None, None)], [], None, [], [], None, []),
                gast.BinOp(name("old"), node.op, self.visit(node.value)),
            )
            changed.immediate = True
            made = operator("update_item", base, self.visit(index), changed)
            return at(gast.Assign([_as_target(base)], made, None), node)
        return super().visit(node)

    def convert(self, node: gast.Subscript) -> gast.AST:
        if not isinstance(node.ctx, gast.Load) or _is_constant(node.slice):
            return node
        return operator("get_item", node.value, _index(node.slice))


def _is_written(target: gast.AST) -> bool:
    """Whether a target is an element of a variable; an entry of a dict under a text is left alone."""
    return (
        isinstance(target, gast.Subscript)
        and isinstance(target.value, gast.Name)
        and not (isinstance(target.slice, gast.Constant) and isinstance(target.slice.value, str))
    )


def _as_target(base: gast.expr) -> gast.expr:
    return store(base.id) if isinstance(base, gast.Name) else copied(base)


def _is_constant(index: gast.AST) -> bool:
    """Whether an index is made of constants, which every back end can read."""
    if isinstance(index, gast.Constant):
        return True
    if isinstance(index, gast.UnaryOp):
        return _is_constant(index.operand)
    if isinstance(index, gast.Slice):
        return all(part is None or _is_constant(part) for part in (index.lower, index.upper, index.step))
    return isinstance(index, gast.Tuple) and all(map(_is_constant, index.elts))


def _index(index: gast.AST) -> gast.expr:
    """An index as an expression: slices by name."""
    if isinstance(index, gast.Slice):
        parts = [
            part if part is not None else gast.Constant(None, None)
            for part in (index.lower, index.upper, index.step)
        ]
        return gast.Call(name("slice"), parts, [])
    if isinstance(index, gast.Tuple):
        return gast.Tuple([_index(part) for part in index.elts], gast.Load())
    return index
