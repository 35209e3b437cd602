"""Lines, offsets and the position encodings of editors.

Lines end at LF, CRLF or CR, as in the protocol and in CPython's tokenizer, and nowhere
else (not at form feeds or U+2028, as `str.splitlines` has it). Inside the compiler a position
is a line counted from 1 and a column in code points counted from 0.
"""

from __future__ import annotations

import bisect
import re

_LINE_END = re.compile(r"\r\n|\n|\r")
ENCODINGS = ("utf-8", "utf-16", "utf-32")


def units(text: str, encoding: str) -> int:
    """The length of a text in the code units of an encoding."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-16":
        return len(text) + sum(1 for c in text if c > "\uffff")
    return len(text.encode("utf-8", "surrogatepass"))


class LineIndex:
    """Where the lines of a text start; converts between offsets, columns and code units."""

    def __init__(self, text: str):
        self.text = text
        self.starts = [0]
        self._ends = []
        for match in _LINE_END.finditer(text):
            self._ends.append(match.start())
            self.starts.append(match.end())
        self._ends.append(len(text))

    def __len__(self) -> int:
        return len(self.starts)

    def line(self, number: int) -> str:
        """Line `number` (from 1), without its line end."""
        return self.text[self.starts[number - 1] : self._ends[number - 1]]

    def offset(self, line: int, column: int) -> int:
        """The offset of a position; a column past the end of its line is the end of the line."""
        if line > len(self):
            return len(self.text)
        line = max(line, 1)
        return min(self.starts[line - 1] + max(column, 0), self._ends[line - 1])

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column) of an offset."""
        line = bisect.bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1]

    def to_units(self, line: int, column: int, encoding: str) -> int:
        """A column in code points as one in code units of `encoding`."""
        if not 1 <= line <= len(self):
            return column
        return units(self.line(line)[:column], encoding)

    def from_units(self, line: int, column: int, encoding: str) -> int:
        """A column in code units as one in code points; inside a character it is that character's start."""
        if not 1 <= line <= len(self):
            return 0
        text = self.line(line)
        if encoding == "utf-32" or text.isascii():
            return min(column, len(text))
        seen = 0
        for index, character in enumerate(text):
            width = units(character, encoding)
            if seen + width > column:
                return index
            seen += width
        return len(text)

    def from_bytes(self, line: int, column: int) -> int:
        """A column as CPython's `ast` has it (UTF-8 bytes) as one in code points."""
        return self.from_units(line, column, "utf-8")
