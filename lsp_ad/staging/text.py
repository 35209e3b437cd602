"""The text of converted code, with the user's comments where they stood."""

from __future__ import annotations

import gast

from lsp_ad.semantics import flow
from lsp_ad.source.parse import Parsed
from lsp_ad.source.printing import INDENT, expression_text


def converted_text(function: gast.FunctionDef, parsed: Parsed) -> str:
    """A converted function as text that runs."""
    return "\n".join(_Text(parsed).statement(function, 0)) + "\n"


class _Text:
    def __init__(self, parsed: Parsed):
        self.comments = dict(parsed.comments)

    def statement(self, s: gast.stmt, depth: int) -> list[str]:
        lead = [INDENT * depth + text for text in self._above(s)]
        if isinstance(s, gast.FunctionDef):
            return lead + self._function(s, depth)
        return lead + [INDENT * depth + line for line in self._lines(s)]

    def _function(self, s: gast.FunctionDef, depth: int) -> list[str]:
        bare = gast.FunctionDef(s.name, s.args, [gast.Pass()], s.decorator_list, s.returns, None, [])
        header = expression_text(bare).split("\n")[:-1]
        lines = [INDENT * depth + line for line in header]
        for inner in s.body:
            lines += self.statement(inner, depth + 1)
        return lines

    def _lines(self, s: gast.stmt) -> list[str]:
        blocks = flow.blocks(s)
        if not blocks:
            return expression_text(s).split("\n")
        # what is left of compound statements (`with`, `try`) is short; print it as it is
        return expression_text(s).split("\n")

    def _above(self, s: gast.stmt) -> list[str]:
        """The comments in the lines above a statement, once each."""
        found: list[str] = []
        line = getattr(s, "lineno", 0) - 1
        while line in self.comments and not self.comments[line].trailing:
            found.append(self.comments.pop(line).text)
            line -= 1
        return found[::-1]
