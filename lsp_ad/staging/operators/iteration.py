"""What a staged loop goes over: something with a length, staged or known, and an item for each index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lsp_ad.staging.backends import owner
from lsp_ad.staging.backends.base import Backend


@dataclass(frozen=True)
class Staged:
    """A staged iterable: `item(i)` for i = 0, 1, ..., count - 1. `what` it is, for reports."""

    backend: Backend
    count: Any
    item: Callable[[Any], Any]
    what: str

    def __iter__(self) -> Any:
        raise TypeError(f"{self.what} of {self.backend.name} can be gone over by a `for` statement only")


def staged(value: Any) -> Staged | None:
    """A value as a staged iterable, if a back end owns it."""
    if isinstance(value, Staged):
        return value
    backend = owner(value)
    if backend is None:
        return None
    return Staged(backend, backend.size(value), lambda i: backend.get_item(value, i), "an array")


def range_(*bounds: Any) -> Any:
    """`range`, also with staged bounds."""
    backend = owner(*bounds)
    if backend is None:
        return range(*bounds)
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if step == 1 and isinstance(start, int) and start == 0:
        return Staged(backend, stop, lambda i: i, "a range")
    if isinstance(step, int):
        length = (stop - start + step - (1 if step > 0 else -1)) // step
    else:
        length = -((start - stop) // step)
    return Staged(backend, length, lambda i: start + i * step, "a range")


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    """`enumerate`, also of a staged iterable."""
    found = staged(iterable)
    if found is None:
        return enumerate(iterable, start)
    return Staged(found.backend, found.count, lambda i: (start + i, found.item(i)), "an enumeration")


def reversed_(sequence: Any) -> Any:
    """`reversed`, also of a staged iterable."""
    found = staged(sequence)
    if found is None:
        return reversed(sequence)
    return Staged(found.backend, found.count, lambda i: found.item(found.count - 1 - i), "a reversal")
