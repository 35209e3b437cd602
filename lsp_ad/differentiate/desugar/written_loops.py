"""The loops that stand for comprehensions, and for sums and extremes of lists."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.simplify.algebra import assign, constant, name, store
from lsp_ad.source.trees import copied

SUM = "builtins.sum"


class Loops:
    """Writes such loops; `varied` are the names that may carry a derivative, `taken` those that are in use,
    `shown` what the user calls those that were renamed."""

    def __init__(self, scope: Scope, varied: set[str], fresh: Fresh, taken: set[str]):
        self.scope = scope
        self.varied = varied
        self.fresh = fresh
        self.taken = taken
        self.shown: dict[str, str] = {}

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        raise NotImplementedError

    def expression(self, node: gast.expr, s: gast.stmt, before: list[gast.stmt]) -> gast.expr:
        raise NotImplementedError

    def collect(
        self, node: gast.expr, s: gast.stmt, before: list[gast.stmt], target: str | None = None
    ) -> gast.expr:
        """A comprehension as a loop that fills a list or a dict."""
        target = target or self.fresh.new("t", "items")
        if isinstance(node, gast.DictComp):
            empty: gast.expr = gast.Dict([], [])
            place = gast.Subscript(name(target), node.key, gast.Store())
            step: gast.stmt = gast.Assign([place], node.value, None)
        else:
            empty = gast.List([], gast.Load())
            step = gast.Expr(gast.Call(gast.Attribute(name(target), "append", gast.Load()), [node.elt], []))
        before.append(assign(target, empty))
        before += self.loop(node, step, s)
        self.varied.add(target)
        return name(target)

    def loop(self, node: gast.expr, step: gast.stmt, s: gast.stmt) -> list[gast.stmt]:
        """The loops of a comprehension around one step; its variables are its own."""
        inner: list[gast.stmt] = [step]
        for g in reversed(node.generators):
            for test in reversed(g.ifs):
                inner = [gast.If(test, inner, [])]
            inner = [gast.For(g.target, g.iter, inner, [], None)]
        first = inner[0].iter  # evaluated outside of the comprehension
        inner[0].iter = constant(None)
        own = {n: self.own_name(n) for g in node.generators for n in sorted(flow.stored(g.target))}
        _rename(inner[0], own)
        inner[0].iter = first
        self.varied |= set(own.values())
        for x in flow.statements(inner):
            gast.copy_location(x, s)
        return self.block(inner)

    def own_name(self, wanted: str) -> str:
        """A name for a variable of a comprehension that nothing else in the function has."""
        chosen, number = wanted, 2
        while chosen in self.taken:
            chosen, number = f"{wanted}{number}", number + 1
        self.taken.add(chosen)
        self.fresh.used.add(chosen)
        if chosen != wanted:
            self.shown[chosen] = wanted
        return chosen

    def set_apart(self, node: gast.expr) -> None:
        """Give the variables of a comprehension that stays other names than the function's own."""
        clash = {n for g in node.generators for n in flow.stored(g.target) if n in self.taken}
        if clash:
            first = node.generators[0].iter
            node.generators[0].iter = constant(None)
            _rename(node, {n: self.own_name(n) for n in sorted(clash)})
            node.generators[0].iter = first

    def reduce(self, function: str, node: gast.Call, s: gast.stmt, before: list[gast.stmt]) -> gast.expr:
        """`sum`, `max` or `min` of a list, an array or a generator as a loop."""
        over = node.args[0]
        total = self.fresh.new("t", "total" if function == SUM else function[-3:])
        if function == SUM:
            start = self.expression(node.args[1], s, before) if len(node.args) > 1 else constant(0)
            before.append(assign(total, start))

            def step(item: gast.expr) -> gast.stmt:
                return assign(total, gast.BinOp(name(total), gast.Add(), item))

            if isinstance(over, (gast.GeneratorExp, gast.ListComp)):
                before += self.loop(over, step(over.elt), s)
                self.varied.add(total)
                return name(total)
        else:
            if isinstance(over, gast.GeneratorExp):
                over = self.collect(over, s, before)

            def step(item: gast.expr) -> gast.stmt:
                return assign(total, gast.Call(copied(node.func), [name(total), item], []))

        over = self.expression(over, s, before)
        if not isinstance(over, gast.Name):
            kept = self.fresh.new("t", "items")
            before.append(assign(kept, over))
            self.varied.add(kept)
            over = name(kept)
        if function != SUM:
            before.append(assign(total, gast.Subscript(copied(over), constant(0), gast.Load())))
        item = self.own_name("item")
        before.append(gast.For(store(item), over, [gast.copy_location(step(name(item)), s)], [], None))
        self.varied |= {item, total}
        return name(total)


def _rename(node: gast.AST, names: dict[str, str]) -> None:
    for n in flow.walk(node):
        if isinstance(n, gast.Name):
            n.id = names.get(n.id, n.id)
