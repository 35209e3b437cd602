"""What the client can do, and the settings it sends: read once, in plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lsprotocol import types
from pygls.capabilities import get_capability

SECTION = "lsp-ad"
KIND = "refactor.rewrite.generateGradient"


@dataclass(frozen=True)
class Client:
    """The abilities of a client that change what the server answers."""

    encoding: str = "utf-16"
    markdown: bool = True
    action_literals: bool = True
    resolves_edit: bool = True
    shows_disabled: bool = True
    document_changes: bool = True
    related_information: bool = True
    pulls_configuration: bool = False


def client_of(capabilities: types.ClientCapabilities, encoding: str) -> Client:
    formats = get_capability(capabilities, "text_document.hover.content_format") or []
    resolved = get_capability(capabilities, "text_document.code_action.resolve_support.properties") or []
    keeps_data = bool(get_capability(capabilities, "text_document.code_action.data_support"))
    return Client(
        encoding=str(getattr(encoding, "value", encoding)),
        markdown=bool(formats) and formats[0] == types.MarkupKind.Markdown,
        action_literals=get_capability(capabilities, "text_document.code_action.code_action_literal_support")
        is not None,
        resolves_edit=keeps_data and "edit" in resolved,
        shows_disabled=bool(get_capability(capabilities, "text_document.code_action.disabled_support")),
        document_changes=bool(get_capability(capabilities, "workspace.workspace_edit.document_changes")),
        related_information=bool(
            get_capability(capabilities, "text_document.publish_diagnostics.related_information")
        ),
        pulls_configuration=bool(get_capability(capabilities, "workspace.configuration")),
    )


@dataclass(frozen=True)
class Settings:
    """`helpers`: whether helper functions are written into the file ("inline") or imported ("import")."""

    helpers: str = "inline"


_ALLOWED = {"helpers": ("inline", "import")}


def updated(settings: Settings, given: Any) -> tuple[Settings, list[str]]:
    """The settings after those a client sent, and a message for each value that was ignored.

    Takes the section alone, or under its name (`{"lsp-ad": {"helpers": ...}}`), or under "settings".
    Unknown names are left alone: a client may keep settings of its own in the same section.
    """
    for key in ("settings", SECTION):
        if isinstance(given, Mapping) and key in given:
            given = given[key]
    if given is None:
        return settings, []
    if not isinstance(given, Mapping):
        return settings, [f"{SECTION}: settings must be an object, not {given!r}; ignored."]
    messages = []
    for name, allowed in _ALLOWED.items():
        if given.get(name) is None:
            continue
        if given[name] in allowed:
            settings = replace(settings, **{name: given[name]})
        else:
            choice = " or ".join(f'"{value}"' for value in allowed)
            messages.append(f"{SECTION}.{name} must be {choice}, not {given[name]!r}; ignored.")
    return settings, messages
