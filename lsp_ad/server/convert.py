"""The one place where positions of the compiler and positions of the protocol meet.

The compiler counts lines from 1 and columns in code points from 0; the protocol counts lines from 0
and columns in the code units of the encoding that client and server agreed on.
"""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from lsp_ad.problems import Span
from lsp_ad.source.document import Document
from lsp_ad.source.edits import Edit
from lsp_ad.source.positions import LineIndex


def from_position(lines: LineIndex, position: types.Position, encoding: str) -> tuple[int, int]:
    """(line, column) of a protocol position; past the end of a line it is the end of that line."""
    line = position.line + 1
    return line, lines.from_units(line, position.character, encoding)


def from_range(lines: LineIndex, given: types.Range, encoding: str) -> Span:
    start, end = from_position(lines, given.start, encoding), from_position(lines, given.end, encoding)
    return Span(*min(start, end), *max(start, end))


def to_position(lines: LineIndex, line: int, column: int, encoding: str) -> types.Position:
    return types.Position(max(line - 1, 0), lines.to_units(line, column, encoding))


def to_range(lines: LineIndex, span: Span, encoding: str) -> types.Range:
    """The range of a span. Never empty: an empty range is invisible in an editor."""
    start, end = lines.offset(span.line, span.column), lines.offset(span.end_line, span.end_column)
    if end <= start:
        start, end = _widened(lines, min(start, len(lines.text)))
    return types.Range(
        to_position(lines, *lines.position(start), encoding),
        to_position(lines, *lines.position(end), encoding),
    )


def _widened(lines: LineIndex, offset: int) -> tuple[int, int]:
    """The character at an offset, the one before it at the end of a line, or an empty line with its end."""
    line, column = lines.position(offset)
    length = len(lines.line(line))
    if column < length:
        return offset, offset + 1
    if length:
        return offset - 1, offset
    return offset, lines.starts[line] if line < len(lines) else offset


def to_text_edits(document: Document, edits: Iterable[Edit], encoding: str) -> list[types.TextEdit]:
    lines = document.lines

    def position(offset: int) -> types.Position:
        return to_position(lines, *lines.position(offset), encoding)

    return [types.TextEdit(types.Range(position(e.start), position(e.end)), e.text) for e in edits]


def apply_change(text: str, change: types.TextDocumentContentChangeEvent, encoding: str) -> str:
    """The text after one change of a `didChange` notification.

    pygls has its own, but it also ends lines at form feeds, U+2028 and their like, as the protocol does
    not, so that its copy of such a file goes astray with the first edit.
    """
    if not isinstance(change, types.TextDocumentContentChangePartial):
        return change.text
    lines = LineIndex(text)
    span = from_range(lines, change.range, encoding)
    start, end = lines.offset(span.line, span.column), lines.offset(span.end_line, span.end_column)
    return text[:start] + change.text + text[end:]
