"""Reads of elements: `y[i]`  becomes  `ag.get_item(y, i)`.

A first or last element, and slices of constants, are read as they stand: there no back end takes another one.
"""

from __future__ import annotations

import gast

from lsp_ad.staging.converters.building import name, operator
from lsp_ad.staging.converters.expressions import Expressions


class Slices(Expressions):
    kinds = (gast.Subscript,)

    def convert(self, node: gast.Subscript) -> gast.AST:
        if not isinstance(node.ctx, gast.Load) or _is_constant(node.slice):
            return node
        return operator("get_item", node.value, index_of(node.slice))


def _is_constant(index: gast.AST) -> bool:
    """Whether every back end can read an index as it stands."""
    if isinstance(index, gast.Constant):
        return type(index.value) is not int or index.value == 0
    if isinstance(index, gast.UnaryOp):
        return isinstance(index.op, gast.USub) and getattr(index.operand, "value", None) == 1
    if isinstance(index, gast.Slice):
        return all(part is None or _is_number(part) for part in (index.lower, index.upper, index.step))
    return isinstance(index, gast.Tuple) and bool(index.elts) and all(map(_is_constant, index.elts))


def _is_number(bound: gast.AST) -> bool:
    return isinstance(bound.operand if isinstance(bound, gast.UnaryOp) else bound, gast.Constant)


def index_of(index: gast.AST) -> gast.expr:
    """An index as an expression: slices by name."""
    if isinstance(index, gast.Slice):
        parts = [
            part if part is not None else gast.Constant(None, None)
            for part in (index.lower, index.upper, index.step)
        ]
        return gast.Call(name("slice"), parts, [])
    if isinstance(index, gast.Tuple):
        return gast.Tuple([index_of(part) for part in index.elts], gast.Load())
    return index
