"""The lightbulb: *Generate gradient* for the function at the cursor, and the derivatives beside it.

The gradient is offered for all float parameters together and, where there are several, for each of them; the
forward derivative and the Hessian-vector product for all together, where there is one. Where the function
cannot be differentiated the action is shown disabled, with the reason, by clients that can.
Edits are computed when an action is chosen, by clients that can wait for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from lsp_ad.differentiate import MODES, Derivative
from lsp_ad.problems import Problem, Span
from lsp_ad.server.analysis import Analysis
from lsp_ad.server.client import KIND, Client, Settings
from lsp_ad.server.convert import to_text_edits
from lsp_ad.server.snapshots import Snapshot

# The modes that are offered beside the gradient: what they make, and the kind of the action.
BESIDE = {
    "jvp": ("forward derivative", f"{KIND}.forward"),
    "hvp": ("Hessian-vector product", f"{KIND}.hessianVectorProduct"),
}


@dataclass(frozen=True)
class Offer:
    """One action: its title, what it differentiates, and the reason why it cannot, if it cannot."""

    title: str
    function: str
    wrt: tuple[str, ...] | None
    reason: str = ""
    mode: str = "grad"

    @property
    def kind(self) -> str:
        return BESIDE[self.mode][1] if self.mode in BESIDE else KIND


def wants(only: Sequence[str] | None, own: str = KIND) -> bool:
    """Whether a client that asks for these kinds wants ours: kinds are hierarchical, none means all."""
    return not only or any(
        not kind or kind == own or own.startswith(f"{kind}.") for kind in map(_plain, only)
    )


def asks_for_gradient(only: Sequence[str] | None) -> bool:
    """Whether the user asked for a gradient and for nothing else."""
    return bool(only) and all(_plain(kind) == KIND for kind in only or ())


def offers(analysis: Analysis, selection: Span) -> list[Offer]:
    """What can be generated for the function at a selection; nothing where there is nothing numeric."""
    name = analysis.name_at(selection.line, selection.end_line)
    if analysis.syntax_problems or name is None:
        return []
    parameters = analysis.parameters(name)
    derivative, problems = analysis.derivative(name)
    refused = derivative is None
    # most methods are not meant to be differentiated: one that cannot be is left alone
    if not parameters or (refused and ("." in name or not analysis.is_numeric)):
        return []
    found = [Offer(f"Generate gradient of {name}", name, None, _reason(analysis, derivative, problems))]
    if len(parameters) > 1:
        for parameter in parameters:
            reason = found[0].reason
            if refused:
                # One parameter may be in the way of all together and not of the others.
                reason = _reason(analysis, *analysis.derivative(name, (parameter,)))
            found.append(
                Offer(f"Generate gradient of {name} with respect to {parameter}", name, (parameter,), reason)
            )
    if all(offer.reason for offer in found):
        found = found[:1]
    return found if derivative is None else found + _beside(analysis, name, derivative)


def _beside(analysis: Analysis, name: str, gradient: Derivative) -> list[Offer]:
    """The other derivatives of a function that has a gradient: those that can be written and are not yet, and
    a Hessian-vector product where the result surely is a number."""
    found = []
    for mode, (what, _) in BESIDE.items():
        if mode == "hvp" and not gradient.scalar:
            continue
        derivative, problems = analysis.derivative(name, None, mode)
        if not _reason(analysis, derivative, problems):
            found.append(Offer(f"Generate {what} of {name}", name, None, "", mode))
    return found


def code_actions(
    snapshot: Snapshot, selection: Span, only: Sequence[str] | None, client: Client, settings: Settings
) -> list[types.CodeAction]:
    kinds = [KIND, *(kind for _, kind in BESIDE.values())]
    if not any(wants(only, kind) for kind in kinds) or not client.action_literals:
        return []
    actions = []
    for offer in offers(snapshot.analysis, selection):
        if not wants(only, offer.kind):
            continue
        action = types.CodeAction(offer.title, kind=offer.kind)
        if offer.reason:
            if not client.shows_disabled:
                continue
            action.disabled = types.CodeActionDisabled(offer.reason)
        elif client.resolves_edit:
            action.data = {
                "uri": snapshot.uri,
                "version": snapshot.version,
                "function": offer.function,
                "wrt": list(offer.wrt) if offer.wrt else None,
                "mode": offer.mode,
            }
        else:
            edit, _ = generated(snapshot, offer.function, offer.wrt, client, settings, offer.mode)
            if edit is None:
                continue
            action.edit = edit
        actions.append(action)
    return actions


def generated(
    snapshot: Snapshot,
    function: str,
    wrt: tuple[str, ...] | None,
    client: Client,
    settings: Settings,
    mode: str = "grad",
) -> tuple[types.WorkspaceEdit | None, tuple[Problem, ...]]:
    """The edit that writes a derivative below its function, or the problems that forbid it."""
    analysis = snapshot.analysis
    derivative, problems = analysis.derivative(function, wrt, mode)
    if derivative is None:
        return None, problems
    edits = to_text_edits(
        snapshot.document, analysis.insertion(derivative, settings.helpers), client.encoding
    )
    if not client.document_changes:
        return types.WorkspaceEdit(changes={snapshot.uri: edits}), ()
    identifier = types.OptionalVersionedTextDocumentIdentifier(snapshot.uri, snapshot.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, edits)]), ()


def parsed_data(data: Any) -> tuple[str, int | None, str, tuple[str, ...] | None, str]:
    """(uri, version, function, wrt, mode) of the `data` of an action; ValueError where it is none of ours."""
    match data:
        case {
            "uri": str(uri),
            "version": int() | None as version,
            "function": str(function),
            "wrt": None | [*_] as wrt,
            "mode": str(mode),
        } if mode in MODES:
            if wrt is None:
                return uri, version, function, None, mode
            if wrt and all(isinstance(name, str) for name in wrt):
                return uri, version, function, tuple(wrt), mode
    raise ValueError(f"not the data of a gradient action: {data!r}")


def _reason(analysis: Analysis, derivative: Derivative | None, problems: tuple[Problem, ...]) -> str:
    if derivative is None:
        return (
            " ".join(f"Line {p.span.line}: {p.message}" for p in problems[:1])
            or "It cannot be differentiated."
        )
    if derivative.name in analysis.program.bound:
        return f"{derivative.name} exists already."
    return ""


def _plain(kind: types.CodeActionKind | str) -> str:
    return str(getattr(kind, "value", kind))
