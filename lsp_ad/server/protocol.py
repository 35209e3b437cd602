"""Where pygls is made to keep two promises of the protocol.

A request that cannot be read is answered with an error (pygls would only log it, and the client
would wait for ever), and a document is changed by the protocol's idea of a line, not by `str.splitlines`.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from lsp_ad.server.convert import apply_change

logger = logging.getLogger(__name__)


@dataclass
class _Unreadable:
    """Stands for a message that was answered already, and is to be left alone."""

    jsonrpc: str = ""


class Protocol(LanguageServerProtocol):
    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except Exception as error:
            method = data.get("method", "the response")
            logger.error("cannot read the parameters of %s: %s", method, error)
            if "id" in data and "method" in data:
                refusal = JsonRpcInvalidParams(f"cannot read the parameters of {method}")
                self._send_response(data["id"], error=refusal.to_response_error())
            return _Unreadable()

    def handle_message(self, message: Any) -> None:
        if not isinstance(message, _Unreadable):
            super().handle_message(message)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: types.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        document = self.workspace.text_documents.get(unquote(params.text_document.uri))
        if document is None:
            raise JsonRpcInvalidParams(f"{params.text_document.uri} is not open")
        encoding = self.workspace.position_encoding
        text = document.source
        for change in params.content_changes:
            text = apply_change(text, change, str(getattr(encoding, "value", encoding)))
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.workspace.update_text_document(params.text_document, whole)
        handler = self.fm.features.get(types.TEXT_DOCUMENT_DID_CHANGE)
        if handler is not None:
            yield handler, (params,), None
