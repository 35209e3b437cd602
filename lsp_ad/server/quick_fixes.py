"""Quick fixes: the changes that the checks know for what they found."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from lsp_ad import checks
from lsp_ad.problems import Fix, Span
from lsp_ad.server.client import Client
from lsp_ad.server.convert import to_position
from lsp_ad.server.diagnostics import diagnostic
from lsp_ad.server.snapshots import Snapshot

KIND = types.CodeActionKind.QuickFix


def wants(only: Sequence[str] | None) -> bool:
    """Whether a client that asks for these kinds wants quick fixes."""
    kinds = [str(getattr(kind, "value", kind)) for kind in only or ()]
    return not kinds or "" in kinds or KIND.value in kinds


def quick_fixes(
    snapshot: Snapshot, selection: Span, only: Sequence[str] | None, client: Client
) -> list[types.CodeAction]:
    """The fixes of all findings at a selection."""
    analysis = snapshot.analysis
    if not wants(only) or not client.action_literals or analysis.syntax_problems:
        return []
    actions = []
    for found in checks.check(analysis.program):
        if not found.fixes or not _touches(found.span, selection):
            continue
        about = [diagnostic(snapshot, client, found)]
        for fix in found.fixes:
            edit = _edit(snapshot, fix, client)
            action = types.CodeAction(fix.title, kind=KIND, diagnostics=about, edit=edit)
            if fix.safe and fix is found.fixes[0]:
                action.is_preferred = True
            actions.append(action)
    return actions


def _edit(snapshot: Snapshot, fix: Fix, client: Client) -> types.WorkspaceEdit:
    lines, newline = snapshot.document.lines, snapshot.document.newline
    edits: list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit] = []
    for span, text in fix.edits:
        start = to_position(lines, span.line, span.column, client.encoding)
        end = to_position(lines, span.end_line, span.end_column, client.encoding)
        edits.append(types.TextEdit(types.Range(start, end), text.replace("\n", newline)))
    if not client.document_changes:
        return types.WorkspaceEdit(changes={snapshot.uri: edits})  # type: ignore[dict-item]
    identifier = types.OptionalVersionedTextDocumentIdentifier(snapshot.uri, snapshot.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, edits)])


def _touches(a: Span, b: Span) -> bool:
    return a[:2] <= b[2:] and b[:2] <= a[2:]
