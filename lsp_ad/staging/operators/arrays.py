"""Elements of arrays, lists and dicts, read and written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsp_ad.staging.backends import owner
from lsp_ad.staging.operators.lists import StagedList
from lsp_ad.staging.operators.plans import listed
from lsp_ad.staging.structures import flatten


def get_item(value: Any, index: Any) -> Any:
    """`value[index]`."""
    if isinstance(value, StagedList):
        return value[index]
    backend = owner(value, *flatten(index)[0])
    if backend is None:
        return value[index]
    return (
        listed(backend, list(value))[index]
        if type(value) in (list, tuple)
        else backend.get_item(value, index)
    )


def set_item(value: Any, index: Any, new: Any) -> Any:
    """`value[index] = new`; returns what the variable is afterwards: the same object, or a new staged one."""
    if isinstance(value, (list, dict, StagedList)):
        backend = owner(index)
        if backend is not None and type(value) is list:
            value = listed(backend, value)
        value[index] = new
        return value
    backend = owner(value, *flatten(index)[0], *flatten(new)[0])
    if backend is None:
        value[index] = new
        return value
    return backend.set_item(value, index, new)


def update_item(value: Any, index: Any, change: Callable[[Any], Any]) -> Any:
    """`value[index] += ...`, where `change` makes the new element of the old one."""
    return set_item(value, index, change(get_item(value, index)))
