"""Which names still hold, in the backward sweep, the value that they had in the forward sweep.

A name is *stable* if it is assigned once, and not read before that in an iteration of a loop
around the assignment. Inside a loop its value changes from iteration to iteration; the tape of
the loop brings back the right one. Any other name must be saved where it is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import before_changes
from lsp_ad.semantics.points import Points


class LiveBefore:
    """The names that are alive before each statement of a body, by its id."""

    def __init__(self, graph: flow.Flow, live: flow.Live):
        self.graph = graph
        self.live = live

    def __getitem__(self, statement: int) -> set[str]:
        point = self.graph.index.get(statement)
        return set() if point is None else self.live[point]


@dataclass
class Stability:
    """Facts about the names of a function in normal form."""

    points: Points
    live: LiveBefore
    counts: dict[str, int] = field(default_factory=dict)
    carried: set[str] = field(default_factory=set)
    block_of: dict[str, tuple[int, ...]] = field(default_factory=dict)
    path_of: dict[int, tuple[int, ...]] = field(default_factory=dict)
    order: dict[int, int] = field(default_factory=dict)
    defined_at: dict[str, int] = field(default_factory=dict)
    changing: dict[str, set[int]] = field(default_factory=dict)

    @staticmethod
    def of(body: list[gast.stmt], parameters: list[str], result: str, points: Points) -> Stability:
        graph = flow.Flow.of(body, points)
        live = flow.live_before(graph, [result])
        facts = Stability(
            points,
            LiveBefore(graph, live),
            counts=dict.fromkeys(parameters, 1),
            block_of=dict.fromkeys(parameters, ()),
            defined_at=dict.fromkeys(parameters, -1),
        )
        facts._walk(body, ())
        facts.changing = before_changes(body)
        facts.carried = carried_names(body, graph, live)
        return facts

    def _walk(self, body: list[gast.stmt], path: tuple[int, ...]) -> None:
        path = (*path, id(body))
        for s in body:
            self.path_of[id(s)] = path
            self.order[id(s)] = len(self.order)
            inside = (*path, id(s.body)) if isinstance(s, gast.For) else path
            for name in self.points.of(s).binds:
                self.counts[name] = self.counts.get(name, 0) + 1
                self.block_of[name] = inside
                self.defined_at[name] = self.order[id(s)]
            for block in flow.blocks(s):
                self._walk(block, path)

    def is_stable(self, name: str) -> bool:
        return self.counts.get(name, 0) <= 1 and name not in self.carried

    def keeps(self, name: str, s: gast.stmt) -> bool:
        """Whether a name still stands in the backward sweep for the value that it has at a statement."""
        return self.is_stable(name) and id(s) not in self.changing.get(name, ())

    def is_beside(self, name: str, s: gast.stmt) -> bool:
        """Whether the one assignment of a name stands before a statement in the same block."""
        return (
            self.counts.get(name) == 1
            and self.block_of.get(name) == self.path_of.get(id(s), ())
            and self.defined_at[name] < self.order[id(s)]
        )

    def defined_before(self, name: str, s: gast.stmt) -> bool:
        """Whether the one assignment of a name comes before a statement on every path to it."""
        block, path = self.block_of.get(name), self.path_of.get(id(s), ())
        return block is not None and path[: len(block)] == block and self.defined_at[name] < self.order[id(s)]


def carried_names(body: list[gast.stmt], graph: flow.Flow, live: flow.Live) -> set[str]:
    """The names whose value an iteration of a loop leaves for a later one, or for what follows the loop."""
    found: set[str] = set()
    for s in flow.statements(body):
        if isinstance(s, (gast.For, gast.While)):
            found |= live[graph.index[id(s)]] & (flow.writes(s.body) | flow.header_writes(s))
    return found
