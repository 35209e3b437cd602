"""What one function's names do: where each may be unbound, is alive, is seen by functions inside."""

from __future__ import annotations

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.names import parameters
from lsp_ad.source.trees import children, walk
from lsp_ad.staging.converters.building import is_immediate

MUTATORS = frozenset(
    [
        "append",
        "pop",
        "extend",
        "insert",
        "remove",
        "clear",
        "update",
        "add",
        "discard",
        "setdefault",
        "sort",
        "reverse",
        "popitem",
        "appendleft",
        "popleft",
    ]
)
_INNER = (gast.FunctionDef, gast.Lambda, gast.AsyncFunctionDef, gast.ClassDef)


class Scopes:
    """The data flow of one function whose jumps are structured."""

    def __init__(self, function: gast.FunctionDef):
        self.function = function
        self.graph = flow.Flow.of(function.body)
        self.live = flow.live_before(self.graph)
        statements = flow.statements(function.body)
        self.outside = {n for s in statements if isinstance(s, (gast.Global, gast.Nonlocal)) for n in s.names}
        self.globals = {n for s in statements if isinstance(s, gast.Global) for n in s.names}
        self.parameters = set(parameters(function))
        bound = flow.writes(function.body) - _of_comprehensions(function.body)
        self.local = (bound | self.parameters) - self.globals
        self.captured, self.rebound = captured(function)
        # the flag that ends a loop is read where the loop goes on
        self.flags = {s.stopped_by for s in statements if getattr(s, "stopped_by", None)}
        self.captured |= self.flags
        self._unbound = self._maybe_unbound()

    def live_at(self, s: gast.stmt) -> set[str]:
        """The names that may be read at or after a statement."""
        return self.live[self.graph.index[id(s)]] | self.captured

    def live_after(self, s: gast.stmt) -> set[str]:
        """The names that may be read after a whole statement, where control leaves it."""
        inside = {self.graph.index[id(part)] for part in flow.statements([s]) if id(part) in self.graph.index}
        first, last = min(inside), max(inside)
        point = self.graph.points[last]
        last += point is not None and isinstance(
            point.statement, gast.For
        )  # its binding is a point of its own
        found: set[str] = set()
        for here in range(first, last + 1):
            for successor in self.graph.successors[here]:
                if not first <= successor <= last:
                    found |= self.live[successor]
        return found | self.captured

    def maybe_unbound(self, name: str, s: gast.stmt) -> bool:
        """Whether a local name may have no value before a statement."""
        return name not in self.outside and name in self._unbound[self.graph.index[id(s)]]

    def _maybe_unbound(self) -> list[set[str]]:
        deletes = {p: self._deleted(point) for p, point in enumerate(self.graph.points)}
        deleted = {n for found in deletes.values() for n in found}
        given = self.parameters - deleted
        names = {n: i for i, n in enumerate(sorted(self.local - given - self.outside))}
        kill = [
            sum(1 << names[n] for n in p.writes if n in names) if p is not None else 0
            for p in self.graph.points
        ]
        gen = [0] * len(kill)
        gen[0] = sum(1 << i for n, i in names.items() if n not in self.parameters)
        for index, found in deletes.items():
            mask = sum(1 << names[n] for n in found if n in names)
            gen[index] |= mask
            kill[index] &= ~mask
        into = flow.solve(len(kill), range(len(kill)), self.graph.predecessors(), gen, kill)
        return [{n for n, i in names.items() if mask >> i & 1} for mask in into]

    @staticmethod
    def _deleted(point: flow.Point | None) -> set[str]:
        """The variables that a point leaves without a value."""
        if point is None:
            return set()
        if isinstance(point.statement, gast.Delete):
            return {n.id for n in walk(point.statement) if isinstance(n, gast.Name)}
        return {point.statement.deletes} if hasattr(point.statement, "deletes") else set()


def mutated(body: list[gast.stmt]) -> set[str]:
    """The names whose lists and dicts the methods called in a block change."""
    found = set()
    for s in body:
        for node in _own(s):
            if isinstance(node, gast.Call):
                method = node.func
                if isinstance(method, gast.Call) and method.args:  # ag.call(tape.append)
                    method = method.args[0]
                if (
                    isinstance(method, gast.Attribute)
                    and method.attr in MUTATORS
                    and isinstance(method.value, gast.Name)
                ):
                    found.add(method.value.id)
    return found


def composite(body: list[gast.stmt]) -> dict[str, gast.expr]:
    """The attributes (`self.x`) and entries (`d["k"]`) that a block assigns, by their text."""
    found: dict[str, gast.expr] = {}
    for s in body:
        for node in _own(s):
            text = _composite_text(node)
            if text and isinstance(node.ctx, (gast.Store, gast.Del)):
                found[text] = node
    bound = flow.writes(body)
    return {t: n for t, n in found.items() if _root(n) not in bound}


def _composite_text(node: gast.AST) -> str:
    if isinstance(node, gast.Name):
        return node.id
    if isinstance(node, gast.Attribute):
        base = _composite_text(node.value)
        return f"{base}.{node.attr}" if base else ""
    if (
        isinstance(node, gast.Subscript)
        and isinstance(node.slice, gast.Constant)
        and isinstance(node.slice.value, str)
    ):
        base = _composite_text(node.value)
        return f"{base}[{node.slice.value!r}]" if base else ""
    return ""


def _root(node: gast.AST) -> str:
    while not isinstance(node, gast.Name):
        node = node.value
    return node.id


def _own(node: gast.AST) -> list[gast.AST]:
    """The nodes of a statement that run when it does, in lambdas that are called at once too."""
    found = [node]
    for part in found:
        if isinstance(part, _INNER) and not is_immediate(part):
            continue
        found += children(part)
    return [n for n in found if isinstance(n, (gast.Attribute, gast.Subscript, gast.Call))]


def captured(function: gast.FunctionDef) -> tuple[set[str], set[str]]:
    """The names that functions inside read, and those that they bind by `nonlocal`."""
    read: set[str] = set()
    bound: set[str] = set()
    pending = [child for s in function.body for child in [s]]
    for node in pending:
        if isinstance(node, _INNER) and not is_immediate(node):
            header = [] if isinstance(node, gast.ClassDef) else walk(node.args)
            own = {n.id for n in header if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Param)}
            for part in walk(node):
                if isinstance(part, gast.Name) and part.id not in own:
                    read.add(part.id)
                elif isinstance(part, gast.Nonlocal):
                    bound |= set(part.names)
        else:
            pending += children(node)
    return read, bound


def _of_comprehensions(body: list[gast.stmt]) -> set[str]:
    """The names that only comprehensions bind, which have a scope of their own."""
    inside: list[gast.Name] = []
    others: set[str] = set()
    pending: list[gast.AST] = [*body]
    for node in pending:  # which grows on the way
        if isinstance(node, gast.comprehension):
            inside += [n for n in walk(node.target) if isinstance(n, gast.Name)]
            pending += [node.iter, *node.ifs]
        elif isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            others.add(node.id)
        elif not isinstance(node, _INNER) or is_immediate(node):
            pending += children(node)
        elif not isinstance(node, gast.Lambda):
            others.add(node.name)
    return {n.id for n in inside} - others
