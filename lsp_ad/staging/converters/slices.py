"""Reads of elements: `y[i]`  becomes  `ag.get_item(y, i)`; an index of constants is read as it stands."""

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
    """Whether an index is made of constants, which every back end can read."""
    if isinstance(index, gast.Constant):
        return True
    if isinstance(index, gast.UnaryOp):
        return _is_constant(index.operand)
    if isinstance(index, gast.Slice):
        return all(part is None or _is_constant(part) for part in (index.lower, index.upper, index.step))
    return isinstance(index, gast.Tuple) and all(map(_is_constant, index.elts))


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
