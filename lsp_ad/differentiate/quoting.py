"""The user's own text and places, for messages about trees that the compiler has taken apart."""

from __future__ import annotations

import re

import gast

from lsp_ad.problems import Span
from lsp_ad.semantics.names import Program, parameters
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import expression_text
from lsp_ad.source.trees import walk

LONGEST = 60
_ADDED = re.compile(r"\b[tb]__\w+")
_RENAMED = re.compile(r"\b[wsd]__(\w+?)(__\d+)?\b")


def quoted(node: gast.AST, program: Program) -> str:
    """What a message calls an expression: its text in the document, where it comes from there.

    Values that the compiler gave names to are dots.
    """
    text = _source(node, program)
    if text is None:
        text = _RENAMED.sub(r"\1", _ADDED.sub("...", expression_text(node).split("\n")[0]))
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _source(node: gast.AST, program: Program) -> str | None:
    if not isinstance(node, gast.expr) or not hasattr(node, "lineno"):
        return None
    span, lines = span_of(node), program.parsed.document.lines
    if program.home(span) is not None or span.line != span.end_line or span.line > len(lines):
        return None
    return lines.line(span.line)[span.column : span.end_column] or None


def place(node: gast.AST, s: gast.AST) -> Span:
    """The span of an expression, or of the statement that it is part of."""
    return span_of(node if hasattr(node, "lineno") else s)


def binding_place(name: str, function: gast.FunctionDef, program: Program) -> Span:
    """Where a function or the file gives a name its meaning, or else the function itself."""
    column = function.col_offset + len("def ")
    fallback = Span(function.lineno, column, function.lineno, column + len(function.name))
    if name in parameters(function):
        arguments = [n for n in walk(function.args) if isinstance(n, gast.Name) and n.id == name]
        return span_of(arguments[0])
    for tree in (function, program.parsed.module):
        for n in walk(tree):
            if isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Store):
                return span_of(n)
            if isinstance(n, gast.FunctionDef) and n.name == name and n is not function:
                start = n.col_offset + len("def ")
                return Span(n.lineno, start, n.lineno, start + len(name))
            if isinstance(n, (gast.Import, gast.ImportFrom)) and any(
                (a.asname or a.name.split(".")[0]) == name for a in n.names
            ):
                return span_of(n)
    return fallback
