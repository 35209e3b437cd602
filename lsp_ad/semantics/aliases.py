"""Which names may stand for one array, point by point.

The relation is kept between pairs of names, so that `u, v = v, u` leaves two arrays two arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import gast

from lsp_ad.semantics import flow

State = dict[str, frozenset[str]]
Edges = Callable[[gast.stmt], list[tuple[str, set[str]]]]


def aliases(
    graph: flow.Flow, edges: Edges, is_memory: Callable[[str], bool], entry: State | None = None
) -> list[State]:
    """Before each point: for each name, the names that may share memory with it; on entry, those of `entry`.

    `edges`: for each name that a statement binds, the names that its value may share memory with;
    `is_memory`:
    whether a name may stand for anything but a number.
    """
    known: dict[int, list[tuple[str, set[str]]]] = {}

    def edges_of(s: gast.stmt) -> list[tuple[str, set[str]]]:
        if id(s) not in known:
            known[id(s)] = edges(s)
        return known[id(s)]

    states: list[State] = [{} for _ in graph.points]
    _join(states[0], entry or {})
    pending = list(range(len(graph.points)))[::-1]
    seen = [False] * len(graph.points)
    while pending:
        point = pending.pop()
        seen[point] = True
        after = _after(graph.points[point], states[point], edges_of, is_memory)
        for successor in graph.successors[point]:
            if _join(states[successor], after) or not seen[successor]:
                pending.append(successor)
    return states


class Given:
    """Where the names of a function may share memory with what the caller gave for its parameters."""

    def __init__(
        self,
        body: list[gast.stmt],
        parameters: Iterable[str],
        edges: Edges,
        is_memory: Callable[[str], bool] = lambda n: True,
    ):
        self.graph = flow.Flow.of(body)
        self._names = {f"the argument {p}": p for p in parameters}  # names that no statement binds
        entry: State = {}
        for given, p in self._names.items():
            entry |= {p: frozenset([given]), given: frozenset([p])}
        self._states = aliases(self.graph, edges, is_memory, entry)

    def at(self, s: gast.stmt, n: str) -> set[str]:
        """The parameters whose arguments a name may share memory with just before a statement."""
        point = self.graph.index.get(id(s))
        shared = self._states[point].get(n, frozenset()) if point is not None else ()
        return {self._names[m] for m in shared if m in self._names}

    def names(self, s: gast.stmt, n: str) -> frozenset[str]:
        """The names that share memory with a name, just before a statement."""
        point = self.graph.index.get(id(s))
        return self._states[point].get(n, frozenset()) if point is not None else frozenset()

    def is_alone(self, s: gast.stmt, n: str) -> bool:
        """Whether a name shares memory with no other name, just before a statement, nor with an argument."""
        point = self.graph.index.get(id(s))
        return point is not None and not self._states[point].get(n)


def _after(point: flow.Point | None, old: State, edges: Edges, is_memory: Callable[[str], bool]) -> State:
    """After a point. The sources of `u, v = v, u` are what the names stand for before it."""
    if point is None or not (point.writes or isinstance(point.statement, (gast.Expr, gast.Assign))):
        return old
    state = dict(old)
    given: dict[str, set[str]] = {}
    for n, names in edges(point.statement):
        given.setdefault(n, set()).update(m for m in names if is_memory(m))
    for n in point.writes:
        for other in state.pop(n, frozenset()):
            state[other] = state.get(other, frozenset()) - {n}
    for n, sources in given.items():
        found = sources.union(*(old.get(m, frozenset()) for m in sources))
        # two names share memory where a source of one is, or shares memory with, a source of the other
        among = {m for m, others in given.items() if m != n and m in point.writes and others & found}
        others = (found - point.writes - {n}) | among
        state[n] = state.get(n, frozenset()) | others
        for other in others:
            state[other] = state.get(other, frozenset()) | {n}
    return state


def _join(state: State, other: State) -> bool:
    """Add what another path brings to a state; whether that changes it."""
    changed = False
    for n, shares in other.items():
        old = state.get(n, frozenset())
        if not shares <= old:
            state[n] = old | shares
            changed = True
    return changed


def gone_over(body: list[gast.stmt], names: frozenset[str]) -> dict[int, frozenset[str]]:
    """For each statement, the names that the loops around it go over: each holds on to what
    such a name stands for when it begins."""
    found: dict[int, frozenset[str]] = {}
    for s in body:
        found[id(s)] = names
        inside = names | flow.reads(s.iter) if isinstance(s, gast.For) else names
        for block in flow.blocks(s):
            found |= gone_over(block, inside)
    return found
