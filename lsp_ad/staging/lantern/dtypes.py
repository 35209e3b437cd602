"""Dtypes, ranks and parameters: what the type rules of all operations share."""

from __future__ import annotations

from lsp_ad.staging.lantern.ir import Array, Parameter, Scalar, Type

Params = dict[str, Parameter]


class Mismatch(Exception):
    """Operands have types that the operation does not take."""


ORDER = {"bool": 0, "int32": 1, "int64": 2, "float32": 3, "float64": 4, "complex128": 5}
INTEGERS = ("int32", "int64")
FLOATS = ("float32", "float64")


def promote(*dtypes: str) -> str:
    """The dtype in which NumPy computes with values of these dtypes."""
    top = max(dtypes, key=lambda d: ORDER[d])
    if top == "float32" and any(d in INTEGERS for d in dtypes):
        return "float64"
    return top


def inexact(dtype: str) -> str:
    return dtype if dtype in (*FLOATS, "complex128") else "float64"


def dtype_of(t: Type) -> str:
    if isinstance(t, Scalar | Array):
        return t.dtype
    raise Mismatch("a number or an array is needed")


def rank_of(t: Type) -> int:
    return t.rank if isinstance(t, Array) else 0


def array(t: Type) -> Array:
    if not isinstance(t, Array):
        raise Mismatch("an array is needed")
    return t


def is_index(t: Type) -> bool:
    return isinstance(t, Scalar) and t.dtype in INTEGERS


def sizes(types: list[Type]) -> int:
    """How many sizes there are, each an integer."""
    if not all(is_index(t) for t in types):
        raise Mismatch("sizes are integers")
    return len(types)


def axis_of(params: Params, rank: int, key: str = "axis") -> int:
    axis = params.get(key)
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise Mismatch(f":{key} is an integer")
    if not -rank <= axis < rank:
        raise Mismatch(f":{key} {axis} is not an axis of a value of rank {rank}")
    return axis % rank


def axes_of(params: Params, rank: int) -> tuple[int, ...]:
    """The axes that a reduction goes over: all without `:axis`."""
    axis = params.get("axis")
    if axis is None:
        return tuple(range(rank))
    if isinstance(axis, tuple):
        axes = tuple(axis_of({"axis": a}, rank) for a in axis)
        if len(set(axes)) < len(axes):
            raise Mismatch("an axis is named twice")
        return axes
    return (axis_of(params, rank),)


def dtype_param(params: Params) -> str:
    dtype = params.get("dtype", "float64")
    if dtype not in ORDER:
        raise Mismatch(f":dtype {dtype} is not a dtype")
    return str(dtype)
