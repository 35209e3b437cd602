"""What each primitive is in generated code."""

from __future__ import annotations

from collections.abc import Callable

from lsp_ad.staging.lantern.compiler import indexing, lists, products, reductions, shaping
from lsp_ad.staging.lantern.compiler.elementwise import broadcast_to, elementwise
from lsp_ad.staging.lantern.compiler.operands import (
    ArrayLike,
    Computed,
    Group,
    Listed,
    Number,
    Operand,
    Stored,
)
from lsp_ad.staging.lantern.compiler.scalars import converted
from lsp_ad.staging.lantern.compiler.writer import Writer
from lsp_ad.staging.lantern.dtypes import Params, dtype_of
from lsp_ad.staging.lantern.elementwise import ELEMENTWISE
from lsp_ad.staging.lantern.ir import Array, Type
from lsp_ad.staging.lantern.operations import REDUCTIONS

Writing = Callable[[Writer, list[Operand], Params, Type], Operand]


def primitive(w: Writer, name: str, operands: list[Operand], params: Params, result: Type) -> Operand:
    """The value of a primitive; `result` is its type."""
    if name in ELEMENTWISE:
        return elementwise(w, name, operands, result)
    if name in REDUCTIONS:
        return reductions.reduction(w, name, array(operands[0]), params, dtype_of(result))
    return PRIMITIVES[name](w, operands, params, result)


def array(operand: Operand) -> ArrayLike:
    assert isinstance(operand, Stored | Computed)
    return operand


def number(operand: Operand) -> Number:
    assert isinstance(operand, Number)
    return operand


def listed(operand: Operand) -> Listed:
    assert isinstance(operand, Listed)
    return operand


def _sizes(w: Writer, operands: list[Operand]) -> list[str]:
    return [w.atom(converted(number(o), "int64").code, "n") for o in operands]


def _array_type(t: Type) -> Array:
    assert isinstance(t, Array)
    return t


def _size(w: Writer, operands: list[Operand], params: Params, result: Type) -> Operand:
    axis = params["axis"]
    assert isinstance(axis, int)
    return Number(array(operands[0]).dims[axis], "int64")


def _reshape(w: Writer, operands: list[Operand], params: Params, result: Type) -> Operand:
    return shaping.reshape(w, array(operands[0]), _sizes(w, operands[1:]))


def _broadcast(w: Writer, operands: list[Operand], params: Params, result: Type) -> Operand:
    sizes = _sizes(w, operands[1:])
    if isinstance(operands[0], Number):
        return shaping.full(w, operands[0], sizes)
    return broadcast_to(w, array(operands[0]), sizes)


def _unbroadcast(w: Writer, operands: list[Operand], params: Params, result: Type) -> Operand:
    """The operand itself: where axes have to be summed or repeated, `lowering.py` has written that."""
    source = array(operands[0])
    for own, size in zip(source.dims, _sizes(w, operands[1:]), strict=True):
        w.require_same(own, size, "check_equal")
    return source


def _cumulative(name: str) -> Writing:
    return lambda w, o, params, result: reductions.cumulative(w, name, array(o[0]), params, dtype_of(result))


def _sort(name: str) -> Writing:
    return lambda w, o, params, result: shaping.sort(w, name, array(o[0]), params, _array_type(result))


def _lapack(name: str) -> Writing:
    return lambda w, o, _, result: products.lapack(w, name, o, result)


PRIMITIVES: dict[str, Writing] = {
    "cumsum": _cumulative("cumsum"),
    "cumprod": _cumulative("cumprod"),
    "sort": _sort("sort"),
    "argsort": _sort("argsort"),
    "matmul": lambda w, o, _, result: products.matmul(w, o, result),
    "solve": _lapack("solve"),
    "inv": _lapack("inv"),
    "det": _lapack("det"),
    "cholesky": _lapack("cholesky"),
    "size": _size,
    "reshape": _reshape,
    "broadcast-to": _broadcast,
    "unbroadcast": _unbroadcast,
    "transpose": lambda w, o, params, _: shaping.transpose(w, array(o[0]), params),
    "concatenate": lambda w, o, params, t: shaping.concatenate(
        w, list(map(array, o)), params, _array_type(t)
    ),
    "stack": lambda w, o, params, t: shaping.stack(w, o, params, _array_type(t)),
    "zeros": lambda w, o, _, t: shaping.full(w, shaping.zero(dtype_of(t)), _sizes(w, o)),
    "full": lambda w, o, _, t: shaping.full(w, number(o[0]), _sizes(w, o[1:])),
    "arange": lambda w, o, _, t: shaping.arange(w, list(map(number, o)), _array_type(t)),
    "nonzero": lambda w, o, _, t: indexing.nonzero(w, array(o[0])),
    "tuple": lambda w, o, _, t: Group(tuple(o)),
    "list-new": lambda w, o, params, t: lists.new(w, t),
    "list-append": lambda w, o, _, t: lists.append(w, listed(o[0]), o[1]),
    "list-pop": lambda w, o, _, t: lists.pop(w, listed(o[0])),
    "list-get": lambda w, o, _, t: lists.get(w, listed(o[0]), number(o[1])),
    "list-set": lambda w, o, _, t: lists.set_item(w, listed(o[0]), number(o[1]), o[2]),
    "list-len": lambda w, o, _, t: Number(w.assign("n", f"len({listed(o[0]).code})"), "int64"),
    "list-stack": lambda w, o, _, t: shaping.list_stack(w, listed(o[0]).code, _array_type(t)),
}
