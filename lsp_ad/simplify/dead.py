"""Drop what nothing reads: assignments, branches and whole loops without effect."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import change_of, changed_by
from lsp_ad.simplify.algebra import negation


def drop_dead(body: list[gast.stmt]) -> list[gast.stmt]:
    """The body without dead statements.

    Before: `z = x @ w; loss = np.mean(z); dz = ...; return dz`. After: `z = x @ w; dz = ...; return dz`,
    if dz reads z; nothing reads loss. Assignments have no other effect; `print`, `assert` and `raise` stay.
    """
    sweep = _Sweep()
    lists: set[str] | None = None
    while lists != (unread := sweep.unread_lists(body)):
        sweep.lists = lists = unread
        body = sweep.block(body, set(), _Jumps())
    return body


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

    def __init__(self) -> None:
        self.lists: set[str] = set()
        self.dropped = 0
        self._points: dict[int, tuple[gast.stmt, set[str], set[str]]] = {}
        self._made: dict[int, tuple[gast.stmt, set[str]]] = {}

    def point(self, s: gast.stmt) -> tuple[set[str], set[str]]:
        """What a point reads and binds, which the sweep never changes."""
        known = self._points.get(id(s))
        if known is None:
            known = self._points[id(s)] = (s, flow.header_reads(s), flow.header_writes(s))
        return known[1], known[2]

    def makes(self, s: gast.stmt) -> set[str]:
        """What a point binds or changes."""
        known = self._made.get(id(s))
        if known is None:
            changed = changed_by(s.value) if isinstance(s, gast.Assign) else set()
            known = self._made[id(s)] = (s, self.point(s)[1] | changed)
        return known[1]

    def unread_lists(self, body: list[gast.stmt]) -> set[str]:
        """Tapes and other lists that are changed, but never read."""
        appended: set[str] = set()
        read: set[str] = set()
        for s in flow.statements(body):
            change = change_of(s) if isinstance(s, gast.Expr) else None
            if change is not None:
                appended.add(change.base)
                read = read.union(*map(flow.reads, change.args))
            else:
                read |= self.point(s)[0]
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
            return names_only and live.isdisjoint(self.makes(s))
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            return s.target.id not in live
        if isinstance(s, (gast.For, gast.While)):
            return not _effects(s) and all(live.isdisjoint(self.makes(x)) for x in flow.statements([s]))
        change = change_of(s) if isinstance(s, gast.Expr) else None
        return change is not None and change.base in self.lists

    # --- liveness ----------------------------------------------------------------------------

    def at_head(self, s: gast.For | gast.While, ended: frozenset[str], left: frozenset[str]) -> set[str]:
        """What is alive where a loop asks whether to go on: one way through its body is enough to tell."""
        live = set() if flow.is_endless(s) else set(ended)
        self.header(s, live)
        inside = set(live)
        self.before(s.body, inside, _Jumps(left, frozenset(live)))
        return live | inside - self.point(s)[1]

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
        reads, writes = self.point(s)
        if not isinstance(s, gast.For):
            live -= writes
        live |= reads


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
        if isinstance(x, gast.AugAssign) and not isinstance(x.target, gast.Name):
            return True
        if isinstance(x, gast.Assign) and changed_by(x):
            return True
    return False
