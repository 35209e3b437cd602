"""Type rules of the operations on whole arrays: reductions, linear algebra, shapes, making arrays."""

from __future__ import annotations

from lsp_ad.staging.lantern.dtypes import (
    Mismatch,
    Params,
    array,
    axes_of,
    axis_of,
    dtype_of,
    dtype_param,
    inexact,
    promote,
    rank_of,
    sizes,
)
from lsp_ad.staging.lantern.ir import INT64, Array, Scalar, Type, ranked


def reduced(t: Type, params: Params, dtype: str) -> Type:
    rank = array(t).rank
    axes = axes_of(params, rank)
    return ranked(dtype, rank if params.get("keepdims") else rank - len(axes))


def total(types: list[Type], params: Params) -> Type:
    """Of a sum: NumPy adds bools and narrow integers as int64."""
    dtype = dtype_of(types[0])
    return reduced(types[0], params, "int64" if dtype in ("bool", "int32") else dtype)


def mean(types: list[Type], params: Params) -> Type:
    return reduced(types[0], params, inexact(dtype_of(types[0])))


def extreme(types: list[Type], params: Params) -> Type:
    if dtype_of(types[0]) == "complex128":
        raise Mismatch("complex numbers have no order")
    return reduced(types[0], params, dtype_of(types[0]))


def quantifier(types: list[Type], params: Params) -> Type:
    if dtype_of(types[0]) != "bool":
        raise Mismatch("the operand is an array of bools")
    return reduced(types[0], params, "bool")


def position(types: list[Type], params: Params) -> Type:
    if dtype_of(types[0]) == "complex128":
        raise Mismatch("complex numbers have no order")
    if isinstance(params.get("axis"), tuple):
        raise Mismatch(":axis is one axis")
    return reduced(types[0], params, "int64")


def cumulative(types: list[Type], params: Params) -> Type:
    rank = array(types[0]).rank
    axis_of(params, rank)
    dtype = dtype_of(types[0])
    return Array("int64" if dtype in ("bool", "int32") else dtype, rank)


def sorted_(types: list[Type], params: Params) -> Type:
    axis_of(params, array(types[0]).rank)
    if dtype_of(types[0]) == "complex128":
        raise Mismatch("complex numbers have no order")
    return types[0]


def argsort(types: list[Type], params: Params) -> Type:
    return Array("int64", array(sorted_(types, params)).rank)


def matmul(types: list[Type], _: Params) -> Type:
    a, b = array(types[0]), array(types[1])
    dtype = promote(a.dtype, b.dtype)
    if dtype == "bool":
        raise Mismatch("arithmetic needs numbers: cast the bool")
    if a.rank > 2 or b.rank > 2:
        return ranked(dtype, max(a.rank, b.rank) - (a.rank == 1) - (b.rank == 1))
    return ranked(dtype, a.rank + b.rank - 2)


def square_matrix(types: list[Type]) -> Array:
    a = array(types[0])
    if a.rank != 2 or a.dtype == "complex128":
        raise Mismatch("a real matrix is needed")
    return Array(inexact(a.dtype), 2)


def solve(types: list[Type], _: Params) -> Type:
    a, b = square_matrix(types), array(types[1])
    if b.rank > 2 or b.dtype == "complex128":
        raise Mismatch("the right side is a real vector or matrix")
    return Array(promote(a.dtype, inexact(b.dtype)), b.rank)


def size(types: list[Type], params: Params) -> Type:
    axis_of(params, array(types[0]).rank)
    return INT64


def reshape(types: list[Type], _: Params) -> Type:
    return ranked(dtype_of(types[0]), sizes(types[1:]))


def broadcast(types: list[Type], _: Params) -> Type:
    rank = sizes(types[1:])
    if rank < rank_of(types[0]):
        raise Mismatch("broadcasting does not take axes away")
    return ranked(dtype_of(types[0]), rank)


def unbroadcast(types: list[Type], _: Params) -> Type:
    a = array(types[0])
    if sizes(types[1:]) != a.rank:
        raise Mismatch("there is a size for each axis")
    if a.dtype in ("bool", "int32"):
        raise Mismatch("sums of bool and int32 are int64: cast the array")
    return a


def transpose(types: list[Type], params: Params) -> Type:
    rank = array(types[0]).rank
    axes = params.get("axes")
    if axes is not None and (not isinstance(axes, tuple) or sorted(axes) != list(range(rank))):
        raise Mismatch(f":axes is an order of the axes 0 to {rank - 1}")
    return types[0]


def concatenate(types: list[Type], params: Params) -> Type:
    rank = array(types[0]).rank
    if any(array(t).rank != rank for t in types):
        raise Mismatch("all arrays have one rank")
    axis_of(params, rank)
    return Array(promote(*[dtype_of(t) for t in types]), rank)


def stack(types: list[Type], params: Params) -> Type:
    rank = rank_of(types[0])
    if any(rank_of(t) != rank for t in types):
        raise Mismatch("all values have one rank")
    axis_of(params, rank + 1)
    return Array(promote(*[dtype_of(t) for t in types]), rank + 1)


def zeros(types: list[Type], params: Params) -> Type:
    return ranked(dtype_param(params), sizes(types))


def full(types: list[Type], _: Params) -> Type:
    if not isinstance(types[0], Scalar):
        raise Mismatch("the value is a scalar")
    return ranked(types[0].dtype, sizes(types[1:]))


def arange(types: list[Type], _: Params) -> Type:
    dtype = promote(*[dtype_of(t) for t in types])
    if any(rank_of(t) for t in types) or dtype in ("bool", "complex128"):
        raise Mismatch("operands are real scalars")
    return Array(dtype, 1)


def nonzero(types: list[Type], _: Params) -> Type:
    if types[0] != Array("bool", 1):
        raise Mismatch("the operand is a vector of bools")
    return Array("int64", 1)
