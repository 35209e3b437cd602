"""What a loop goes over in forward mode: the values, and beside them their tangents.

Before: `for i, x in enumerate(xs)`. After: `for i, (x, dx) in enumerate(zip(xs, dxs))`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from lsp_ad.differentiate.forward.tangents import Present, Tangents
from lsp_ad.differentiate.fresh import adjoint_name, is_temporary
from lsp_ad.differentiate.quoting import quoted
from lsp_ad.problems import Refusal, problem
from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import is_access
from lsp_ad.simplify.algebra import name, store
from lsp_ad.source.parse import span_of


@dataclass
class Elements:
    """Lets loops go over tangents too. `first`: what the body of a loop begins with for that."""

    tangents: Tangents
    active: set[str]
    first: dict[int, list[gast.stmt]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.values = self.tangents.values
        self.scope = self.values.scope

    def go_along(self, s: gast.For, present: Present) -> set[str]:
        """Let a loop over something that has a tangent go over both, in place; the names that get one so."""
        if not flow.stored(s.target) & self.active or not self.tangents.moves(s.iter, present):
            return set()
        if is_access(s.iter):
            return self._items(s)
        if self._is_counted(s.iter) and self._is_for_backward(s.target.elts[0], s.body):
            s.target, s.iter = s.target.elts[1], s.iter.args[0]  # the position is for the backward sweep
        before = flow.stored(s.target)
        s.target, s.iter = self._with_tangents(s.target, s.iter, present)
        return {n for n in before if adjoint_name(n) in flow.stored(s.target)}

    def _items(self, s: gast.For) -> set[str]:
        """A loop over the items of a dict reads their tangents by their keys, whatever order they are in."""
        key, target = s.target.elts
        item = gast.Subscript(self._tangents_of(s.iter.func.value), name(key.id), gast.Load())
        first = gast.Assign([self._tangent_target(target)], item, None)
        self.first[id(s)] = [gast.copy_location(first, s) if hasattr(s, "lineno") else first]
        return flow.stored(target) & self.active

    def _is_for_backward(self, position: gast.expr, body: list[gast.stmt]) -> bool:
        """Whether a position was added for the backward sweep, so that nothing in the loop reads it."""
        return (
            isinstance(position, gast.Name)
            and is_temporary(position.id)
            and not any(position.id in flow.header_reads(x) for x in flow.statements(body))
        )

    def _quoted(self, node: gast.expr) -> str:
        return quoted(node, self.scope.program)

    def _is_counted(self, node: gast.expr) -> bool:
        return isinstance(node, gast.Call) and self.scope.canonical(node.func) == "builtins.enumerate"

    def _with_tangents(
        self, target: gast.expr, node: gast.expr, present: Present
    ) -> tuple[gast.expr, gast.expr]:
        """A target and what it goes over, each with the tangents beside the values."""
        if not self.tangents.moves(node, present) or not flow.stored(target) & self.active:
            return target, node
        is_zip = isinstance(node, gast.Call) and self.scope.canonical(node.func) == "builtins.zip"
        if not is_zip and not self._is_counted(node):
            both = gast.Tuple([target, self._tangent_target(target)], gast.Store())
            return both, gast.Call(name("zip"), [node, self._tangents_of(node)], [])
        assert isinstance(node, gast.Call)
        inner = node.args if is_zip else node.args[:1]
        if not isinstance(target, gast.Tuple) or len(target.elts) != len(inner) + (not is_zip):
            raise Refusal(
                problem(
                    "AD102",
                    f"`{self._quoted(target)}` does not match `{self._quoted(node)}`.",
                    span_of(node),
                    "Unpack each element in the `for` itself.",
                )
            )
        if not is_zip:
            target.elts[1], node.args[0] = self._with_tangents(target.elts[1], node.args[0], present)
            return target, node
        for position, (t, a) in enumerate(zip(list(target.elts), list(inner), strict=True)):
            nested = isinstance(a, gast.Call) and self.scope.canonical(a.func) != "builtins.reversed"
            if nested:
                target.elts[position], node.args[position] = self._with_tangents(t, a, present)
            elif self.tangents.moves(a, present) and flow.stored(t) & self.active:
                target.elts.append(self._tangent_target(t))
                node.args.append(self._tangents_of(a))
        return target, node

    def _tangent_target(self, target: gast.expr) -> gast.expr:
        if isinstance(target, (gast.Tuple, gast.List)):
            return gast.Tuple([self._tangent_target(t) for t in target.elts], gast.Store())
        assert isinstance(target, gast.Name)
        return store(adjoint_name(target.id) if target.id in self.active else self.values.fresh.new("t", "_"))

    def _tangents_of(self, node: gast.expr) -> gast.expr:
        """The tangents of what a loop goes over, element by element."""
        if isinstance(node, gast.Name):
            return name(adjoint_name(node.id))
        if isinstance(node, gast.Call) and self.scope.canonical(node.func) == "builtins.reversed":
            return gast.Call(node.func, [self._tangents_of(node.args[0])], [])
        raise Refusal(
            problem(
                "AD102",
                f"A `for` over `{self._quoted(node)}` cannot be differentiated.",
                span_of(node),
            )
        )
