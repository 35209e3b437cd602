"""Lines, offsets and code units: there and back again, for every text and encoding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_ad.source.document import Document
from lsp_ad.source.positions import ENCODINGS, LineIndex, units

CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
pieces = st.sampled_from(
    ["a", " ", "\t", "ß", "é", "☃", "𝔘", "😀", "\n", "\r\n", "\r", "\f", "\u2028", "\x0b", "\0"]
)
texts = st.lists(pieces, max_size=25).map("".join) | st.text(max_size=25)
encodings = st.sampled_from(ENCODINGS)


def positions(lines: LineIndex):
    """Every position of a text, line ends not counted as columns."""
    for number in range(1, len(lines) + 1):
        for column in range(len(lines.line(number)) + 1):
            yield number, column


@given(texts)
def test_an_offset_comes_back(text):
    lines = LineIndex(text)
    for position in positions(lines):
        assert lines.position(lines.offset(*position)) == position


@given(texts, encodings)
def test_a_column_comes_back_from_code_units(text, encoding):
    lines = LineIndex(text)
    for line, column in positions(lines):
        assert lines.from_units(line, lines.to_units(line, column, encoding), encoding) == column


@given(texts, encodings)
def test_code_units_are_those_of_the_codec(text, encoding):
    codec, width = CODECS[encoding]
    text = text.encode("utf-8", "ignore").decode()
    assert units(text, encoding) == len(text.encode(codec)) // width


@given(texts)
def test_the_lines_and_their_ends_make_up_the_text(text):
    lines = LineIndex(text)
    whole = "".join(
        lines.line(n) + text[lines.offset(n, 10**6) : lines.starts[n]] for n in range(1, len(lines))
    )
    assert whole + lines.line(len(lines)) == text


@given(texts)
def test_lines_end_where_those_of_python_do(text):
    """At LF, CRLF and CR: as universal newlines have it, and nowhere else."""
    lines = LineIndex(text)
    universal = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert [lines.line(n) for n in range(1, len(lines) + 1)] == universal


@given(texts, encodings, st.integers(0, 40), st.integers(0, 200))
def test_any_column_is_some_column(text, encoding, line, column):
    lines = LineIndex(text)
    found = lines.from_units(line, column, encoding)
    assert 0 <= found <= (len(lines.line(line)) if 1 <= line <= len(lines) else 0)
    assert 0 <= lines.offset(line, column) <= len(text)


@pytest.mark.parametrize(
    ("encoding", "column", "expected"),
    [
        ("utf-8", 3, 1),
        ("utf-8", 5, 2),
        ("utf-16", 2, 1),
        ("utf-16", 3, 2),
        ("utf-32", 2, 2),
        ("utf-8", 99, 3),
    ],
)
def test_a_column_inside_a_character_is_its_start(encoding, column, expected):
    assert LineIndex("a𝔘b").from_units(1, column, encoding) == expected


@pytest.mark.parametrize(
    ("text", "newline"),
    [("", "\n"), ("a", "\n"), ("a\nb\r\nc\r\n", "\r\n"), ("a\rb\r", "\r"), ("a\r\nb\n", "\n")],
)
def test_the_line_end_of_a_document_is_that_which_it_uses_most(text, newline):
    assert Document(text).newline == newline
