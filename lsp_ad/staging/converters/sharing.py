"""Which names a write into an array may change besides the one that it is written through.

A name of the array of a caller is known by a name that stands for it from the start: `caller's x`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import gast

from lsp_ad.semantics import flow, memory
from lsp_ad.semantics.aliases import aliases
from lsp_ad.semantics.names import parameters
from lsp_ad.simplify.algebra import name, store
from lsp_ad.staging.converters.scopes import captured

Canonical = Callable[[gast.AST], "str | None"]
_CALLERS = "caller's "
_NEW = {*("len", "int", "float", "bool", "range", "abs", "sum", "isinstance", "str", "min", "max", "round")}
_HELPERS = {f"lsp_ad.runtime.structures.{name}" for name in ("zeros_of", "ones_of", "copy_of", "own_copy")}


@dataclass(frozen=True)
class Found:
    """What one write changes: `names` that are read later; `given`: perhaps an array of the caller's;
    `outside`: an array that the function has from around it."""

    names: list[str]
    given: bool
    outside: bool


class Shared:
    """The writes of one function, before its expressions are converted."""

    def __init__(
        self, function: gast.FunctionDef, canonical: Canonical, makes_new: Callable[[gast.Call], bool]
    ):
        self.canonical = canonical
        self._known = makes_new
        self._found: dict[int, Found] = {}
        writes = [s for s in flow.statements(function.body) if self._root(s) is not None]
        if writes:
            self._look(function, writes)

    def of(self, s: gast.stmt) -> Found | None:
        """What a write changes; None where it is through no name."""
        return self._found.get(id(s))

    def is_scatter(self, call: gast.Call) -> bool:
        return (self.canonical(call.func) or "") in memory.SCATTERS

    def _root(self, s: gast.stmt) -> str | None:
        """The name through which a statement writes into an array or a list."""
        if isinstance(s, gast.AugAssign):
            found = memory.root(s.target)
            return found.id if found is not None else None
        return memory.written_root(s)

    def _look(self, function: gast.FunctionDef, writes: list[gast.stmt]) -> None:
        given = sorted(parameters(function))
        entry: list[gast.stmt] = [gast.Assign([store(_CALLERS + p)], name(p), None) for p in given]
        graph = flow.Flow.of([*entry, *function.body])
        live = flow.live_before(graph)
        sharing = memory.Sharing(self._makes_new)
        states = aliases(graph, lambda s: _edges(sharing, s), lambda n: True)
        inside = captured(function)[0]
        local = flow.writes(function.body) | set(given)
        for s in writes:
            point, root = graph.index[id(s)], self._root(s)
            assert root is not None
            later = inside.union(*(live[after] for after in graph.successors[point]))
            others = states[point].get(root, frozenset()) - {root}
            callers = {n for n in others if n.startswith(_CALLERS)}
            names = sorted((others - callers) & later & local)
            self._found[id(s)] = Found(names, bool(callers), root not in local)

    def _makes_new(self, call: gast.Call) -> bool:
        if isinstance(call.func, gast.Name) and call.func.id in _NEW:
            return True
        return (self.canonical(call.func) or "") in _HELPERS or self._known(call)


def _edges(sharing: memory.Sharing, s: gast.stmt) -> list[tuple[str, set[str]]]:
    """What a statement binds, the number of `enumerate` apart."""
    found = sharing.edges(s)
    if (
        isinstance(s, gast.For)
        and isinstance(s.iter, gast.Call)
        and isinstance(s.iter.func, gast.Name)
        and s.iter.func.id == "enumerate"
        and isinstance(s.target, (gast.Tuple, gast.List))
        and isinstance(s.target.elts[0], gast.Name)
    ):
        return [(n, sources) for n, sources in found if n != s.target.elts[0].id]
    return found
