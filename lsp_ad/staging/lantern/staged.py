"""A staged value: a name of the program in the making, with operators, methods and attributes of an array."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dis import opmap
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.lantern.dtypes import FLOATS, INTEGERS
from lsp_ad.staging.lantern.ir import Array, Const, Scalar, Type, Var
from lsp_ad.staging.lantern.sharing import NOWHERE, Memory

if TYPE_CHECKING:
    from lsp_ad.staging.lantern.tracer import Frame, Tracer


class Staged:
    """A number or an array that has no value yet.

    `weak`: it was a Python number; `memory`: where it may lie (`sharing.py`).
    """

    __slots__ = ("__weakref__", "frame", "memory", "tracer", "type", "value", "weak")
    __array_priority__ = 1000
    __hash__ = object.__hash__

    def __init__(
        self, tracer: Tracer, value: Any, frame: Frame, type_: Type, weak: bool, memory: Memory = None
    ):
        self.tracer, self.value, self.frame, self.type, self.weak = tracer, value, frame, type_, weak
        self.memory = NOWHERE if isinstance(type_, Scalar) else memory

    # what it is

    @property
    def name(self) -> str:
        return self.value.name if isinstance(self.value, Var) else ""

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.type.dtype)  # type: ignore[union-attr]

    @property
    def ndim(self) -> int:
        found = self.type
        return found.rank if isinstance(found, Array) else 0

    @property
    def shape(self) -> tuple[Any, ...]:
        """Numbers of Python's."""
        return tuple(self.tracer.op("size", self, axis=axis, weak=True) for axis in range(self.ndim))

    @property
    def size(self) -> Any:
        total: Any = 1
        for one in self.shape:
            total = one * total
        return total

    @property
    def T(self) -> Staged:
        return self.tracer.op("transpose", self) if self.ndim > 1 else self

    @property
    def real(self) -> Any:
        return self._function("real")()

    @property
    def imag(self) -> Any:
        return self._function("imag")()

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            return self._function(name)
        raise AttributeError(f"a staged value of Lantern has no attribute {name!r}")

    def _function(self, name: str) -> Callable[..., Any]:
        from lsp_ad.staging.lantern.numpy_functions import function

        found = function(_METHODS.get(name, name))
        return lambda *args, **options: found(self, *args, **options)

    def item(self) -> Staged:
        return self if not self.ndim else self.reshape(())

    # what Python would have to know now

    def _no_value(self, what: str) -> Any:
        raise staging_error(f"{what} of a staged value is not known while the program is made.")

    def __bool__(self) -> bool:
        return self._no_value("The truth")

    def __int__(self) -> int:
        return self._no_value("The number")

    def __float__(self) -> float:
        return self._no_value("The number")

    def __index__(self) -> int:
        return self._no_value("The number")

    def __len__(self) -> int:
        return self._no_value("The length")

    def __format__(self, how: str) -> str:
        return self._no_value("The text")

    def __iter__(self) -> Any:
        """The items, where an assignment says how many it wants."""
        count = _unpacked(sys._getframe(1))
        if count is None or not self.ndim:
            from lsp_ad.staging.operators.iteration import staged

            return iter(staged(self))  # type: ignore[arg-type]
        self.tracer.builder.require(
            self.tracer.value(self.shape[0] == count), "ValueError", f"other than {count} values to unpack"
        )
        return iter([self[i] for i in range(count)])

    def __repr__(self) -> str:
        return f"<{self.value} of a Lantern program>"

    # elements

    def __getitem__(self, index: Any) -> Staged:
        from lsp_ad.staging.lantern.elements import get_item

        return get_item(self, index)

    # arithmetic with arrays of NumPy on the left

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from lsp_ad.staging.lantern.numpy_functions import function

        if method != "__call__" or options:
            return NotImplemented
        return function(ufunc.__name__)(*inputs)

    def __array_function__(self, called: Any, types: Any, args: Any, options: Any) -> Any:
        from lsp_ad.staging.lantern.numpy_functions import function

        prefix = "linalg." if "linalg" in (called.__module__ or "") else ""
        return function(prefix + called.__name__)(*args, **options)


def _unpacked(frame: FrameType) -> int | None:
    """To how many names the code that runs in a frame assigns a value; None where it does something else."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return code[at + 1] if code[at] == opmap["UNPACK_SEQUENCE"] else None


# methods of arrays and the functions of NumPy that they are
_SAME = """sum prod mean max min any all argmax argmin std var cumsum cumprod dot reshape transpose copy
    astype ravel squeeze clip round conj trace repeat take diagonal"""
_METHODS = {name: name for name in _SAME.split()} | {"flatten": "ravel", "conjugate": "conj"}

_BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "and": "bit-and",
    "or": "bit-or",
    "xor": "bit-xor",
    "lshift": "<<",
    "rshift": ">>",
}
_COMPARE = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


def binary(tracer: Tracer, name: str, left: Any, right: Any) -> Staged:
    """An operation of two operands, where Python numbers take on the type of the other."""
    weak = _is_weak(left) and _is_weak(right)
    left, right = _fitted(left, right), _fitted(right, left)
    truths = _dtype_of(left) == _dtype_of(right) == "bool"
    if truths and name.startswith("bit-"):
        name = name.removeprefix("bit-")
    elif truths and max(np.ndim(left), np.ndim(right)) and name in ("+", "*"):
        name = "or" if name == "+" else "and"
    elif name in (*"+-*/%", "**", "//", "<<", ">>") or name.startswith("bit-"):
        left, right = _number(tracer, left, right), _number(tracer, right, left)
    return tracer.op(name, left, right, weak=weak and name not in _COMPARE.values())


def _number(tracer: Tracer, value: Any, other: Any) -> Any:
    """A bool as a number where a bool meets a bool or a number."""
    if _dtype_of(value) != "bool":
        return value
    wanted = _dtype_of(other)
    if isinstance(value, Staged):
        return tracer.op("cast", value, dtype="int64" if wanted == "bool" else wanted)
    return int(value)


def _is_weak(value: Any) -> bool:
    if isinstance(value, Staged):
        return value.weak
    return isinstance(value, int | float | complex) and not isinstance(value, np.generic)


def _dtype_of(value: Any) -> str:
    if isinstance(value, Staged | Const):
        return value.type.dtype  # type: ignore[union-attr]
    return np.asarray(value).dtype.name


def _fitted(value: Any, other: Any) -> Any:
    """A Python number in the type of a number or array that is none."""
    if not _is_weak(value) or _is_weak(other):
        return value
    mine, theirs = _dtype_of(value), _dtype_of(other)
    if mine == theirs:
        return value
    wanted = None
    numbers = theirs in FLOATS and mine != "complex128"
    if numbers or theirs == "complex128" or (theirs in INTEGERS and mine in (*INTEGERS, "bool")):
        wanted = theirs
    if wanted is None:
        return value
    if isinstance(value, Staged):
        return value.tracer.op("cast", value, dtype=wanted)
    kind = {"complex128": complex, "float32": float, "float64": float}.get(wanted, int)
    return Const(kind(value), Scalar(wanted))


def _operator(name: str, swapped: bool) -> Callable[[Staged, Any], Any]:
    def method(self: Staged, other: Any) -> Any:
        if not isinstance(other, Staged | bool | int | float | complex | np.generic | np.ndarray):
            return NotImplemented
        return binary(self.tracer, name, other, self) if swapped else binary(self.tracer, name, self, other)

    return method


for _name, _sign in {**_BINARY, **_COMPARE}.items():
    setattr(Staged, f"__{_name}__", _operator(_sign, swapped=False))
    if _name in _BINARY:
        setattr(Staged, f"__r{_name}__", _operator(_sign, swapped=True))


def _by_function(name: str, swapped: bool = False) -> Callable[..., Any]:
    def method(self: Staged, *others: Any) -> Any:
        from lsp_ad.staging.lantern.numpy_functions import function

        return function(name)(*others, self) if swapped else function(name)(self, *others)

    return method


_OTHERS = {
    "__matmul__": _by_function("matmul"),
    "__rmatmul__": _by_function("matmul", swapped=True),
    "__neg__": _by_function("negative"),
    "__pos__": _by_function("positive"),
    "__abs__": _by_function("abs"),
    "__invert__": _by_function("invert"),
}
for _name, _method in _OTHERS.items():
    setattr(Staged, _name, _method)
