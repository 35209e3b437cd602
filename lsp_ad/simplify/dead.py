"""Drop what nothing reads: assignments, branches and whole loops without effect."""

from __future__ import annotations

import gast

from lsp_ad.semantics import flow


def drop_dead(body: list[gast.stmt]) -> list[gast.stmt]:
    """The body without dead statements.

    Before: `z = x @ w; loss = np.mean(z); dz = ...; return dz`. After: `z = x @ w; dz = ...; return dz`,
    if dz reads z; nothing reads loss. Assignments have no other effect; `print`, `assert` and `raise` stay.
    """
    while True:
        graph = flow.Flow.of(body)
        before = flow.live_before(graph)
        after: dict[int, set[str]] = {}
        for s in flow.statements(body):
            if id(s) in graph.index:
                after[id(s)] = _after(s, graph, before)
        changed, body = _block(body, after, _written_only(body))
        if not changed:
            return body


def _after(s: gast.stmt, graph: flow.Flow, before: list[set[str]]) -> set[str]:
    """What is read after a statement; after a loop, what is read when it has ended."""
    point = graph.index[id(s)]
    if not isinstance(s, (gast.For, gast.While)):
        return flow.live_after(graph, before, point)
    inside = {graph.index[id(x)] for x in flow.statements([s])} | {
        p for p, step in enumerate(graph.points) if step is not None and step.statement is s}
    leaving = {p for q in inside for p in graph.successors[q]} - inside
    return set().union(*(before[p] for p in leaving))


def _written_only(body: list[gast.stmt]) -> set[str]:
    """Tapes that are appended to, but never read."""
    appended: set[str] = set()
    read: set[str] = set()
    for s in flow.statements(body):
        target = appended_to(s)
        if target is not None:
            appended.add(target)
            read |= flow.reads(s.value.args[0])  # type: ignore[attr-defined]
        else:
            read |= flow.header_reads(s)
    return appended - read


def appended_to(s: gast.stmt) -> str | None:
    """The tape in `tape.append(...)`."""
    if (isinstance(s, gast.Expr) and isinstance(s.value, gast.Call) and isinstance(s.value.func, gast.Attribute)
            and s.value.func.attr == "append" and isinstance(s.value.func.value, gast.Name)):
        return s.value.func.value.id
    return None


def _block(body: list[gast.stmt], after: dict[int, set[str]], lists: set[str]) -> tuple[bool, list[gast.stmt]]:
    kept: list[gast.stmt] = []
    changed = False
    for s in body:
        if isinstance(s, gast.Pass) and len(body) > 1:
            changed = True
            continue
        if _is_dead(s, after, lists):
            changed = True
            continue
        if isinstance(s, (gast.If, gast.For, gast.While)):
            inner, s.body = _block(s.body, after, lists)
            other, s.orelse = _block(s.orelse, after, lists)
            changed |= inner or other
            if isinstance(s, gast.If) and not _does(s.body) and not _does(s.orelse):
                changed = True
                continue
            if isinstance(s, gast.If) and not _does(s.body):
                s.test, s.body, s.orelse = _not(s.test), s.orelse, []
                if hasattr(s, "lineno"):
                    del s.lineno  # it is no longer the statement of the text
                changed = True
            if isinstance(s, gast.If) and s.orelse and not _does(s.orelse):
                s.orelse = []
            s.body = s.body or [gast.Pass()]
        kept.append(s)
    return changed, kept


def _does(body: list[gast.stmt]) -> bool:
    return any(not isinstance(s, gast.Pass) for s in body)


def _not(test: gast.expr) -> gast.expr:
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    return gast.UnaryOp(gast.Not(), test)


def _is_dead(s: gast.stmt, after: dict[int, set[str]], lists: set[str]) -> bool:
    live = after.get(id(s), set())
    if isinstance(s, gast.Assign):
        return all(isinstance(t, (gast.Name, gast.Tuple)) for t in s.targets) and not flow.stored(s) & live
    if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
        return s.target.id not in live
    if appended_to(s) in lists:
        return True
    if isinstance(s, (gast.For, gast.While)):
        return not _effects(s) and not (flow.writes(s.body) | flow.header_writes(s)) & live
    return False


def _effects(s: gast.stmt) -> bool:
    """Whether a loop does anything but assign names."""
    for x in flow.statements([s]):
        if isinstance(x, (gast.Expr, gast.Return, gast.Raise, gast.Assert)):
            return True
        if isinstance(x, gast.AugAssign) and not isinstance(x.target, gast.Name):
            return True
    return False
