"""What a function writes into, and which of its names share memory, by its text alone."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.fence.containers import own_containers
from lsp_ad.differentiate.writes import mutations
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.memory import Sharing, root, written_root


def sharing_in(function: gast.FunctionDef, scope: Scope) -> Sharing:
    """Which names share memory in a function, by its text alone."""
    return Sharing(scope.makes_new, keeps=own_containers(function, scope).__contains__)


def arrays_written(s: gast.stmt, lists: set[str], scope: Scope) -> set[str]:
    """The names of the arrays that a statement writes into, in any of its targets or by a function of the
    library; `lists`: the names of lists and dicts, whose items are bound anew."""
    found: set[str] = set()
    if isinstance(s, (gast.Assign, gast.Expr)) and isinstance(s.value, gast.Call):
        found |= mutations.changed_by(s, scope)
    if isinstance(s, gast.Assign):
        for part in (p for target in s.targets for p in mutations.parts(target)):
            base = root(part) if isinstance(part, gast.Subscript) else None
            key = isinstance(getattr(getattr(part, "slice", None), "value", None), str)
            if base is not None and not key and not (isinstance(part.value, gast.Name) and base.id in lists):
                found.add(base.id)
    elif (array := written_root(s)) is not None:
        found.add(array)
    return found


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
        if any(p in arrays_written(x, set(), scope) | flow.header_writes(x) for x in inside):
            return False
        if any(isinstance(x, gast.For) for x in inside):
            return False
    return False
