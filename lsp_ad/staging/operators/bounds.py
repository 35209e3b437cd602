"""Indices that are outside of an array, where a library takes another element in silence.

Where nobody knows it when tracing, that is counted: an `except IndexError` around it would not see the error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np

from lsp_ad.staging.backends import owner
from lsp_ad.staging.backends.base import Backend, Owned
from lsp_ad.staging.context import bodies
from lsp_ad.staging.errors import staging_error, user_place
from lsp_ad.staging.structures import flatten

_unseen = count()
_last = [-1]


def unseen() -> int:
    """A number that changes when an index is met of which nobody knows, yet, whether it is outside."""
    return _last[0]


def note_unseen() -> None:
    """Nobody knows, yet, whether an index is outside."""
    _last[0] = next(_unseen)


def check_index(backend: Backend, value: Any, index: Any) -> None:
    """Raise what NumPy raises for an index that is outside, where that is known."""
    shape = backend.spec(value).shape if backend.owns(value) else np.shape(value)
    if shape is None:
        note_unseen()
        return
    indexed = sum(_axes(_array(part)) for part in _parts(index) if part is not Ellipsis)
    if indexed > len(shape):
        _raise(f"too many indices for array: array is {len(shape)}-dimensional, but {indexed} were indexed")
    for part, axis, size in whole_numbers(index, shape):
        if size is None or owner(*flatten(part)[0]) is not None:
            note_unseen()
        else:
            in_bounds(part, axis, size)


def whole_numbers(index: Any, shape: Sequence[Any]) -> Iterator[tuple[Any, int, Any]]:
    """The parts of an index that are integers or arrays of them, each with its axis and the size of that."""
    parts = [_array(part) for part in _parts(index)]
    axis = 0
    for position, part in enumerate(parts):
        if part is Ellipsis:
            axis = len(shape) - sum(map(_axes, parts[position + 1 :]))
            continue
        if _axes(part) == 1 and not isinstance(part, slice) and not _is_mask(part) and axis < len(shape):
            yield part, axis, shape[axis]
        axis += _axes(part)


def _parts(index: Any) -> tuple:
    return index if isinstance(index, tuple) else (index,)


def _axes(part: Any) -> int:
    """How many axes a part of an index is about."""
    if part is None:
        return 0
    if not _is_mask(part):
        return 1
    backend = owner(part)
    return np.ndim(part) if backend is None else len(backend.spec(part).shape or ())


def _is_mask(part: Any) -> bool:
    backend = None if isinstance(part, Owned) else owner(part)
    if backend is not None:
        return backend.spec(part).dtype.kind == "b"
    if isinstance(part, (slice, Owned)):
        return False
    return isinstance(part, (bool, np.bool_)) or getattr(getattr(part, "dtype", None), "kind", "") == "b"


def _array(part: Any) -> Any:
    """A list without staged values as an array."""
    return np.asarray(part) if isinstance(part, list) and owner(*flatten(part)[0]) is None else part


def in_bounds(index: Any, axis: int, size: int) -> None:
    """Raise what NumPy raises for an index, or an array of them, that is outside."""
    if np.size(index) == 0 or (np.min(index) >= -size and np.max(index) < size):
        return
    wrong = int(np.max(index)) if np.max(index) >= size else int(np.min(index))
    _raise(f"index {wrong} is out of bounds for axis {axis} with size {size}")


def _raise(said: str) -> None:
    if bodies():
        raise staging_error(f"{said}: it would be raised whatever the staged values are.")
    raise IndexError(f"{':'.join(map(str, user_place()))}: {said}")
