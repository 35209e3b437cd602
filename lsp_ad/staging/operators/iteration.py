"""What a staged loop goes over: something with a length, staged or known, and an item for each index."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lsp_ad.staging.backends import loaded, owner
from lsp_ad.staging.backends.base import Backend, Iterable, Owned, Spec
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.operators.lists import StagedList
from lsp_ad.staging.operators.optional import Maybe
from lsp_ad.staging.operators.plans import listed


class Staged(Iterable):
    """A staged iterable: `item(i, elements)` for i = 0, 1, ..., count - 1, with the elements of arrays there.

    `what` it is, for reports; `most`: how many items there are at most, if that is known.
    """

    def __init__(
        self,
        backend: Backend,
        count: Any,
        item: Callable[[Any, Sequence[Any]], Any],
        what: str,
        arrays: Sequence[Any] = (),
        most: int | None = None,
    ):
        self.backend, self.count, self.item, self.what, self.arrays = backend, count, item, what, arrays
        self.most = count if isinstance(count, int) else most

    @property
    def cursor(self) -> Spec:
        return self.backend.index_spec(self.count)

    def start(self) -> Any:
        return self.backend.cast(0, self.cursor)

    def more(self, cursor: Any) -> Any:
        return cursor < self.count

    def after(self, cursor: Any, goes_on: Callable[[], Any] | None) -> Any:
        return cursor + 1

    def at(self, index: Any) -> Any:
        return self.item(index, [self.backend.get_item(array, index) for array in self.arrays])

    def rest(self) -> Staged:
        """All but the first, where it is known that there is one."""
        arrays = [self.backend.get_item(array, slice(1, None)) for array in self.arrays]
        return Staged(self.backend, self.count - 1, lambda i, e: self.item(i + 1, e), self.what, arrays)

    def __iter__(self) -> Any:
        if not isinstance(self.count, int):
            return Pulled(self)
        return map(self.at, range(self.count))


class Pulled:
    """What a generator goes over where the number of items is not known: one at a time, that a staged loop
    around the generator puts here. Without such a loop Python cannot go over it."""

    def __init__(self, over: Staged):
        self.over = over
        self.items: list[Any] = []

    def __iter__(self) -> Pulled:
        return self

    def __next__(self) -> Any:
        if not self.items:
            raise staging_error(
                f"How many items {self.over.what} of {self.over.backend.name} has is not known when this is"
                " traced.",
                "Write a `for` statement.",
            )
        return self.items.pop()


def pulled_by(generator: Any) -> Pulled | None:
    """What a generator expression goes over, if that is put there one by one."""
    frame = getattr(generator, "gi_frame", None)
    source = frame.f_locals.get(".0") if frame is not None else None
    return source if isinstance(source, Pulled) else None


def staged(value: Any) -> Staged | None:
    """A value as a staged iterable, if a back end owns it."""
    if isinstance(value, Staged):
        return value
    value = _checked(value)
    backend = owner(value)
    of_its_own = isinstance(value, Owned) and not isinstance(value, StagedList)
    if backend is None or isinstance(value, Iterable) or of_its_own:
        return None
    if not isinstance(value, StagedList):
        return Staged(backend, backend.size(value), lambda i, found: found[0], "an array", [value])
    if not (value.known and backend.bounded_lists):
        most = value.meta.capacity if backend.bounded_lists else None
        return Staged(backend, value.length, lambda i, found: value.get(i), "a list", most=most)
    whole = slice(0, value.length)
    stores = [s if value.length == value.meta.capacity else backend.get_item(s, whole) for s in value.stores]
    made = value.meta.item.made
    return Staged(backend, value.length, lambda i, found: made(found), "a list", stores)


def _checked(value: Any) -> Any:
    """The value of what may be None, which cannot be gone over."""
    return value.checked() if isinstance(value, Maybe) else value


def gone_over(value: Any) -> Iterable | None:
    """What a staged loop over a value goes over; None where Python goes over it."""
    if isinstance(value, (Iterable, range, list, tuple, dict, np.ndarray)):
        return value if isinstance(value, Iterable) else None
    streams = (backend.iterable(value) for backend in loaded())
    return next((stream for stream in streams if stream is not None), None) or staged(value)


def staged_by(backend: Backend, value: Any) -> Staged | None:
    """A range, an array or a list of Python as a staged iterable; None of anything else."""
    found = staged(value)
    if found is not None:
        return found
    if isinstance(value, (range, Backwards)):
        value = value if isinstance(value, range) else value.left()
        start, step = value.start, value.step
        return Staged(backend, len(value), lambda i, _: _linear(start, step, i), "a range")
    if isinstance(value, np.ndarray) and value.ndim and value.dtype != object:
        array = backend.constant(value)
        return Staged(backend, len(value), lambda i, found: found[0], "an array", [array])
    if isinstance(value, (list, tuple)) and value:
        return staged(listed(backend, list(value)))
    return None


class Backwards:
    """`reversed` of a range, which may be staged as the range may."""

    def __init__(self, over: range):
        self._over, self._iterator = over[::-1], iter(over[::-1])

    def __iter__(self) -> Backwards:
        return self

    def __next__(self) -> int:
        return next(self._iterator)

    def left(self) -> range:
        """What has not been gone over."""
        return self._over[len(self._over) - operator.length_hint(self._iterator) :]


def _linear(start: Any, step: Any, index: Any) -> Any:
    """`start + index * step`, as one would write it."""
    scaled = index if isinstance(step, int) and step == 1 else index * step
    return scaled if isinstance(start, int) and start == 0 else start + scaled


def range_(*bounds: Any) -> Any:
    """`range`, also with staged bounds."""
    backend = owner(*bounds)
    if backend is None:
        return range(*bounds)
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if isinstance(step, int):
        distance = stop if isinstance(start, int) and start == 0 else stop - start
        length = distance if step == 1 else (distance + step - (1 if step > 0 else -1)) // step
    else:
        length = -((start - stop) // step)
    return Staged(backend, length, lambda i, _: _linear(start, step, i), "a range")


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    """`enumerate`, also of a staged iterable."""
    iterable = _checked(iterable)
    found = gone_over(iterable)
    if found is None:
        return enumerate(iterable, start)
    if not isinstance(found, Staged):
        return found.enumerated(start)

    def item(index: Any, elements: Sequence[Any]) -> Any:
        return _linear(start, 1, index), found.item(index, elements)

    return Staged(found.backend, found.count, item, "an enumeration", found.arrays, found.most)


def reversed_(sequence: Any) -> Any:
    """`reversed`, also of a staged iterable."""
    sequence = _checked(sequence)
    found = staged(sequence)
    if found is None:
        return Backwards(sequence) if isinstance(sequence, range) else reversed(sequence)
    backend, last = found.backend, found.count - 1
    if not isinstance(found.count, int):
        return Staged(backend, found.count, lambda i, _: found.at(last - i), "a reversal", most=found.most)
    arrays = [backend.get_item(array, slice(None, None, -1)) for array in found.arrays]
    return Staged(
        backend, found.count, lambda i, elements: found.item(last - i, elements), "a reversal", arrays
    )


def zip_(*iterables: Any, strict: bool = False) -> Any:
    """`zip`, also of staged iterables, the others among them ranges, arrays, lists or tuples."""
    iterables = tuple(map(_checked, iterables))
    backend = owner(*filter(None, map(gone_over, iterables)))
    if backend is None:
        return zip(*iterables, strict=strict)
    if strict and backend.raises and any(type(one) in (list, tuple) for one in iterables):
        return _of_one_length(backend, iterables)
    found: list[Staged] = []
    for iterable in iterables:
        made = staged_by(backend, iterable)
        if made is None and all(isinstance(over.count, int) for over in map(staged, iterables) if over):
            return zip(*(staged(i) or i for i in iterables), strict=strict)
        if made is None:
            raise staging_error(
                f"`zip` goes over a {type(iterable).__name__} and something staged side by side.",
                "Make a list of it.",
            )
        found.append(made)
    counts = [one.count for one in found]
    if strict and not (all(isinstance(c, int) for c in counts) and len(set(counts)) == 1):
        if not backend.raises:
            raise staging_error(f"`zip` is strict about lengths {counts} that are not known to be equal.")
        for other in counts[1:]:
            _require_equal(backend, counts[0], other)
    count = counts[0]
    for other in counts[1:]:
        known = isinstance(count, int) and isinstance(other, int)
        count = min(count, other) if known else backend.function("minimum")(count, other)
    if not isinstance(count, int):
        most = min((one.most for one in found if one.most is not None), default=None)
        return Staged(backend, count, lambda i, _: tuple(one.at(i) for one in found), "a zip", most=most)
    arrays = [
        array if one.count == count else backend.get_item(array, slice(0, count))
        for one in found
        for array in one.arrays
    ]

    def item(index: Any, elements: Sequence[Any]) -> Any:
        parts, start = [], 0
        for one in found:
            parts.append(one.item(index, elements[start : start + len(one.arrays)]))
            start += len(one.arrays)
        return tuple(parts)

    return Staged(backend, count, item, "a zip", arrays)


def _of_one_length(backend: Backend, iterables: Sequence[Any]) -> Any:
    """`zip(..., strict=True)` with a list of Python among the iterables, whose length all must have."""
    count = next(len(one) for one in iterables if type(one) in (list, tuple))
    made: list[Any] = []
    for iterable in iterables:
        over = staged(iterable)
        if over is not None and not isinstance(over.count, int):
            _require_equal(backend, over.count, count)
            over = Staged(backend, count, over.item, over.what, over.arrays)
        made.append(iterable if over is None else over)
    return zip(*made, strict=True)


def _require_equal(backend: Backend, one: Any, other: Any) -> None:
    """Let the program raise what `zip` raises of iterables of two lengths."""
    backend.require(one == other, "ValueError", "the arguments of zip() have different lengths")


def map_(function: Any, *iterables: Any) -> Any:
    """`map`, also over staged iterables."""
    from lsp_ad.staging.operators.calls import call

    made = call(function)
    if not any(map(gone_over, iterables)):
        return map(made, *iterables)
    found = zip_(*iterables)
    return Staged(
        found.backend, found.count, lambda i, elements: made(*found.item(i, elements)), "a map", found.arrays
    )


def filter_(function: Any, iterable: Any) -> Any:
    """`filter`; how many items of a staged iterable it keeps is not known."""
    from lsp_ad.staging.operators.calls import call

    if gone_over(iterable) is not None:
        raise staging_error("How many items `filter` keeps is not known.", "Write an `if` in the loop.")
    return filter(function if function is None else call(function), iterable)
