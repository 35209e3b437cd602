"""The language server: what it is made of, which messages it answers, and the shield around each answer."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcContentModified,
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
)
from pygls.lsp.server import LanguageServer

from lsp_ad import __version__
from lsp_ad.problems import Span
from lsp_ad.server.client import KIND, SECTION, Client, Settings, client_of, updated
from lsp_ad.server.convert import from_range
from lsp_ad.server.protocol import Protocol
from lsp_ad.server.snapshots import Snapshot, Snapshots
from lsp_ad.server.workspace import OpenFiles
from lsp_ad.source.document import Document

logger = logging.getLogger(__name__)
T = TypeVar("T")
WARMED = 64  # functions of a file at most
DEBOUNCE = 0.15  # seconds from the last key stroke to the diagnostics


class Server(LanguageServer):
    """The state of one session.

    Handlers run on the message loop and only take snapshots; analysis runs on one thread of its own
    (the threads of pygls also read stdin, so that long work there would stop the server from listening).
    """

    def __init__(self) -> None:
        super().__init__("lsp-ad", __version__, protocol_cls=Protocol)
        self.client = Client()
        self.settings = Settings()
        self.first_settings: Any = None
        self.files = OpenFiles(lambda: list(self.workspace.folders))
        self.snapshots = Snapshots(self.files)
        self.asked: dict[str, set[str]] = {}
        self.edited: dict[str, int] = {}  # the line of the last edit
        self._analyst = ThreadPoolExecutor(max_workers=1, thread_name_prefix="analysis")
        self._loading: Future[None] | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._publishing: set[asyncio.Task[None]] = set()

    def snapshot(self, uri: str) -> Snapshot:
        """The newest snapshot of an open document; an invalid-params error where it is not open."""
        found = self.snapshots.get(uri)
        if found is None:
            raise JsonRpcInvalidParams(f"{uri} is not open")
        return found

    async def analysed(self, snapshot: Snapshot, work: Callable[[], T]) -> T:
        """The result of work on a snapshot, done on the analysis thread."""
        snapshot.wanted = True
        return await asyncio.get_running_loop().run_in_executor(self._analyst, _undisturbed, work)

    def load_features(self) -> None:
        """Load the compiler while nobody waits for it: `initialize` is answered without."""

        def load() -> None:
            from lsp_ad.server import code_actions, diagnostics, hover, quick_fixes  # noqa: F401

        self._loading = self._analyst.submit(load)

    async def loaded(self) -> None:
        """Wait for the compiler: two threads must not import modules that import one another."""
        if self._loading is not None:
            await asyncio.wrap_future(self._loading)

    def take(self, settings: Any) -> None:
        """Take the settings that a client sent, and tell the user of those that make no sense."""
        self.settings, messages = updated(self.settings, settings)
        for message in messages:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))

    def ask_for(self, snapshot: Snapshot, function: str) -> None:
        """Note that the user wants a gradient that cannot be had, so that diagnostics say why."""
        self.asked.setdefault(snapshot.uri, set()).add(function)
        self.publish_soon(snapshot, 0.0)

    def publish_soon(self, snapshot: Snapshot, delay: float = DEBOUNCE) -> None:
        """Publish the diagnostics of a snapshot after a while, unless a newer one comes first."""
        self.cancel(snapshot.uri)
        snapshot.wanted = snapshot.wanted or not delay
        loop = asyncio.get_running_loop()
        self._timers[snapshot.uri] = loop.call_later(delay, self._start_publishing, snapshot)

    def changed(self, snapshot: Snapshot) -> None:
        """Publish the diagnostics of other documents anew that may depend on this one."""
        self.files.open(snapshot.uri, snapshot.document)
        self._touched(snapshot.uri)

    def closed(self, uri: str) -> None:
        self.files.close(uri)
        self._touched(uri)

    def _touched(self, uri: str) -> None:
        for other in self.snapshots:
            if other.uri != uri and other.depends_on_others:
                self.publish_soon(other)

    def cancel(self, uri: str) -> None:
        timer = self._timers.pop(uri, None)
        if timer is not None:
            timer.cancel()

    def _start_publishing(self, snapshot: Snapshot) -> None:
        task = asyncio.ensure_future(shielded(publish)(self, snapshot))
        self._publishing.add(task)
        task.add_done_callback(self._published)

    def _published(self, task: asyncio.Task[None]) -> None:
        self._publishing.discard(task)
        if not task.cancelled():
            task.exception()  # the shield has told of it already

    def stop(self) -> None:
        """Drop all work that waits, so that leaving waits for nothing but the piece at hand."""
        for uri in list(self._timers):
            self.cancel(uri)
        for task in self._publishing:
            task.cancel()
        self._analyst.shutdown(wait=False, cancel_futures=True)


def _undisturbed(work: Callable[[], T]) -> T:
    """Do work with the garbage collector off: trees are many objects, and hold no garbage while they grow."""
    gc.disable()
    try:
        return work()
    finally:
        gc.enable()


def shielded(handler: Callable[[Server, Any], Any]) -> Callable[[Server, Any], Any]:
    """Whatever goes wrong in a handler is logged and answered with an error, and the server lives on."""

    def failed(ls: Server, error: Exception) -> JsonRpcInternalError:
        name = handler.__name__
        logger.error("%s failed", name, exc_info=error)
        message = f"lsp-ad: {name} failed: {type(error).__name__}: {error}"
        ls.window_log_message(types.LogMessageParams(types.MessageType.Error, message))
        return JsonRpcInternalError(message)

    @functools.wraps(handler)
    def guarded(ls: Server, params: Any) -> Any:
        try:
            return handler(ls, params)
        except JsonRpcException:
            raise
        except Exception as error:
            raise failed(ls, error) from error

    @functools.wraps(handler)
    async def guarded_async(ls: Server, params: Any) -> Any:
        try:
            return await handler(ls, params)
        except JsonRpcException:
            raise
        except Exception as error:
            raise failed(ls, error) from error

    return guarded_async if inspect.iscoroutinefunction(handler) else guarded


# Notifications are handled at once, so that the next message meets the new state. Features are imported
# where they are used, because they load the compiler: `initialize` is answered before that.


def initialize(ls: Server, params: types.InitializeParams) -> None:
    ls.client = client_of(params.capabilities, ls.workspace.position_encoding or "utf-16")
    ls.first_settings = params.initialization_options


def initialized(ls: Server, _: types.InitializedParams) -> None:
    ls.load_features()
    ls.take(ls.first_settings)


async def did_change_configuration(ls: Server, params: types.DidChangeConfigurationParams) -> None:
    given = params.settings
    if not given and ls.client.pulls_configuration:
        asked = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        given = next(iter(await ls.workspace_configuration_async(asked)), None)
    ls.take(given)


def did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    given = params.text_document
    snapshot = ls.snapshots.open(given.uri, Document(given.text, given.uri, given.version))
    ls.changed(snapshot)
    ls.publish_soon(snapshot, 0.0)


def did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    uri = params.text_document.uri
    for change in params.content_changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            ls.edited[uri] = change.range.start.line + 1
    text = ls.workspace.get_text_document(uri).source
    snapshot = ls.snapshots.change(uri, Document(text, uri, params.text_document.version))
    ls.changed(snapshot)
    ls.publish_soon(snapshot)


def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    ls.cancel(uri)
    ls.snapshots.close(uri)
    ls.closed(uri)
    ls.asked.pop(uri, None)
    ls.edited.pop(uri, None)
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def shutdown(ls: Server, _: None) -> None:
    ls.stop()


async def publish(ls: Server, snapshot: Snapshot) -> None:
    """Publish the diagnostics of a snapshot, if it is still the newest when they are there."""
    await ls.loaded()
    from lsp_ad.server import diagnostics

    asked = sorted(ls.asked.get(snapshot.uri, ()))
    found = await ls.analysed(snapshot, lambda: diagnostics.diagnostics(snapshot, ls.client, asked))
    if ls.snapshots.is_newest(snapshot):
        message = types.PublishDiagnosticsParams(snapshot.uri, found, snapshot.version)
        ls.text_document_publish_diagnostics(message)
        await warm_up(ls, snapshot)


async def warm_up(ls: Server, snapshot: Snapshot) -> None:
    """Work out, while nobody waits, what the lightbulb will show: where the last edit was, then around it.

    Piece by piece, so that a request waits for one function at most; and kept from version to version, so
    that it is done once.
    """
    from lsp_ad.server import code_actions

    analysis = await ls.analysed(snapshot, lambda: snapshot.analysis)
    if analysis.syntax_problems or not analysis.is_numeric:
        return
    near = ls.edited.get(snapshot.uri, 1)
    lines = sorted((f.lineno for f in analysis.program.functions.values()), key=lambda line: abs(line - near))
    # The line of the edit itself stands for the function that it is in.
    for line in [near, *lines[:WARMED]]:
        if not ls.snapshots.is_newest(snapshot):
            return
        here = Span(line, 0, line, 0)
        await ls.analysed(snapshot, lambda here=here: code_actions.offers(analysis, here))  # type: ignore[misc]


async def text_hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    await ls.loaded()
    from lsp_ad.server import hover

    snapshot = ls.snapshot(params.text_document.uri)
    return await ls.analysed(snapshot, lambda: hover.hover(snapshot, params.position, ls.client))


async def code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    await ls.loaded()
    from lsp_ad.server import code_actions, quick_fixes

    snapshot, only = ls.snapshot(params.text_document.uri), params.context.only
    selection = from_range(snapshot.document.lines, params.range, ls.client.encoding)

    def work() -> tuple[list[types.CodeAction], list[code_actions.Offer]]:
        actions = code_actions.code_actions(snapshot, selection, only, ls.client, ls.settings)
        actions += quick_fixes.quick_fixes(snapshot, selection, only, ls.client)
        asked = code_actions.asks_for_gradient(only)
        return actions, code_actions.offers(snapshot.analysis, selection) if asked else []

    actions, offers = await ls.analysed(snapshot, work)
    if offers and all(offer.reason for offer in offers):
        ls.ask_for(snapshot, offers[0].function)
    return actions


async def code_action_resolve(ls: Server, action: types.CodeAction) -> types.CodeAction:
    await ls.loaded()
    from lsp_ad.server import code_actions

    try:
        uri, version, function, wrt, mode = code_actions.parsed_data(action.data)
    except ValueError as error:
        raise JsonRpcInvalidParams(str(error)) from error
    snapshot = ls.snapshot(uri)
    if snapshot.version != version:
        raise JsonRpcContentModified(f"{uri} has changed since the action was offered")
    work = code_actions.generated
    edit, problems = await ls.analysed(
        snapshot, lambda: work(snapshot, function, wrt, ls.client, ls.settings, mode)
    )
    if edit is None:
        ls.ask_for(snapshot, function)
        raise JsonRpcException(f"{function}: {problems[0]}", code=int(types.LSPErrorCodes.RequestFailed))
    action.edit = edit
    return action


class _Unanswered(logging.Filter):
    """Keeps pygls from logging, with all its frames, what was answered with an error and logged here."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException))


def make_server() -> Server:
    """A server with all its features, not yet connected to anything."""
    server = Server()
    kinds = [types.CodeActionKind.QuickFix, KIND]
    actions = types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)
    features: list[tuple[str, Callable[..., Any], Any]] = [
        (types.INITIALIZE, initialize, None),
        (types.INITIALIZED, initialized, None),
        (types.SHUTDOWN, shutdown, None),
        (types.WORKSPACE_DID_CHANGE_CONFIGURATION, did_change_configuration, None),
        (types.TEXT_DOCUMENT_DID_OPEN, did_open, None),
        (types.TEXT_DOCUMENT_DID_CHANGE, did_change, None),
        (types.TEXT_DOCUMENT_DID_CLOSE, did_close, None),
        (types.TEXT_DOCUMENT_HOVER, text_hover, None),
        (types.TEXT_DOCUMENT_CODE_ACTION, code_action, actions),
        (types.CODE_ACTION_RESOLVE, code_action_resolve, None),
    ]
    for method, handler, options in features:
        server.feature(method, options)(shielded(handler))
    return server


def serve(tcp: bool = False, host: str = "127.0.0.1", port: int = 2087) -> None:
    """Serve one client, on stdin and stdout or on a TCP port. Raises OSError where the port is taken."""
    # stdout belongs to the protocol; pygls would log every message at INFO.
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_Unanswered())
    server = make_server()
    if tcp:
        server.start_tcp(host, port)
    else:
        server.start_io()
