"""Generators that decide nothing: Python runs them as they stand, and what they yield may be staged."""

from __future__ import annotations

import gast

_PARTS = (
    *(gast.For, gast.Expr, gast.Return, gast.Pass, gast.Yield, gast.Name, gast.Constant, gast.BinOp),
    *(gast.UnaryOp, gast.Attribute, gast.Subscript, gast.Slice, gast.Tuple, gast.Call, gast.Assign),
    *(gast.arguments, gast.operator, gast.USub, gast.UAdd, gast.expr_context),
)
_CALLED = frozenset(["range", "enumerate", "zip", "reversed", "abs"])


def is_plain(function: gast.AST) -> bool:
    """Whether a function is a generator of loops, names and arithmetic only, which need no conversion."""
    if not isinstance(function, gast.FunctionDef) or function.decorator_list:
        return False
    nodes = [n for part in [*function.body, function.args] for n in gast.walk(part)]
    return any(isinstance(n, gast.Yield) for n in nodes) and all(map(_is_plain, nodes))


def _is_plain(node: gast.AST) -> bool:
    if isinstance(node, gast.Call):
        return isinstance(node.func, gast.Name) and node.func.id in _CALLED and not node.keywords
    if isinstance(node, (gast.Attribute, gast.Subscript)) and not isinstance(node.ctx, gast.Load):
        return False
    if isinstance(node, gast.For) and node.orelse:
        return False
    return isinstance(node, _PARTS)
