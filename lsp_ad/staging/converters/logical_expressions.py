"""`a and b`, `a or b`, `not a`, chained comparisons, `in` and `is`.

    a and b          ag.and_(a, lambda: b)
    a < b <= c       ag.compare(a, "<", lambda: b, "<=", lambda: c)
    a in b           ag.in_(a, b)

    a == b           ag.eq(a, b)

A single comparison by `<`, or with a constant, stays: the values themselves know what it means. Those by
`==` may be of tuples, as shapes are, with staged values in them.
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
_SINGLE = {
    gast.In: "in_",
    gast.NotIn: "in_",
    gast.Is: "is_",
    gast.IsNot: "is_",
    gast.Eq: "eq",
    gast.NotEq: "ne",
}


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
        with_constant = any(isinstance(side, gast.Constant) for side in (node.left, node.comparators[0]))
        if op not in _SINGLE or (op in (gast.Eq, gast.NotEq) and with_constant):
            return node
        made = operator(_SINGLE[op], node.left, node.comparators[0])
        return operator("not_", made) if op in (gast.NotIn, gast.IsNot) else made
