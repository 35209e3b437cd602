"""Primitives in terms of others, for the version of a program in which axes of size 1 are stretched."""

from __future__ import annotations

from dataclasses import replace

from lsp_ad.staging.lantern.compiler.renaming import Fresh
from lsp_ad.staging.lantern.ir import Binding, Expr, Function, If, Let, Op, Var, integer, mapped


def lowered(function: Function, fresh: Fresh) -> Function:
    """The function without `unbroadcast`; all names stay bound once."""
    return replace(function, body=_lowered(function.body, fresh))


def _lowered(expr: Expr, fresh: Fresh) -> Expr:
    expr = mapped(expr, lambda e: _lowered(e, fresh))
    if not (isinstance(expr, Op) and expr.name == "unbroadcast"):
        return expr
    # Axis by axis: as it is, summed, or (checked) repeated.
    bindings = [Binding(fresh("t"), e) for e in expr.args]
    value, *sizes = (Var(b.name) for b in bindings)
    for axis, size in enumerate(sizes):
        own = Op("size", (value,), (("axis", axis),))
        total = Op("sum", (value,), (("axis", axis), ("keepdims", True)))
        change = If(Op("==", (size, integer(1))), total, _repeated(value, axis, size, len(sizes)))
        bindings.append(Binding(fresh("t"), If(Op("==", (own, size)), value, change)))
        value = Var(bindings[-1].name)
    return Let(tuple(bindings), value)


def _repeated(value: Var, axis: int, size: Expr, rank: int) -> Expr:
    sizes = [size if k == axis else Op("size", (value,), (("axis", k),)) for k in range(rank)]
    return Op("broadcast-to", (value, *sizes))
