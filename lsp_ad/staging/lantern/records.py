"""Data of any depth: what a function that calls itself returns inside a tuple is kept in records.

A record is a row of lists, one list for each part; the value that stands for it is the number of its row. The
lists are passed to, and given back by, everything that may add to them: functions, branches, loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lsp_ad.staging.backends.base import Backend, Owned, Spec
from lsp_ad.staging.operators.plans import Joining, Made, Tree, fitted, leaves_of, structure_of, type_of
from lsp_ad.staging.structures import flatten, register, unflatten

if TYPE_CHECKING:
    from lsp_ad.staging.lantern.staged import Staged
    from lsp_ad.staging.lantern.tracer import Tracer

_PLACES = ("in one call", "in another")


class Boxed(Owned):
    """A value that is kept as the record number `row` under a key; it is unpacked when it is used."""

    def __init__(self, backend: Backend, key: Any, row: Any):
        self.backend, self.key, self.row = backend, key, row

    def opened(self) -> Any:
        return self.backend.tracer.records.read(self)  # type: ignore[attr-defined]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.opened())

    def __getitem__(self, index: Any) -> Any:
        return self.opened()[index]

    def __len__(self) -> int:
        return len(self.opened())


register(
    Boxed,
    lambda value: ([value.row], (value.backend, value.key)),
    lambda meta, parts: Boxed(meta[0], meta[1], parts[0]),
)


class Records:
    """The records of one program. `types`: by key, what is known of them from earlier traces."""

    def __init__(self, tracer: Tracer, backend: Backend, types: dict[Any, Tree]):
        self.tracer, self.backend, self.types = tracer, backend, types
        self.lists: list[Staged] = []  # all lists, of all types in their order, as they are now

    @property
    def specs(self) -> list[Spec]:
        """The types of the items of all lists."""
        return [leaf for tree in self.types.values() for leaf in _specs(tree)]

    def begin(self) -> None:
        """Make the lists, empty."""
        self.lists = [self.backend.list_new(spec, 0) for spec in self.specs]

    def write(self, value: Any, key: Any) -> tuple[Boxed, bool]:
        """Keep a value; also says whether its type is new, so that the trace must start again."""
        found = type_of(self.backend, value)
        known = self.types.get(key)
        joined = Joining(self.backend, "the result", _PLACES).join(known or found, found)
        joined = _general(self.backend, joined)
        if joined != known:
            self.types[key] = joined
            return Boxed(self.backend, key, None), True
        start = self._start(key)
        row = self.tracer.op("list-len", self.lists[start]) if _specs(joined) else 0
        leaves = flatten(fitted(value, joined))[0]
        stored = [v for v, leaf in zip(leaves, leaves_of(joined), strict=True) if isinstance(leaf, Spec)]
        for i, (part, spec) in enumerate(zip(stored, _specs(joined), strict=True), start):
            self.lists[i] = self.tracer.op("list-append", self.lists[i], self.backend.cast(part, spec))
        return Boxed(self.backend, key, row), False

    def read(self, boxed: Boxed) -> Any:
        """The value of a record."""
        tree = self.types[boxed.key]
        start = self._start(boxed.key)
        leaves: list[Any] = []
        for leaf in leaves_of(tree):
            if isinstance(leaf, Spec):
                leaves.append(self.tracer.op("list-get", self.lists[start], boxed.row))
                start += 1
            else:
                leaves.append(leaf.value)
        return unflatten(structure_of(tree), leaves)

    def _start(self, key: Any) -> int:
        """Where the lists of a type begin."""
        start = 0
        for other, tree in self.types.items():
            if other == key:
                return start
            start += len(_specs(tree))
        raise KeyError(key)


def _specs(tree: Tree) -> list[Spec]:
    return [leaf for leaf in leaves_of(tree) if isinstance(leaf, Spec)]


def _general(backend: Backend, tree: Tree) -> Tree:
    """A type with no number taken for one that only becomes what it meets."""
    if isinstance(tree, Made):
        return Made(tree.kind, tree.meta, [_general(backend, part) for part in tree.parts])
    return replace(tree, weak=False) if isinstance(tree, Spec) else tree
