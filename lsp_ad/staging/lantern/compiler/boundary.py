"""Values on their way into compiled code and out of it: tuples taken apart, arrays in C order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lsp_ad.staging.lantern.compiler.lists import sample
from lsp_ad.staging.lantern.compiler.operands import leaf_types
from lsp_ad.staging.lantern.errors import LanternError
from lsp_ad.staging.lantern.ir import Array, List, Scalar, Tuple, Type
from lsp_ad.staging.lantern.values import PYTHON, accepted

# Appends what a value consists of.
Taking = Callable[[Any, list[Any]], None]


def taking(t: Type, name: str, consumed: bool) -> Taking:
    """What checks a value of a type, and takes it in; arrays that are consumed are copied."""
    if isinstance(t, Scalar):
        return _taking_scalar(t, name)
    if isinstance(t, Array):
        return _taking_array(t, name, consumed)
    if isinstance(t, Tuple):
        items = [taking(i, name, consumed) for i in t.items]

        def take(value: Any, found: list[Any]) -> None:
            for item, v in zip(items, accepted(value, t, name), strict=True):
                item(v, found)

        return take
    assert isinstance(t, List)
    return _taking_list(t, name)


def _taking_scalar(t: Scalar, name: str) -> Taking:
    numpy = np.dtype(t.dtype).type
    python = next((kind for kind, type_ in PYTHON.items() if type_ == t and kind is not int), None)

    def take(value: Any, found: list[Any]) -> None:
        known = type(value) is python or type(value) is numpy
        found.append(value if known else accepted(value, t, name))

    return take


def _taking_array(t: Array, name: str, consumed: bool) -> Taking:
    dtype, rank = np.dtype(t.dtype), t.rank

    def take(value: Any, found: list[Any]) -> None:
        if type(value) is not np.ndarray or value.dtype != dtype or value.ndim != rank:
            accepted(value, t, name)
        dense = np.ascontiguousarray(value, dtype)
        owned = consumed and np.may_share_memory(dense, value)
        found.append(dense.copy() if owned or not dense.flags.writeable else dense)

    return take


def _taking_list(t: List, name: str) -> Taking:
    """Lists get an item more, which shows the type of the items."""
    item = taking(t.item, name, False)
    last = eval(sample(t.item), {"np": np}) if not _has_lists(t.item) else None

    def take(value: Any, found: list[Any]) -> None:
        if last is None:
            raise LanternError("a list of lists cannot be given to a compiled program")
        items: list[Any] = []
        for v in accepted(value, t, name):
            parts: list[Any] = []
            item(v, parts)
            items.append(parts[0] if len(parts) == 1 else tuple(parts) if parts else 0)
        found.append([*items, last])

    return take


def _has_lists(t: Type) -> bool:
    return any(isinstance(leaf, List) for leaf in leaf_types(t))


def giving(t: Type) -> Callable[[Any], Any]:
    """What makes a value of NumPy and Python from one of compiled code."""
    count = len(list(leaf_types(t)))
    whole = _giving(t)
    if count == 1:
        return lambda value: whole(iter((value,)))
    return lambda value: whole(iter(value if count else ()))


def _giving(t: Type) -> Callable[[Iterator[Any]], Any]:
    if isinstance(t, Tuple):
        items = [_giving(i) for i in t.items]
        return lambda parts: tuple([item(parts) for item in items])
    if isinstance(t, Scalar):
        numpy = np.dtype(t.dtype).type
        return lambda parts: numpy(next(parts))
    if isinstance(t, List):
        each = giving(t.item)
        return lambda parts: [each(v) for v in next(parts)]
    return next
