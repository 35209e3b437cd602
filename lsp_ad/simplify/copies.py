"""Read an original instead of a copy that the compiler made of it, where neither changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import chain

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.points import Names, Points
from lsp_ad.simplify.algebra import bare

Shared = Mapping[str, frozenset[str]]


class Counts:
    """How often each name is read and written."""

    def __init__(self, body: list[gast.stmt], points: Points):
        whole = flow.statements(body)
        known = [points.of(s) for s in whole]
        self.reads = Counter(chain.from_iterable([p.loads for p in known]))
        updates = [s.target for s in whole if type(s) is gast.AugAssign]
        self.reads.update([target.id for target in updates if type(target) is gast.Name])
        self.writes = Counter([n.id for p in known if p.binds for n in p.names if type(n.ctx) is gast.Store])


def changes(s: gast.stmt, shared: Shared, points: Points) -> Names:
    """The names whose values a statement changes, in place or by assignment, with all that is inside it."""
    point = points.of(s)
    found = point.binds
    if point.lists:
        found = found | point.lists
    if point.array is not None:
        found = found | shared.get(point.array, frozenset([point.array]))
    blocks = flow.blocks(s)
    return found.union(*(changes(x, shared, points) for b in blocks for x in b)) if blocks else found


def forget_copies(
    body: list[gast.stmt],
    counts: Counts,
    movable: Callable[[str], bool],
    parameters: set[str],
    shared: Shared,
    points: Points,
) -> bool:
    """Read the original instead of a copy of it, where neither changes after."""
    in_place: set[str] = set()
    for x in flow.statements(body):
        if isinstance(x, (gast.AugAssign, gast.Expr)):
            in_place |= changes(x, shared, points)
    renamed: dict[str, str] = {}

    def block(statements: list[gast.stmt]) -> None:
        kept: list[gast.stmt] = []
        for s in statements:
            for inner in flow.blocks(s):
                block(inner)
            if (
                isinstance(s, gast.Assign)
                and len(s.targets) == 1
                and isinstance(s.targets[0], gast.Name)
                and isinstance(s.value, gast.Name)
            ):
                copy, original = s.targets[0].id, s.value.id
                if (
                    movable(copy)
                    and counts.writes.get(copy) == 1
                    and copy not in parameters
                    and counts.writes.get(original, 0) + (original in parameters) <= 1
                    and not {copy, original} & in_place
                    and copy != original
                ):
                    renamed[copy] = original
                    counts.writes[copy] -= 1
                    counts.reads[original] -= 1
                    continue
            kept.append(s)
        statements[:] = kept or [gast.Pass() for _ in statements[:1]]

    block(body)
    for copy, original in renamed.items():
        while original in renamed:
            original = renamed[original]
        renamed[copy] = original
    if renamed:
        for x in flow.statements(body):
            point = points.of(x)
            if renamed.keys().isdisjoint(point.loads):
                continue
            for n in point.loads:
                if n in renamed:
                    counts.reads[n] -= 1
                    counts.reads[renamed[n]] += 1
            for node in point.names:
                if node.id in renamed and isinstance(node.ctx, gast.Load):
                    node.id = renamed[node.id]
                    bare(node)
            point.rename(renamed)
    return bool(renamed)
