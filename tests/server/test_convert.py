"""Positions in the three encodings, and edits of the client applied to the document."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from server_markers import length, offset

from lsp_ad.problems import Span
from lsp_ad.server.convert import apply_change, from_position, to_position, to_range
from lsp_ad.source.positions import ENCODINGS, LineIndex

TEXT = st.text(st.sampled_from("aé😀\n\r\u2028\x0c\t "), max_size=30)
ENCODING = st.sampled_from(ENCODINGS)


@given(TEXT, ENCODING, st.data())
def test_there_and_back_again(text, encoding, data):
    lines = LineIndex(text)
    line, column = lines.position(data.draw(st.integers(0, len(text))))
    column = min(column, len(lines.line(line)))
    there = to_position(lines, line, column, encoding)
    assert from_position(lines, there, encoding) == (line, column)
    assert offset(text, there, encoding) == lines.offset(line, column)


@given(TEXT, ENCODING, st.integers(0, 40), st.integers(0, 90))
def test_positions_beyond_a_line_are_its_end(text, encoding, line, character):
    lines = LineIndex(text)
    _, column = from_position(lines, types.Position(line, character), encoding)
    assert 0 <= column <= (len(lines.line(line + 1)) if line < len(lines) else 0)


@given(TEXT, ENCODING, st.integers(1, 9), st.integers(0, 9), st.integers(0, 9))
def test_a_range_is_empty_only_where_no_character_is_left(text, encoding, line, column, end):
    found = to_range(LineIndex(text), Span(line, column, line, end), encoding)
    start, stop = (found.start.line, found.start.character), (found.end.line, found.end.character)
    assert start < stop or not text or start == stop == _last(text, encoding)


def _last(text: str, encoding: str) -> tuple[int, int]:
    lines = LineIndex(text)
    return len(lines) - 1, length(lines.line(len(lines)), encoding)


@given(TEXT, ENCODING, TEXT, st.data())
def test_a_change_of_the_client_is_applied_as_the_protocol_says(text, encoding, new, data):
    lines = LineIndex(text)
    ends = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    places = [lines.position(e) for e in ends]
    places = [(line, min(column, len(lines.line(line)))) for line, column in places]
    start, end = (lines.offset(*p) for p in places)
    given_range = types.Range(*(to_position(lines, *p, encoding) for p in places))
    change = types.TextDocumentContentChangePartial(range=given_range, text=new)
    assert apply_change(text, change, encoding) == text[:start] + new + text[end:]


def test_a_change_of_the_whole_document():
    assert apply_change("old", types.TextDocumentContentChangeWholeDocument("new"), "utf-16") == "new"
