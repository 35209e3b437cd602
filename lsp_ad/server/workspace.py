"""The files of the client's workspace: an open buffer wins over the file on the disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from pygls import uris

from lsp_ad.files import Workspace
from lsp_ad.source.document import Document


class OpenFiles(Workspace):
    """Files by path or URI. `folders` gives the directories that the client has open."""

    def __init__(self, folders: Callable[[], Iterable[str]]):
        super().__init__(opened=self._text)
        self._folders = folders
        self._documents: dict[str, Document] = {}

    def open(self, uri: str, document: Document) -> None:
        self._documents[self.identity(uri)] = document

    def close(self, uri: str) -> None:
        self._documents.pop(self.identity(uri), None)

    def roots(self) -> Iterable[str]:
        return [path for uri in self._folders() if (path := uris.to_fs_path(uri))]

    def identity(self, path: str) -> str:
        if "://" not in path and not path.startswith("untitled:"):
            return os.path.realpath(path)
        found = uris.to_fs_path(path) if path.startswith("file:") else None
        return os.path.realpath(found) if found else path

    def _text(self, path: str) -> str | None:
        document = self._documents.get(path)
        return None if document is None else document.text
