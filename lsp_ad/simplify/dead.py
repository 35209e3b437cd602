"""Drop what nothing reads: assignments, branches and whole loops without effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import change_of, changed_by
from lsp_ad.semantics.memory import content_reads, written, written_root
from lsp_ad.semantics.points import Points
from lsp_ad.simplify.algebra import negation

Shared = Mapping[str, frozenset[str]]


def drop_dead(
    body: list[gast.stmt], shared: Shared | None = None, points: Points | None = None
) -> list[gast.stmt]:
    """The body without dead statements.

    Before: `z = x @ w; loss = np.mean(z); dz = ...; return dz`. After: `z = x @ w; dz = ...; return dz`,
    if dz reads z; nothing reads loss. Assignments have no other effect; `print`, `assert` and `raise` stay.
    A write into an array is dead if nothing reads the array after it, by any of its names: `shared` gives
    for each name those that it may share memory with. Without `shared` such writes stay.
    `points`: what is known of the statements.
    """
    points = points or Points()
    while True:
        body = _drop(body, points)
        left = drop_dead_writes(body, shared, points, loops=True) if shared is not None else body
        if left is body:
            return body
        body = left


def _drop(body: list[gast.stmt], points: Points) -> list[gast.stmt]:
    sweep = _Sweep(points)
    lists: set[str] | None = None
    while lists != (unread := sweep.unread_lists(body)):
        sweep.lists = lists = unread
        body = sweep.block(body, set(), _Jumps())
    return body


def drop_dead_writes(
    body: list[gast.stmt], shared: Shared, points: Points, loops: bool = False
) -> list[gast.stmt]:
    """The body without the writes into arrays that nothing reads after them; all else stays.

    `loops`: so go loops that do nothing else that is needed. The body itself is returned where nothing goes.
    """
    while points.mutated(body):
        graph = flow.Flow.of(body, points)
        live = flow.live_before(graph)
        content = flow.live_before(graph, reads=content_reads)
        dead = set()
        for s in flow.statements(body):
            arrays = _written_by(s, loops)
            if arrays and id(s) in graph.index:
                after = _leads_to(s, graph)
                names = {n for array in arrays for n in shared.get(array, {array})}
                # what stands on a tape, at the place `tape[0]`, is read where a loop takes it from there
                names |= {n.partition("[")[0] for n in names}
                if not content.any_of(after, names) and not live.any_of(after, flow.writes([s])):
                    dead.add(id(s))
        if not dead:
            break
        body = _without(body, dead)
    return body


def _written_by(s: gast.stmt, loops: bool) -> set[str]:
    """The arrays that a statement writes into, or a loop that does nothing else but bind names."""
    inside = [s]
    if isinstance(s, (gast.For, gast.While)):
        inside = list(flow.statements(s.body)) if loops else []
        if any(isinstance(x, (gast.Return, gast.Raise, gast.Assert)) for x in inside):
            return set()
        if any(isinstance(x, gast.Expr) and written(x) is None for x in inside):
            return set()
    return {array for x in inside if (array := written_root(x)) is not None}


def _leads_to(s: gast.stmt, graph: flow.Flow) -> set[int]:
    """The points that come directly after a statement; after a loop, where it has ended."""
    point = graph.index[id(s)]
    if not isinstance(s, (gast.For, gast.While)):
        return set(graph.successors[point])
    inside = {graph.index[id(x)] for x in flow.statements([s]) if id(x) in graph.index} | {point}
    inside |= {
        p for p in graph.successors[point] if (step := graph.points[p]) is not None and step.statement is s
    }
    return {p for q in inside for p in graph.successors[q]} - inside


def _without(body: list[gast.stmt], dead: set[int]) -> list[gast.stmt]:
    kept = [s for s in body if id(s) not in dead]
    for s in kept:
        for field in ("body", "orelse"):
            inner = getattr(s, field, None)
            if isinstance(inner, list) and inner:
                setattr(s, field, _without(inner, dead) or ([gast.Pass()] if field == "body" else []))
    return kept


@dataclass(frozen=True)
class _Jumps:
    """The names that are alive where a `break` and a `continue` lead to."""

    left: frozenset[str] = frozenset()
    again: frozenset[str] = frozenset()


class _Sweep:
    """One way through a body, from its end to its start, with the set of the names that are alive.

    A dead statement reads nothing, so what only it has read is dead when the sweep comes there. `live` is
    changed in place everywhere, from the names alive after a statement to those alive before it.
    """

    def __init__(self, points: Points) -> None:
        self.points = points
        self.lists: set[str] = set()
        self.dropped = 0

    def makes_nothing(self, s: gast.stmt, live: Set[str]) -> bool:
        """Whether nothing that is alive is bound or changed at a point."""
        point = self.points.of(s)
        return live.isdisjoint(point.binds) and (not point.lists or live.isdisjoint(point.lists))

    def unread_lists(self, body: list[gast.stmt]) -> set[str]:
        """Tapes and other lists that are changed, but never read."""
        appended: set[str] = set()
        read: set[str] = set()
        whole = flow.statements(body)
        if not any(isinstance(s, gast.Expr) and change_of(s) for s in whole):
            return appended
        for s in whole:
            change = change_of(s) if isinstance(s, gast.Expr) else None
            if change is not None:
                appended.add(change.base)
                read = read.union(*map(flow.reads, change.args))
            else:
                read |= self.points.of(s).reads
        return appended - read

    # --- dropping ----------------------------------------------------------------------------

    def block(self, body: list[gast.stmt], live: set[str], jumps: _Jumps) -> list[gast.stmt]:
        """The block without its dead statements."""
        kept: list[gast.stmt] = []
        for s in reversed(body):
            if (isinstance(s, gast.Pass) and len(body) > 1) or not self.statement(s, live, jumps):
                self.dropped += 1
            else:
                kept.append(s)
        return kept[::-1]

    def statement(self, s: gast.stmt, live: set[str], jumps: _Jumps) -> bool:
        """Go past a statement, and drop what is dead inside it; False where it is dead itself."""
        if self.is_dead(s, live):
            return False
        if isinstance(s, gast.If):
            return self.branches(s, live, jumps)
        if isinstance(s, (gast.For, gast.While)):
            after = frozenset(live)
            self.loop(s, live, jumps)
            if self.is_dead(s, after):
                _set(live, after)
                return False
            return True
        if isinstance(s, gast.With):
            s.body = self.block(s.body, live, jumps)
            self.header(s, live)
            return _does(s.body)
        if isinstance(s, gast.Try):
            self.attempt(s, live, jumps, self.block)
            return True
        self.pass_by(s, live, jumps)
        return True

    def branches(self, s: gast.If, live: set[str], jumps: _Jumps) -> bool:
        other = set(live)
        s.body = self.block(s.body, live, jumps)
        s.orelse = self.block(s.orelse, other, jumps)
        if not _does(s.body) and not _does(s.orelse):
            return False
        if not _does(s.body):
            s.test, s.body, s.orelse = negation(s.test), s.orelse, []
            if hasattr(s, "lineno"):
                del s.lineno  # it is no longer the statement of the text
        if not _does(s.orelse):
            s.orelse = []
        live |= other
        self.header(s, live)
        return True

    def attempt(
        self,
        s: gast.Try,
        live: set[str],
        jumps: _Jumps,
        block: Callable[[list[gast.stmt], set[str], _Jumps], list[gast.stmt]],
    ) -> None:
        """`block` goes through all parts but the body, which stays whole: what raises in it decides which
        path is taken, whether its value is read or not."""
        self.before(s.finalbody, live, jumps)
        caught = set(live) if s.finalbody else set()
        for handler in s.handlers:
            inside = set(live)
            handler.body = block(handler.body, inside, jumps) or [gast.Pass()]
            self.header(handler, inside)
            caught |= inside
        s.orelse = block(s.orelse, live, jumps)
        for x in reversed(s.body):
            self.pass_by(x, live, jumps)
            live |= caught

    def loop(self, s: gast.For | gast.While, live: set[str], jumps: _Jumps) -> None:
        left = frozenset(live)
        s.orelse = self.block(s.orelse, live, jumps)
        ended = frozenset(live)
        dropped = -1
        while dropped != self.dropped:
            dropped = self.dropped
            _set(live, self.at_head(s, ended, left))
            inside = set(live)
            s.body = self.block(s.body, inside, _Jumps(left, frozenset(live))) or [gast.Pass()]

    def is_dead(self, s: gast.stmt, live: Set[str]) -> bool:
        if isinstance(s, gast.Assign):
            names_only = all(isinstance(t, (gast.Name, gast.Tuple)) for t in s.targets)
            return names_only and self.makes_nothing(s, live)
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            return self.makes_nothing(s, live)
        if isinstance(s, (gast.For, gast.While)):
            return not _effects(s) and all(self.makes_nothing(x, live) for x in flow.statements([s]))
        change = change_of(s) if isinstance(s, gast.Expr) else None
        return change is not None and change.base in self.lists

    # --- liveness ----------------------------------------------------------------------------

    def at_head(self, s: gast.For | gast.While, ended: frozenset[str], left: frozenset[str]) -> set[str]:
        """What is alive where a loop asks whether to go on: one way through its body is enough to tell."""
        live = set() if flow.is_endless(s) else set(ended)
        self.header(s, live)
        inside = set(live)
        self.before(s.body, inside, _Jumps(left, frozenset(live)))
        return live | inside - self.points.of(s).binds

    def before(self, body: list[gast.stmt], live: set[str], jumps: _Jumps) -> list[gast.stmt]:
        for s in reversed(body):
            self.pass_by(s, live, jumps)
        return body

    def pass_by(self, s: gast.stmt, live: set[str], jumps: _Jumps) -> None:
        if isinstance(s, gast.If):
            other = set(live)
            self.before(s.body, live, jumps)
            self.before(s.orelse, other, jumps)
            live |= other
            self.header(s, live)
        elif isinstance(s, (gast.For, gast.While)):
            left = frozenset(live)
            self.before(s.orelse, live, jumps)
            _set(live, self.at_head(s, frozenset(live), left))
        elif isinstance(s, gast.Break):
            _set(live, jumps.left)
        elif isinstance(s, gast.Continue):
            _set(live, jumps.again)
        else:
            if isinstance(s, (gast.Return, gast.Raise)):
                live.clear()
            elif isinstance(s, gast.With):
                self.before(s.body, live, jumps)
            elif isinstance(s, gast.Try):
                self.attempt(s, live, jumps, self.before)
            self.header(s, live)

    def header(self, s: gast.stmt, live: set[str]) -> None:
        point = self.points.of(s)
        if not isinstance(s, gast.For):
            live -= point.binds
        live |= point.reads


def _set(live: set[str], names: Set[str]) -> None:
    live.clear()
    live |= names


def _does(body: list[gast.stmt]) -> bool:
    return any(not isinstance(s, gast.Pass) for s in body)


def _effects(s: gast.stmt) -> bool:
    """Whether a loop does anything but assign names."""
    for x in flow.statements([s]):
        if isinstance(x, (gast.Expr, gast.Return, gast.Raise, gast.Assert)):
            return True
        if written(x) is not None:
            return True
        if isinstance(x, gast.Assign) and changed_by(x):
            return True
    return False
