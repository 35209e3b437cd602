"""Helpers of generated derivatives, of lists whose length is not known when tracing and what may be None."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lsp_ad.staging.backends.base import Kept
from lsp_ad.staging.helpers import helper_name
from lsp_ad.staging.operators.lists import StagedList
from lsp_ad.staging.operators.optional import Maybe
from lsp_ad.staging.structures import parts_of


def of_lists(function: Any, args: tuple) -> Callable[..., Any] | None:
    """What stands for a converted function, if it is a helper and there is such a value in its arguments."""
    known = _HELPERS.get(getattr(function, "__name__", ""))
    if known is None or not any(map(_has_lists, args)) or helper_name(function) is None:
        return None
    return partial(known, function)


def opened(value: Any) -> Any:
    """The value with the lists and tuples themselves for what stands for them."""
    if isinstance(value, Kept):
        return opened(value.opened())
    return type(value)(map(opened, value)) if type(value) in (list, tuple) and is_kept(value) else value


def is_kept(value: Any) -> bool:
    """Whether it is, or has in it, what stands for a list or tuple."""
    return isinstance(value, Kept) or (type(value) in (list, tuple) and any(map(is_kept, value)))


def _has_lists(value: Any) -> bool:
    return isinstance(value, (StagedList, Maybe)) or any(map(_has_lists, (parts_of(value) or [()])[0]))


def _zeros(plain: Callable[..., Any], x: Any) -> Any:
    from lsp_ad.staging.conversion import converted

    if isinstance(x, StagedList):
        return converted(_zeros_of_items)(x, plain)  # type: ignore[arg-type]
    if isinstance(x, Maybe):
        return Maybe(x.backend, x.there, _zeros(plain, opened(x.value)))
    if not _has_lists(x):
        return plain(x)
    if isinstance(x, dict):
        return {key: _zeros(plain, item) for key, item in x.items()}
    return [_zeros(plain, 0.0 if item is None and isinstance(x, tuple) else item) for item in x]


def _sum(plain: Callable[..., Any], dx: Any, dy: Any) -> Any:
    from lsp_ad.staging.conversion import converted

    if isinstance(dx, StagedList) and _has_items(dy):
        return converted(_sum_of_items)(dx, dy, plain)  # type: ignore[arg-type]
    if isinstance(dy, StagedList) and _has_items(dx):
        return converted(_sum_of_items)(dx, dy, plain).array()  # type: ignore[arg-type]
    return plain(dx, dy)


def _like(plain: Callable[..., Any], dx: Any, x: Any) -> Any:
    from lsp_ad.staging.conversion import converted

    if isinstance(x, StagedList):
        return converted(_items_like)(dx, x, plain)  # type: ignore[arg-type]
    return plain(dx, x)


def _has_items(value: Any) -> bool:
    return isinstance(value, (StagedList, list, tuple)) or np.ndim(value) > 0


def _zeros_of_items(x: Any, zeros_of: Any) -> Any:
    made = []
    for item in x:
        made.append(zeros_of([item])[0])
    return made


def _sum_of_items(dx: Any, dy: Any, sum_of: Any) -> Any:
    made = []
    for a, b in zip(dx, dy):  # noqa: B905 (of one length, which is not known)
        made.append(sum_of(a, b))
    return made


def _items_like(dx: Any, x: Any, like: Any) -> Any:
    made = []
    for d, item in zip(dx, x):  # noqa: B905 (of one length, which is not known)
        made.append(like(d, item))
    return made


_HELPERS: dict[str, Callable[..., Any]] = {"zeros_of": _zeros, "sum_of": _sum, "like": _like}
