"""Types of values, compared: what a variable may be in two branches, or before and after an iteration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lsp_ad.staging.backends.base import Backend, Spec
from lsp_ad.staging.errors import in_generated_code

_NUMBERS = (bool, int, float, complex, np.generic, np.ndarray)


@dataclass(frozen=True, eq=False)
class Fixed:
    """A part that is the same Python value in every iteration of a loop, or in every item of a list."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fixed) and is_same(self.value, other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))


def is_zero(value: Any) -> bool:
    """Whether a value is the zero that an adjoint begins with, in code that lsp-ad generated.

    It stands for zeros of every shape there: what is done to adjoints before they have their shape is linear.
    """
    return type(value) in (int, float) and value == 0 and in_generated_code(backward=True)


def is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and not (isinstance(value, np.ndarray) and value.dtype == object)


def value_spec(backend: Backend, value: Any) -> Spec:
    return backend.spec(value)


def unified(a: Spec, b: Spec, same_shapes: bool) -> Spec | None:
    """The type that values of two types can both be cast to without loss of meaning; None if there is none.

    A Python number takes on the type of the other where it is as wide a kind of number, as in NumPy.
    """
    if a == b:
        return a
    if a.listed != b.listed:
        return None
    if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
        shape: tuple[int | None, ...] | None = None
    else:
        shape = tuple(m if m == n else None for m, n in zip(a.shape, b.shape, strict=True))
    if same_shapes and (a.shape is not None and b.shape is not None) and a.shape != b.shape:
        return None
    if "V" in (a.dtype.kind, b.dtype.kind):  # a library's own, such as the items of a list
        return None
    if a.dtype == b.dtype:
        return Spec(a.dtype, shape, a.weak and b.weak, a.listed)
    if (a.dtype == bool) != (b.dtype == bool):
        return None
    if a.weak and b.weak:
        return Spec(np.result_type(a.dtype, b.dtype), shape, True)
    for weak, strong in ((a, b), (b, a)):
        if weak.weak and np.can_cast(weak.dtype, np.result_type(strong.dtype, np.int8), "same_kind"):
            return Spec(strong.dtype, shape, listed=a.listed)
    return None


def common(backend: Backend, a: Spec, b: Spec) -> Spec | None:
    """The type of a variable that has one of two types, for a back end."""
    if a.shape != b.shape and () in (a.shape, b.shape) and in_generated_code(backward=True):
        # an adjoint that has not its shape yet is broadcast to it sooner or later
        shape = a.shape or b.shape
        a, b = replace(a, shape=shape), replace(b, shape=shape)
    found = unified(a, b, backend.same_shapes)
    lost = found is not None and found.shape is None and not (a.shape is None or b.shape is None)
    return None if lost and backend.same_ranks else found


def is_same(a: Any, b: Any) -> bool:
    """Whether two values that are not staged are the same one."""
    if a is b:
        return True
    if type(a) is not type(b) or isinstance(a, np.ndarray):
        return False
    try:
        return bool(a == b)
    except Exception:  # an __eq__ of the user's
        return False
