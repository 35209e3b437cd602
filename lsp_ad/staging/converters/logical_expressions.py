"""`a and b`, `a or b`, `not a`, chained comparisons, `in` and `is`.

    a and b          ag.and_(a, lambda: b), in a condition ag.both(a, lambda: b)
    a < b <= c       ag.compare(a, "<", lambda: b, "<=", lambda: c)
    a in b           ag.in_(a, b)

    a == b           ag.eq(a, b)
    +a               ag.positive(a)

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
_NAMES = {
    (gast.And, False): "and_",
    (gast.Or, False): "or_",
    (gast.And, True): "both",
    (gast.Or, True): "either",
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
            which = _NAMES[type(node.op), getattr(node, "only_truth", False)]
            *first, last = node.values
            made = functools.reduce(
                lambda right, left: _logical(which, node, left, later(right)), reversed(first), last
            )
            return made
        if isinstance(node, gast.UnaryOp):
            if isinstance(node.op, gast.UAdd) and not isinstance(node.operand, gast.Constant):
                return operator("positive", node.operand)
            if not isinstance(node.op, gast.Not):
                return node
            return operator("not_" if _is_theirs(node) else "negated", node.operand)
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
        return operator("negated", made) if op in (gast.NotIn, gast.IsNot) else made


def _is_theirs(node: gast.expr) -> bool:
    """Whether an expression is one of the user's, not what another construct has become."""
    return not hasattr(node, "stands_for")


def _logical(which: str, node: gast.BoolOp, left: gast.expr, right: gast.expr) -> gast.Call:
    made = operator(which, left, right)
    if not _is_theirs(node):
        made.keywords = [gast.keyword("construct", constant(""))]
    return made
