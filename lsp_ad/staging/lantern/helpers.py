"""The helpers of generated gradients that look at shapes, as operations on values of unknown sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from lsp_ad.staging.helpers import helper_name
from lsp_ad.staging.lantern.numpy_functions import astype, function
from lsp_ad.staging.lantern.staged import Staged
from lsp_ad.staging.operators.optional import certain


def helper(called: FunctionType, args: tuple) -> Callable[[], Any] | None:
    """What stands for a call, if it is one of the helpers, and for its arguments there is something."""
    known = _HELPERS.get(helper_name(called) or "")
    if known is None:
        return None
    args = certain(args)
    if known is split_like:
        stands = isinstance(args[0], Staged) and type(args[1]) in (list, tuple)
    else:
        stands = known is unbroadcast or _are_small(*args)
    return partial(known, *args) if stands else None


def unbroadcast(dx: Any, x: Any) -> Any:
    """The sum of `dx` over the axes along which `x` was broadcast.

    The rank of `x` tells which are new, sizes of 1 which were stretched.
    """
    if not isinstance(dx, Staged):
        if not isinstance(x, Staged) or not np.ndim(dx):
            return dx
        dx = x.tracer.staged(x.tracer.value(np.asarray(dx)))
    added = dx.ndim - np.ndim(x)
    if added < 0 or x is dx:
        return dx
    return _reduced(dx, added, x.shape if np.ndim(x) else ())


def _reduced(dx: Staged, added: int, sizes: Sequence[Any]) -> Staged:
    """The sum over the first axes, and over those of the others where the size that is wanted is 1."""
    if added:
        dx = function("sum")(dx, axis=tuple(range(added)))
    if not sizes:
        return dx
    if dx.dtype.name in ("bool", "int32"):
        dx = astype(dx, "int64")
    return dx.tracer.op("unbroadcast", dx, *sizes)


def matmul_adjoint_left(dy: Any, x1: Any, x2: Any) -> Any:
    """The adjoint of x1 in y = x1 @ x2, for vectors and matrices."""
    dy = _of_product(dy, x1, x2)
    if x2.ndim == 1:
        return dy * x2 if x1.ndim == 1 else dy[:, None] * x2
    return dy @ x2.T if x1.ndim == 2 else x2 @ dy


def matmul_adjoint_right(dy: Any, x1: Any, x2: Any) -> Any:
    """The adjoint of x2 in y = x1 @ x2, for vectors and matrices."""
    dy = _of_product(dy, x1, x2)
    if x2.ndim == 1:
        return dy * x1 if x1.ndim == 1 else x1.T @ dy
    return x1.T @ dy if x1.ndim == 2 else x1[:, None] * dy


def _of_product(dy: Any, x1: Any, x2: Any) -> Any:
    """The adjoint of a product in the shape of the product."""
    sizes = (*x1.shape[:-1], *x2.shape[1:])
    if not isinstance(dy, Staged) or dy.ndim < len(sizes):
        return function("broadcast_to")(dy, sizes)
    return _reduced(dy, dy.ndim - len(sizes), sizes)


def split_like(dy: Any, xs: Any, axis: Any = 0) -> list[Any]:
    """The adjoints of the arrays xs in y = np.concatenate(xs, axis)."""
    pieces, start = [], 0
    for x in xs:
        end = start + (x.size if axis is None else x.shape[axis])
        cut = (slice(None),) * (0 if axis is None else axis % dy.ndim) + (slice(start, end),)
        pieces.append(dy[cut] if axis is not None else function("reshape")(dy[cut], x.shape))
        start = end
    return pieces


def _are_small(dy: Any, x1: Any, x2: Any) -> bool:
    return all(isinstance(x, Staged) and x.ndim in (1, 2) for x in (x1, x2))


_HELPERS: dict[str, Callable[..., Any]] = {
    "unbroadcast": unbroadcast,
    "matmul_adjoint_left": matmul_adjoint_left,
    "matmul_adjoint_right": matmul_adjoint_right,
    "split_like": split_like,
}
