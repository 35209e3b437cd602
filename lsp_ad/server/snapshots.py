"""Immutable snapshots of open documents, and what is known of each, computed once.

A request takes the snapshot of its document when it arrives and works on nothing else, whatever the
user types meanwhile. All analysis runs on one thread, which is why nothing here takes a lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsp_ad.server.memo import Memo
from lsp_ad.source.document import Document

if TYPE_CHECKING:
    from lsp_ad.semantics.modules import Files
    from lsp_ad.server.analysis import Analysis


class Snapshot:
    """One version of an open document, among the `files` of a workspace.

    `older` is the newest snapshot before this one that was analysed; where this one does not parse, it
    leads to the last version that did. `memo` is what all versions of the document share.
    """

    def __init__(
        self,
        uri: str,
        document: Document,
        older: Snapshot | None = None,
        memo: Memo | None = None,
        files: Files | None = None,
    ):
        self.uri = uri
        self.document = document
        self.wanted = False
        self._older = older
        self._memo = memo or Memo()
        self._files = files
        self._analysis: Analysis | None = None

    @property
    def version(self) -> int | None:
        return self.document.version

    @property
    def depends_on_others(self) -> bool:
        """Whether another file mattered to the analysis, if there was one."""
        return self._analysis is not None and self._analysis.depends_on_others

    @property
    def analysis(self) -> Analysis:
        """The analysis of this very text, which has syntax problems where it does not parse.

        It is made again where another file that it depends on has changed.
        """
        if self._analysis is None or not self._analysis.is_current:
            self._analysis = self._analysed()
        return self._analysis

    def _analysed(self) -> Analysis:
        from lsp_ad.server.analysis import Analysis  # here, because it loads the compiler

        analysis = Analysis(self.document, self._memo, self._files)
        if not analysis.syntax_problems:
            self._older = None
        elif self._older is not None:
            self._older = self._older.good
        return analysis

    @property
    def good(self) -> Snapshot | None:
        """This snapshot where it parses, else the last one that did."""
        return self if not self.analysis.syntax_problems else self._older

    def successor(self, document: Document) -> Snapshot:
        """The snapshot of the next version. Versions that nothing asked about are not kept."""
        older = self if self.wanted else self._older
        return Snapshot(self.uri, document, older, self._memo, self._files)

    def line_in_good(self, line: int) -> int | None:
        """The line of the last good text that a line of this text is, or None if it is one that changed.

        The lines before and after the changed region are the same in both texts.
        """
        good = self.good
        if good is None or good is self:
            return None if good is None else line
        here, there = self.document.lines, good.document.lines
        shorter = min(len(here), len(there))
        before = next((n for n in range(shorter) if here.line(n + 1) != there.line(n + 1)), shorter)
        if line <= before:
            return line
        after = 0
        while after < shorter - before and here.line(len(here) - after) == there.line(len(there) - after):
            after += 1
        return line - len(here) + len(there) if line > len(here) - after else None


class Snapshots:
    """The newest snapshot of each open document, by URI."""

    def __init__(self, files: Files | None = None) -> None:
        self._newest: dict[str, Snapshot] = {}
        self._files = files

    def open(self, uri: str, document: Document) -> Snapshot:
        self._newest[uri] = Snapshot(uri, document, files=self._files)
        return self._newest[uri]

    def change(self, uri: str, document: Document) -> Snapshot:
        """Raises KeyError where the document is not open."""
        self._newest[uri] = self._newest[uri].successor(document)
        return self._newest[uri]

    def close(self, uri: str) -> None:
        self._newest.pop(uri, None)

    def get(self, uri: str) -> Snapshot | None:
        return self._newest.get(uri)

    def is_newest(self, snapshot: Snapshot) -> bool:
        return self._newest.get(snapshot.uri) is snapshot

    def __iter__(self) -> Iterator[Snapshot]:
        return iter(list(self._newest.values()))
