"""The real server over stdio, as three editors talk to it, each with its own position encoding."""

from __future__ import annotations

import asyncio
import sys
import uuid
from concurrent.futures import Future

import numpy as np
import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from server_markers import applied, cut, position

from lsp_ad.server.client import KIND

EDITORS = {
    "neovim@v0.11.0": "utf-8",
    "visual_studio_code": "utf-16",
    "emacs": "utf-32",
}
CONFIG = ClientServerConfig(server_command=[sys.executable, "-m", "lsp_ad", "serve"])
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_lsp.fixture(config=CONFIG, scope="module", params=list(EDITORS))
async def editor(client: LanguageClient, request):
    capabilities = client_capabilities(request.param)
    result = await client.initialize_session(types.InitializeParams(capabilities=capabilities))
    client.encoding = EDITORS[request.param]
    assert (result.capabilities.position_encoding or "utf-16") == client.encoding
    yield
    await client.shutdown_session()


count = 0


def opened(client: LanguageClient, text: str, path: str = "") -> str:
    """Open a new document; returns its URI."""
    global count
    count += 1
    uri = f"file://{path or f'/work/model{count}.py'}"
    item = types.TextDocumentItem(uri, "python", 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    return uri


def changed(client: LanguageClient, uri: str, version: int, *changes) -> None:
    document = types.VersionedTextDocumentIdentifier(version, uri)
    client.text_document_did_change(types.DidChangeTextDocumentParams(document, list(changes)))


async def actions(client: LanguageClient, uri: str, at: types.Position, only=None) -> list[types.CodeAction]:
    context = types.CodeActionContext(diagnostics=[], only=only)
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), types.Range(at, at), context)
    return await client.text_document_code_action_async(params)


async def chosen(client: LanguageClient, uri: str, at: types.Position, title: str) -> types.WorkspaceEdit:
    """The edit of an action, resolved where the editor does that."""
    action = next(a for a in await actions(client, uri, at) if a.title == title)
    if action.edit is None:
        action = await client.code_action_resolve_async(action)
    return action.edit


async def hovered(client: LanguageClient, uri: str, at: types.Position) -> types.Hover | None:
    return await client.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(uri), at))


async def diagnosed(client: LanguageClient, uri: str, *codes: str) -> list[types.Diagnostic]:
    """The diagnostics of a document, as soon as they have these codes."""
    for _ in range(500):
        found = client.diagnostics.get(uri)
        if found is not None and [d.code for d in found] == list(codes):
            return list(found)
        await asyncio.sleep(0.01)
    raise AssertionError(f"wanted {codes}, not {found}")


ACCENTED = """\
# Régression 😀
import numpy as np


def perte(poids, x, y):
    \"\"\"L'erreur 😀, carrée.\"\"\"
    é = x * poids - y  # 😀 l'écart
    β = np.tanh(é) * 2.0  # 😀
    return np.sum(é * β)


print("fin 😀")
""".replace("\n", "\r\n")


def check_gradient(text: str, name: str, wrt: list[int], *arguments) -> None:
    """Run a text, and compare its gradient with central differences of its primal."""
    namespace: dict = {"print": lambda *_: None}
    exec(compile(text, "generated", "exec"), namespace)
    primal = namespace[name]
    got = namespace[f"{name}_grad"](*arguments)
    for index, one in zip(wrt, got if len(wrt) > 1 else [got], strict=True):
        base = np.asarray(arguments[index], dtype=float)
        want = np.zeros_like(base)
        for place in np.ndindex(base.shape):
            step = np.zeros_like(base)
            step[place] = 1e-6
            sides = [primal(*arguments[:index], base + s * step, *arguments[index + 1 :]) for s in (1, -1)]
            want[place] = (sides[0] - sides[1]) / 2e-6
        np.testing.assert_allclose(one, want, rtol=1e-6, atol=1e-8)


async def test_a_right_gradient_in_an_accented_file_with_crlf(editor):
    uri = opened(editor, ACCENTED)
    at = position(ACCENTED, "poids - y", editor.encoding)
    edit = await chosen(editor, uri, at, "Generate gradient of perte")
    after = applied(ACCENTED, edit, editor.encoding)
    assert "\n" not in after.replace("\r\n", "")
    assert all(line in after for line in ACCENTED.split("\r\n")), "no line of the user's was touched"
    assert after.index("def perte_grad(") < after.index("print(")
    check_gradient(
        after, "perte", [0, 1, 2], np.array([0.3, -0.7]), np.array([1.1, 0.4]), np.array([0.2, 0.9])
    )


async def test_a_gradient_with_respect_to_one_parameter(editor):
    uri = opened(editor, ACCENTED)
    at = position(ACCENTED, "perte", editor.encoding)
    edit = await chosen(editor, uri, at, "Generate gradient of perte with respect to poids")
    check_gradient(applied(ACCENTED, edit, editor.encoding), "perte", [0], np.array([0.3, -0.7]), 1.1, 0.2)


async def test_the_range_of_a_hover_is_counted_as_the_editor_counts(editor):
    uri = opened(editor, ACCENTED)
    found = await hovered(editor, uri, position(ACCENTED, "😀 l'écart", editor.encoding))
    assert cut(ACCENTED, found.range, editor.encoding) == "é = x * poids - y"
    found = await hovered(editor, uri, position(ACCENTED, "tanh", editor.encoding))
    assert cut(ACCENTED, found.range, editor.encoding) == "np.tanh"


async def test_the_range_of_a_diagnostic_is_counted_as_the_editor_counts(editor):
    text = (
        'def f(é):\r\n    return é * len("😀é") * eval("é")\r\n\r\n\r\ndef f_grad(é):\r\n    return 1.0\r\n'
    )
    uri = opened(editor, text)
    (found,) = await diagnosed(editor, uri, "AD105")
    assert cut(text, found.range, editor.encoding) == 'eval("é")'


async def test_edits_of_the_user_are_followed(editor):
    """Also where a line of the file holds what `str.splitlines` takes for a line end."""
    text = 'import numpy as np\n\x0c\nNOTE = "😀\u2028é"\n\n\ndef f(x):\n    return np.sum(x)\n'
    uri = opened(editor, text)
    start = position(text, "np.sum(x)", editor.encoding)
    end = types.Position(start.line, start.character + len("np.sum(x)"))
    changed(editor, uri, 2, types.TextDocumentContentChangePartial(types.Range(start, end), "np.sum(x * x)"))
    after = text.replace("np.sum(x)", "np.sum(x * x)")
    edit = await chosen(editor, uri, position(after, "np.sum", editor.encoding), "Generate gradient of f")
    check_gradient(applied(after, edit, editor.encoding), "f", [0], np.array([0.3, -0.7]))


async def test_diagnostics_come_and_go(editor):
    uri = opened(editor, "x = (\n")
    await diagnosed(editor, uri, "SRC001")
    changed(editor, uri, 2, types.TextDocumentContentChangeWholeDocument("x = 1\n"))
    await diagnosed(editor, uri)
    changed(editor, uri, 3, types.TextDocumentContentChangeWholeDocument("x = (\n"))
    await diagnosed(editor, uri, "SRC001")
    editor.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
    await diagnosed(editor, uri)


async def test_a_file_that_does_not_parse_keeps_its_hover(editor):
    uri = opened(editor, ACCENTED)
    broken = ACCENTED.replace('print("fin 😀")', 'print("fin 😀"')
    changed(editor, uri, 2, types.TextDocumentContentChangeWholeDocument(broken))
    found = await hovered(editor, uri, position(broken, "tanh", editor.encoding))
    assert "last version" in found.contents.value
    assert not await actions(editor, uri, position(broken, "tanh", editor.encoding))


async def test_asking_for_a_gradient_that_cannot_be_had_tells_why(editor):
    text = 'import numpy as np\n\n\ndef f(x):\n    return np.exp(x) * eval("x")\n'
    uri = opened(editor, text)
    await diagnosed(editor, uri)  # none: nobody wants its derivative yet
    await actions(editor, uri, position(text, "np.exp", editor.encoding), only=[KIND])
    await diagnosed(editor, uri, "AD105")


async def test_an_action_of_an_older_version_is_not_resolved(editor):
    if editor.capabilities.text_document.code_action.resolve_support is None:
        return  # this editor gets its edits at once
    uri = opened(editor, ACCENTED)
    action, *_ = await actions(editor, uri, position(ACCENTED, "perte", editor.encoding))
    changed(editor, uri, 2, types.TextDocumentContentChangeWholeDocument(ACCENTED + "\r\n"))
    with pytest.raises(JsonRpcException) as refusal:
        await editor.code_action_resolve_async(action)
    assert refusal.value.code == types.LSPErrorCodes.ContentModified


async def test_the_users_code_never_runs(editor, tmp_path):
    witness = tmp_path / "ran"
    path = tmp_path / "model.py"
    text = f"import numpy as np\n\nopen({str(witness)!r}, 'w')\n\n\ndef f(x):\n    return np.sum(x * x)\n"
    path.write_text(text, encoding="utf-8")
    uri = opened(editor, text, str(path))
    at = position(text, "np.sum", editor.encoding)
    assert await hovered(editor, uri, at)
    assert await chosen(editor, uri, at, "Generate gradient of f")
    await diagnosed(editor, uri)
    assert not witness.exists()


async def test_settings_change_what_is_generated(editor):
    text = "import numpy as np\n\n\ndef f(x, b):\n    return np.sum(x + b)\n"
    uri, at = opened(editor, text), position(text, "np.sum", editor.encoding)

    async def generated(helpers) -> str:
        settings = {"lsp-ad": {"helpers": helpers}}
        editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
        return applied(text, await chosen(editor, uri, at, "Generate gradient of f"), editor.encoding)

    assert "from lsp_ad.runtime import" in await generated("import")
    assert "lsp_ad" not in await generated("inline")
    editor.messages.clear()
    assert "lsp_ad" not in await generated("sideways")
    assert [m.message for m in editor.messages] == [
        'lsp-ad.helpers must be "inline" or "import", not \'sideways\'; ignored.'
    ]


async def test_settings_are_fetched_where_the_editor_has_them_fetched(editor):
    text = "import numpy as np\n\n\ndef f(x, b):\n    return np.sum(x + b)\n"
    uri, at = opened(editor, text), position(text, "np.sum", editor.encoding)
    for helpers in ("import", "inline"):
        editor.set_configuration({"helpers": helpers}, section="lsp-ad")
        editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        for _ in range(50):  # until the server has asked for them, and has the answer
            await asyncio.sleep(0.1)
            edit = await chosen(editor, uri, at, "Generate gradient of f")
            if ("from lsp_ad.runtime" in applied(text, edit, editor.encoding)) == (helpers == "import"):
                break
        else:
            raise AssertionError(helpers)


async def raw_request(client: LanguageClient, method: str, params: dict):
    """Send a request that the client's own types would not let through."""
    answer: Future = Future()
    number = str(uuid.uuid4())
    client.protocol._request_futures[number] = answer
    client.protocol._send_data({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    return await asyncio.wait_for(asyncio.wrap_future(answer), 5)


async def test_bad_messages_get_clear_errors_and_the_server_lives_on(editor):
    uri = opened(editor, ACCENTED)
    document = {"uri": uri}
    bad = [
        (
            "textDocument/hover",
            {"textDocument": {"uri": "file:///nowhere.py"}, "position": _at(0, 0)},
            "not open",
        ),
        (
            "textDocument/hover",
            {"textDocument": document, "position": _at(-1, 0)},
            "cannot read the parameters",
        ),
        ("textDocument/hover", {"textDocument": document}, "cannot read the parameters"),
        ("textDocument/codeAction", {"textDocument": document, "range": 3}, "cannot read the parameters"),
        ("codeAction/resolve", {"title": "x", "data": {"uri": uri}}, "not the data of a gradient action"),
        ("textDocument/nonsense", {}, "nonsense"),
    ]
    for method, params, message in bad:
        with pytest.raises(JsonRpcException, match=message):
            await raw_request(editor, method, params)
    for method in ("textDocument/didChange", "textDocument/didOpen", "nonsense/notification"):
        editor.protocol._send_data({"jsonrpc": "2.0", "method": method, "params": {"textDocument": {}}})
    changed(editor, "file:///nowhere.py", 3, types.TextDocumentContentChangeWholeDocument(""))
    assert await hovered(editor, uri, types.Position(999, 999)) is None
    assert await hovered(editor, uri, position(ACCENTED, "tanh", editor.encoding))
    editor.messages.clear()


def _at(line: int, character: int) -> dict:
    return {"line": line, "character": character}
