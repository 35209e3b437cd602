"""Assignment expressions as assignments before the statement.

Before: `if (y := x * x) > 1: ...`. After: `y = x * x`, then `if y > 1: ...`. What is evaluated only
sometimes (after `and` and `or`, in a conditional expression, in a chained comparison) is so afterwards too.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import gast

from lsp_ad.differentiate.desugar.structure import jumps
from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.problems import Refusal, problem
from lsp_ad.semantics import flow
from lsp_ad.simplify.algebra import assign, constant, name, negation
from lsp_ad.source.parse import span_of

# the field of a statement that it evaluates first
_EVALUATED = {
    gast.Assign: "value",
    gast.AugAssign: "value",
    gast.Return: "value",
    gast.Expr: "value",
    gast.If: "test",
    gast.While: "test",
    gast.Assert: "test",
    gast.For: "iter",
    gast.Raise: "exc",
}
_SCOPES = (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def expand(function: gast.FunctionDef, fresh: Fresh) -> None:
    """Rewrite the statements of a function in place.

    Raises Refusal (AD102) where the order of evaluation would change what a name stands for.
    """
    function.body = _block(function.body, fresh)


def _block(body: list[gast.stmt], fresh: Fresh) -> list[gast.stmt]:
    done: list[gast.stmt] = []
    for s in body:
        for block in flow.blocks(s):
            block[:] = _block(block, fresh)
        part = _EVALUATED.get(type(s))
        if part is not None and _has_walrus(getattr(s, part)):
            hoist = _Hoist(fresh, s)
            before: list[gast.stmt] = []
            value = hoist.expression(getattr(s, part), before)
            if isinstance(s, gast.While):
                leave = gast.If(negation(value), [gast.Break()], [])
                if leave.test is value.__dict__.get("operand"):
                    leave.stands_for = "not"
                else:
                    leave.stands_for = leave.test.stands_for = ""
                s.tests_inside = not jumps(s.body, gast.Break, gast.Return)
                value, s.body, before = constant(True), [*before, leave, *s.body], []
            setattr(s, part, value)
            done += before
        done.append(s)
    return done


def _has_walrus(node: gast.expr | None) -> bool:
    return node is not None and any(isinstance(n, gast.NamedExpr) for n in flow.walk(node))


@dataclass
class _Hoist:
    """Takes the assignments out of one expression.

    `read`: the names that what is left of it has read so far.
    """

    fresh: Fresh
    statement: gast.stmt
    read: set[str] = field(default_factory=set)

    def expression(self, node: gast.expr, before: list[gast.stmt]) -> gast.expr:
        """The expression without assignments, after `before`; parts are visited as they are evaluated."""
        if isinstance(node, gast.NamedExpr):
            return self._assignment(node, before)
        if not _has_walrus(node):
            self.read |= flow.reads(node)
            return node
        if isinstance(node, _SCOPES):
            raise Refusal(
                problem(
                    "AD102",
                    "An assignment expression inside a comprehension or lambda cannot be differentiated.",
                    span_of(node),
                    "Write a loop.",
                )
            )
        if isinstance(node, gast.BoolOp) and any(_has_walrus(v) for v in node.values[1:]):
            return self._lazy(node, before)
        if isinstance(node, gast.IfExp) and (_has_walrus(node.body) or _has_walrus(node.orelse)):
            return self._conditional(node, before)
        if isinstance(node, gast.Compare) and any(_has_walrus(c) for c in node.comparators[1:]):
            return self._chain(node, before)
        for part, value in gast.iter_fields(node):
            if isinstance(value, gast.expr):
                setattr(node, part, self.expression(value, before))
            elif isinstance(value, list):
                for position, item in enumerate(value):
                    if isinstance(item, gast.expr):
                        value[position] = self.expression(item, before)
                    elif isinstance(item, gast.keyword):
                        item.value = self.expression(item.value, before)
        return node

    def _assignment(self, node: gast.NamedExpr, before: list[gast.stmt]) -> gast.expr:
        target, outer = node.target.id, set(self.read)
        value = self.expression(node.value, before)
        if target in outer:
            raise Refusal(
                problem(
                    "AD102",
                    f"`{target}` is read before `:=` assigns it anew in the same statement.",
                    span_of(node),
                    "Assign it in a statement of its own.",
                )
            )
        before.append(self._set(target, value))
        self.read = outer | {target}
        return gast.copy_location(name(target), node.target)

    def _set(self, target: str, value: gast.expr) -> gast.stmt:
        return gast.copy_location(assign(target, value), self.statement)

    def _lazy(self, node: gast.BoolOp, before: list[gast.stmt]) -> gast.expr:
        """`a and (y := b)`: a under a name, and where that decides nothing, y and then b under that name."""
        taken, outer = self.fresh.new("t", "taken"), set(self.read)
        self._into(taken, node.values, node.op, before)
        self.read = outer
        return name(taken)

    def _into(self, taken: str, values: list[gast.expr], op: gast.boolop, before: list[gast.stmt]) -> None:
        outer = set(self.read)
        before.append(self._set(taken, self.expression(values[0], before)))
        self.read = outer
        if len(values) > 1:
            rest: list[gast.stmt] = []
            self._into(taken, values[1:], op, rest)
            test = name(taken) if isinstance(op, gast.And) else gast.UnaryOp(gast.Not(), name(taken))
            made = gast.copy_location(gast.If(test, rest, []), self.statement)
            made.stands_for = "and" if isinstance(op, gast.And) else "or"
            test.stands_for = ""
            before.append(made)

    def _conditional(self, node: gast.IfExp, before: list[gast.stmt]) -> gast.expr:
        chosen, outer = self.fresh.new("t"), set(self.read)
        test = self.expression(node.test, before)
        self.read = set(outer)
        branches: list[list[gast.stmt]] = [[], []]
        for branch, value in zip(branches, (node.body, node.orelse), strict=True):
            branch.append(self._set(chosen, self.expression(value, branch)))
            self.read = set(outer)
        made = gast.copy_location(gast.If(test, *branches), self.statement)
        made.stands_for = "conditional expression"
        before.append(made)
        return name(chosen)

    def _chain(self, node: gast.Compare, before: list[gast.stmt]) -> gast.expr:
        """`a < b < (y := c)` as `a < b and b < (y := c)`, with b under a name."""
        left = self.expression(node.left, before)
        parts: list[gast.expr] = []
        for position, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            if position == 0:
                right = self.expression(right, before)
                if not isinstance(right, (gast.Name, gast.Constant)):
                    kept = self.fresh.new("t")
                    before.append(self._set(kept, right))
                    right = name(kept)
            elif position < len(node.ops) - 1 and not isinstance(right, (gast.Name, gast.Constant)):
                right = gast.NamedExpr(gast.Name(self.fresh.new("t"), gast.Store(), None, None), right)
                gast.copy_location(right, node)
            parts.append(gast.Compare(left, [op], [right]))
            left = name(right.target.id) if isinstance(right, gast.NamedExpr) else copy.deepcopy(right)
        return self._lazy(gast.BoolOp(gast.And(), parts), before)
