"""Values of programs as NumPy and Python have them: their types, and what a parameter of a type takes.

A scalar is a NumPy scalar, an array an ndarray, a tuple a tuple and a list a list.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lsp_ad.staging.lantern.errors import LanternTypeError
from lsp_ad.staging.lantern.ir import (
    BOOL,
    COMPLEX128,
    DTYPES,
    FLOAT64,
    INT64,
    Array,
    List,
    Scalar,
    Tuple,
    Type,
    ranked,
)
from lsp_ad.staging.lantern.printing import type_text

PYTHON = {bool: BOOL, int: INT64, float: FLOAT64, complex: COMPLEX128}
BIGGEST = 2**63


def type_of_value(value: Any) -> Type:
    """The type of a value, or a LanternTypeError. An empty list has none: it does not show its items."""
    if type(value) in PYTHON:
        return PYTHON[type(value)]
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.name not in DTYPES:
            raise LanternTypeError(f"there is no dtype {value.dtype}")
        return ranked(value.dtype.name, value.ndim)
    if isinstance(value, tuple):
        return Tuple(tuple(map(type_of_value, value)))
    if isinstance(value, list):
        items = {type_of_value(item) for item in value}
        if len(items) != 1:
            raise LanternTypeError("a list without items, or with items of different types, has no type")
        return List(items.pop())
    raise LanternTypeError(f"a {type(value).__name__} is no value of a program")


def accepted(value: Any, wanted: Type, name: str = "value") -> Any:
    """A value as a program takes it; a LanternTypeError unless it is of the type."""
    if isinstance(wanted, Tuple) and isinstance(value, tuple) and len(value) == len(wanted.items):
        return tuple(accepted(v, t, name) for v, t in zip(value, wanted.items, strict=True))
    if isinstance(wanted, List) and isinstance(value, list):
        return [accepted(v, wanted.item, name) for v in value]
    if isinstance(wanted, Scalar | Array) and type_of_value(value) == wanted:
        if type(value) is int and not -BIGGEST <= value < BIGGEST:
            raise OverflowError(f"{name} does not fit into 64 bits")
        return value if isinstance(wanted, Array) else np.dtype(wanted.dtype).type(value)
    try:
        found = type_text(type_of_value(value))
    except LanternTypeError:
        found = type(value).__name__
    raise LanternTypeError(f"{name} is {found}, and {type_text(wanted)} is needed")


def shown(value: Any) -> str:
    """The text of a value in messages; numbers in tuples and lists as Python writes them."""
    return str(_unboxed(value)) if isinstance(value, tuple | list) else str(value)


def _unboxed(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(map(_unboxed, value))
    return value.item() if isinstance(value, np.generic) else value
