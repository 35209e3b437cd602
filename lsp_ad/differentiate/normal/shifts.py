"""Extremes that only shift what is exponentiated, so that the result does not depend on them.

Before an exponential one subtracts the largest value, so that nothing gets too large:
`m + log(sum(exp(x - m)))`, `exp(x - m) / sum(exp(x - m))`. Mathematically m cancels, whatever it is, and no
derivative flows through it. This is told from how each value depends on m: as `f + a * m` or as
`f * exp(a * m)`, with an f that does not.
"""

from __future__ import annotations

from typing import NamedTuple

import gast

from lsp_ad.rules import Unsupported, literal
from lsp_ad.rules.resolve import Operation, Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.semantics.shapes import UNKNOWN
from lsp_ad.source.trees import children

_EXTREMES = ("numpy.max", "numpy.min", "numpy.amax", "numpy.amin")


Array = tuple[str, int]  # a name, and how often it has been bound before


class Shifted(NamedTuple):
    """How a value depends on an extreme m: `f + weight * m`, or `f * exp(weight * m)` if it is exponential.

    `like`: the array of which m is the extreme, if the value has its shape; `small`: it has the shape of m.
    """

    extreme: int
    weight: float
    exponential: bool = False
    like: Array | None = None
    small: bool = True

    def times(self, factor: float) -> Shifted | None:
        return self._replace(weight=self.weight * factor) if self.weight * factor else None


class Over(NamedTuple):
    """The call of an extreme, what it is taken of, if that has a name, and the axis, a constant that is kept;
    None: of all elements."""

    node: gast.expr
    array: Array | None
    axis: object


def cancelled(
    body: list[gast.stmt], scope: Scope, kinds: Kinds, parameters: list[str]
) -> dict[int, gast.expr]:
    """The calls of extremes, by their ids, on whose values nothing depends that carries a derivative."""
    if not any(_may_be_extreme(n) for s in body for n in flow.walk(s)):
        return {}
    shifts = _Shifts(scope, kinds, body, parameters)
    shifts.block(body)
    return {key: over.node for key, over in shifts.extremes.items() if key not in shifts.needed}


def _may_be_extreme(node: gast.AST) -> bool:
    return isinstance(node, gast.Call) and getattr(node.func, "attr", "") in ("max", "min", "amax", "amin")


class _Shifts:
    """One way through a body. `needed`: the extremes that something depends on otherwise. `left`: what a
    block that has ended leaves in its names. `bound`: how often each name has been bound, at most."""

    def __init__(self, scope: Scope, kinds: Kinds, body: list[gast.stmt], parameters: list[str]):
        self.scope = scope
        self.kinds = kinds
        self.extremes: dict[int, Over] = {}
        self.needed: set[int] = set()
        self.values: dict[str, Shifted] = {}
        self.bound: dict[str, int] = {}
        self.left: dict[str, Shifted] = {}
        self.read: set[str] = set()
        counts = dict.fromkeys(parameters, 1)
        for s in flow.statements(body):
            for n in flow.header_writes(s):
                counts[n] = counts.get(n, 0) + 1
        self.rebound = {n for n, count in counts.items() if count > 1}

    def block(self, body: list[gast.stmt]) -> None:
        for s in body:
            if isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name):
                self.assign(s.targets[0].id, self.of(s.value))
                self.bind({s.targets[0].id})
                continue
            for part in flow.header(s):
                self.need(self.of(part))
            self.bind(flow.writes([s]))
            for inner in flow.blocks(s):
                before = dict(self.values)
                self.block(inner)
                self.left.update({n: v for n, v in self.values.items() if n not in before})
                self.values = before
            self.bind(flow.writes([s]))

    def bind(self, names: set[str]) -> None:
        for n in names:
            self.bound[n] = self.bound.get(n, 0) + 1

    def array(self, node: gast.expr | None) -> Array | None:
        """The present value of a name."""
        return (node.id, self.bound.get(node.id, 0)) if isinstance(node, gast.Name) else None

    def assign(self, name: str, value: Shifted | None) -> None:
        if value is None:
            return
        if name in self.read or name in self.rebound:
            self.need(value)
        else:
            self.values[name] = value

    def need(self, *values: Shifted | None) -> None:
        self.needed |= {v.extreme for v in values if v is not None}

    # --- expressions -------------------------------------------------------------------------

    def of(self, node: gast.AST) -> Shifted | None:
        """How the value of an expression depends on an extreme; None where it does not, or is given up."""
        if isinstance(node, gast.Compare):
            return None
        if isinstance(node, gast.Name):
            self.read.add(node.id)
            self.need(self.left.get(node.id))
            return self.values.get(node.id)
        if isinstance(node, gast.Call) and (operation := self.scope.operation(node)) is not None:
            return self.call(node, operation)
        if isinstance(node, gast.BinOp):
            return self.operation(node, self.of(node.left), self.of(node.right))
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            value = self.of(node.operand)
            return value if value is None or value.exponential else value.times(-1.0)
        self.need(*[self.of(child) for child in children(node)])
        return None

    def operation(self, node: gast.BinOp, a: Shifted | None, b: Shifted | None) -> Shifted | None:
        if a is None and b is None:
            return None
        weight = _weight(node, a, b)
        if weight is None:
            self.need(a, b)
            return None
        return self._shaped(node, a, b, weight) if weight else None

    def _shaped(self, node: gast.BinOp, a: Shifted | None, b: Shifted | None, weight: float) -> Shifted:
        value = a or b
        assert value is not None
        like = {v.like for v in (a, b) if v is not None and v.like is not None}
        plain = True
        for operand, v in ((node.left, a), (node.right, b)):
            if v is not None:
                plain = plain and (v.small or v.like is not None)
            elif (array := self.array(operand)) and array == self.extremes[value.extreme].array:
                like.add(array)
            else:
                plain = plain and self.kinds.of(operand).shape == ()
        if not plain:
            return value._replace(weight=weight, like=None, small=False)
        return value._replace(weight=weight, like=next(iter(like), None), small=not like)

    def call(self, node: gast.Call, operation: Operation) -> Shifted | None:
        name = operation.rule.name
        parts = [*operation.args, *(k.value for k in operation.keywords)]
        values = [self.of(part) for part in parts]
        given = [v for v in values if v is not None]
        if operation.rule.is_zero:
            return None
        if not given:
            return self._extreme(node, operation) if name in _EXTREMES else None
        value = given[0]
        if len(given) == 1 and given[0] is values[0]:
            if name in ("numpy.exp", "math.exp") and not value.exponential:
                return value._replace(exponential=True)
            if name in ("numpy.log", "math.log") and value.exponential and len(parts) == 1:
                return value._replace(exponential=False)
            if name in ("numpy.sum", "numpy.mean") and value.exponential and self._keeps(operation, value):
                return value._replace(like=None, small=self.extremes[value.extreme].axis is not None)
        self.need(*given)
        return None

    def _extreme(self, node: gast.Call, operation: Operation) -> Shifted | None:
        axis = _kept_axis(operation)
        if axis is False:
            return None
        array = self.array(operation.args[0] if operation.args else None)
        self.extremes[id(node)] = Over(node, array, axis)
        return Shifted(id(node), 1.0)

    def _keeps(self, operation: Operation, value: Shifted) -> bool:
        """Whether m is one number for all that a sum takes together, and its axes stay where they are."""
        over = self.extremes[value.extreme]
        if over.axis is None:
            return True
        return value.like is not None and value.like == over.array and _kept_axis(operation) == over.axis


def _kept_axis(operation: Operation) -> object:
    """The axis of a reduction that is kept, None where it gives one number; False for any other reduction."""
    try:
        bound = operation.bind(lambda n: UNKNOWN)
    except Unsupported:
        return False
    axis, keeps = bound.constant("axis"), bound.constant("keepdims")
    if axis is None and keeps is False:
        return None
    return axis if isinstance(axis, int) and not isinstance(axis, bool) and keeps is True else False


def _weight(node: gast.BinOp, a: Shifted | None, b: Shifted | None) -> float | None:
    """The weight of the extreme in a sum, difference, product or quotient; None where the value has none."""
    given = [v for v in (a, b) if v is not None]
    if len({(v.extreme, v.exponential) for v in given}) > 1:
        return None
    weights = (a.weight if a is not None else 0.0), (b.weight if b is not None else 0.0)
    if isinstance(node.op, (gast.Add, gast.Sub)):
        if given[0].exponential:
            return weights[0] if len(given) == 2 and weights[0] == weights[1] else None
        return weights[0] + weights[1] if isinstance(node.op, gast.Add) else weights[0] - weights[1]
    if isinstance(node.op, gast.Mult) and given[0].exponential:
        return weights[0] + weights[1]
    if isinstance(node.op, gast.Div) and given[0].exponential:
        return weights[0] - weights[1]
    factor = _number(node.right if a is not None else node.left)
    if len(given) == 2 or not factor or given[0].exponential:
        return None
    if isinstance(node.op, gast.Mult):
        return given[0].weight * factor
    return given[0].weight / factor if isinstance(node.op, gast.Div) and b is None else None


def _number(node: gast.expr) -> float | None:
    """The value of a literal number."""
    value = literal(node)
    return float(value) if type(value) in (int, float) else None  # type: ignore[arg-type]
