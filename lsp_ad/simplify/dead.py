"""Drop what nothing reads: assignments, branches and whole loops without effect."""

from __future__ import annotations

from dataclasses import dataclass

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import change_of, changed_by


def drop_dead(body: list[gast.stmt]) -> list[gast.stmt]:
    """The body without dead statements.

    Before: `z = x @ w; loss = np.mean(z); dz = ...; return dz`. After: `z = x @ w; dz = ...; return dz`,
    if dz reads z; nothing reads loss. Assignments have no other effect; `print`, `assert` and `raise` stay.
    """
    while True:
        graph = flow.Flow.of(body)
        before = flow.live_before(graph)
        after = {id(s): _after(s, graph, before) for s in flow.statements(body) if id(s) in graph.index}
        changed, body = _block(body, _Facts(before, after, _written_only(body)))
        if not changed:
            return body


@dataclass(frozen=True)
class _Facts:
    """What is alive after each statement, by its id, and the tapes that nothing reads."""

    live: flow.Live
    after: dict[int, int]
    lists: set[str]

    def needs(self, s: gast.stmt, names: set[str]) -> bool:
        """Whether any of the names is alive after a statement."""
        mask = self.after.get(id(s), 0)
        return any(self.live.holds(mask, n) for n in names)


def _after(s: gast.stmt, graph: flow.Flow, before: flow.Live) -> int:
    """What is read after a statement; after a loop, what is read when it has ended."""
    point = graph.index[id(s)]
    if not isinstance(s, (gast.For, gast.While)):
        return before.after(graph, point)
    inside = {graph.index[id(x)] for x in flow.statements([s]) if id(x) in graph.index} | {point}
    inside |= {
        p for p in graph.successors[point] if (step := graph.points[p]) is not None and step.statement is s
    }
    mask = 0
    for q in inside:
        for p in graph.successors[q]:
            if p not in inside:
                mask |= before.masks[p]
    return mask


def _written_only(body: list[gast.stmt]) -> set[str]:
    """Tapes and other lists that are changed, but never read."""
    appended: set[str] = set()
    read: set[str] = set()
    for s in flow.statements(body):
        change = change_of(s) if isinstance(s, gast.Expr) else None
        if change is not None:
            appended.add(change.base)
            read = read.union(*map(flow.reads, change.args))
        else:
            read |= flow.header_reads(s)
    return appended - read


def _block(body: list[gast.stmt], facts: _Facts) -> tuple[bool, list[gast.stmt]]:
    kept: list[gast.stmt] = []
    changed = False
    for s in body:
        if isinstance(s, gast.Pass) and len(body) > 1:
            changed = True
            continue
        if _is_dead(s, facts):
            changed = True
            continue
        if isinstance(s, (gast.If, gast.For, gast.While)):
            inner, s.body = _block(s.body, facts)
            other, s.orelse = _block(s.orelse, facts)
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


def _is_dead(s: gast.stmt, facts: _Facts) -> bool:
    if isinstance(s, gast.Assign):
        return all(isinstance(t, (gast.Name, gast.Tuple)) for t in s.targets) and not facts.needs(
            s, flow.stored(s) | changed_by(s.value)
        )
    if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
        return not facts.needs(s, {s.target.id})
    if isinstance(s, gast.Expr) and (change := change_of(s)) and change.base in facts.lists:
        return True
    if isinstance(s, (gast.For, gast.While)):
        return not _effects(s) and not facts.needs(s, flow.writes(s.body) | flow.header_writes(s))
    return False


def _effects(s: gast.stmt) -> bool:
    """Whether a loop does anything but assign names."""
    for x in flow.statements([s]):
        if isinstance(x, (gast.Expr, gast.Return, gast.Raise, gast.Assert)):
            return True
        if isinstance(x, gast.AugAssign) and not isinstance(x.target, gast.Name):
            return True
    return False
