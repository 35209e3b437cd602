"""What stands for the functions of NumPy that rearrange elements, and those that are made of others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.lantern.numpy_arrays import arange
from lsp_ad.staging.lantern.numpy_functions import (
    TABLE,
    array_of,
    as_bool,
    concatenate,
    function,
    named,
    ravel,
    reshape,
)
from lsp_ad.staging.lantern.staged import Staged


def _along(x: Any, axis: int, index: Any) -> Any:
    return x[(slice(None),) * (axis % x.ndim) + (index,)]


@named("diff")
def diff(x: Any, n: int = 1, axis: int = -1) -> Any:
    for _ in range(n):
        later, earlier = _along(x, axis, slice(1, None)), _along(x, axis, slice(None, -1))
        x = later != earlier if x.dtype == bool else later - earlier
    return x


@named("flip")
def flip(x: Any, axis: Any = None) -> Any:
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for one in axes:
        x = _along(x, one, slice(None, None, -1))
    return x


@named("flipud")
def flipud(x: Any) -> Any:
    return flip(x, 0)


@named("fliplr")
def fliplr(x: Any) -> Any:
    return flip(x, 1)


@named("roll")
def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    if isinstance(shift, tuple) or isinstance(axis, tuple):
        raise staging_error("`np.roll` over several axes at once has no Lantern form.", "Call it for each.")
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    size = x.shape[axis]
    return _along(x, axis, (arange(size) - shift) % size)


@named("take")
def take(x: Any, indices: Any, axis: int | None = None) -> Any:
    return _along(ravel(x), 0, indices) if axis is None else _along(x, axis, indices)


def _column(x: Any) -> Any:
    return x[:, None] if x.ndim == 1 else x


def _row(x: Any) -> Any:
    return x[None] if x.ndim == 1 else x


@named("vstack")
def vstack(values: Any) -> Any:
    return concatenate([_row(array_of(v)) for v in values], 0)


@named("column_stack")
def column_stack(values: Any) -> Any:
    return concatenate([_column(array_of(v)) for v in values], 1)


@named("hstack")
def hstack(values: Any) -> Any:
    arrays = [array_of(v) for v in values]
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1)


def _triangle(keeps: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def made(x: Any, k: int = 0) -> Any:
        if x.ndim < 2:
            raise staging_error("A triangle of other than matrices has no Lantern form.")
        columns, rows = arange(x.shape[-1]), arange(x.shape[-2])[:, None]
        return function("where")(keeps(columns - rows, k), x, function("zeros_like")(x))

    return made


named("tril")(_triangle(lambda apart, k: apart <= k))
named("triu")(_triangle(lambda apart, k: apart >= k))


@named("repeat")
def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    if np.ndim(repeats):
        raise staging_error("`np.repeat` has a Lantern form for one number of repeats.")
    x, axis = (ravel(x), 0) if axis is None else (x, axis)
    return _along(x, axis, arange(x.shape[axis] * repeats) // repeats)


@named("tile")
def tile(x: Any, reps: Any) -> Any:
    if x.ndim != 1 or isinstance(reps, tuple):
        raise staging_error("`np.tile` has a Lantern form for arrays of one axis and one number of repeats.")
    return x[arange(x.shape[0] * reps) % x.shape[0]]


@named("unravel_index")
def unravel_index(index: Any, shape: Any) -> tuple[Any, ...]:
    parts: list[Any] = []
    for size in reversed(shape if isinstance(shape, tuple) else (shape,)):
        parts.insert(0, index % size)
        index = index // size
    return tuple(parts)


@named("count_nonzero")
def count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return function("sum")(as_bool(array_of(x)), axis=axis, keepdims=keepdims)


@named("ptp")
def ptp(x: Any, axis: Any = None) -> Any:
    return function("max")(x, axis=axis) - function("min")(x, axis=axis)


@named("average")
def average(x: Any, axis: Any = None, weights: Any = None) -> Any:
    x = array_of(x)
    if weights is None:
        return function("mean")(x, axis=axis)
    weights = array_of(weights)
    if np.ndim(weights) != x.ndim:
        raise staging_error("`np.average` has a Lantern form for weights of the shape of the array only.")
    return function("sum")(x * weights, axis=axis) / weights.sum(axis=axis)


@named("median")
def median(x: Any, axis: int | None = None) -> Any:
    x, axis = (ravel(array_of(x)), 0) if axis is None else (x, axis)
    ordered, size = function("sort")(x, axis=axis), x.shape[axis]
    middle = (_along(ordered, axis, (size - 1) // 2) + _along(ordered, axis, size // 2)) / 2
    last = _along(ordered, axis, -1)
    return function("where")(last != last, math.nan, middle)


@named("round", "around")
def rounded(x: Any, decimals: int = 0) -> Any:
    whole = function("rint")
    if x.dtype.kind in "iu" and decimals >= 0:
        return x
    if not decimals:
        return whole(x)
    scale = 10.0 ** abs(decimals)
    return whole(x * scale) / scale if decimals > 0 else whole(x / scale) * scale


@named("isclose")
def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08) -> Any:
    size = function("abs")
    near = size(a - b) <= atol + rtol * (size(b) if isinstance(b, Staged) else abs(np.asarray(b)[()]))
    return near & (size(b) != math.inf if isinstance(b, Staged) else np.isfinite(b)) | (a == b)


@named("allclose")
def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08) -> Any:
    return function("all")(isclose(a, b, rtol, atol))


__all__ = ["TABLE"]
