"""The seed of the backward sweep: the check of its shape, and ones where none is given."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.reverse.values import ForwardValues
from lsp_ad.differentiate.unit import Unit
from lsp_ad.semantics import flow
from lsp_ad.simplify.algebra import assign, call, constant, name
from lsp_ad.source.trees import copied


def check(seed: str, like: gast.expr) -> gast.stmt:
    """The check of the seed's shape, as a statement that reads both; emit.py writes it out."""
    return gast.Expr(gast.Call(name("check_seed"), [name(seed), like], []))


def is_check(s: gast.stmt) -> bool:
    return (
        isinstance(s, gast.Expr)
        and isinstance(s.value, gast.Call)
        and isinstance(s.value.func, gast.Name)
        and s.value.func.id == "check_seed"
    )


def ones(seed: str, result: str, values: ForwardValues) -> gast.stmt:
    """The seed of a result, where none is given: ones."""
    missing = gast.Compare(name(seed), [gast.Is()], [constant(None)])
    return gast.If(missing, [assign(seed, call(values.helper("ones_of"), name(result)))], [])


def like_result(unit: Unit, values: ForwardValues, backward: list[gast.stmt], computed: bool) -> gast.expr:
    """A value with the shape of the result: unless the result is `computed` anyway, one from further back, so
    that `a @ b` will do where the result is `np.log(a @ b + 1.0)`."""
    like = values.like(name(unit.result), unit.tree.body[-1])
    if computed:
        return like
    last = unit.tree.body[-2] if len(unit.tree.body) > 1 else None
    if isinstance(last, gast.Assign) and isinstance(last.value, gast.Name) and _is(like, unit.result):
        like = name(last.value.id)  # which holds its last value yet, where the backward sweep begins
    needed = {n for s in backward for n in flow.reads(s)}
    made = {
        s.targets[0].id: s.value
        for s in unit.tree.body
        if isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name)
    }
    while isinstance(like, gast.Name) and like.id in made and like.id not in needed:
        if not values.stability.is_stable(like.id):
            break
        before = _of_same_shape(like, made[like.id], values)
        if before is None:
            break
        like = before
    return _plain_product(like, made, needed, values)


def _plain_product(
    like: gast.expr, made: dict[str, gast.expr], needed: set[str], values: ForwardValues
) -> gast.expr:
    """`x @ y` in place of a name for the product `z @ y`, where z is `0.5 * x`."""
    product = made.get(like.id) if isinstance(like, gast.Name) and like.id not in needed else None
    if not isinstance(product, gast.BinOp) or not isinstance(product.op, gast.MatMult):
        return like
    operands = [product.left, product.right]
    if not all(isinstance(o, gast.Name) and values.stability.is_stable(o.id) for o in operands):
        return like
    plain = [_of_same_shape(o, made[o.id], values) if o.id in made else None for o in operands]
    if not any(plain):
        return like
    left, right = (p or copied(o) for p, o in zip(plain, operands, strict=True))
    return gast.BinOp(left, gast.MatMult(), right)


def _is(node: gast.expr, identifier: str) -> bool:
    return isinstance(node, gast.Name) and node.id == identifier


def _of_same_shape(result: gast.Name, value: gast.expr, values: ForwardValues) -> gast.Name | None:
    """An operand of the value of a name that has its shape, and keeps its own value."""
    operands = [value]
    operation = values.scope.operation(value)
    if operation is not None:
        is_operator = isinstance(value, gast.BinOp) and not isinstance(value.op, gast.MatMult)
        operands = operation.args if is_operator or operation.rule.elementwise is not None else []
    shape = values.kinds.of(result).shape
    for operand in operands:
        if not isinstance(operand, gast.Name) or not values.stability.is_stable(operand.id):
            continue
        if operand is value or (shape is not None and values.kinds.of(operand).shape == shape):
            return name(operand.id)
    return None
