"""Writes into arrays that are also those of a caller, or several items of a list."""

from __future__ import annotations

from typing import Any

import numpy as np

from lsp_ad.staging.backends import owner
from lsp_ad.staging.backends.base import Backend
from lsp_ad.staging.context import arguments, superseded
from lsp_ad.staging.errors import again, handled, in_generated_code, staging_error
from lsp_ad.staging.structures import flatten


def wrote(old: Any, place: str) -> None:
    """Note a write into an array that a function may have been given.

    Refuses what is seen to be an argument of the function that is traced, by a view, a loop or a branch.
    """
    superseded(old, place)
    backend = owner(old)
    if backend is None or not backend.follows_memory:
        return
    for name, argument in arguments():
        if argument is old or not np.ndim(argument):
            continue
        shared = staging_error(
            f"An argument of a function that is traced may be written into here: `{name}`.",
            "Return the array, or begin with a copy of it.",
        )
        handled(shared)
        if not backend.are_apart(old, argument, shared, seen=True):
            raise again(shared)


def check_item(item: Any, variables: list[Any]) -> None:
    """Refuse a write into an item of a list that may be another one, too, or another variable."""
    if in_generated_code():  # whose lists hold arrays of their own
        return
    for array in flatten(item)[0]:
        backend = owner(array)
        if backend is not None and np.ndim(array):
            _check_array(backend, array, variables)


def _check_array(backend: Backend, item: Any, variables: list[Any]) -> None:
    shared = staging_error(
        "The array that is written into here may be several items of the list, or a variable, too.",
        "Append copies (`.copy()`).",
    )
    handled(shared)
    apart = backend.items_apart(item, shared)
    if backend.follows_memory:
        others = [*flatten(variables)[0], *(array for _, array in arguments())]
        arrays = [a for a in others if np.ndim(a) and owner(a) is backend]
        apart = apart and all(backend.are_apart(item, array, shared, seen=True) for array in arrays)
    if not apart:
        raise again(shared)
