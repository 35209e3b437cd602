"""Building pieces of converted code, each at the place of the user's text that it stands for."""

from __future__ import annotations

import gast

from lsp_ad.semantics import flow
from lsp_ad.simplify.algebra import constant, name, store
from lsp_ad.source.trees import walk

AG = "ag"
_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def operator(which: str, *arguments: gast.expr) -> gast.Call:
    """`ag.which(*arguments)`."""
    return gast.Call(of_operators(which), list(arguments), [])


def of_operators(which: str) -> gast.Attribute:
    """`ag.which`."""
    module = name(AG)
    module.is_operators = True
    return gast.Attribute(module, which, gast.Load())


def is_of_operators(node: gast.AST) -> bool:
    """Whether a node is one of `of_operators`, and nothing of the user's."""
    return isinstance(node, gast.Attribute) and getattr(node.value, "is_operators", False)


def renamed(function: gast.FunctionDef, alias: str) -> None:
    """Let the operators be called by another name than `ag`."""
    for node in walk(function):
        if getattr(node, "is_operators", False):
            node.id = alias


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
    """The node, with the place of `like` wherever it has none of its own: of a long one, its first line.

    Python reports a call of a method at the line where the name of the method *ends*.
    """
    place = {field: getattr(like, field) for field in _PLACE if hasattr(like, field)}
    if "lineno" in place:
        if place["end_lineno"] != place["lineno"]:
            place["end_lineno"], place["end_col_offset"] = place["lineno"], _end_of_header(like)
        for part in walk(node):
            if not hasattr(part, "lineno"):
                part.__dict__.update(place)
    return node


def placed(body: list[gast.stmt], like: gast.AST) -> None:
    """Give the statements of a block that have no place that of the one before, or of what they stand in."""
    for s in body:
        if not hasattr(s, "lineno"):
            at(s, like)
        for block in flow.blocks(s):
            placed(block, s)
        like = s


def _end_of_header(s: gast.AST) -> int:
    """Where the first line of a compound statement ends; the column where it starts if that is not known."""
    part = getattr(s, "test", None) or getattr(s, "iter", None)
    if part is not None and getattr(part, "end_lineno", None) == s.lineno:
        return part.end_col_offset
    return s.col_offset


__all__ = [
    "AG",
    "at",
    "constant",
    "define",
    "is_immediate",
    "is_of_operators",
    "later",
    "name",
    "of_operators",
    "operator",
    "placed",
    "renamed",
    "several",
    "store",
]
