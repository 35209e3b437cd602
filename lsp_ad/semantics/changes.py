"""Statements that change a list or a dict in place: `hs.append(h)`, `x = hs.pop()`, `d["w"] = e`."""

from __future__ import annotations

from dataclasses import dataclass

import gast

from lsp_ad.semantics import flow

# What is known to be changed, and how; other methods that change their list are refused.
METHODS = ("append", "extend", "insert", "pop")

# Methods that hand out what a list or a dict holds.
ACCESS = ("pop", "get", "items", "values")


def is_access(node: gast.expr) -> bool:
    """Whether an expression calls a method that hands out what a list or a dict holds."""
    return isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr in ACCESS


@dataclass(frozen=True)
class Change:
    """One change of the list or dict `base`: by a method, or `set`, an assignment to an item."""

    base: str
    method: str
    args: tuple[gast.expr, ...]


def change_of(s: gast.stmt) -> Change | None:
    """The change that a statement makes, if it is one of the forms above."""
    kind = type(s)
    if kind is gast.Assign:
        if type(s.value) is not gast.Call and type(s.targets[0]) is not gast.Subscript:
            return None
    elif kind is not gast.Expr:
        return None
    if isinstance(s, (gast.Expr, gast.Assign)):
        node = s.value
        if (
            isinstance(node, gast.Call)
            and isinstance(node.func, gast.Attribute)
            and isinstance(node.func.value, gast.Name)
            and node.func.attr in (METHODS if isinstance(s, gast.Expr) else ("pop",))
            and not node.keywords
            and not any(isinstance(a, gast.Starred) for a in node.args)
        ):
            return Change(node.func.value.id, node.func.attr, tuple(node.args))
    if isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Subscript):
        target = s.targets[0]
        if isinstance(target.value, gast.Name):
            return Change(target.value.id, "set", (target.slice, s.value))
    return None


def growing_lists(body: list[gast.stmt]) -> set[str]:
    """The names whose methods are called that only lists have: `append`, `insert`, `extend`, `pop()`."""
    return {
        change.base
        for s in flow.statements(body)
        if (change := change_of(s)) is not None
        and (change.method in ("append", "insert", "extend") or (change.method == "pop" and not change.args))
    }


def changed_by(node: gast.AST) -> set[str]:
    """The names of the lists and dicts that evaluating an expression, or a simple statement, changes."""
    found = set()
    if isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Subscript):
        base = node.targets[0]
        while isinstance(base, gast.Subscript):
            base = base.value
        found.add(getattr(base, "id", ""))
    for n in flow.walk(node):
        if (
            type(n) is gast.Call
            and type(n.func) is gast.Attribute
            and n.func.attr in METHODS
            and isinstance(n.func.value, gast.Name)
        ):
            found.add(n.func.value.id)
    return found


def changed(body: list[gast.stmt]) -> set[str]:
    """The names of what a block changes in place."""
    return {c.base for s in flow.statements(body) if (c := change_of(s)) is not None}


def grown(body: list[gast.stmt]) -> set[str]:
    """The names of what is surely a list or a dict, and changed in place: by a method, or under a string."""
    return {
        c.base
        for s in flow.statements(body)
        if (c := change_of(s)) is not None
        and (c.method != "set" or isinstance(getattr(c.args[0], "value", None), str))
    }


def before_changes(body: list[gast.stmt]) -> dict[str, set[int]]:
    """For each name that is changed, the statements (by id) that a change of its present value may follow."""
    sites: dict[str, list[gast.stmt]] = {}
    for s in flow.statements(body):
        if (c := change_of(s)) is not None:
            sites.setdefault(c.base, []).append(s)
    if not sites:
        return {}
    graph = flow.Flow.of(body)
    sources = graph.predecessors()
    return {n: _before(n, found, graph, sources) for n, found in sites.items()}


def _before(name: str, sites: list[gast.stmt], graph: flow.Flow, sources: list[list[int]]) -> set[int]:
    pending = [p for s in sites for p in sources[graph.index[id(s)]]]
    seen: set[int] = set()
    found: set[int] = set()
    while pending:
        point = pending.pop()
        if point in seen:
            continue
        seen.add(point)
        step = graph.points[point]
        if step is not None:
            if name in step.writes:
                continue  # what was bound before is another value
            found.add(id(step.statement))
        pending += sources[point]
    return found
