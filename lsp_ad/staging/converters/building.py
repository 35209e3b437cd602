"""Building pieces of converted code, each at the place of the user's text that it stands for."""

from __future__ import annotations

import gast

from lsp_ad.simplify.algebra import constant, name, store
from lsp_ad.source.trees import walk

AG = "ag"
_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def operator(which: str, *arguments: gast.expr) -> gast.Call:
    """`ag.which(*arguments)`."""
    return gast.Call(gast.Attribute(name(AG), which, gast.Load()), list(arguments), [])


def later(value: gast.expr) -> gast.Lambda:
    """`lambda: value`, that an operator calls at once if at all."""
    made = gast.Lambda(gast.arguments([], [], None, [], [], None, []), value)
    made.immediate = True
    return made


def is_immediate(node: gast.AST) -> bool:
    """Whether a lambda is one of `later`, which outlives nothing."""
    return getattr(node, "immediate", False)


def define(function: str, parameters: list[str], body: list[gast.stmt]) -> gast.FunctionDef:
    arguments = [gast.Name(p, gast.Param(), None, None) for p in parameters]
    return gast.FunctionDef(
        function, gast.arguments(arguments, [], None, [], [], None, []), body, [], None, None, []
    )


def several(names: list[str], context: type = gast.Load) -> gast.expr:
    """`(a, b)`, or `(a,)`."""
    return gast.Tuple([gast.Name(n, context(), None, None) for n in names], context())


def at(node: gast.AST, like: gast.AST) -> gast.AST:
    """The node, with the place of `like` wherever it has none of its own."""
    place = {field: getattr(like, field) for field in _PLACE if hasattr(like, field)}
    if place:
        for part in walk(node):
            if not hasattr(part, "lineno"):
                part.__dict__.update(place)
    return node


__all__ = ["AG", "at", "constant", "define", "is_immediate", "later", "name", "operator", "several", "store"]
