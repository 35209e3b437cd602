"""Values made of others (tuples, lists, dicts, named tuples, dataclasses, and what a library knows), taken
apart and made again.

A leaf is anything else. A structure is compared by `==`: equal ones have equal forms.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Leaf:
    """The structure of a single value."""


@dataclass(frozen=True)
class Node:
    """A value made of others: its type, what in it is no value (keys, lengths), and its parts."""

    kind: type
    meta: Any
    parts: tuple[Leaf | Node, ...]

    def __str__(self) -> str:
        if isinstance(self.meta, Form):
            return f"{self.kind.__name__} {self.meta}"
        if self.kind is dict:
            return f"dict with keys {', '.join(map(repr, self.meta))}"
        return f"{self.kind.__name__} of {len(self.parts)}"


Structure = Leaf | Node
LEAF = Leaf()


class Form:
    """What a library knows of an object besides its parts, and how it makes one; equal where it says so."""

    def made(self, parts: list[Any]) -> Any:
        raise NotImplementedError


_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class that Python code has defined
_taking_apart: list[Callable[[Any], tuple[list, Form] | None]] = []


def recognize(take: Callable[[Any], tuple[list, Form] | None]) -> None:
    """Let a library say what objects of classes that it knows are made of; None of any other value."""
    _taking_apart.append(take)


_registered: dict[type, tuple[Callable[[Any], tuple[list, Any]], Callable[[Any, list], Any]]] = {}


def register(kind: type, take: Callable[[Any], tuple[list, Any]], make: Callable[[Any, list], Any]) -> None:
    """Teach a type: `take(value)` gives its parts and its meta data, `make(meta, parts)` the value back."""
    _registered[kind] = take, make


def flatten(value: Any) -> tuple[list[Any], Structure]:
    """The leaves of a value, in order, and its structure."""
    leaves: list[Any] = []
    return leaves, _flatten(value, leaves)


def _flatten(value: Any, leaves: list[Any]) -> Structure:
    taken = parts_of(value)
    if taken is None:
        leaves.append(value)
        return LEAF
    parts, meta = taken
    return Node(type(value), meta, tuple(_flatten(part, leaves) for part in parts))


def unflatten(structure: Structure, leaves: Iterable[Any]) -> Any:
    """A value of a structure, made of leaves."""
    return _unflatten(structure, iter(leaves))


def _unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, Leaf):
        return next(leaves)
    return made_of(structure.kind, structure.meta, [_unflatten(part, leaves) for part in structure.parts])


def contains(structure: Structure, kind: type) -> bool:
    """Whether values of a structure have one of a type in them."""
    if isinstance(structure, Leaf):
        return False
    return structure.kind is kind or any(contains(part, kind) for part in structure.parts)


def copied(value: Any) -> Any:
    """The value with containers of its own and the same leaves."""
    leaves, structure = flatten(value)
    return unflatten(structure, leaves)


def mapped(value: Any, kind: type, change: Callable[[Any, tuple], Any], path: tuple = ()) -> Any:
    """The value with every object of a type in it replaced by `change(object, path)`.

    The value itself where that changes nothing.
    """
    if type(value) is kind:
        return change(value, path)
    found = parts_of(value)
    if found is None:
        return value
    parts = [mapped(part, kind, change, (*path, i)) for i, part in enumerate(found[0])]
    same = all(new is old for new, old in zip(parts, found[0], strict=True))
    return value if same else made_of(type(value), found[1], parts)


def parts_of(value: Any) -> tuple[list[Any], Any] | None:
    """The parts of a value and what else there is to it (keys, a length); None of a leaf."""
    kind = type(value)
    if kind is tuple or kind is list:
        return list(value), len(value)
    if kind is dict:
        return list(value.values()), tuple(value)
    if kind in _registered:
        return _registered[kind][0](value)
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return list(value), len(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value) if hasattr(value, f.name)]
        return [getattr(value, name) for name in names], tuple(names)
    if kind.__flags__ & _HEAP_TYPE:
        return next((found for take in _taking_apart if (found := take(value)) is not None), None)
    return None


def made_of(kind: type, meta: Any, parts: list[Any]) -> Any:
    """A value of its parts, as `parts_of` gives them."""
    if kind is tuple:
        return tuple(parts)
    if kind is list:
        return parts
    if kind is dict:
        return dict(zip(meta, parts, strict=True))
    if kind in _registered:
        return _registered[kind][1](meta, parts)
    if isinstance(meta, Form):
        return meta.made(parts)
    if issubclass(kind, tuple):
        return kind(*parts)
    made = kind.__new__(kind)  # without __init__, which may compute
    for name, part in zip(meta, parts, strict=True):
        object.__setattr__(made, name, part)
    return made
