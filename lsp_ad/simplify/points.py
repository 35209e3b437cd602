"""What the statements of a body read, bind and change, found once for each while the body is rewritten."""

from __future__ import annotations

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import changed_by
from lsp_ad.semantics.memory import written_root

Point = tuple[set[str], set[str], set[str], str | None]


class Points:
    """For simple statements and headers of compound ones: (reads, binds, the lists and dicts that it changes,
    the array that it writes into).

    Who rewrites a statement has it forgotten. The sets are not to be changed.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[gast.stmt, Point]] = {}

    def of(self, s: gast.stmt) -> Point:
        known = self._known.get(id(s))
        if known is None:
            lists = changed_by(s) if isinstance(s, (gast.Assign, gast.AugAssign, gast.Expr)) else set()
            known = self._known[id(s)] = (
                s,
                (flow.header_reads(s), flow.header_writes(s), lists, written_root(s)),
            )
        return known[1]

    def reads(self, s: gast.stmt) -> set[str]:
        """What a statement reads, with all that is inside it."""
        found = self.of(s)[0]
        blocks = flow.blocks(s)
        return found.union(*(self.reads(x) for block in blocks for x in block)) if blocks else found

    def forget(self, s: gast.stmt) -> None:
        """A statement, or what is inside it, is rewritten."""
        self._known.pop(id(s), None)
        for block in flow.blocks(s):
            for x in block:
                self.forget(x)

    def clear(self) -> None:
        """All statements are rewritten."""
        self._known.clear()
