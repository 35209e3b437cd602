"""Which names a write into an array may change besides the one that it is written through.

A name of the array of a caller is known by a name that stands for it from the start: `caller's x`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from lsp_ad.semantics import flow, memory
from lsp_ad.semantics.aliases import State, aliases
from lsp_ad.semantics.names import parameters
from lsp_ad.simplify.algebra import name, store
from lsp_ad.staging.converters.scopes import captured
from lsp_ad.staging.converters.sources import CALLERS, ITEMS, Sources

Canonical = Callable[[gast.AST], "str | None"]
_IN_ORDER = {f"numpy.{name}" for name in ("zeros", "ones", "empty", "full", "eye", "identity")}
_HARMLESS = {
    *("len", "int", "float", "bool", "range", "abs", "sum", "isinstance", "str", "min", "max", "round")
}


@dataclass(frozen=True)
class Found:
    """What one write changes: `names` that are read later; `given`: perhaps an array of the caller's;
    `outside`: an array that the function has from around it; `keeping`: names of lists that it may be in."""

    names: list[str]
    keeping: list[str]
    given: bool
    outside: bool


class Call:
    """For what a call is given, the variables that may share its memory and are read after the statement."""

    def __init__(self, call: gast.Call, kept: Callable[[gast.expr], frozenset[str]]):
        self.positional = [kept(part) for part in call.args]
        self.named = {k.arg: kept(k.value) for k in call.keywords if k.arg is not None}
        others = [k.value for k in call.keywords if k.arg is None]
        if isinstance(call.func, gast.Attribute):
            others.append(call.func.value)
        self.others = frozenset().union(*map(kept, others))
        self.spread = any(isinstance(part, gast.Starred) for part in call.args)

    def variables(self, args: tuple, named: dict[str, Any], is_written: Callable[[Any], bool]) -> set[str]:
        """The variables that a write into what is given may change."""
        if self.spread or len(args) != len(self.positional):
            return {n for part in (*self.positional, *self.named.values(), self.others) for n in part}
        concerned = [k for k, v in zip(self.positional, args, strict=True) if is_written(v)]
        concerned += [k for name, k in self.named.items() if is_written(named.get(name))]
        if not concerned:  # it is a part of what is given
            concerned = [*self.positional, *self.named.values()]
        return {n for part in (*concerned, self.others) for n in part}


class Shared:
    """The writes of one function, before its expressions are converted.

    `writes`: whether there are any. `result`: the variable of what it returns. Once that has a value nothing
    is written, but by a `finally`.
    """

    def __init__(
        self, function: gast.FunctionDef, canonical: Canonical, sources: Sources, result: str | None = None
    ):
        self.canonical, self.sharing = canonical, sources
        self._found: dict[int, Found] = {}
        self.in_order = self._in_order(function)
        self.survivors: dict[int, list[Call]] = {}
        tries = any(isinstance(s, gast.Try) for s in flow.statements(function.body))
        self._final = frozenset() if tries or result is None else frozenset([result])
        statements = [s for s in flow.statements(function.body) if not isinstance(s, gast.FunctionDef)]
        calls = [(s, found) for s in statements if (found := self._calls(s))]
        writes = [s for s in statements if self._root(s) is not None]
        self.writes = bool(writes or calls)
        if self.writes:
            self._look(function, writes, calls)

    def _in_order(self, function: gast.FunctionDef) -> set[str]:
        """The variables whose arrays surely stand in memory row by row."""
        bound: dict[str, bool] = dict.fromkeys(parameters(function), False)
        for s in flow.statements(function.body):
            for n in flow.header_writes(s):
                value = (
                    s.value if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) else None
                )
                known = isinstance(value, gast.Call) and self._is_in_order(value)
                in_place = self._root(s) == n
                bound[n] = bound.get(n, True) and (known or in_place)
        return {n for n, known in bound.items() if known} - captured(function)[1]

    def _is_in_order(self, call: gast.Call) -> bool:
        if any(k.arg == "order" for k in call.keywords):
            return False
        if (self.canonical(call.func) or "") in _IN_ORDER:
            return len(call.args) < 3
        return isinstance(call.func, gast.Attribute) and call.func.attr == "copy" and not call.args

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

    def _calls(self, s: gast.stmt) -> list[gast.Call]:
        """The calls of a statement that may write into what they are given."""
        found = []
        for part in flow.header(s):
            for node in flow.walk(part):
                if isinstance(node, gast.Call) and not self._is_harmless(node):
                    found.append(node)
        return found

    def _is_harmless(self, call: gast.Call) -> bool:
        if isinstance(call.func, gast.Name) and call.func.id in _HARMLESS:
            return True
        dotted = self.canonical(call.func) or ""
        return dotted.startswith(("numpy.", "jax.", "math.", "tensorflow."))

    def _look(
        self,
        function: gast.FunctionDef,
        writes: list[gast.stmt],
        calls: list[tuple[gast.stmt, list[gast.Call]]],
    ) -> None:
        given = sorted(parameters(function))
        entry: list[gast.stmt] = [gast.Assign([store(CALLERS + p)], name(p), None) for p in given]
        graph = flow.Flow.of([*entry, *function.body])
        live = flow.live_before(graph)
        sharing = self.sharing
        states = aliases(graph, sharing.edges, lambda n: True)
        inside = captured(function)[0]
        local = flow.writes(function.body) | set(given)

        def later(s: gast.stmt) -> set[str]:
            return inside.union(*(live[after] for after in graph.successors[graph.index[id(s)]]))

        for s in writes:
            root = self._root(s)
            assert root is not None
            others = states[graph.index[id(s)]].get(root, frozenset()) - {root}
            callers = {n for n in others if n.startswith(CALLERS)}
            names = (others - callers - self._final) & later(s) & local
            keeping = {n.removeprefix(ITEMS) for n in others if n.startswith(ITEMS)}
            if _is_deep(s):
                held = [states[graph.index[id(s)]].get(ITEMS + n, frozenset()) for n in (root, *others)]
                keeping |= {n.removeprefix(ITEMS) for found in held for n in found} & later(s)
            keeping = keeping & local - names - {root}
            self._found[id(s)] = Found(sorted(names), sorted(keeping), bool(callers), root not in local)
        for s, found in calls:
            state = states[graph.index[id(s)]]
            read = later(s) - flow.header_writes(s) - self._final

            def kept(part: gast.expr, state: State = state, read: set[str] = read) -> frozenset[str]:
                roots = sharing.sources(part)
                return frozenset(roots.union(*(state.get(root, frozenset()) for root in roots)) & read)

            for call in found:
                self.survivors.setdefault(call.lineno, []).append(Call(call, kept))


def _is_deep(s: gast.stmt) -> bool:
    """Whether a statement writes into what is an item, or an attribute, of a variable."""
    target = s.target if isinstance(s, gast.AugAssign) else memory.written(s)
    if isinstance(target, gast.Subscript):
        return not isinstance(target.value, gast.Name)
    return isinstance(target, gast.Attribute)
