"""Sources with markers, and an editor's way of applying edits, written without the code under test.

`$0` is the cursor. A line of carets under a line of code says that a diagnostic is expected there:

    x[0] = 0.0
    ^^^^ AD301 in place
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from lsprotocol import types

from lsp_ad.server.client import Client, Settings
from lsp_ad.server.snapshots import Snapshot
from lsp_ad.source.document import Document

URI = "file:///work/model.py"
_UNDERLINE = re.compile(r"^(\s*)(\^+) (\w+) ?(.*)$")


@dataclass(frozen=True)
class Expected:
    """A diagnostic: line from 0, columns in characters, code, and a piece of the message."""

    line: int
    start: int
    end: int
    code: str
    message: str


def source(marked: str) -> str:
    return textwrap.dedent(marked).lstrip("\n")


def cursor(marked: str) -> tuple[str, types.Position]:
    """The text without `$0`, and where that stood, in characters."""
    before, after = source(marked).split("$0")
    return before + after, types.Position(before.count("\n"), len(before.rpartition("\n")[2]))


def expectations(marked: str) -> tuple[str, list[Expected]]:
    lines: list[str] = []
    expected = []
    for line in source(marked).splitlines():
        match = _UNDERLINE.match(line)
        if match is None:
            lines.append(line)
        else:
            start, end = match.span(2)
            expected.append(Expected(len(lines) - 1, start, end, match[3], match[4]))
    return "\n".join(lines) + "\n", expected


def snapshot(text: str, version: int = 1) -> Snapshot:
    return Snapshot(URI, Document(text, URI, version))


def client(**abilities) -> Client:
    return Client(**{"encoding": "utf-32", **abilities})


SETTINGS = Settings()


def length(text: str, encoding: str) -> int:
    """How many code units a text has, as the Unicode standard counts them."""
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    return len(text.encode({"utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(encoding, encoding))) // width


def offset(text: str, position: types.Position, encoding: str) -> int:
    """The offset of a position of the protocol."""
    starts = [0, *(m.end() for m in re.finditer(r"\r\n|\n|\r", text))]
    start = starts[position.line]
    end = start
    while length(text[start:end], encoding) < position.character:
        end += 1
    assert length(text[start:end], encoding) == position.character, "a position inside a character"
    return end


def position(text: str, needle: str, encoding: str) -> types.Position:
    """The position of the first place where a text holds a needle."""
    before = text[: text.index(needle)]
    line = re.split(r"\r\n|\n|\r", before)
    return types.Position(len(line) - 1, length(line[-1], encoding))


def cut(text: str, given: types.Range, encoding: str) -> str:
    return text[offset(text, given.start, encoding) : offset(text, given.end, encoding)]


def applied(text: str, edit: types.WorkspaceEdit, encoding: str) -> str:
    """A text after a workspace edit that changes this one document."""
    if edit.document_changes:
        (change,) = edit.document_changes
        edits = change.edits
    else:
        (edits,) = edit.changes.values()
    places = [
        (offset(text, e.range.start, encoding), offset(text, e.range.end, encoding), e.new_text)
        for e in edits
    ]
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    return text
