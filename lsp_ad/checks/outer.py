"""Names and objects that live longer than a traced call: globals, names of a function around, `self`."""

from __future__ import annotations

import gast

from lsp_ad.checks.staged_functions import Place
from lsp_ad.checks.traces import Trace

_MADE = {
    "builtins.list", "builtins.dict", "builtins.set", "collections.defaultdict", "collections.deque",
    "collections.Counter", "collections.OrderedDict",
}  # fmt: skip
_DISPLAYS = (gast.List, gast.Dict, gast.Set, gast.ListComp, gast.DictComp, gast.SetComp)


def owner(trace: Trace, name: str) -> Place | str | None:
    """The function whose name it is, None for a global, "inside" for what the traced functions own."""
    for around in trace.place.chain():
        if name in around.locals:
            return "inside" if trace.traces.get(around) is not None else around
    return None


def is_outer(trace: Trace, name: str) -> bool:
    """Does a name belong to the file or to a function around that is not traced?"""
    if owner(trace, name) == "inside":
        return False
    program = trace.traces.program
    return owner(trace, name) is not None or (name in program.bound and name not in program.imports)


def leaves_body(trace: Trace, node: gast.AST) -> bool:
    """Does a name belong to a traced function around the body, of `jax.lax.scan` say, that it stands in?"""
    name = root(node)
    if not isinstance(name, gast.Name):
        return False
    inside = False
    for around in trace.place.chain():
        if name.id in around.locals:
            return inside and trace.traces.get(around) is not None
        inside = inside or any(around in other.flow.bodies for other in trace.traces)
    return False


def root(node: gast.AST) -> gast.AST:
    """`a` of `a.b[c].d`."""
    while isinstance(node, (gast.Attribute, gast.Subscript, gast.Starred)):
        node = node.value
    return node


def outlives(trace: Trace, node: gast.AST) -> bool:
    """Is it, or is it part of, an object from outside the traced call?"""
    name = root(node)
    if not isinstance(name, gast.Name):
        return False
    return is_outer(trace, name.id) or is_self(trace, name.id)


def is_self(trace: Trace, name: str) -> bool:
    return trace.functions.class_of(name, trace.place) is not None


def ends_itself(trace: Trace, node: gast.If) -> bool:
    """Does a conditional assign what it tests, of what outlives the trace: `if not self.built: ...`?"""
    tested = {trace.text(n) for n in gast.walk(node.test) if isinstance(n, (gast.Name, gast.Attribute))}
    for s in (s for statement in [*node.body, *node.orelse] for s in gast.walk(statement)):
        targets = s.targets if isinstance(s, gast.Assign) else ()
        if any(trace.text(t) in tested and outlives(trace, t) for t in targets):
            return True
    return False


def values_of(trace: Trace, node: gast.AST) -> list[gast.expr]:
    """What is assigned, outside traced functions, to a name or to an attribute of `self`."""
    if isinstance(node, gast.Name):
        place = owner(trace, node.id)
        if place == "inside":
            return []
        if place is None:
            return [v for _, v in trace.facts.assignments.get(node.id, []) if v is not None]
        assert isinstance(place, Place)
        return [
            s.value
            for s in gast.walk(place.node)
            if isinstance(s, gast.Assign)
            and any(isinstance(t, gast.Name) and t.id == node.id for t in s.targets)
        ]
    if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name):
        owner_class = trace.functions.class_of(node.value.id, trace.place)
        if owner_class is not None:
            return [
                s.value
                for s in gast.walk(owner_class)
                if isinstance(s, gast.Assign)
                and any(isinstance(t, gast.Attribute) and t.attr == node.attr for t in s.targets)
            ]
    return []


def is_container(trace: Trace, node: gast.AST) -> bool:
    """Is it a list, dict or set of Python, as what is assigned to it shows?"""
    return any(
        isinstance(v, _DISPLAYS)
        or (isinstance(v, gast.Call) and trace.functions.canonical(v.func, None) in _MADE)
        for v in values_of(trace, node)
    )
