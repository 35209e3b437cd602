"""The text of converted code, with the user's comments where they stood."""

from __future__ import annotations

import re

import gast

from lsp_ad.semantics import flow
from lsp_ad.source.parse import Parsed
from lsp_ad.source.printing import INDENT, expression_text


def converted_text(function: gast.FunctionDef, parsed: Parsed) -> str:
    """A converted function as text that runs, where `ag` and what it reads from around it are there."""
    return "\n".join(_Text(parsed).statement(function, 0)) + "\n"


class _Text:
    def __init__(self, parsed: Parsed):
        self.comments = dict(parsed.comments)

    def statement(self, s: gast.stmt, depth: int) -> list[str]:
        lead = [INDENT * depth + text for text in self._above(s)]
        if getattr(s, "made", False):  # nothing of the user's stands in it
            return lead + [INDENT * depth + line for line in _written(s)]
        if isinstance(s, (gast.FunctionDef, gast.ClassDef)):
            return lead + self._compound(s, [s.body], depth)
        blocks = flow.blocks(s)
        if blocks:
            return lead + self._compound(s, blocks, depth)
        lines = [INDENT * depth + line for line in _written(s)]
        if not isinstance(s, (gast.Nonlocal, gast.Global)):
            lines[-1] += self._beside(s)
        return lead + lines

    def _compound(self, s: gast.stmt, blocks: list[list[gast.stmt]], depth: int) -> list[str]:
        """Its headers, as they are printed with nothing in the blocks, with these in between."""
        filled = [block for block in blocks if block]
        kept = [block[:] for block in filled]
        for block in filled:
            block[:] = [gast.Pass()]
        written = [line for line in _written(s) if line.strip()]
        lines: list[str] = []
        for block, inner in zip(filled, kept, strict=True):
            block[:] = inner
            end = next(i for i, line in enumerate(written) if line.strip() == "pass")
            lines += [INDENT * depth + line for line in written[:end]]
            written = written[end + 1 :]
            for part in inner:
                lines += self.statement(part, depth + 1)
        return lines

    def _above(self, s: gast.stmt) -> list[str]:
        """The comments in the lines above a statement, once each."""
        found: list[str] = []
        line = getattr(s, "lineno", 0) - 1
        while line in self.comments and not self.comments[line].trailing:
            found.append(self.comments.pop(line).text)
            line -= 1
        return found[::-1]

    def _beside(self, s: gast.stmt) -> str:
        """The comment at the end of the line of a statement, once."""
        comment = self.comments.get(getattr(s, "end_lineno", 0))
        if comment is None or not comment.trailing:
            return ""
        del self.comments[comment.line]
        return f"  {comment.text}"


def _written(s: gast.stmt) -> list[str]:
    """The lines of a statement; a single name between commas stands in parentheses, docstrings in quotes."""
    if isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant) and isinstance(s.value.value, str):
        value = s.value.value
        if not re.search(r'["\\\\]', value):
            return f'"""{value}"""'.split("\n")
    return [re.sub(r"^(\s*)(\w+), = ", r"\1(\2,) = ", line) for line in expression_text(s).split("\n")]
