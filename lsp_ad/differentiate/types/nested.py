"""Which names of unknown kind may stand for lists, and which structures may hold others inside."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.types.passed import passed_as_lists
from lsp_ad.rules.helpers import STRUCTURED
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.semantics.shapes import UNKNOWN, Kind, element_kind


def may_be_lists(body: list[gast.stmt], active: set[str], kinds: Kinds, scope: Scope) -> set[str]:
    """Names of unknown kind that are only indexed with integers, iterated, handed to functions that may do
    so, given to or made by functions that take lists as lists, or cut into pieces that are.

    An array serves as well; what is sliced for arithmetic, or indexed in any other way, is no list.
    """
    found: set[str] = set()
    other: set[str] = set()
    pieces: dict[str, set[str]] = {}
    for s in flow.statements(body):
        if isinstance(s, gast.For):
            found |= {n for n in flow.reads(s.iter) if n in active}
        value: gast.expr | None = s.value if isinstance(s, gast.Assign) else None
        if isinstance(value, gast.Call) and getattr(value.func, "id", "") in ("list", "tuple"):
            found |= {a.id for a in value.args if isinstance(a, gast.Name)}
        cut = _structured(s, found, scope) if not flow.blocks(s) else ()
        for node in flow.walk(s) if not flow.blocks(s) else ():
            if type(node) is not gast.Subscript or not isinstance(node.value, gast.Name):
                continue
            base = node.value.id
            if node is value and isinstance(node.slice, gast.Slice):  # type: ignore[union-attr]
                pieces.setdefault(base, set()).update(flow.stored(s))
            elif isinstance(node.slice, gast.Slice) and isinstance(value, gast.Name) and node in s.targets:
                pieces.setdefault(base, set()).add(value.id)
            elif isinstance(node.slice, (gast.Slice, gast.Tuple)):
                if node not in cut:
                    other.add(base)
            else:
                kind = kinds.of(node.slice)
                (found if kind.type == "number" and kind.dtype == "int" else other).add(base)
    found |= passed_as_lists(body, scope) & active
    found = {n for n in (found | pieces.keys()) - other if _is_unclear(kinds.names.get(n, UNKNOWN))}
    while True:
        lists = found | {t for ts in pieces.values() for t in ts if kinds.names.get(t, Kind()).is_structure}
        arrays = {n for n in found if not pieces.get(n, set()) <= lists}
        if not arrays:
            return found
        found -= arrays


def _is_unclear(kind: Kind) -> bool:
    """Whether a value may be a list as well as an array."""
    return kind.may_be_list or kind.type == "mixed"


def _structured(s: gast.stmt, found: set[str], scope: Scope) -> list[gast.expr]:
    """Add to `found` the names that generated code gives to functions that take lists as lists, and those
    that hold what these make. Returns the slices among what is given, or bound to what is made."""
    places: list[gast.expr] = []
    for node in flow.walk(s):
        if isinstance(node, gast.Call) and scope.canonical(node.func) in STRUCTURED:
            places += node.args
            if isinstance(s, gast.Assign) and node is s.value:
                places += s.targets
    found |= {p.id for p in places if isinstance(p, gast.Name)}
    return [p for p in places if isinstance(p, gast.Subscript)]


def may_nest(
    body: list[gast.stmt], lists: set[str], unpacked: set[str], kinds: Kinds, scope: Scope
) -> set[str]:
    """The names that may stand for tuples, or for lists and dicts of lists, tuples and dicts."""
    found = {n for n in unpacked if n in lists}
    for n, kind in kinds.names.items():
        if kind.is_structure:
            inner = element_kind(kind) if kind.items != () else Kind()
            if kind.type == "tuple" or inner.type not in ("array", "number"):
                found.add(n)
    structured = lists | found
    for s in flow.statements(body):
        if isinstance(s, gast.Assign) and isinstance(s.value, gast.Subscript) and flow.stored(s) & structured:
            found |= {n for n in [_base(s.value)] if n in lists}
        elif isinstance(s, gast.Assign) and scope.callee(s.value) is not None:
            found |= flow.reads(s.value) & lists
        elif isinstance(s, gast.For) and (
            flow.stored(s.target) & structured or any(isinstance(t, gast.Tuple) for t in _targets(s.target))
        ):
            found |= flow.reads(s.iter) & lists
    return found


def _targets(target: gast.expr) -> list[gast.expr]:
    return target.elts if isinstance(target, gast.Tuple) else [target]


def _base(node: gast.expr) -> str:
    while isinstance(node, gast.Subscript):
        node = node.value
    return node.id if isinstance(node, gast.Name) else ""
