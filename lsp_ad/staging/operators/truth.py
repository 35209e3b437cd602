"""What a value means as a condition."""

from __future__ import annotations

import operator
from typing import Any

from lsp_ad.staging.backends import owner
from lsp_ad.staging.operators.classes import own_method
from lsp_ad.staging.operators.lists import StagedList, check_there

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


def length(value: Any) -> Any:
    """`len(value)` of something that is not staged; an object of the user's may say a staged number."""
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
