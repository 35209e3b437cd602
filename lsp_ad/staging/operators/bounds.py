"""Indices that are outside of an array, where a library takes another element in silence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lsp_ad.staging.context import bodies
from lsp_ad.staging.errors import staging_error, user_place


def whole_numbers(index: Any, shape: Sequence[int]) -> Iterator[tuple[Any, int, int]]:
    """The parts of an index that are integers or arrays of them, each with its axis and the size of that."""
    parts = index if isinstance(index, tuple) else (index,)
    axis = 0
    for position, part in enumerate(parts):
        if part is Ellipsis:
            axis = len(shape) - sum(map(_axes, parts[position + 1 :]))
            continue
        if _axes(part) == 1 and not isinstance(part, slice) and axis < len(shape):
            yield part, axis, shape[axis]
        axis += _axes(part)


def _axes(part: Any) -> int:
    """How many axes a part of an index is about."""
    if part is None:
        return 0
    is_mask = isinstance(part, (bool, np.bool_)) or np.dtype(getattr(part, "dtype", object)).kind == "b"
    return np.ndim(part) if is_mask else 1


def in_bounds(index: Any, axis: int, size: int) -> None:
    """Raise what NumPy raises for an index, or an array of them, that is outside."""
    if np.size(index) == 0 or (np.min(index) >= -size and np.max(index) < size):
        return
    wrong = int(np.max(index)) if np.max(index) >= size else int(np.min(index))
    said = f"index {wrong} is out of bounds for axis {axis} with size {size}"
    if bodies():
        raise staging_error(f"{said}: it would be raised whatever the staged values are.")
    raise IndexError(f"{':'.join(map(str, user_place()))}: {said}")
