"""Data of any depth: what a function that calls itself returns inside a tuple is kept in records.

A record is an item of a list, one list for each kind; the value that stands for it is its number. The lists
are passed to, and given back by, everything that adds to them: functions, branches, loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from lsp_ad.staging.backends.base import Backend, Kept, Spec
from lsp_ad.staging.lantern.compiler.uses import uses
from lsp_ad.staging.lantern.ir import INT64, List, Program, Tuple, Type
from lsp_ad.staging.lantern.specs import dtype_name, type_from
from lsp_ad.staging.lantern.staged import Staged
from lsp_ad.staging.operators.plans import Joining, Made, Tree, fitted, leaves_of, structure_of, type_of
from lsp_ad.staging.structures import flatten, register, unflatten

if TYPE_CHECKING:
    from lsp_ad.staging.lantern.tracer import Tracer

_PLACES = ("in one call", "in another")


class Boxed(Kept):
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


@dataclass(frozen=True)
class Record:
    """What records of one kind are: their type, and for each leaf of it that is staged its place.

    Leaves that are one value wherever a record is written have one place. `unread` are places whose values
    nothing reads: nothing is kept of them but the sizes of arrays.
    """

    tree: Tree
    places: tuple[int, ...]
    unread: frozenset[int] = frozenset()

    @property
    def parts(self) -> list[Spec]:
        """The types of what is at the places."""
        found = dict(zip(self.places, _specs(self.tree), strict=True))
        return [found[place] for place in sorted(found)]

    @property
    def row(self) -> Tuple:
        """The type of what is kept of a record."""
        kept: list[Type] = []
        for place, spec in enumerate(self.parts):
            kept += [INT64] * len(spec.shape or ()) if place in self.unread else [type_from(spec)]
        return Tuple(tuple(kept))


class Records:
    """The records of one program. `known`: by key, what is known of them from earlier traces.

    `lists`: those that hold them, in the order of the keys, as they are now. `reads`: by function of the
    program, the names of what has been read of records: the key, the place.
    """

    def __init__(self, tracer: Tracer, backend: Backend, known: dict[Any, Record]):
        self.tracer, self.backend, self.known = tracer, backend, known
        self.lists: list[Staged] = []
        self.reads: dict[str, dict[str, tuple[Any, int]]] = {}

    @property
    def types(self) -> list[Type]:
        """The types of all lists."""
        return [List(record.row) for record in self.known.values()]

    def begin(self) -> None:
        """Make the lists, empty."""
        self.lists = [self.tracer.op("list-new", item=record.row) for record in self.known.values()]

    def write(self, value: Any, key: Any) -> tuple[Boxed, bool]:
        """Keep a value; also says whether its type is new, so that the trace must start again."""
        known = self.known.get(key)
        found = type_of(self.backend, value)
        joined = Joining(self.backend, "the result", _PLACES).join(known.tree if known else found, found)
        joined = _general(self.backend, joined)
        leaves = flatten(fitted(value, joined))[0]
        stored = [v for v, leaf in zip(leaves, leaves_of(joined), strict=True) if isinstance(leaf, Spec)]
        before = known.places if known is not None and known.tree == joined else (0,) * len(stored)
        places = _places(stored, _specs(joined), before)
        if known is None or (joined, places) != (known.tree, known.places):
            self.known[key] = Record(joined, places)
            return Boxed(self.backend, key, None), True
        at = list(self.known).index(key)
        row = self.tracer.op("list-len", self.lists[at])
        values = dict(zip(places, stored, strict=True))
        kept: list[Any] = []
        for place, spec in enumerate(known.parts):
            made = self.backend.cast(values[place], spec)
            kept += made.shape if place in known.unread else [made]
        self.lists[at] = self.tracer.op("list-append", self.lists[at], self.tracer.op("tuple", *kept))
        return Boxed(self.backend, key, row), False

    def read(self, boxed: Boxed) -> Any:
        """The value of a record."""
        record = self.known[boxed.key]
        at = list(self.known).index(boxed.key)
        builder = self.tracer.builder
        row = self.tracer.op("list-get", self.lists[at], boxed.row).value
        following = count()
        reads = self.reads.setdefault(builder.function, {})
        parts: list[Staged] = []
        for place, spec in enumerate(record.parts):
            if place in record.unread:
                sizes = [builder.item(row, next(following)) for _ in spec.shape or ()]
                parts.append(self._unread(spec, sizes))
            else:
                parts.append(self.tracer.staged(builder.item(row, next(following))))
            reads[parts[-1].name] = boxed.key, place
        places = iter(record.places)
        leaves = [parts[next(places)] if isinstance(f, Spec) else f.value for f in leaves_of(record.tree)]
        return unflatten(structure_of(record.tree), leaves)

    def _unread(self, spec: Spec, sizes: list[Any]) -> Staged:
        """A value of which only the sizes are asked."""
        if not sizes:
            return self.tracer.staged(self.tracer.builder.op("cast", 0, dtype=dtype_name(spec.dtype)))
        return self.tracer.op("zeros", *map(self.tracer.staged, sizes), dtype=dtype_name(spec.dtype))

    def finish(self, program: Program) -> bool:
        """Whether all that is kept is read somewhere; if not, the trace starts again and keeps less."""
        read: set[tuple[Any, int]] = set()
        for function in program.functions:
            used = uses(function.body)
            read |= {place for name, place in self.reads.get(function.name, {}).items() if used[name]}
        settled = True
        for key, record in self.known.items():
            unread = frozenset(p for p in range(len(record.parts)) if (key, p) not in read)
            if not record.unread <= unread:
                raise AssertionError("what is read of a record depends on what is kept of it")
            if unread != record.unread:
                self.known[key], settled = replace(record, unread=unread), False
        return settled


def _places(values: list[Any], specs: list[Spec], before: tuple[int, ...]) -> tuple[int, ...]:
    """A place for each value; one for those that are the same, and have been in all earlier records."""
    numbers: dict[Any, int] = {}
    named = [v.value if isinstance(v, Staged) else id(v) for v in values]
    return tuple(numbers.setdefault(key, len(numbers)) for key in zip(named, specs, before, strict=True))


def _specs(tree: Tree) -> list[Spec]:
    return [leaf for leaf in leaves_of(tree) if isinstance(leaf, Spec)]


def _general(backend: Backend, tree: Tree) -> Tree:
    """A type with no number taken for one that only becomes what it meets."""
    if isinstance(tree, Made):
        return Made(tree.kind, tree.meta, [_general(backend, part) for part in tree.parts])
    return replace(tree, weak=False) if isinstance(tree, Spec) else tree
