"""Undoing broadcasting: the adjoint of an argument has the argument's shape."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.reverse.values import ForwardValues
from lsp_ad.semantics.shapes import Kind
from lsp_ad.simplify.algebra import call, constant, expression


def was_broadcast(argument: Kind, others: list[Kind], out: Kind) -> bool:
    """Whether the argument of an elementwise operation may have been smaller than the result."""
    if all(o.shape == () for o in others):
        return False
    return argument.shape is None or argument.shape != out.shape


def is_known(argument: Kind, out: Kind) -> bool:
    """Whether the shapes tell over which axes to sum."""
    if argument.shape == ():
        return True
    if not isinstance(argument.shape, tuple) or not isinstance(out.shape, tuple):
        return False
    axes = _axes(argument.shape, out.shape)
    return axes is not None and not (axes[0] and axes[1])


def reduce_to(
    value: gast.expr, argument: gast.expr, out: Kind, s: gast.stmt, values: ForwardValues
) -> gast.expr:
    """The value, of the shape of the result `out`, summed down to the shape of the argument."""
    kind = values.kinds.of(argument)
    if kind.shape == ():
        # np.sum would make a double of a Python number
        if isinstance(out.shape, tuple):
            return _sum(value, values)
        return call(values.helper("sum_adjoint"), value)
    if isinstance(kind.shape, tuple) and isinstance(out.shape, tuple):
        axes = _axes(kind.shape, out.shape)
        if axes is not None:
            leading, ones = axes
            if not ones:
                return _sum(value, values, leading)
            if not leading:
                return _sum(value, values, ones, keepdims=True)
    return call(values.helper("unbroadcast"), value, values.like(argument, s))


def _axes(small: tuple, big: tuple) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The axes that were added in front, and those stretched from 1; None where it cannot be told."""
    added = len(big) - len(small)
    ones = []
    for position, (a, b) in enumerate(zip(small, big[added:], strict=True)):
        if a == b:
            continue
        if a != 1:
            return None
        ones.append(added + position)
    return tuple(range(added)), tuple(ones)


def _sum(
    value: gast.expr, values: ForwardValues, axes: tuple[int, ...] | None = None, keepdims: bool = False
) -> gast.expr:
    keywords = []
    if axes is not None:
        keywords.append(gast.keyword("axis", constant(axes[0]) if len(axes) == 1 else expression(repr(axes))))
    if keepdims:
        keywords.append(gast.keyword("keepdims", constant(True)))
    return gast.Call(gast.Attribute(values.module("numpy"), "sum", gast.Load()), [value], keywords)
