"""Types of variables as trees: what a loop carries, and what two branches have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from lsp_ad.staging.backends.base import Backend, Spec
from lsp_ad.staging.errors import MismatchError, StagingError, staging_error
from lsp_ad.staging.libraries import is_users
from lsp_ad.staging.operators.lists import Item, Meta, StagedList, conformed
from lsp_ad.staging.operators.optional import Maybe
from lsp_ad.staging.operators.types import Fixed, common, is_number, is_same, is_zero, value_spec
from lsp_ad.staging.operators.variables import Undefined
from lsp_ad.staging.structures import LEAF, Leaf, Node, Structure, made_of, parts_of


@dataclass
class Made:
    """The type of a value made of others."""

    kind: type
    meta: Any
    parts: list[Tree]


Tree = Spec | Fixed | Made


def tree_of(structure: Structure, leaves: Iterator[Spec | Fixed]) -> Tree:
    if isinstance(structure, Leaf):
        return next(leaves)
    return Made(structure.kind, structure.meta, [tree_of(part, leaves) for part in structure.parts])


def type_of(backend: Backend, value: Any) -> Tree:
    """The type of a value that is there: staged parts by their types, all others by themselves."""
    parts = parts_of(value)
    if parts is None:
        return backend.spec(value) if backend.owns(value) else Fixed(value)
    return Made(type(value), parts[1], [type_of(backend, part) for part in parts[0]])


def length_spec(backend: Backend) -> Spec:
    """The type of the length of a list."""
    return value_spec(backend, np.int64(0))


def leaves_of(tree: Tree) -> list[Spec | Fixed]:
    if isinstance(tree, Made):
        return [leaf for part in tree.parts for leaf in leaves_of(part)]
    return [tree]


def structure_of(tree: Tree) -> Structure:
    if isinstance(tree, Made):
        return Node(tree.kind, tree.meta, tuple(map(structure_of, tree.parts)))
    return LEAF


def described(tree: Tree) -> str:
    """What a value of a type is, for a message."""
    if isinstance(tree, Spec):
        return str(tree)
    if isinstance(tree, Fixed):
        value = tree.value
        return repr(value) if type(value).__repr__ is not object.__repr__ else f"a {type(value).__name__}"
    if tree.kind is StagedList:
        return f"a list of at most {tree.meta.capacity} items"
    return f"a {structure_of(tree)}"


def is_list(tree: Tree) -> bool:
    return isinstance(tree, Made) and tree.kind in (list, StagedList)


def has_list(tree: Tree) -> bool:
    """Whether a list is somewhere in a type."""
    return is_list(tree) or (isinstance(tree, Made) and any(map(has_list, tree.parts)))


def fitted(value: Any, tree: Tree) -> Any:
    """The value with those of its lists staged that are in its type, and with None where it may be None."""
    if not isinstance(tree, Made):
        return value
    if tree.kind is Maybe:
        there, inside = (value.there, value.value) if isinstance(value, Maybe) else (value is not None, value)
        inside = placeholder(tree.meta, tree.parts[1]) if inside is None else fitted(inside, tree.parts[1])
        return Maybe(tree.meta, there, inside)
    if tree.kind is StagedList:
        backend = tree.meta.backend
        items = [backend.list_item(s) for s in tree.parts[1:] if isinstance(s, Spec)]
        if type(value) is list:
            item = _item_of(backend, tree)
            value = [fitted(each, item) for each in value]
        return conformed(value, tree.meta, items)
    found = parts_of(value)
    assert found is not None
    return made_of(
        type(value), found[1], [fitted(part, t) for part, t in zip(found[0], tree.parts, strict=True)]
    )


def _item_of(backend: Backend, tree: Made) -> Tree:
    """The type of the items of a staged list."""
    stores = iter([s for s in tree.parts[1:] if isinstance(s, Spec)])
    leaves = [f or backend.list_item(next(stores)) for f in tree.meta.item.fixed]
    return tree_of(tree.meta.item.structure, iter(leaves))


def placeholder(backend: Backend, tree: Tree) -> Any:
    """A value of a type, for where there is none."""
    if isinstance(tree, Made):
        return made_of(tree.kind, tree.meta, [placeholder(backend, part) for part in tree.parts])
    return backend.zeros(tree) if isinstance(tree, Spec) else tree.value


def may_be_none(tree: Tree) -> bool:
    """Whether something in a type may be None."""
    return isinstance(tree, Made) and (tree.kind is Maybe or any(map(may_be_none, tree.parts)))


def _is_maybe(tree: Tree) -> bool:
    return isinstance(tree, Made) and tree.kind is Maybe


def _is_none(tree: Tree) -> bool:
    return isinstance(tree, Fixed) and tree.value is None


class Joining:
    """Finds the type that covers two. `places`: how a message calls them; `error`: if none does."""

    error: type[StagingError] = MismatchError

    def __init__(self, backend: Backend, name: str, places: tuple[str, str]):
        self.backend, self.name, self.places = backend, name, places

    def join(self, a: Tree, b: Tree, path: tuple = ()) -> Tree:
        if self.backend.optional and (_is_none(a) != _is_none(b) or _is_maybe(a) != _is_maybe(b)):
            return self.optional(a, b, path)
        if isinstance(a, Made) and isinstance(b, Made):
            lists = is_list(a) and is_list(b)
            if lists and (a.kind, a.meta) != (b.kind, b.meta):
                return self.lists(a, b, path)
            if a.kind == b.kind and a.meta == b.meta:
                pairs = enumerate(zip(a.parts, b.parts, strict=True))
                return Made(a.kind, a.meta, [self.join(*pair, (*path, i)) for i, pair in pairs])
        elif not isinstance(a, Made) and not isinstance(b, Made):
            return self.leaf(a, b)
        raise self.mismatch(a, b)

    def optional(self, a: Tree, b: Tree, path: tuple) -> Tree:
        """The type that covers two of which one may be None."""
        inside = [part for t in (a, b) if not _is_none(t) for part in [t.parts[1] if _is_maybe(t) else t]]  # type: ignore[union-attr]
        found = self.join(inside[0], inside[-1], path)
        if isinstance(found, Fixed):
            found = self.number(found) or found
        return Made(Maybe, self.backend, [Spec(np.dtype(bool), ()), found])

    def mismatch(self, a: Tree, b: Tree, way_out: str = "") -> Exception:
        one, other = self.places
        first, second = described(a), described(b)
        if first == second and first.startswith("a "):
            second = f"another {second[2:]}"
        return staging_error(
            f"`{self.name}` is {first} {one}, {second} {other}.",
            way_out,
            self.error,
        )

    def leaf(self, a: Spec | Fixed, b: Spec | Fixed) -> Spec | Fixed:
        if isinstance(a, Fixed) and isinstance(b, Fixed) and is_same(a.value, b.value):
            return a
        for zero, found in ((a, b), (b, a)):
            if isinstance(zero, Fixed) and isinstance(found, Spec) and is_zero(zero.value):
                return found
        one, other = self.number(a), self.number(b)
        if one is None or other is None:
            raise self.mismatch(a, b, _way_out(a, b))
        wide = common(self.backend, one, other)
        if wide is None:
            raise self.mismatch(one, other, "Give it one type and shape.")
        return wide

    def number(self, leaf: Spec | Fixed) -> Spec | None:
        if isinstance(leaf, Spec):
            return leaf
        return value_spec(self.backend, leaf.value) if is_number(leaf.value) else None

    def lists(self, a: Made, b: Made, path: tuple) -> Tree:
        """The staged list that stands for two lists, of a capacity for both."""
        tops = [t.meta if t.kind is StagedList else Meta(self.backend, NO_ITEM, 0) for t in (a, b)]
        capacity, reserve, top, peak = (
            max(getattr(m, of) for m in tops) for of in ("capacity", "reserve", "top", "peak")
        )
        capacity = max(capacity, *(len(t.parts) for t in (a, b) if t.kind is list), 0)
        return self.list_type(a, b, Meta(self.backend, NO_ITEM, capacity, 0, reserve, top, peak))

    def list_type(self, a: Made, b: Made, meta: Meta) -> Made:
        items = [*self._items(a), *self._items(b)]
        if not items:
            raise staging_error(f"The list `{self.name}` changes in staged code, and has no items.")
        item = items[0]
        for other in items[1:]:
            item = self._item(item, other)
        leaves = leaves_of(item)
        form = Item(structure_of(item), tuple(leaf if isinstance(leaf, Fixed) else None for leaf in leaves))
        stores: list[Tree] = [self.backend.list_spec(s, meta.capacity) for s in leaves if isinstance(s, Spec)]
        return Made(StagedList, replace(meta, item=form), [length_spec(self.backend), *stores])

    def _items(self, tree: Made) -> list[Tree]:
        """The types of the items of a list."""
        if tree.kind is list:
            return [_stored(self.backend, part) for part in tree.parts]
        return [_item_of(self.backend, tree)]

    def _item(self, a: Tree, b: Tree) -> Tree:
        return Joining(self.backend, f"{self.name}[...]", ("in one place", "in another")).join(a, b)


def _way_out(*leaves: Spec | Fixed) -> str:
    """What to do where what is no number depends on staged values."""
    for leaf in leaves:
        if isinstance(leaf, Fixed) and isinstance(leaf.value, Enum):
            return f"Let its number depend on them, `{type(leaf.value).__name__}.{leaf.value.name}.value`."
        if isinstance(leaf, Fixed) and is_users(type(leaf.value)):
            return (
                f"Make `{type(leaf.value).__name__}` a dataclass or a NamedTuple, or change the attributes of"
                " one object."
            )
    return "Only numbers and arrays can depend on staged values."


def _stored(backend: Backend, tree: Tree) -> Tree:
    """The type of an item, its floats and arrays as what is stored of them."""
    if isinstance(tree, Made):
        return Made(tree.kind, tree.meta, [_stored(backend, part) for part in tree.parts])
    if isinstance(tree, Fixed) and isinstance(tree.value, (float, complex, np.generic, np.ndarray)):
        return value_spec(backend, tree.value) if is_number(tree.value) else tree
    return tree


def listed(backend: Backend, items: list[Any]) -> StagedList:
    """A Python list as a staged one of the same items, to be read or written at staged indices."""
    tree = type_of(backend, items)
    assert isinstance(tree, Made)
    wanted = Joining(backend, "list", ("in one place", "in another")).list_type(
        tree, tree, Meta(backend, NO_ITEM, len(items))
    )
    made: StagedList = fitted(items, wanted)
    return made


NO_ITEM = Item(LEAF, (None,))


def is_undefined(tree: Tree) -> bool:
    return any(isinstance(leaf, Fixed) and isinstance(leaf.value, Undefined) for leaf in leaves_of(tree))


__all__: Sequence[str] = [
    "NO_ITEM",
    "Joining",
    "Made",
    "Tree",
    "described",
    "fitted",
    "has_list",
    "is_list",
    "is_undefined",
    "leaves_of",
    "length_spec",
    "listed",
    "may_be_none",
    "structure_of",
    "tree_of",
    "type_of",
]
