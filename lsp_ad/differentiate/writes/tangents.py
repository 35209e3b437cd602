"""Writes into arrays in forward mode: the same write into the tangent of the array.

    a[s] = e        da[s] = de
    a[s] += e       da[s] += de
    a[s] *= e       da[s] = da[s] * e + a[s] * de
    a[s] /= e       da[s] = (da[s] - a[s] / e * de) / e

The last two stand before the write: what they read, `e` too, may be parts of `a`.
"""

from __future__ import annotations

import gast

from lsp_ad.differentiate.forward.tangents import Present, Tangents
from lsp_ad.differentiate.fresh import adjoint_name
from lsp_ad.semantics.memory import root, stored_value, written
from lsp_ad.simplify.algebra import constant
from lsp_ad.source.trees import copied


def beside(s: gast.stmt, array: str, tangents: Tangents, present: Present) -> list[gast.stmt]:
    """A write into an array that has a tangent, with the writes into the tangent."""
    target = written(s)
    assert target is not None
    value = stored_value(s)
    moved = tangents.operand(value, present, s) if tangents.moves(value, present) else None
    part = tangents.values.operand(gast.Subscript(target.value, target.slice, gast.Load()), s)
    shadow = copied(part)
    base = root(shadow)
    assert base is not None
    base.id = adjoint_name(array)
    if isinstance(s, gast.Assign):
        return [s, gast.Assign([_stored(shadow)], moved if moved is not None else constant(0.0), None)]
    if isinstance(s, gast.Expr):
        call = gast.Call(copied(s.value.func), [shadow.value, shadow.slice, moved], [])
        return [s] if moved is None else [s, gast.Expr(call)]
    if isinstance(s.op, (gast.Add, gast.Sub)):
        return [s] if moved is None else [s, gast.AugAssign(_stored(shadow), s.op, moved)]
    factor = tangents.values.operand(value, s)
    if moved is None:
        return [gast.AugAssign(_stored(shadow), s.op, factor), s]
    if isinstance(s.op, gast.Mult):
        scaled = gast.BinOp(copied(shadow), gast.Mult(), factor)
        total = gast.BinOp(scaled, gast.Add(), gast.BinOp(part, gast.Mult(), moved))
    else:
        quotient = gast.BinOp(part, gast.Div(), factor)
        change = gast.BinOp(copied(shadow), gast.Sub(), gast.BinOp(quotient, gast.Mult(), moved))
        total = gast.BinOp(change, gast.Div(), copied(factor))
    return [gast.Assign([_stored(shadow)], total, None), s]


def _stored(part: gast.Subscript) -> gast.Subscript:
    part.ctx = gast.Store()
    return part
