"""Paths: expressions such as `y[1].T` that stand for a part of one array, and the same part whenever
they are read."""

from __future__ import annotations

from dataclasses import dataclass

import gast

from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow, indexing
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.semantics.names import parameters
from lsp_ad.simplify.algebra import assign, constant, name

ALWAYS_VIEWS = ("transpose", "swapaxes")
OWN_LAYOUT = (
    "numpy.zeros",
    "numpy.ones",
    "numpy.empty",
    "numpy.full",
    "numpy.eye",
    "numpy.arange",
    "numpy.linspace",
)


@dataclass
class Paths:
    """What can be told of paths in a body of statements."""

    body: list[gast.stmt]
    kinds: Kinds
    scope: Scope
    fresh: Fresh

    def is_view(self, node: gast.expr) -> bool:
        """Whether an expression is surely a view of its root."""
        while not isinstance(node, gast.Name):
            if isinstance(node, gast.Subscript):
                if indexing.picks(node.slice, self.kinds.of) or not self.selects_once(node.slice):
                    return False
                node = node.value
            elif isinstance(node, gast.Attribute):
                if node.attr != "T":
                    return False
                node = node.value
            elif isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
                inner = node.func.value
                if node.func.attr not in ALWAYS_VIEWS and not (
                    node.func.attr in ("reshape", "ravel") and self._is_in_order(inner)
                ):
                    return False
                node = inner
            else:
                return False
        return True

    def selects_once(self, index: gast.expr) -> bool:
        """Whether an index is made of integers, slices, None and Ellipsis, so that it gives a view."""
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        return all(
            isinstance(p, gast.Slice)
            or (isinstance(p, gast.Constant) and (p.value is None or p.value is Ellipsis))
            or (self.kinds.of(p).dtype == "int" and self.kinds.of(p).type == "number")
            for p in parts
        )

    def _is_in_order(self, node: gast.expr) -> bool:
        """Whether an array surely lies in memory in its order, so that reshaping it gives a view."""
        if not isinstance(node, gast.Name):
            return False
        made = [s for s in flow.statements(self.body) if node.id in flow.header_writes(s)]
        if len(made) != 1 or not isinstance(made[0], gast.Assign) or not isinstance(made[0].value, gast.Call):
            return False
        call = made[0].value
        function = self.scope.canonical(call.func)
        if function is None and isinstance(call.func, gast.Attribute):
            return call.func.attr == "copy" and not call.args and not call.keywords
        return function in OWN_LAYOUT

    def fixed(self, node: gast.expr, fixed: set[str], before: list[gast.stmt]) -> gast.expr:
        """A path whose indices keep their values: those that change later are kept under names."""
        inner = node
        while not isinstance(inner, gast.Name):
            if isinstance(inner, gast.Subscript):
                inner.slice = self._fixed_index(inner.slice, fixed, before)
            inner = inner.func.value if isinstance(inner, gast.Call) else inner.value
        return node

    def _fixed_index(self, node: gast.expr, fixed: set[str], before: list[gast.stmt]) -> gast.expr:
        if isinstance(node, gast.Tuple):
            return gast.Tuple([self._fixed_index(e, fixed, before) for e in node.elts], gast.Load())
        if isinstance(node, gast.Slice):
            parts = (node.lower, node.upper, node.step)
            return gast.Slice(
                *(self._fixed_index(p, fixed, before) if p is not None else None for p in parts)
            )
        local = {n for n in flow.reads(node) if n in self.scope.local}
        if local <= fixed and not any(isinstance(n, (gast.Call, gast.Subscript)) for n in flow.walk(node)):
            return node
        kept = self.fresh.new("t", "index")
        self.kinds.names[kept] = self.kinds.of(node)
        before.append(assign(kept, node))
        fixed.add(kept)
        return name(kept)


def parts_bound_once(tree: gast.FunctionDef, kinds: Kinds) -> dict[str, gast.expr]:
    """The names that are bound once, each with the item that it is of what is bound once, too, and holds no
    array twice: a parameter, or what is no list."""
    bound: dict[str, list[gast.expr | None]] = {p: [None] for p in parameters(tree)}
    for s in flow.statements(tree.body):
        value = s.value if isinstance(s, gast.Assign) else None
        for n in flow.header_writes(s):
            bound.setdefault(n, []).append(value)
        if isinstance(value, gast.Name) and isinstance(s.targets[0], (gast.Tuple, gast.List)):
            items = s.targets[0].elts
            starred = next((i for i, t in enumerate(items) if isinstance(t, gast.Starred)), len(items))
            for at, target in enumerate(items[:starred]):
                if isinstance(target, gast.Name):
                    bound[target.id][-1] = gast.Subscript(value, constant(at), gast.Load())
    once = {n: values[0] for n, values in bound.items() if len(values) == 1}
    given = set(parameters(tree))
    return {
        n: value
        for n, value in once.items()
        if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name)
        if (base := value.value.id) in once and (base in given or not kinds.is_structure(base))
    }
