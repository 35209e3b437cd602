"""Lists: Python lists of numbers, arrays, lists, and of flat tuples of these."""

from __future__ import annotations

from collections.abc import Iterator

from lsp_ad.staging.lantern.compiler.operands import (
    Computed,
    Group,
    Listed,
    Number,
    Operand,
    Roots,
    Stored,
    code_of,
    leaf_types,
    leaves,
    rebuilt,
    roots_of,
    stored,
)
from lsp_ad.staging.lantern.compiler.scalars import converted
from lsp_ad.staging.lantern.compiler.writer import Writer
from lsp_ad.staging.lantern.ir import Array, List, Scalar, Type


def sample(t: Type) -> str:
    """Some value of a type, with tuples flat."""
    return packed([_sample_leaf(leaf) for leaf in leaf_types(t)])


def _sample_leaf(t: Type) -> str:
    if isinstance(t, Scalar):
        # Not a literal: Numba would keep its value in the type of a list.
        return "np.bool_(False)" if t.dtype == "bool" else f"np.{t.dtype}(0)"
    if isinstance(t, Array):
        shape = "0" if t.rank == 1 else str((0,) * t.rank)
        return f"np.empty({shape}, np.{'bool_' if t.dtype == 'bool' else t.dtype})"
    assert isinstance(t, List)
    return f"empty_list({sample(t.item)})"


def packed(codes: list[str]) -> str:
    """One value for what a value consists of: a tuple, unless there is one part only."""
    if not codes:
        return "0"
    return codes[0] if len(codes) == 1 else f"({', '.join(codes)})"


def unpacked(w: Writer, code: str, t: Type, roots: Roots) -> Operand:
    """The value that one packed value stands for; its arrays and lists may be in this memory."""
    types = list(leaf_types(t))
    if not types:
        w.line(code)
        return rebuilt(t, iter(()))
    base = "item" if len(types) == 1 else "items"
    whole = w.atom(code, base)
    parts = [whole] if len(types) == 1 else [w.assign("t", f"{whole}[{k}]") for k in range(len(types))]
    return rebuilt(t, (_leaf(w, c, leaf, roots) for c, leaf in zip(parts, types, strict=True)))


def _leaf(w: Writer, code: str, t: Type, roots: Roots) -> Operand:
    if isinstance(t, Scalar):
        return Number(code, t.dtype)
    if isinstance(t, Array):
        return stored(code, t, roots)
    assert isinstance(t, List)
    return Listed(code, t, w.new_root(False), roots)


def kept(w: Writer, operand: Operand) -> tuple[Operand, str]:
    """A value as it is kept in a list or passed on, and its packed code."""
    flat = list(leaves(operand))
    with w.holding(*flat):
        parts = [kept_leaf(w, leaf) for leaf in flat]
    return _regrouped(operand, iter(parts)), packed([*map(code_of, parts)])


def kept_leaf(w: Writer, leaf: Operand) -> Operand:
    """A part of a value, held until now, as it is kept."""
    if not isinstance(leaf, Stored | Computed):
        return leaf
    with w.released(leaf):
        return w.contiguous(leaf)


def _regrouped(operand: Operand, parts: Iterator[Operand]) -> Operand:
    if isinstance(operand, Group):
        return Group(tuple(_regrouped(item, parts) for item in operand.items))
    return next(parts)


def new(w: Writer, t: Type) -> Listed:
    assert isinstance(t, List)
    own = w.new_root(True)
    return Listed(w.assign("items", f"empty_list({sample(t.item)})"), t, own, frozenset({own}))


def owned(w: Writer, items: Listed) -> Listed:
    """A list to write into: itself, where nothing else reads it."""
    with w.released(items):
        if w.claim(items):
            return items
    own = w.new_root(True)
    return Listed(
        w.assign("items", f"{items.code}.copy()"), items.type, own, (items.roots - {items.own}) | {own}
    )


def append(w: Writer, items: Listed, item: Operand) -> Listed:
    value, code = kept(w, item)
    with w.holding(value):
        found = owned(w, items)
    w.line(f"{found.code}.append({code})")
    return Listed(found.code, found.type, found.own, found.roots | roots_of(value))


def pop(w: Writer, items: Listed) -> Operand:
    found = owned(w, items)
    item = unpacked(w, f"{found.code}.pop()", found.type.item, found.roots - {found.own})
    return Group((found, item))


def get(w: Writer, items: Listed, position: Number) -> Operand:
    index = f"list_at({converted(position, 'int64').code}, len({items.code}))"
    return unpacked(w, f"{items.code}[{index}]", items.type.item, items.roots - {items.own})


def set_item(w: Writer, items: Listed, position: Number, item: Operand) -> Listed:
    value, code = kept(w, item)
    place = w.atom(position.code)
    with w.holding(value):
        found = owned(w, items)
    w.line(f"{found.code}[list_at({place}, len({found.code}))] = {code}")
    return Listed(found.code, found.type, found.own, found.roots | roots_of(value))
