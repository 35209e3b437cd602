"""Hover: on a function its gradient, on a statement its adjoint lines and its staging, on a call the rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import gast
from lsprotocol import types

from lsp_ad import rules
from lsp_ad.differentiate import Derivative
from lsp_ad.problems import Problem, Span
from lsp_ad.rules.describe import describe
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics.names import HERE, local_names
from lsp_ad.server.analysis import Analysis
from lsp_ad.server.client import Client
from lsp_ad.server.convert import from_position, to_range
from lsp_ad.server.snapshots import Snapshot
from lsp_ad.server.staging_hover import staging_at
from lsp_ad.source.parse import span_of

MOST_GRADIENT_LINES = 40
MOST_ADJOINT_LINES = 12
MOST_PROBLEMS = 3


@dataclass(frozen=True)
class Part:
    """A piece of a hover: Python code, or a text in Markdown."""

    text: str
    is_code: bool = False


@dataclass(frozen=True)
class Answer:
    """What to show, and for which piece of the analysed text."""

    parts: tuple[Part, ...]
    span: Span


def hover(snapshot: Snapshot, position: types.Position, client: Client) -> types.Hover | None:
    """The hover at a position. Where the text does not parse, that of the last version that did."""
    good, lines = snapshot.good, snapshot.document.lines
    line, column = from_position(lines, position, client.encoding)
    there = snapshot.line_in_good(line)
    if good is None or there is None or line > len(lines):
        return None
    answer = explain(good.analysis, there, column)
    if answer is None:
        return None
    parts = answer.parts
    if good is not snapshot:
        parts += (Part("From the last version of this file that parses."),)
    moved, span = line - there, answer.span
    span = Span(span.line + moved, span.column, span.end_line + moved, span.end_column)
    return types.Hover(_markup(parts, client.markdown), to_range(lines, span, client.encoding))


def explain(analysis: Analysis, line: int, column: int) -> Answer | None:
    found, staging = _derivatives(analysis, line, column), staging_at(analysis, line, column)
    if staging is None:
        return found
    return Answer((Part(staging[0]), *(found.parts if found else ())), found.span if found else staging[1])


def _derivatives(analysis: Analysis, line: int, column: int) -> Answer | None:
    function = analysis.function_at(line)
    if function is None:
        return None
    name = _name_span(analysis, function)
    if name.contains(line, column):
        return _of_function(analysis, function, name)
    statement = _statement_at(function, line, column)
    if statement is None:
        return None
    call = _call_at(analysis, function, statement, line, column)
    parts = [Part(call[1])] if call else []
    parts += _of_statement(analysis, function, statement)
    if not parts:
        return None
    return Answer(tuple(parts), span_of(call[0]) if call else _header(statement))


def _of_function(analysis: Analysis, function: gast.FunctionDef, name: Span) -> Answer | None:
    derivative, problems = analysis.derivative(function.name)
    if derivative is not None:
        return Answer((_code([line.text for line in derivative.lines], MOST_GRADIENT_LINES),), name)
    if not analysis.is_numeric or not analysis.parameters(function.name):
        return None
    title = Part(f"`{function.name}` cannot be differentiated:")
    return Answer((title, *map(_refusal, problems[:MOST_PROBLEMS])), name)


def _of_statement(analysis: Analysis, function: gast.FunctionDef, statement: gast.stmt) -> list[Part]:
    derivative, problems = analysis.derivative(function.name)
    header = _header(statement)
    if derivative is not None:
        adjoint = list(_adjoint(derivative, statement, header))
        return [Part("Adjoint:"), _code(_dedented(adjoint), MOST_ADJOINT_LINES)] if adjoint else []
    if not analysis.is_numeric:
        return []
    return [_refusal(p) for p in problems if _overlap(p.span, header)][:MOST_PROBLEMS]


def _adjoint(derivative: Derivative, statement: gast.stmt, header: Span) -> Iterator[str]:
    whole = span_of(statement)
    for line in derivative.lines:
        origin = line.origin
        if line.sweep != "forward" and origin is not None and (_inside(origin, header) or origin == whole):
            yield line.text


def _statement_at(function: gast.FunctionDef, line: int, column: int) -> gast.stmt | None:
    """The innermost statement at a position, for a compound one only where its header is there."""
    found, body = None, list(function.body)
    while body:
        inner = next((s for s in body if span_of(s).contains(line, column)), None)
        if inner is None:
            # On a line of its own: the white space before a statement, or the comment behind it.
            inner = next((s for s in body if s.lineno <= line <= s.end_lineno), None)
        if inner is None:
            break
        found, body = inner, [s for _, block in gast.iter_fields(inner) for s in _statements(block)]
    if found is None or isinstance(found, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
        return None
    header = _header(found)
    return found if header.line <= line <= header.end_line else None


def _statements(block: object) -> list[gast.stmt]:
    if not isinstance(block, list):
        return []
    handlers = [s for h in block if isinstance(h, (gast.ExceptHandler, gast.match_case)) for s in h.body]
    return handlers + [s for s in block if isinstance(s, gast.stmt)]


def _header(statement: gast.stmt) -> Span:
    """The span of a statement, of a compound one without its blocks."""
    whole = span_of(statement)
    inner = [s for _, block in gast.iter_fields(statement) for s in _statements(block)]
    if not inner:
        return whole
    heads = [n for n in gast.iter_child_nodes(statement) if isinstance(n, gast.expr)]
    if not heads:
        return Span(whole.line, whole.column, whole.line, whole.column + 1)
    end = max((n.end_lineno, n.end_col_offset) for n in heads)
    return Span(whole.line, whole.column, *end)


def _call_at(
    analysis: Analysis, function: gast.FunctionDef, statement: gast.stmt, line: int, column: int
) -> tuple[gast.expr, str] | None:
    """The library function that is called at a position, as (its name in the text, its rule)."""
    local = local_names(function)
    for node in gast.walk(statement):
        if isinstance(node, gast.Call) and span_of(node.func).contains(line, column):
            canonical = analysis.program.canonical(node.func, local)
            if canonical is None and isinstance(node.func, gast.Attribute):
                canonical = rules.METHODS.get(node.func.attr)
            known = Scope(analysis.program, local).declared(node)
            if known is not None and known.rule is not None:
                return node.func, describe(known.rule)
            rule = rules.describe(canonical) if canonical and not canonical.startswith(HERE) else None
            if rule:
                return node.func, rule
    return None


def _name_span(analysis: Analysis, function: gast.FunctionDef) -> Span:
    text = analysis.document.lines.line(function.lineno)
    match = re.compile(r"def\s+(\w+)").search(text, function.col_offset)
    start, end = match.span(1) if match else (function.col_offset, function.col_offset + len("def"))
    return Span(function.lineno, start, function.lineno, end)


def _refusal(problem: Problem) -> Part:
    return Part(f"**{problem.code}** (line {problem.span.line}) {problem}")


def _code(lines: list[str], most: int) -> Part:
    rest = len(lines) - most
    shown = lines if rest <= 0 else [*lines[:most], f"# ... {rest} more line{'s' if rest > 1 else ''}"]
    return Part("\n".join(shown), is_code=True)


def _dedented(lines: list[str]) -> list[str]:
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    return [line[margin:] for line in lines]


def _inside(inner: Span, outer: Span) -> bool:
    return (outer.line, outer.column) <= (inner.line, inner.column) and (
        inner.end_line,
        inner.end_column,
    ) <= (
        outer.end_line,
        outer.end_column,
    )


def _overlap(a: Span, b: Span) -> bool:
    return (a.line, a.column) < (b.end_line, b.end_column) and (b.line, b.column) < (a.end_line, a.end_column)


def _markup(parts: tuple[Part, ...], markdown: bool) -> types.MarkupContent:
    if not markdown:
        return types.MarkupContent(types.MarkupKind.PlainText, "\n\n".join(_plain(p) for p in parts))
    texts = [f"```python\n{p.text}\n```" if p.is_code else p.text for p in parts]
    return types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(texts))


def _plain(part: Part) -> str:
    return part.text if part.is_code else re.sub(r"\*\*|`", "", part.text)
