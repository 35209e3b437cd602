"""Lists whose length changes in staged code: buffers of a known capacity, and how many items there are.

There is one buffer for each part of an item that is a number or an array; what is the same Python value in
every item stays Python. A list is changed as Python changes it, by its methods; what the branches and loops
around make of it is found by comparing its structure (`Meta`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lsp_ad.staging.backends.base import Backend, Owned, Spec
from lsp_ad.staging.context import wishes
from lsp_ad.staging.errors import staging_error, user_place
from lsp_ad.staging.operators.bounds import note_unseen
from lsp_ad.staging.operators.types import Fixed, is_number, is_same, unified, value_spec
from lsp_ad.staging.structures import Structure, flatten, mapped, register, unflatten


@dataclass(frozen=True)
class Item:
    """What the items of a list have in common: their structure, and the parts that are fixed (else None)."""

    structure: Structure
    fixed: tuple[Fixed | None, ...]

    def made(self, parts: Sequence[Any]) -> Any:
        """An item of its parts that are not fixed."""
        stored = iter(parts)
        return unflatten(self.structure, [next(stored) if f is None else f.value for f in self.fixed])

    def __str__(self) -> str:
        return "single value" if not hasattr(self.structure, "parts") else f"{self.structure}"


@dataclass(frozen=True)
class Meta:
    """What is known of a list when tracing. Its length is a staged `base` and `offset`.

    In the body of a loop: `reserve` items fit in addition to those that it began with, whatever their number
    is; `top` is how many may have been added by now, `peak` how many there may have been at once.
    """

    backend: Backend
    item: Item
    capacity: int
    offset: int = 0
    reserve: int = 0
    top: int = field(default=0, compare=False)
    peak: int = field(default=0, compare=False)


class StagedList(Owned):
    """A list in staged code. `stores`: its buffers; `base`: see `Meta`."""

    def __init__(self, meta: Meta, base: Any, stores: Sequence[Any]):
        self.meta, self.base, self.stores = meta, base, list(stores)
        self.backend = meta.backend

    @property
    def length(self) -> Any:
        """How many items there are: an int where that is known."""
        return self.base + self.meta.offset if self.meta.offset else self.base

    @property
    def known(self) -> bool:
        """Whether the length is known when tracing."""
        return isinstance(self.base, int)

    def arrays(self) -> list[Any]:
        """What holds arrays of the items: buffers, and arrays that are part of every item."""
        fixed = [f.value for f in self.meta.item.fixed if f is not None and np.ndim(f.value)]
        numbers = (self.backend.list_item(self.backend.spec(store)).shape == () for store in self.stores)
        return [*fixed, *(s for s, n in zip(self.stores, numbers, strict=True) if not n)]

    def append(self, item: Any) -> None:
        parts = self._fitting(item)
        meta = self.meta
        full = self.base >= meta.capacity if self.known else meta.top >= meta.reserve
        if full and self.backend.bounded_lists:
            self.stores = [self.backend.list_grown(store, 1) for store in self.stores]
            reserve = meta.reserve if self.known else meta.top + 1
            self.meta = replace(meta, capacity=meta.capacity + 1, reserve=reserve)
        self._write(self.length, parts, self.backend.list_append)
        self._moved(1)

    def pop(self, index: int = -1) -> Any:
        if index != -1:
            raise staging_error("Only the last item of a staged list can be popped.", "Write `pop()`.")
        if self.known and self.base == 0:
            raise IndexError("pop from empty list")
        if not self.known:
            self._require(self.length > 0, "pop from empty list")
        self._moved(-1)
        return self.get(self.length)

    def extend(self, items: Any) -> None:
        for item in items:
            self.append(item)

    def copy(self) -> StagedList:
        return StagedList(self.meta, self.base, self.stores)

    def get(self, index: Any) -> Any:
        """The item at an index that is in the list, from its start."""
        return self.meta.item.made([self.backend.list_get(store, index) for store in self.stores])

    def at(self, index: Any) -> Any:
        """The index of an item, from the start of the list."""
        if isinstance(index, (int, np.integer)):
            if self.known and not -self.base <= index < self.base:
                raise IndexError("list index out of range")
            if not self.known:
                self._require(self.length > (index if index >= 0 else ~index), "list index out of range")
            return index + self.length if index < 0 else index
        if self.backend.owns(index):
            both = self.backend.function("logical_and")
            self._require(both(index >= -self.length, index < self.length), "list index out of range")
            return self.backend.function("where")(index < 0, index + self.length, index)
        raise staging_error(
            "A list of a length that is known only at run time has no slices.",
            "Take its items one by one, or `np.array` of it.",
        )

    def _require(self, test: Any, message: str) -> None:
        note_unseen()
        if wishes().check_bounds or not self.backend.bounded_lists:
            self.backend.require(test, "IndexError", f"{':'.join(map(str, user_place()))}: {message}")

    def array(self) -> Any:
        """The array of all items, as `np.array` makes it."""
        item = self.meta.item
        if len(item.fixed) != 1 or hasattr(item.structure, "parts"):
            raise staging_error(f"A list of items that are each a {item} makes no array.")
        if item.fixed[0] is None:
            return self.backend.list_array(self.stores[0], self.length, self.meta.capacity)
        return np.array([item.fixed[0].value] * len(self))

    def _fitting(self, item: Any) -> list[Any]:
        """The parts of a new item that are stored, after making room for parts that are fixed no longer."""
        leaves, structure = flatten(item)
        fixed = list(self.meta.item.fixed)
        if structure != self.meta.item.structure:
            found = str(Item(structure, tuple(None for _ in leaves)))
            inside = ", with lists in it of other lengths" if found == str(self.meta.item) else ""
            raise staging_error(
                f"The items of this list are each a {self.meta.item}, a new one is a {found}{inside}.",
                "Give all items of the list one form.",
            )
        for position, (old, leaf) in enumerate(zip(fixed, leaves, strict=True)):
            if old is not None and not is_same(old.value, leaf):
                if not is_number(old.value) or not (is_number(leaf) or self.backend.owns(leaf)):
                    raise staging_error(
                        f"A part of the items of this list is {old.value!r}, of a new one {leaf!r}.",
                        "Only numbers and arrays can differ from item to item.",
                    )
                spec = value_spec(self.backend, old.value)
                store = self.backend.list_full(old.value, spec, self.meta.capacity)
                self.stores.insert(fixed[:position].count(None), store)
                fixed[position] = None
        self.meta = replace(self.meta, item=Item(structure, tuple(fixed)))
        return [leaf for old, leaf in zip(fixed, leaves, strict=True) if old is None]

    def _write(self, index: Any, parts: list[Any], put: Callable[[Any, Any, Any], Any]) -> None:
        made = []
        for store, part in zip(self.stores, parts, strict=True):
            old, new = self.backend.list_item(self.backend.spec(store)), value_spec(self.backend, part)
            wide = unified(old, new, same_shapes=self.backend.same_shapes)
            if wide is None or wide.shape is None:
                raise staging_error(
                    f"The items of this list are {old}, a new one is {new}.",
                    "Give all items of the list one type and shape.",
                )
            wider = (
                store
                if (wide.dtype, wide.shape) == (old.dtype, old.shape)
                else self.backend.list_cast(store, wide)
            )
            made.append(put(wider, index, part))
        self.stores = made

    def _moved(self, by: int) -> None:
        top = self.meta.top + by
        offset = 0 if self.known else self.meta.offset + by
        if self.known:
            self.base += by
        self.meta = replace(self.meta, offset=offset, top=top, peak=max(self.meta.peak, top))

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        """What a function of TensorFlow sees."""
        return self.array()

    def __len__(self) -> int:
        if not self.known:
            raise staging_error("The length of this list is known only at run time.")
        return self.base

    def __iter__(self) -> Iterator[Any]:
        return (self.get(i) for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice) and self.known:
            return [self.get(i) for i in range(self.base)[index]]
        return self.get(self.at(index))

    def __setitem__(self, index: Any, item: Any) -> None:
        self._write(self.at(index), self._fitting(item), self.backend.list_set)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise staging_error(
            f"A list that changes in a staged loop has no `{name}`.",
            "It has append, extend, pop, copy and items.",
        )


register(
    StagedList,
    lambda value: ([value.base, *value.stores], value.meta),
    lambda meta, parts: StagedList(meta, parts[0], parts[1:]),
)


class Moved:
    """All that is left in a Python list that has become a staged one: another name for it is out of date."""

    def __init__(self, place: str):
        self.place = place

    def error(self) -> Exception:
        return staging_error(
            f"This list has become a staged one in the loop of {self.place}, under another name.",
            "Use one name for a list that a staged loop changes.",
        )

    def _use(self, *given: Any, **options: Any) -> Any:
        raise self.error()

    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = _use
    __getitem__ = __getattr__ = __iter__ = __len__ = __bool__ = __float__ = __int__ = __index__ = _use
    __call__ = __neg__ = __pow__ = __lt__ = __gt__ = __le__ = __ge__ = __array__ = _use


def check_there(value: Any) -> None:
    """Refuse a list that has become a staged one under another name."""
    if type(value) is list and value and type(value[0]) is Moved:
        raise value[0].error()


def folded(value: StagedList) -> StagedList:
    """The list with its offset counted into its base."""
    if not value.meta.offset:
        return value
    return StagedList(replace(value.meta, offset=0), value.length, value.stores)


def conformed(value: Any, meta: Meta, specs: Sequence[Spec]) -> StagedList:
    """A Python list or a staged one as a staged one of a form; `specs`: the types of the stored parts."""
    backend, wanted = meta.backend, iter(specs)
    meta = replace(meta, offset=0)
    if isinstance(value, StagedList):
        old, given = value.meta, iter(value.stores)
        stores = []
        for fixed, before in zip(meta.item.fixed, old.item.fixed, strict=True):
            store = next(given) if before is None else None
            if fixed is not None:
                continue
            spec = next(wanted)
            if before is not None:
                store = backend.list_full(before.value, spec, meta.capacity)
            else:
                store = backend.list_grown(backend.list_cast(store, spec), meta.capacity - old.capacity)
            stores.append(store)
        return StagedList(meta, value.length, stores)
    stores = [backend.list_new(spec, meta.capacity) for spec in wanted]
    for number, item in enumerate(value):
        leaves = flatten(item)[0]
        parts = [leaf for fixed, leaf in zip(meta.item.fixed, leaves, strict=True) if fixed is None]
        put = backend.list_set if backend.bounded_lists else backend.list_append
        stores = [put(s, number, part) for s, part in zip(stores, parts, strict=True)]
    return StagedList(meta, len(value), stores)


def plain(value: Any, convert: Callable[[Any], Any]) -> Any:
    """A value that has been computed, its staged lists as Python lists; `convert`: what becomes of parts."""

    def made(found: StagedList, path: tuple) -> list:
        stores = [store if isinstance(store, list) else np.asarray(store) for store in found.stores]
        return [
            found.meta.item.made([convert(store[i]) for store in stores]) for i in range(int(found.length))
        ]

    return mapped(value, StagedList, made)
