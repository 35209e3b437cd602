"""Reaching definitions: which assignments of a name may be the last before a point."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lsp_ad.semantics.flow import Flow, solve


@dataclass(frozen=True)
class Definitions:
    """Reaching definitions: `sites` are (name, point); `into[p]` is the mask of those that reach p."""

    sites: list[tuple[str, int]]
    into: list[int]
    of_name: dict[str, int]

    def reaching(self, point: int, name: str) -> list[int]:
        mask, found = self.into[point] & self.of_name.get(name, 0), []
        while mask:
            low = mask & -mask
            found.append(low.bit_length() - 1)
            mask ^= low
        return found


def reaching_definitions(graph: Flow, entry: Iterable[str]) -> Definitions:
    """Which assignments of a name may be the last before each point; `entry`: names bound on entry."""
    sites: list[tuple[str, int]] = [(name, 0) for name in entry]
    for number, point in enumerate(graph.points):
        if point is not None:
            sites += [(name, number) for name in sorted(point.writes)]
    of_name: dict[str, int] = {}
    gen, kill = [0] * len(graph.points), [0] * len(graph.points)
    for bit, (name, number) in enumerate(sites):
        of_name[name] = of_name.get(name, 0) | 1 << bit
        gen[number] |= 1 << bit
    for name, number in sites:
        kill[number] |= of_name[name]
    into = solve(len(graph.points), range(len(graph.points)), graph.predecessors(), gen, kill)
    return Definitions(sites, into, of_name)
