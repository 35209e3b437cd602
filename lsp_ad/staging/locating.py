"""Where the definition of a live function stands in its file."""

from __future__ import annotations

import functools
import types
from dataclasses import dataclass

import gast

from lsp_ad.semantics.names import Program
from lsp_ad.source.document import Document
from lsp_ad.source.parse import Parsed, parse
from lsp_ad.source.trees import copied
from lsp_ad.sources import NoSource, borrowed, definition_of, first_line, text_of

_DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)


@dataclass(frozen=True)
class Located:
    """The file of a function, a copy of its definition, and the class around it ("" if there is none)."""

    program: Program
    node: gast.FunctionDef
    owner: str


def located(function: types.FunctionType) -> Located:
    """Find the text of a function. Raises NoSource."""
    code = function.__code__
    text = text_of(function)
    if not text:
        raise NoSource(f"there is no text of it in {code.co_filename}")
    program = _program(text, code.co_filename)
    if program.parsed.problems:
        raise NoSource(f"{code.co_filename} does not parse any more")
    imports = borrowed(function, program.bound)
    if imports:
        program = _program("\n".join([text.rstrip("\n"), *imports, ""]), code.co_filename)
    parsed = program.parsed
    if code.co_name == "<lambda>":
        node = _lambda(parsed, code)
        return Located(program, _as_function(copied(node)), _class_around(parsed.module, node))
    node = definition_of(parsed, code, first_line(text, code))
    return Located(program, copied(node), _class_around(parsed.module, node))


@functools.lru_cache(maxsize=32)
def _program(text: str, filename: str) -> Program:
    return Program(parse(Document(text, filename)))


def _class_around(module: gast.Module, node: gast.AST) -> str:
    """The name of the innermost class whose text has a node in it."""
    found = ""
    pending = [*module.body]
    while pending:
        s = pending.pop()
        end = getattr(s, "end_lineno", None)
        if end is None or not s.lineno <= node.lineno <= end or s is node:
            continue
        if isinstance(s, gast.ClassDef):
            found = s.name
        pending += [child for child in gast.iter_child_nodes(s) if isinstance(child, gast.stmt)]
        pending += [child for h in getattr(s, "handlers", []) for child in h.body]
    return found


def _lambda(parsed: Parsed, code: types.CodeType) -> gast.Lambda:
    """The lambda that a code object was made of: of several, the smallest that has its positions."""
    found = [
        n for n in gast.walk(parsed.module) if isinstance(n, gast.Lambda) and n.lineno == code.co_firstlineno
    ]
    if len(found) > 1:
        found = [n for n in found if _arguments(n) == code.co_varnames[: code.co_argcount]]
    if len(found) > 1 and hasattr(code, "co_positions"):
        lines = parsed.document.text.split("\n")
        spans = [_places(p, lines) for p in code.co_positions() if None not in p and p[2:] != (0, 0)]
        inside = [n for n in found if all(_within(span, n.body) for span in spans)]
        found = sorted(inside, key=_size)[:1]
    if len(found) != 1:
        raise NoSource("several lambdas stand in its line; put them into lines of their own")
    return found[0]


def _arguments(node: gast.Lambda) -> tuple[str, ...]:
    return tuple(a.id for a in [*node.args.posonlyargs, *node.args.args])


def _places(position: tuple, lines: list[str]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Start and end (line, column) of an instruction, whose columns Python counts in bytes."""
    start, end, column, end_column = position
    first, last = (lines[line - 1].encode() for line in (start, end))
    return (start, len(first[:column].decode())), (end, len(last[:end_column].decode()))


def _within(span: tuple, body: gast.expr) -> bool:
    start, end = span
    return (body.lineno, body.col_offset) <= start and end <= (body.end_lineno, body.end_col_offset)


def _size(node: gast.Lambda) -> tuple[int, int]:
    return node.end_lineno - node.lineno, node.end_col_offset - node.col_offset


def _as_function(node: gast.Lambda) -> gast.FunctionDef:
    """A lambda as a function that returns its value."""
    value = gast.copy_location(gast.Return(node.body), node.body)
    return gast.copy_location(gast.FunctionDef("lambda_", node.args, [value], [], None, None, []), node)
