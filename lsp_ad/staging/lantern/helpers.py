"""The helpers of generated gradients that look at shapes, as operations on values whose sizes are not known.

Whether a helper stands in the user's file or in `lsp_ad.runtime`, it is known by its code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from lsp_ad.staging.lantern.numpy_functions import function
from lsp_ad.staging.lantern.staged import Staged


def helper(called: FunctionType) -> Callable[..., Any] | None:
    """What stands for a function, if it is one of the helpers."""
    plain = getattr(called, "__lsp_ad_unstaged__", called)
    known = _HELPERS.get(plain.__name__)
    code = _codes().get(plain.__name__)
    return known if known is not None and code is not None and _is_alike(plain.__code__, code) else None


@cache
def _codes() -> dict[str, CodeType]:
    """The code of the helpers, by name, from their text."""
    text = (Path(__file__).parents[2] / "runtime" / "basic.py").read_text(encoding="utf-8")
    return {c.co_name: c for c in compile(text, "basic.py", "exec").co_consts if isinstance(c, CodeType)}


def _is_alike(a: CodeType, b: CodeType) -> bool:
    return (a.co_code, a.co_names, a.co_varnames) == (b.co_code, b.co_names, b.co_varnames)


def unbroadcast(dx: Any, x: Any) -> Any:
    """The sum of `dx` over the axes along which `x` was broadcast.

    The rank of `x` tells which are new, sizes of 1 which were stretched.
    """
    if not isinstance(dx, Staged):
        if not isinstance(x, Staged) or not np.ndim(dx):
            return dx
        dx = x.tracer.staged(x.tracer.value(np.asarray(dx)))
    rank = np.ndim(x)
    added = dx.ndim - rank
    if added > 0:
        dx = function("sum")(dx, axis=tuple(range(added)))
    if not rank or added < 0 or x is dx:
        return dx
    tracer = dx.tracer
    builder = tracer.builder
    for axis in range(rank):
        mine, other = tracer.value(dx), tracer.value(x)
        sizes = [builder.op("size", value, axis=axis) for value in (mine, other)]
        summed = partial(builder.op, "sum", mine, axis=axis, keepdims=True)
        dx = tracer.staged(builder.branch(builder.op("==", *sizes), partial(_same, mine), summed))
    return dx


def _same(value: Any) -> Any:
    return value


_HELPERS: dict[str, Callable[..., Any]] = {"unbroadcast": unbroadcast}
