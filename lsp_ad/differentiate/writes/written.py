"""What a function writes into, and which of its names share memory, by its text alone."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.fence.containers import own_containers
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.memory import Sharing, written_root


def sharing_in(function: gast.FunctionDef, scope: Scope) -> Sharing:
    """Which names share memory in a function, by its text alone."""
    return Sharing(scope.makes_new, keeps=own_containers(function, scope).__contains__)


def array_written(s: gast.stmt, lists: set[str]) -> str | None:
    """The name of the array that a statement writes into; `lists`: the names of lists and dicts, whose items
    are bound anew."""
    array = written_root(s)
    item = isinstance(s, gast.Assign) and isinstance(getattr(s.targets[0], "value", None), gast.Name)
    return None if item and array in lists else array


def is_copied(function: gast.FunctionDef, p: str, scope: Scope) -> bool:
    """Whether a function begins with `p = p.copy()`, or with another new value for p, before it does anything
    else with the array of the caller's than read it."""
    sharing = sharing_in(function, scope)
    for s in function.body:
        if isinstance(s, gast.Assign) and len(s.targets) == 1 and getattr(s.targets[0], "id", "") == p:
            return not sharing.sources(s.value)
        inside = list(flow.statements([s]))
        if any(isinstance(x, gast.Assign) and sharing.sources(x.value) & {p} for x in inside):
            return False
        calls = [
            n for x in inside for part in flow.header(x) for n in flow.walk(part) if isinstance(n, gast.Call)
        ]
        if any(scope.callee(c) is not None and p in flow.reads(c) for c in calls):
            return False
        if any(written_root(x) == p or p in flow.header_writes(x) or isinstance(x, gast.For) for x in inside):
            return False
    return False
