"""What stands for the functions of NumPy that make arrays, sort and sum them up, and solve linear systems."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.lantern.numpy_functions import TABLE, array_of, astype, function, named, ravel, tracer_of
from lsp_ad.staging.lantern.staged import Staged


@named("zeros", "empty")
def zeros(shape: Any, dtype: Any = float) -> Any:
    sizes = shape if isinstance(shape, tuple | list) else (shape,)
    return tracer_of(sizes).op("zeros", *sizes, dtype=np.dtype(dtype).name)


@named("full")
def full(shape: Any, value: Any, dtype: Any = None) -> Any:
    sizes = shape if isinstance(shape, tuple | list) else (shape,)
    tracer = tracer_of(sizes, value)
    value = value if dtype is None else tracer.op("cast", value, dtype=np.dtype(dtype).name)
    return tracer.op("full", value, *sizes)


@named("ones")
def ones(shape: Any, dtype: Any = float) -> Any:
    return full(shape, 1, dtype)


def _like(x: Any, value: Any, dtype: Any) -> Any:
    name = np.dtype(dtype).name if dtype is not None else x.dtype.name
    number = x.tracer.op("cast", value, dtype=name)
    return x.tracer.op("full", number, *x.shape) if x.ndim else number


@named("zeros_like", "empty_like")
def zeros_like(x: Any, dtype: Any = None) -> Any:
    return _like(array_of(x), 0, dtype)


@named("ones_like")
def ones_like(x: Any, dtype: Any = None) -> Any:
    return _like(array_of(x), 1, dtype)


@named("full_like")
def full_like(x: Any, value: Any, dtype: Any = None) -> Any:
    return _like(array_of(x), value, dtype)


@named("arange")
def arange(*bounds: Any, dtype: Any = None) -> Any:
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    found = tracer_of(bounds).op("arange", start, stop, step)
    return found if dtype is None else astype(found, dtype)


@named("eye", "identity")
def eye(n: Any, dtype: Any = float) -> Any:
    rows = arange(n)
    return astype(rows[:, None] == rows[None, :], dtype)


@named("linspace")
def linspace(start: Any, stop: Any, num: Any = 50) -> Any:
    known = not isinstance(num, Staged)
    steps: Any = np.arange(num) if known else arange(num)
    last: Any = max(int(num) - 1, 1) if known else function("maximum")(num, 2) - 1
    return start + steps * ((stop - start) / last)


@named("var")
def var(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    mean = function("mean")(x, axis=axis, keepdims=True) if axis is not None else function("mean")(x)
    apart = x - mean
    square = function("real")(apart * function("conj")(apart)) if iscomplexobj(x) else apart * apart
    total = function("sum")(square, axis=axis, keepdims=keepdims)
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    sizes: list[Any] = [x.shape[a] for a in axes]
    count: Any = math.prod(sizes) - ddof
    return total / (astype(count, total.dtype) if isinstance(count, Staged) else count)


@named("std")
def std(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    return function("sqrt")(var(x, axis, ddof, keepdims))


@named("cumsum")
def cumsum(x: Any, axis: Any = None) -> Any:
    x = array_of(x)
    return x.tracer.op("cumsum", ravel(x) if axis is None else x, axis=axis or 0)


@named("cumprod")
def cumprod(x: Any, axis: Any = None) -> Any:
    x = array_of(x)
    return x.tracer.op("cumprod", ravel(x) if axis is None else x, axis=axis or 0)


@named("sort")
def sort(x: Any, axis: int = -1) -> Any:
    return x.tracer.op("sort", x, axis=axis)


@named("argsort")
def argsort(x: Any, axis: int = -1, kind: Any = None) -> Any:
    return x.tracer.op("argsort", x, axis=axis)


@named("trace")
def trace(x: Any, offset: int = 0) -> Any:
    return function("sum")(diagonal(x, offset))


@named("diagonal")
def diagonal(x: Any, offset: int = 0) -> Any:
    if x.ndim != 2:
        raise staging_error("`np.diagonal` of other than matrices has no Lantern form.")
    x = x[:, offset:] if offset >= 0 else x[-offset:]
    rows = arange(function("minimum")(x.shape[0], x.shape[1]))
    return x[rows, rows]


@named("diag")
def diag(x: Any, k: int = 0) -> Any:
    if x.ndim == 2:
        return diagonal(x, k)
    if k:
        raise staging_error("`np.diag` that makes a matrix has a Lantern form for the main diagonal only.")
    return function("where")(eye(x.shape[0], bool), x[:, None], 0)


@named("linalg.solve")
def solve(a: Any, b: Any) -> Any:
    return tracer_of(a, b).op("solve", a, b)


for _name in ("inv", "det", "cholesky"):
    TABLE[f"linalg.{_name}"] = lambda x, _name=_name: x.tracer.op(_name, x)


@named("linalg.norm")
def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    if ord not in (None, 2) or (ord == 2 and x.ndim > 1):
        raise staging_error(f"`np.linalg.norm` of order {ord} has no Lantern form.")
    return function("sqrt")(function("sum")(abs(x) * abs(x), axis=axis))


@named("shape")
def shape_of(x: Any) -> Any:
    return x.shape


@named("ndim")
def ndim_of(x: Any) -> int:
    return x.ndim


@named("size")
def size_of(x: Any) -> Any:
    return x.size


@named("result_type")
def result_type(*values: Any) -> Any:
    plain = [
        v.dtype if isinstance(v, Staged) and not v.weak else 1.0 if isinstance(v, Staged) else v
        for v in values
    ]
    return np.result_type(*plain)


@named("iscomplexobj")
def iscomplexobj(x: Any) -> bool:
    return bool(array_of(x).dtype == complex)


@named("isrealobj")
def isrealobj(x: Any) -> bool:
    return not iscomplexobj(x)


@named("moveaxis")
def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    places = [(p,) if isinstance(p, int) else tuple(p) for p in (source, destination)]
    taken, put = ([axis % x.ndim for axis in axes] for axes in places)
    order = [axis for axis in range(x.ndim) if axis not in taken]
    for place, axis in sorted(zip(put, taken, strict=True)):
        order.insert(place, axis)
    return function("transpose")(x, order)


@named("einsum")
def einsum(formula: str, *operands: Any) -> Any:
    raise staging_error(
        f"`np.einsum({formula!r}, ...)` has no Lantern form yet.", "Write it by `@`, `sum` and transposes."
    )
