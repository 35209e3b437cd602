"""Going through trees, and copying them, fast: every pass does it for every statement.

Contexts and operators (`Load`, `Add`) have no parts and no place, so no walk stops at them, and copies
share them. Names, constants, operations, calls and attributes are most of every tree: walks look for them
first.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gast

_CONTEXTS = frozenset({"ctx", "op", "ops"})
_TEXTS = frozenset({"id", "attr", "arg", "kind", "type_comment", "module", "kwd_attrs", "rest", "str", "tag"})
_FLAGS = frozenset({"conversion", "simple", "level", "is_async", "type_ignores"})
_NO_NODES = _CONTEXTS | _TEXTS | _FLAGS
_LEAVES = tuple(
    getattr(module, kind)
    for module in (ast, gast)
    for kind in ("Constant", "Global", "Nonlocal", "alias", "MatchSingleton")
)


class _Parts(dict[type, tuple[str, ...]]):
    """The fields of a class of nodes that hold nodes (one, a list, or None), found when first asked for."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        fields = () if issubclass(kind, _LEAVES) else getattr(kind, "_fields", ())
        named = kind is gast.ExceptHandler  # elsewhere a name is a text
        self[kind] = tuple(f for f in fields if f not in _NO_NODES and (named or f != "name"))
        return self[kind]


PARTS = _Parts()


@contextmanager
def no_collection() -> Iterator[None]:
    """Without the garbage collector, which finds nothing in trees, as they have no cycles, but takes
    a third of the time of all that makes many nodes.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")
_NAME, _CONSTANT, _OPERATION = gast.Name, gast.Constant, gast.BinOp
_CALL, _ATTRIBUTE = gast.Call, gast.Attribute


def walk(node: gast.AST) -> list[gast.AST]:
    """Every node of a tree, each before what is in it."""
    found = [node]
    for node in found:  # which grows on the way
        kind = type(node)
        if kind is _NAME or kind is _CONSTANT:
            continue
        if kind is _OPERATION:
            found += (node.left, node.right)
        elif kind is _CALL:
            found += (node.func, *node.args, *node.keywords)
        elif kind is _ATTRIBUTE:
            found.append(node.value)
        else:
            content = node.__dict__
            for field in PARTS[kind]:
                value = content.get(field)
                if type(value) is list:
                    found += value if None not in value else [item for item in value if item is not None]
                elif value is not None:
                    found.append(value)
    return found


def children(node: gast.AST) -> list[gast.AST]:
    """The nodes directly under a node, in the order of its fields."""
    kind = type(node)
    if kind is _NAME or kind is _CONSTANT:
        return []
    if kind is _OPERATION:
        return [node.left, node.right]
    if kind is _CALL:
        return [node.func, *node.args, *node.keywords]
    found: list[gast.AST] = []
    for field in PARTS[kind]:
        value = node.__dict__.get(field)
        if type(value) is list:
            found += [item for item in value if item is not None]
        elif value is not None:
            found.append(value)
    return found


def copied(node: gast.AST) -> gast.AST:
    """A copy of a tree, to be changed without harm to the tree."""
    kind: Any = type(node)
    new: gast.AST = kind.__new__(kind)  # its constructor would set every field once more
    content = new.__dict__
    content.update(node.__dict__)
    if kind is _NAME or kind is _CONSTANT:
        return new
    if kind is _OPERATION:
        content["left"], content["right"] = copied(content["left"]), copied(content["right"])
        return new
    for field in PARTS[kind]:
        value = content.get(field)
        if type(value) is list:
            content[field] = [copied(item) if item is not None else None for item in value]
        elif value is not None:
            content[field] = copied(value)
    return new


def shallow(node: gast.AST) -> gast.AST:
    """A copy of a node with the same parts."""
    kind: Any = type(node)
    new: gast.AST = kind.__new__(kind)
    new.__dict__.update(node.__dict__)
    return new


def located(new: gast.AST, old: gast.AST) -> gast.AST:
    """The new node, with the place of the old one, if that has any."""
    content, place = new.__dict__, old.__dict__
    for attribute in _PLACE:
        if attribute in place:
            content[attribute] = place[attribute]
    return new


def rebuilt(node: gast.AST, part: Callable[[gast.AST], gast.AST]) -> gast.AST:
    """A copy of a node, with what `part` makes of each node directly under it."""
    kind: Any = type(node)
    new: gast.AST = kind.__new__(kind)  # its constructor would set every field once more
    content = new.__dict__
    content.update(node.__dict__)
    if kind is _NAME or kind is _CONSTANT:
        return new
    for field in PARTS[kind]:
        value = content.get(field)
        if type(value) is list:
            content[field] = [part(item) if item is not None else None for item in value]
        elif value is not None:
            content[field] = part(value)
    return new


def same(a: object, b: object) -> bool:
    """Whether two trees are equal, wherever they stand."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) is _NAME:
        return a.id == b.id and type(a.ctx) is type(b.ctx)  # type: ignore[attr-defined]
    if isinstance(a, gast.AST):
        one, other = a.__dict__, b.__dict__
        return all(same(one.get(field), other.get(field)) for field in a._fields)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return repr(a) == repr(b)  # 0.0 and -0.0 are equal numbers
