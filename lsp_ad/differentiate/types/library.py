"""The kinds of what operators, library functions and functions of the file give."""

from __future__ import annotations

from collections.abc import Callable

import gast

from lsp_ad.rules import Unsupported
from lsp_ad.rules.resolve import Operation, Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.shapes import (
    BOTTOM,
    FLOAT,
    MIXED,
    OTHER,
    UNKNOWN,
    Kind,
    element_kind,
    growing,
    join,
    lasting,
)

KindOf = Callable[[gast.expr], Kind]
# Built-in functions that make a list, a tuple or a dict.
MAKERS = {f"builtins.{n}": n for n in ("list", "tuple", "dict", "sorted")}
VIEWS = ("items", "keys", "values")


def library_kinds(scope: Scope) -> Callable[[gast.expr, KindOf], Kind | None]:
    """The kind of an expression by the rule that it stands for; None where there is none."""

    def library(node: gast.expr, kind_of: KindOf) -> Kind | None:
        operation = scope.operation(node)
        if operation is not None:
            return _of_operation(node, operation, kind_of)
        if isinstance(node, (gast.Name, gast.Attribute)) and scope.is_float(node):
            return FLOAT
        if not isinstance(node, gast.Call):
            return None
        callee = scope.callee(node)
        if callee is not None:
            return _returned(callee)
        made = MAKERS.get(scope.canonical(node.func) or "")
        if made is not None:
            return _made(made, node, kind_of)
        if isinstance(node.func, gast.Attribute) and scope.canonical(node.func) is None:
            return _method(node, node.func, kind_of)
        return None

    return library


def _of_operation(node: gast.expr, operation: Operation, kind_of: KindOf) -> Kind:
    try:
        bound = operation.bind(kind_of)
    except Unsupported:
        return UNKNOWN
    kinds = [kind_of(a) for a in bound.given.values()]
    if any(k is BOTTOM for k in kinds):
        return BOTTOM
    if isinstance(node, gast.BinOp) and any(k.is_structure or k.type == "mixed" for k in kinds):
        return _joined(node.op, kind_of(node.left), kind_of(node.right))
    if is_copy(node) and kinds[0].is_structure:
        return kinds[0]
    try:
        return operation.rule.result_kind(bound)
    except Unsupported:
        return UNKNOWN


def is_copy(node: gast.expr) -> bool:
    """Whether an expression is `x.copy()`, which lists and dicts know as well as arrays."""
    return isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "copy"


def _joined(op: gast.operator, a: Kind, b: Kind) -> Kind:
    """`xs + ys` and `xs * n`, for lists and tuples; nothing else is computed with these."""
    if isinstance(op, gast.Add) and a.type == b.type and a.type in ("list", "tuple"):
        if a.items is not None and b.items is not None and len(a.items) + len(b.items) < 20:
            return Kind(a.type, None, None, (*a.items, *b.items))
        return join(growing(a), growing(b))
    if isinstance(op, gast.Mult):
        xs, n = (a, b) if a.is_structure else (b, a)
        if xs.type in ("list", "tuple") and n.type == "number" and n.dtype == "int":
            return growing(xs)
    return MIXED


def _made(made: str, node: gast.Call, kind_of: KindOf) -> Kind:
    if made == "dict" or not node.args:
        given = kind_of(node.args[0]) if node.args else UNKNOWN
        return given if given.type == "dict" and not node.keywords else Kind(made)
    given = kind_of(node.args[0])
    if given is BOTTOM:
        return BOTTOM
    kind = "tuple" if made == "tuple" else "list"
    if given.type == "dict":
        return Kind(kind, element=OTHER)
    if given.type in ("list", "tuple"):
        return Kind(kind, given.dtype, None, given.items, False, given.element)
    row = given.shape[1:] if isinstance(given.shape, tuple) and given.shape else None
    item = Kind("number" if row == () else "array" if row else "numeric", given.dtype, row)
    return Kind(kind, element=lasting(item)) if given.type in ("array", "numeric") else Kind(kind)


def _method(node: gast.Call, function: gast.Attribute, kind_of: KindOf) -> Kind | None:
    """What the methods of lists and dicts hand out."""
    base = kind_of(function.value)
    if function.attr == "get" and len(node.args) == 2 and (base.type == "dict" or base is BOTTOM):
        item = BOTTOM if base is BOTTOM or base.items == () else element_kind(base)
        return join(item, kind_of(node.args[1]))
    if not base.is_structure:
        return BOTTOM if base is BOTTOM and function.attr in (*VIEWS, "get", "pop") else None
    if function.attr in ("pop", "get"):
        return element_kind(base) if base.items != () else UNKNOWN
    if base.type == "dict" and function.attr in VIEWS:
        inner = element_kind(base) if base.items != () else UNKNOWN
        pair = Kind("tuple", None, None, (OTHER, inner))
        return Kind("list", element={"items": pair, "keys": OTHER, "values": inner}[function.attr])
    return None


def _returned(function: gast.FunctionDef) -> Kind:
    """The kind of what a function of the file returns, where every path returns the same structure."""
    kinds = {_displayed(n.value) for n in flow.walk(function) if isinstance(n, gast.Return)}
    return kinds.pop() if len(kinds) == 1 else UNKNOWN


def _displayed(node: gast.expr | None) -> Kind:
    if isinstance(node, gast.Tuple) and not any(isinstance(e, gast.Starred) for e in node.elts):
        return Kind("tuple", None, None, tuple(map(_displayed, node.elts)))
    if isinstance(node, (gast.List, gast.ListComp)):
        return Kind("list")
    return Kind("dict") if isinstance(node, (gast.Dict, gast.DictComp)) else UNKNOWN
