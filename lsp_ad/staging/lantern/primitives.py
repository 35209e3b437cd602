"""What each primitive computes, in NumPy: the meaning of the language, and the oracle of the compiler.

Operands are NumPy scalars and arrays, tuples and `Stack`s; parameters are those of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lsp_ad.staging.lantern.dtypes import INTEGERS, inexact, promote
from lsp_ad.staging.lantern.elementwise import ELEMENTWISE, INEXACT

Value = Any


class Stack:
    """A list as a value: its first `length` items. Versions share their items as long as none forks."""

    def __init__(self, items: list[Value], length: int) -> None:
        self.items, self.length = items, length

    def append(self, item: Value) -> Stack:
        items = self.items if len(self.items) == self.length else self.items[: self.length]
        items.append(item)
        return Stack(items, self.length + 1)

    def pop(self) -> tuple[Stack, Value]:
        if not self.length:
            raise IndexError("pop from empty list")
        return Stack(self.items, self.length - 1), self.items[self.length - 1]

    def position(self, index: int) -> int:
        if not -self.length <= index < self.length:
            raise IndexError("list index out of range")
        return int(index) % self.length

    def get(self, index: int) -> Value:
        return self.items[self.position(index)]

    def set(self, index: int, item: Value) -> Stack:
        items = self.items[: self.length]
        items[self.position(index)] = item
        return Stack(items, self.length)

    def stacked(self) -> np.ndarray:
        return np.stack(self.items[: self.length])


def plain(value: Value) -> Value:
    """An array of rank 0 as a scalar."""
    return value[()] if isinstance(value, np.ndarray) and not value.ndim else value


def cast(value: Value, dtype: str) -> Value:
    if dtype in INTEGERS and value.dtype.kind == "f":
        limit = 2.0 ** (31 if dtype == "int32" else 63)
        whole = np.trunc(value)
        if not np.all((whole >= -limit) & (whole < limit)):
            raise ValueError(f"not all values fit {dtype}")
    return value.astype(dtype)


def _in(dtype: Callable[[str], str], function: Callable) -> Callable:
    """A function that first brings its operands to a dtype, which depends on what they are together."""

    def applied(*args: Value) -> Value:
        common = dtype(promote(*[a.dtype.name for a in args]))
        return plain(function(*[a.astype(common) for a in args]))

    return applied


def _same_dtype(function: Callable) -> Callable:
    return lambda a: function(a).astype(a.dtype)


def _no_zero(function: Callable) -> Callable:
    def divided(a: Value, b: Value) -> Value:
        if b.dtype.kind == "i" and not np.all(b):
            raise ZeroDivisionError("integer division or modulo by zero")
        return function(a, b)

    return divided


def _power(a: Value, b: Value) -> Value:
    if b.dtype.kind == "i" and np.any(b < 0):
        raise ValueError("Integers to negative integer powers are not allowed.")
    return np.power(a, b)


_NUMPY: dict[str, Any] = {
    "neg": np.negative,
    "not": np.logical_not,
    "floor": _same_dtype(np.floor),
    "ceil": _same_dtype(np.ceil),
    "trunc": _same_dtype(np.trunc),
    "rint": _same_dtype(np.rint),
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": _no_zero(np.floor_divide),
    "%": _no_zero(np.remainder),
    "**": _power,
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
    "bit-and": np.bitwise_and,
    "bit-or": np.bitwise_or,
    "bit-xor": np.bitwise_xor,
    "<<": np.left_shift,
    ">>": np.right_shift,
}


def _elementwise_table() -> dict[str, Callable]:
    table: dict[str, Callable] = {}
    for name in ELEMENTWISE - {"select", "cast"}:
        function: Any = _NUMPY.get(name) or getattr(np, name)
        table[name] = _in(inexact if name in INEXACT else str, function)
    return table


def _select(test: Value, a: Value, b: Value) -> Value:
    dtype = promote(a.dtype.name, b.dtype.name)
    return plain(np.where(test, a.astype(dtype), b.astype(dtype)))


def _reduction(function: Callable) -> Callable:
    def reduced(value: Value, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Value:
        return plain(np.asarray(function(value, axis=axis, keepdims=keepdims)))

    return reduced


def _total(function: Callable) -> Callable:
    """A sum or product: of bools and narrow integers it is int64."""
    return lambda value, **how: function(value, dtype="int64" if value.dtype.kind in "bi" else None, **how)


def _sizes(sizes: Sequence[Value]) -> tuple[int, ...]:
    return tuple(map(int, sizes))


def _unbroadcast(value: Value, *sizes: Value) -> Value:
    """The array in these sizes: summed over axes where they are 1, repeated along axes where its own are."""
    axes = tuple(k for k, (own, size) in enumerate(zip(value.shape, sizes, strict=True)) if own != size == 1)
    return np.broadcast_to(value.sum(axes, keepdims=True) if axes else value, _sizes(sizes))


def _matmul(a: Value, b: Value) -> Value:
    return plain(np.asarray(np.matmul(a, b)))


def _stack(*values: Value, axis: int = 0) -> Value:
    return np.stack(values, axis).astype(promote(*[v.dtype.name for v in values]))


def _concatenate(*values: Value, axis: int = 0) -> Value:
    return np.concatenate(values, axis).astype(promote(*[v.dtype.name for v in values]))


def _arange(start: Value, stop: Value, step: Value) -> Value:
    return np.arange(start, stop, step, dtype=promote(start.dtype.name, stop.dtype.name, step.dtype.name))


def _real(function: Callable) -> Callable:
    """A function of LAPACK, which wants floats."""
    return lambda *values: plain(np.asarray(function(*[v.astype(inexact(v.dtype.name)) for v in values])))


PRIMITIVES: dict[str, Callable[..., Value]] = {
    **_elementwise_table(),
    "select": _select,
    "cast": lambda value, dtype="float64": cast(value, dtype),
    "sum": _reduction(_total(np.sum)),
    "prod": _reduction(_total(np.prod)),
    **{
        name: _reduction(getattr(np, name))
        for name in ("mean", "max", "min", "any", "all", "argmax", "argmin")
    },
    "cumsum": _total(np.cumsum),
    "cumprod": _total(np.cumprod),
    "sort": lambda value, axis: np.sort(value, axis, kind="stable"),
    "argsort": lambda value, axis: np.argsort(value, axis, kind="stable"),
    "matmul": _matmul,
    "solve": _real(lambda a, b: np.linalg.solve(a, b)),
    "inv": _real(np.linalg.inv),
    "det": _real(np.linalg.det),
    "cholesky": _real(np.linalg.cholesky),
    "size": lambda value, axis: np.int64(value.shape[axis]),
    "reshape": lambda value, *sizes: plain(np.reshape(value, _sizes(sizes))),
    "broadcast-to": lambda value, *sizes: plain(np.broadcast_to(value, _sizes(sizes))),
    "unbroadcast": _unbroadcast,
    "transpose": lambda value, axes=None: np.transpose(value, axes),
    "concatenate": _concatenate,
    "stack": _stack,
    "zeros": lambda *sizes, dtype="float64": np.zeros(_sizes(sizes), dtype),
    "full": lambda value, *sizes: np.full(_sizes(sizes), value, value.dtype),
    "arange": _arange,
    "nonzero": lambda value: np.flatnonzero(value),
    "tuple": lambda *values: values,
    "list-new": lambda item: Stack([], 0),
    "list-append": Stack.append,
    "list-pop": Stack.pop,
    "list-get": Stack.get,
    "list-set": Stack.set,
    "list-len": lambda value: np.int64(value.length),
    "list-stack": Stack.stacked,
}
