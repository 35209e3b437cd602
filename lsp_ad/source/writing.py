"""The text of common expressions and statements, as `ast.unparse` writes it, at a fraction of its cost.

What is not in the table at the end has no text here: `written` returns None.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

# How tightly the parts of an expression are bound, from a tuple without parentheses to a name.
TUPLE, TEST, COMPARISON, EITHER, DIFFERENT, BOTH, SHIFT, SUM, PRODUCT, SIGN, POWER, AWAIT, ATOM = range(13)

_OPERATORS = {
    gast.BitOr: ("|", EITHER),
    gast.BitXor: ("^", DIFFERENT),
    gast.BitAnd: ("&", BOTH),
    gast.LShift: ("<<", SHIFT),
    gast.RShift: (">>", SHIFT),
    gast.Add: ("+", SUM),
    gast.Sub: ("-", SUM),
    gast.Mult: ("*", PRODUCT),
    gast.MatMult: ("@", PRODUCT),
    gast.Div: ("/", PRODUCT),
    gast.FloorDiv: ("//", PRODUCT),
    gast.Mod: ("%", PRODUCT),
    gast.Pow: ("**", POWER),
}
_SIGNS = {gast.USub: "-", gast.UAdd: "+", gast.Invert: "~"}
_COMPARISONS = {
    gast.Eq: "==",
    gast.NotEq: "!=",
    gast.Lt: "<",
    gast.LtE: "<=",
    gast.Gt: ">",
    gast.GtE: ">=",
    gast.Is: "is",
    gast.IsNot: "is not",
    gast.In: "in",
    gast.NotIn: "not in",
}


def written(node: gast.AST) -> str | None:
    """The text of a tree, or None where something in it is not common."""
    try:
        return _text(node, TEST)
    except _Rare:
        return None


class _Rare(Exception):
    """A node that is not in the table."""


def _text(node: gast.AST, level: int) -> str:
    """The text of a node where `level` binds it: in parentheses where it holds together less tightly."""
    writer = _WRITERS.get(type(node))
    if writer is None:
        raise _Rare
    return writer(node, level)


def _inside(text: str, own: int, level: int) -> str:
    return f"({text})" if level > own else text


def _list(nodes: list[gast.expr]) -> str:
    return ", ".join([_text(n, TEST) for n in nodes])


def _items(nodes: list[gast.expr]) -> str:
    return f"{_text(nodes[0], TEST)}," if len(nodes) == 1 else _list(nodes)


def _constant(node: gast.Constant, level: int) -> str:
    value = node.value
    if value is Ellipsis:
        return "..."
    if node.kind or not (value is None or isinstance(value, (bool, int, float, str))):
        raise _Rare
    return repr(value).replace("inf", "1e309") if isinstance(value, float) else repr(value)


def _binary(node: gast.BinOp, level: int) -> str:
    sign, own = _OPERATORS[type(node.op)]
    left, right = (own + 1, own) if own == POWER else (own, own + 1)
    return _inside(f"{_text(node.left, left)} {sign} {_text(node.right, right)}", own, level)


def _unary(node: gast.UnaryOp, level: int) -> str:
    sign = _SIGNS.get(type(node.op))
    if sign is None:
        raise _Rare
    return _inside(sign + _text(node.operand, SIGN), SIGN, level)


def _compare(node: gast.Compare, level: int) -> str:
    rest = [
        f" {_COMPARISONS[type(op)]} {_text(right, EITHER)}"
        for op, right in zip(node.ops, node.comparators, strict=True)
    ]
    return _inside(_text(node.left, EITHER) + "".join(rest), COMPARISON, level)


def _attribute(node: gast.Attribute, level: int) -> str:
    space = " " if isinstance(node.value, gast.Constant) and isinstance(node.value.value, int) else ""
    return f"{_text(node.value, ATOM)}{space}.{node.attr}"


def _call(node: gast.Call, level: int) -> str:
    arguments = [_text(a, TEST) for a in node.args]
    for keyword in node.keywords:
        if keyword.arg is None:
            raise _Rare
        arguments.append(f"{keyword.arg}={_text(keyword.value, TEST)}")
    return f"{_text(node.func, ATOM)}({', '.join(arguments)})"


def _subscript(node: gast.Subscript, level: int) -> str:
    index = node.slice
    bare = isinstance(index, gast.Tuple) and bool(index.elts)
    return f"{_text(node.value, ATOM)}[{_items(index.elts) if bare else _text(index, TEST)}]"


def _slice(node: gast.Slice, level: int) -> str:
    lower, upper = (_text(n, TEST) if n is not None else "" for n in (node.lower, node.upper))
    return f"{lower}:{upper}" + (f":{_text(node.step, TEST)}" if node.step is not None else "")


def _tuple(node: gast.Tuple, level: int) -> str:
    return _inside(_items(node.elts), TUPLE, level) if node.elts else "()"


def _assign(node: gast.Assign, level: int) -> str:
    targets = "".join([f"{_text(t, TUPLE)} = " for t in node.targets])
    return targets + _text(node.value, TEST)


def _augmented(node: gast.AugAssign, level: int) -> str:
    return f"{_text(node.target, TEST)} {_OPERATORS[type(node.op)][0]}= {_text(node.value, TEST)}"


_WRITERS: dict[type, Callable[..., str]] = {
    gast.Name: lambda node, level: node.id,
    gast.Constant: _constant,
    gast.BinOp: _binary,
    gast.UnaryOp: _unary,
    gast.Compare: _compare,
    gast.Attribute: _attribute,
    gast.Call: _call,
    gast.Subscript: _subscript,
    gast.Slice: _slice,
    gast.Tuple: _tuple,
    gast.List: lambda node, level: f"[{_list(node.elts)}]",
    gast.Assign: _assign,
    gast.AugAssign: _augmented,
    gast.Expr: lambda node, level: _text(node.value, TEST),
}
