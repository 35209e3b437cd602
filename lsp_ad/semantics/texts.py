"""Methods of strings: what they return carries no derivative."""

from __future__ import annotations

import gast

from lsp_ad.semantics.shapes import BOOL, STR, Kind

_STRINGS = """lower upper strip lstrip rstrip title capitalize casefold format join replace removeprefix
    removesuffix zfill center ljust rjust"""
METHODS: dict[str, Kind] = {
    **dict.fromkeys(_STRINGS.split(), STR),
    **dict.fromkeys(("startswith", "endswith", "isdigit", "isalpha", "isidentifier"), BOOL),
}


def kind_of_method(node: gast.expr) -> Kind | None:
    """The kind of `s.lower()` and its like; None for any other expression."""
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
        return METHODS.get(node.func.attr)
    return None
