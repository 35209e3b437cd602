"""Iterators that a `for` does not spell out: under a name, as a list, or with whole tuples as elements.

- `pairs = zip(a, b)`, then once `for x, y in pairs`: the call stands in the `for` itself.
- `for x, y in list(zip(a, b))`: without `list`.
- `for p in zip(a, b)`: `for p_0, p_1 in zip(a, b)`, and `p = (p_0, p_1)` as the first statement.
- `for i, x in reversed(list(enumerate(xs)))`: `for k in reversed(range(len(xs)))`, and `i = k; x = xs[k]`.
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass

import gast

from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.problems import Refusal, problem
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.simplify.algebra import assign, call, constant, name, store
from lsp_ad.source.parse import span_of

ITERATORS = {"builtins.zip", "builtins.enumerate", "builtins.reversed", "builtins.range"}
ONCE = ITERATORS - {"builtins.range"}
LISTS = {"builtins.list", "builtins.tuple"}


def expand(function: gast.FunctionDef, scope: Scope, fresh: Fresh) -> None:
    """Rewrite the loops of a function in place.

    Raises Refusal (AD102) for an iterator that is bound to a name and not used in one `for` after it.
    """
    counts: dict[str, int] = {}
    iterators = _Iterators(scope, fresh, counts)
    assigned = [s.value for s in flow.statements(function.body) if isinstance(s, gast.Assign)]
    if any(map(iterators.is_iterator, assigned)):
        counts.update(Counter(n.id for n in flow.walk(function) if isinstance(n, gast.Name)))
    iterators.block(function.body)


def lists_iterator(node: gast.expr, scope: Scope) -> bool:
    """Whether an expression is `list(...)` or `tuple(...)` of an iterator."""
    return (
        isinstance(node, gast.Call)
        and scope.canonical(node.func) in LISTS
        and len(node.args) == 1
        and not node.keywords
        and isinstance(node.args[0], gast.Call)
        and scope.canonical(node.args[0].func) in ITERATORS
    )


@dataclass
class _Iterators:
    """`counts`: how often each name stands in the function, read or bound."""

    scope: Scope
    fresh: Fresh
    counts: dict[str, int]

    def block(self, body: list[gast.stmt]) -> None:
        for s in list(body):
            if isinstance(s, gast.Assign) and self.is_iterator(s.value):
                self._put_back(s, body)
        for s in list(body):
            for inner in flow.blocks(s):
                self.block(inner)
            if isinstance(s, gast.For):
                before = self._loop(s)
                body[body.index(s) : body.index(s)] = before

    def _function(self, node: gast.expr) -> str | None:
        return self.scope.canonical(node.func) if isinstance(node, gast.Call) else None

    def is_iterator(self, node: gast.expr) -> bool:
        """Whether an expression is an iterator that can be gone through once."""
        return self._function(node) in ONCE

    # --- under a name ------------------------------------------------------------------------

    def _put_back(self, s: gast.Assign, body: list[gast.stmt]) -> None:
        """Move an iterator from its name to the one loop that goes through it, in the same block."""
        target = s.targets[0]
        at = body.index(s)
        if len(s.targets) == 1 and isinstance(target, gast.Name) and self.counts[target.id] == 2:
            used = flow.reads(s.value)
            for later in body[at + 1 :]:
                if isinstance(later, gast.For) and getattr(later.iter, "id", None) == target.id:
                    later.iter = s.value
                    body.remove(s)
                    return
                if flow.writes([later]) & used or target.id in flow.reads(later) or flow.blocks(later):
                    break
        raise Refusal(
            problem(
                "AD102",
                "An iterator under a name is followed only where the name is assigned once and read once, "
                "by a `for` after it.",
                span_of(s.value),
                "Write it in the `for` itself.",
            )
        )

    # --- loops -------------------------------------------------------------------------------

    def _loop(self, s: gast.For) -> list[gast.stmt]:
        """Rewrite one loop; returns the statements to stand before it."""
        if lists_iterator(s.iter, self.scope):
            self._refuse_changes(s)
            s.iter = s.iter.args[0]
        if self._function(s.iter) == "builtins.reversed" and lists_iterator(s.iter.args[0], self.scope):
            self._refuse_changes(s)
            return self._backwards(s)
        first: list[gast.stmt] = []
        s.target = self._unpacked(s.target, s.iter, first)
        s.body[:0] = [gast.copy_location(f, s) for f in first]
        return []

    def _refuse_changes(self, s: gast.For) -> None:
        """A list is made before the loop runs: what it was made of must not change in the loop."""
        over = flow.reads(s.iter)
        for inner in flow.statements(s.body):
            for n in flow.walk(inner) if not flow.blocks(inner) else ():
                if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store) and flow.reads(n) & over:
                    raise Refusal(
                        problem(
                            "AD301",
                            "The loop writes into what the list that it goes over was made of.",
                            span_of(inner),
                        )
                    )

    def _unpacked(self, target: gast.expr, over: gast.expr, first: list[gast.stmt]) -> gast.expr:
        """A target that has a name for each part of an element; `first` binds the name of the whole."""
        function = self._function(over)
        if function == "builtins.reversed" and len(over.args) == 1:
            return self._unpacked(target, over.args[0], first)
        if function == "builtins.enumerate" and over.args:
            parts: list[gast.expr | None] = [None, over.args[0]]
        elif function == "builtins.zip" and over.args:
            parts = list(over.args)
        else:
            return target
        if isinstance(target, gast.Name):
            names = [self.fresh.new("t", f"{target.id}_{k}") for k in range(len(parts))]
            whole = gast.Tuple([name(n) for n in names], gast.Load())
            first.insert(0, assign(target.id, whole))
            target = gast.Tuple([store(n) for n in names], gast.Store())
        if isinstance(target, (gast.Tuple, gast.List)) and len(target.elts) == len(parts):
            target = copy.copy(target)
            target.elts = [
                t if inner is None else self._unpacked(t, inner, first)
                for t, inner in zip(target.elts, parts, strict=True)
            ]
        return target

    # --- backwards ---------------------------------------------------------------------------

    def _backwards(self, s: gast.For) -> list[gast.stmt]:
        """`for i, x in reversed(list(enumerate(xs)))` by position."""
        before: list[gast.stmt] = []
        over = self._named(s.iter.args[0].args[0], flow.writes([s]), before, s)
        position = self.fresh.new("t", "k")
        element = gast.Assign([s.target], self._element(over, name(position)), None)
        s.body.insert(0, gast.copy_location(element, s))
        s.target = store(position)
        s.iter = call("reversed", call("range", self._length(over)))
        return before

    def _named(self, node: gast.expr, written: set[str], before: list[gast.stmt], s: gast.For) -> gast.expr:
        """The iterator with a name, which the loop does not assign, for all that it goes over."""
        if self._function(node) in ("builtins.zip", "builtins.enumerate", "builtins.reversed"):
            count = 1 if self._function(node) == "builtins.enumerate" else len(node.args)
            node.args[:count] = [self._named(a, written, before, s) for a in node.args[:count]]
            return node
        if isinstance(node, gast.Name) and node.id not in written:
            return node
        kept = self.fresh.new("t", "items")
        before.append(gast.copy_location(assign(kept, node), s))
        return name(kept)

    def _length(self, over: gast.expr) -> gast.expr:
        if isinstance(over, gast.Name):
            return call("len", copy.deepcopy(over))
        lengths = [
            self._length(a) for a in (over.args if self._function(over) == "builtins.zip" else over.args[:1])
        ]
        return lengths[0] if len(lengths) == 1 else call("min", *lengths)

    def _element(self, over: gast.expr, position: gast.expr) -> gast.expr:
        function = self._function(over)
        if function == "builtins.zip":
            return gast.Tuple([self._element(a, copy.deepcopy(position)) for a in over.args], gast.Load())
        if function == "builtins.enumerate":
            start = over.args[1] if len(over.args) > 1 else over.keywords[0].value if over.keywords else None
            number: gast.expr = copy.deepcopy(position)
            if start is not None:
                number = gast.BinOp(number, gast.Add(), start)
            return gast.Tuple([number, self._element(over.args[0], position)], gast.Load())
        if function == "builtins.reversed":
            last = gast.BinOp(self._length(over.args[0]), gast.Sub(), constant(1))
            return self._element(over.args[0], gast.BinOp(last, gast.Sub(), position))
        return gast.Subscript(copy.deepcopy(over), position, gast.Load())
