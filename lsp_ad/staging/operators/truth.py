"""What a value means as a condition."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lsp_ad.staging.backends import owner
from lsp_ad.staging.backends.base import Backend, Spec
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.operators.classes import own_method
from lsp_ad.staging.operators.lists import StagedList, check_there
from lsp_ad.staging.operators.optional import Maybe

_PLAIN = frozenset([bool, int, float, str, type(None), list, tuple, dict])


def truth(value: Any) -> Any:
    """The value, or whether there are items in it where it is a staged list, or what its `__bool__` says."""
    if type(value) in _PLAIN:
        check_there(value)
        return value
    if isinstance(value, StagedList):
        return value.length > 0
    method = own_method(value, "__bool__")
    if method is not None:
        found = method(value)
        if owner(found) is None and not isinstance(found, bool):
            raise TypeError(f"__bool__ should return bool, returned {type(found).__name__}")
        return found
    if own_method(value, "__len__") is not None:
        found = length(value)
        return found if owner(found) is None else found > 0
    return value


def truth_value(value: Any) -> Any:
    """The same as a condition; a staged number as whether it is not zero."""
    found = truth(value)
    backend = owner(found)
    if backend is None or not backend.owns(found):
        return found
    spec = backend.spec(found)
    return found != 0 if spec.shape == () and spec.dtype.kind in "iufc" else found


def add(left: Any, right: Any) -> Any:
    """`left + right` of what looks like truth values."""
    no_count("+", left, right)
    return left + right


def subtract(left: Any, right: Any) -> Any:
    """`left - right` of what looks like truth values."""
    no_count("-", left, right)
    return left - right


def no_count(sign: str, left: Any, right: Any) -> None:
    """Refuse a sum of two staged truth values that are no arrays."""
    backend = owner(left, right)
    if backend is None or sign not in ("+", "-") or not (_is_one(backend, left) and _is_one(backend, right)):
        return
    raise staging_error(
        f"A `{sign}` of two staged truth values: Python counts them, NumPy does not, and which of them gave"
        " these is not known here.",
        f"Write `int(a) {sign} int(b)`" + (", or `a | b`." if sign == "+" else ", or `a ^ b`."),
    )


def _is_one(backend: Backend, value: Any) -> bool:
    if not backend.owns(value):
        return isinstance(value, (bool, np.bool_))
    return backend.spec(value) in (Spec(np.dtype(bool), ()), Spec(np.dtype(bool), (), weak=True))


def length(value: Any) -> Any:
    """`len(value)` of something that is not staged; an object of the user's may say a staged number."""
    value = value.checked() if isinstance(value, Maybe) else value
    check_there(value)
    method = own_method(value, "__len__")
    if method is None:
        return len(value)
    found = method(value)
    if owner(found) is not None:
        return found
    if operator.index(found) < 0:
        raise ValueError("__len__() should return >= 0")
    return operator.index(found)
