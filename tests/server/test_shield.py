"""An exception in a handler is logged and answered, and the server lives on."""

from __future__ import annotations

import asyncio
import pathlib
import subprocess
import sys

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

BROKEN = pathlib.Path(__file__).with_name("failing_server.py")
URI = "file:///work/model.py"
DOCUMENT = types.TextDocumentIdentifier(URI)
START = types.Position(0, 0)


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[sys.executable, str(BROKEN)]))
async def editor(client: LanguageClient):
    await client.initialize_session(
        types.InitializeParams(capabilities=client_capabilities("visual_studio_code"))
    )
    yield
    await client.shutdown_session()


@pytest.mark.asyncio
async def test_every_handler_may_fail(editor):
    async def logged(handler: str) -> None:
        for _ in range(500):
            if any(
                f"{handler} failed: ZeroDivisionError: injected" in m.message for m in editor.log_messages
            ):
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"the failure of {handler} was not logged")

    await logged("initialized")
    editor.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(URI, "python", 1, "x = 1"))
    )
    await logged("publish")
    with pytest.raises(JsonRpcException, match="text_hover failed: ZeroDivisionError: injected"):
        await editor.text_document_hover_async(types.HoverParams(DOCUMENT, START))
    await logged("text_hover")
    context = types.CodeActionContext(diagnostics=[])
    with pytest.raises(JsonRpcException, match="code_action failed"):
        await editor.text_document_code_action_async(
            types.CodeActionParams(DOCUMENT, types.Range(START, START), context)
        )
    data = {"uri": URI, "version": 1, "function": "f", "wrt": None, "mode": "grad"}
    with pytest.raises(JsonRpcException, match="code_action_resolve failed"):
        await editor.code_action_resolve_async(types.CodeAction("x", data=data))
    editor.workspace_did_change_configuration(types.DidChangeConfigurationParams({"helpers": "import"}))
    await logged("did_change_configuration")
    editor.text_document_did_close(types.DidCloseTextDocumentParams(DOCUMENT))
    await logged("did_close")
    with pytest.raises(JsonRpcException, match="failed"):
        await editor.text_document_hover_async(types.HoverParams(DOCUMENT, START))


NUMPY_FREE = """
import sys
from lsprotocol import types
import lsp_ad.cli
from lsp_ad.server import code_actions, diagnostics, hover, server
from lsp_ad.server.client import Client, Settings
from lsp_ad.server.snapshots import Snapshot
from lsp_ad.source.document import Document

server.make_server()
text = "import numpy as np\\n\\ndef f(x, b):\\n    return np.sum(np.exp(x) @ b)\\n"
snapshot = Snapshot("file:///m.py", Document(text, "file:///m.py", 1))
assert hover.hover(snapshot, types.Position(3, 16), Client())
assert code_actions.generated(snapshot, "f", None, Client(), Settings())[0]
assert diagnostics.diagnostics(snapshot, Client(), ["f"]) == []
loaded = [name for name in ("numpy", "scipy", "jax", "lsp_ad.runtime", "lsp_ad.api") if name in sys.modules]
assert not loaded, loaded
"""


def test_the_server_never_loads_numpy():
    subprocess.run([sys.executable, "-c", NUMPY_FREE], check=True)


def test_the_compiler_never_loads_pygls():
    code = "import sys, lsp_ad.cli, lsp_ad.differentiate, lsp_ad.checks.interest, lsp_ad.rules\n"
    code += "assert not {'pygls', 'lsprotocol', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
