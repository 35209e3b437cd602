"""`a and b`, `a or b`, `not a`, chained comparisons, `in` and `is`.

    a and b          ag.and_(a, lambda: b)
    a < b <= c       ag.compare(a, "<", lambda: b, "<=", lambda: c)
    a in b           ag.in_(a, b)

A single comparison by `<` or `==` stays: the values themselves know what it means.
"""

from __future__ import annotations

import functools

import gast

from lsp_ad.staging.converters.building import constant, later, operator
from lsp_ad.staging.converters.expressions import Expressions

_SIGNS = {
    gast.Eq: "==",
    gast.NotEq: "!=",
    gast.Lt: "<",
    gast.LtE: "<=",
    gast.Gt: ">",
    gast.GtE: ">=",
    gast.In: "in",
    gast.NotIn: "not in",
    gast.Is: "is",
    gast.IsNot: "is not",
}
_SINGLE = {gast.In: "in_", gast.NotIn: "in_", gast.Is: "is_", gast.IsNot: "is_"}


class LogicalExpressions(Expressions):
    kinds = (gast.BoolOp, gast.UnaryOp, gast.Compare)

    def convert(self, node: gast.expr) -> gast.AST:
        if isinstance(node, gast.BoolOp):
            which = "and_" if isinstance(node.op, gast.And) else "or_"
            *first, last = node.values
            return functools.reduce(
                lambda right, left: operator(which, left, later(right)), reversed(first), last
            )
        if isinstance(node, gast.UnaryOp):
            return operator("not_", node.operand) if isinstance(node.op, gast.Not) else node
        if len(node.ops) > 1:
            links = [
                part
                for op, right in zip(node.ops, node.comparators, strict=True)
                for part in (constant(_SIGNS[type(op)]), later(right))
            ]
            return operator("compare", node.left, *links)
        op = type(node.ops[0])
        if op not in _SINGLE or _with_none(node):
            return node
        made = operator(_SINGLE[op], node.left, node.comparators[0])
        return operator("not_", made) if op in (gast.NotIn, gast.IsNot) else made


def _with_none(node: gast.Compare) -> bool:
    """Whether a comparison is `x is None`, which is never staged."""
    sides = (node.left, node.comparators[0])
    return isinstance(node.ops[0], (gast.Is, gast.IsNot)) and any(
        isinstance(side, gast.Constant) and side.value is None for side in sides
    )
