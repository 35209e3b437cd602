"""One version of one text: immutable, so that work on it never sees a later edit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from lsp_ad.source.positions import LineIndex


@dataclass(frozen=True)
class Document:
    """A text with the name it goes by (a path or a URI) and its version, if an editor counts them."""

    text: str
    path: str = "<text>"
    version: int | None = None

    @cached_property
    def lines(self) -> LineIndex:
        return LineIndex(self.text)

    @cached_property
    def newline(self) -> str:
        """The line end that the text uses most, LF where it has none."""
        ends = re.findall(r"\r\n|\n|\r", self.text)
        return max(("\n", "\r\n", "\r"), key=ends.count) if ends else "\n"
