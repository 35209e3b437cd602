"""Going through gast trees, and copying them, fast: every pass does it for every statement.

Contexts and operators (`Load`, `Add`) have no parts and no place, so no walk stops at them, and copies
share them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gast

_CONTEXTS = frozenset({"ctx", "op", "ops"})
_TEXTS = frozenset({"id", "attr", "arg", "kind", "type_comment", "module", "kwd_attrs", "rest", "tag"})
_FLAGS = frozenset({"conversion", "simple", "level", "is_async", "type_ignores"})
_NO_NODES = _CONTEXTS | _TEXTS | _FLAGS
_LEAVES = (gast.Constant, gast.Global, gast.Nonlocal, gast.alias)


class _Parts(dict[type, tuple[str, ...]]):
    """The fields of a class of nodes that may hold nodes, found when it is first asked for."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        fields = getattr(kind, "_fields", ())
        self[kind] = () if issubclass(kind, _LEAVES) else tuple(f for f in fields if f not in _NO_NODES)
        return self[kind]


PARTS = _Parts()


def walk(node: gast.AST) -> Iterator[gast.AST]:
    """Every node of a tree, in no particular order."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        for field in PARTS[type(node)]:
            value = getattr(node, field, None)
            if value is None:
                continue
            if isinstance(value, list):
                pending += [item for item in value if isinstance(item, gast.AST)]
            elif isinstance(value, gast.AST):
                pending.append(value)


def children(node: gast.AST) -> list[gast.AST]:
    """The nodes directly under a node, in the order of its fields."""
    found: list[gast.AST] = []
    for field in PARTS[type(node)]:
        value = getattr(node, field, None)
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, gast.AST)]
        elif isinstance(value, gast.AST):
            found.append(value)
    return found


def copied(node: gast.AST) -> gast.AST:
    """A copy of a tree, to be changed without harm to the tree."""
    return rebuilt(node, copied)


def rebuilt(node: gast.AST, part: Callable[[gast.AST], gast.AST]) -> gast.AST:
    """A copy of a node, with what `part` makes of each node directly under it."""
    kind: Any = type(node)
    new: gast.AST = kind.__new__(kind)  # its constructor would set every field once more
    content = new.__dict__
    content.update(node.__dict__)
    for field in PARTS[kind]:
        value = content.get(field)
        if value is None:
            continue
        if isinstance(value, list):
            content[field] = [part(item) if isinstance(item, gast.AST) else item for item in value]
        elif isinstance(value, gast.AST):
            content[field] = part(value)
    return new


def same(a: object, b: object) -> bool:
    """Whether two trees are equal, wherever they stand."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, gast.AST):
        return all(same(getattr(a, field, None), getattr(b, field, None)) for field in a._fields)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return repr(a) == repr(b)  # 0.0 and -0.0 are equal numbers
