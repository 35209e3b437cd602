"""Reductions: loops over an array with an accumulator, or with an array of accumulators."""

from __future__ import annotations

from collections.abc import Sequence

from lsp_ad.staging.lantern.compiler.elementwise import constant_array
from lsp_ad.staging.lantern.compiler.operands import ArrayLike, Number, Operand, Stored, reindexed
from lsp_ad.staging.lantern.compiler.scalars import converted
from lsp_ad.staging.lantern.compiler.writer import Writer
from lsp_ad.staging.lantern.dtypes import FLOATS, Params, axes_of, axis_of

_LOWEST = {"float64": "-np.inf", "float32": "np.float32(-np.inf)", "int64": f"{-(2**63)}", "bool": "False"}
_HIGHEST = {"float64": "np.inf", "float32": "np.float32(np.inf)", "int64": f"{2**63 - 1}", "bool": "True"}


def reduction(w: Writer, name: str, array: ArrayLike, params: Params, dtype: str) -> Operand:
    """`dtype` is that of the result."""
    dims = tuple(map(w.size, array.dims))
    axes = axes_of(params, len(dims))
    kept = [k for k in range(len(dims)) if k not in axes]
    if name in ("argmax", "argmin"):
        found = _position(w, name, array, dims, axes, kept)
    elif name in ("max", "min"):
        for k in axes:
            w.check(f"check_some({dims[k]})")
        found = _accumulated(w, name, array, dims, kept, array.dtype)
    elif name == "mean":
        found = _accumulated(w, "sum", array, dims, kept, dtype)
        count = " * ".join(dims[k] for k in axes)
        found = _divided(w, found, w.assign("count", f"np.{dtype}({count})"))
    else:
        found = _accumulated(w, name, array, dims, kept, dtype)
    if not params.get("keepdims"):
        return found
    full = ["1" if k in axes else d for k, d in enumerate(dims)]
    if isinstance(found, Number):
        return constant_array(found.code, found.dtype, full)
    return reindexed(found, full, lambda at: [at[k] for k in kept])


def _initial(name: str, dtype: str) -> str:
    if name in ("max", "min"):
        table = _LOWEST if name == "max" else _HIGHEST
        return table.get(dtype) or f"np.int32({-(2**31) if name == 'max' else 2**31 - 1})"
    if name in ("any", "all"):
        return str(name == "all")
    one = name == "prod"
    return {"int64": str(int(one)), "float64": str(float(one)), "complex128": f"complex({int(one)}, 0)"}.get(
        dtype, f"np.{dtype}({int(one)})"
    )


def _step(name: str, total: str, value: str, dtype: str) -> str:
    """The statement that takes one more value into a total."""
    if name in ("any", "all") or (name in ("max", "min") and dtype == "bool"):
        return f"{total} {'|' if name in ('any', 'max') else '&'}= {value}"
    if name in ("max", "min"):
        return f"{total} = {'maximum' if name == 'max' else 'minimum'}({total}, {value})"
    if dtype in FLOATS:
        return f"{total} = {'accumulate' if name == 'sum' else 'multiply_up'}({total}, {value})"
    return f"{total} {'+' if name == 'sum' else '*'}= {value}"


def _accumulated(
    w: Writer, name: str, array: ArrayLike, dims: Sequence[str], kept: list[int], dtype: str
) -> Number | Stored:
    """A reduction over all axes that are not kept."""

    def value(at: Sequence[str]) -> str:
        return converted(w.element(array, at), dtype).code

    if kept == list(range(len(kept))):
        # The axes that go are the last ones: a number accumulates, in an innermost loop.
        result = w.allocate(name, dtype, dims[: len(kept)]) if kept else None
        with w.loops(dims[: len(kept)]) as outer:
            total = w.assign("total", _initial(name, dtype))
            with w.loops(dims[len(kept) :]) as inner:
                w.line(_step(name, total, value([*outer, *inner]), dtype))
            if result is None:
                return Number(total, dtype)
            w.line(f"{result.code}[{', '.join(outer)}] = {total}")
        return result
    result = w.allocate(name, dtype, [dims[k] for k in kept])
    with w.loops(result.dims) as at:
        w.line(f"{result.code}[{', '.join(at)}] = {_initial(name, dtype)}")
    with w.loops(dims) as at:
        w.line(_step(name, f"{result.code}[{', '.join(at[k] for k in kept)}]", value(at), dtype))
    return result


def _divided(w: Writer, total: Number | Stored, count: str) -> Number | Stored:
    if isinstance(total, Number):
        return Number(f"{total.code} / {count}", total.dtype)
    with w.loops(total.dims) as at:
        w.line(f"{total.code}[{', '.join(at)}] /= {count}")
    return total


def _position(
    w: Writer, name: str, array: ArrayLike, dims: Sequence[str], axes: Sequence[int], kept: list[int]
) -> Number | Stored:
    """The place of the first extreme value, or of the first nan."""
    for k in axes:
        w.check(f"check_some({dims[k]})")
    result = w.allocate(name, "int64", [dims[k] for k in kept]) if kept else None
    with w.loops([dims[k] for k in kept]) as outer:
        best, place, here = w.fresh("best"), w.assign("where", "0"), w.assign("here", "0")
        first = dict(zip(kept, outer, strict=True))
        w.line(f"{best} = {w.element(array, [first.get(k, '0') for k in range(len(dims))]).code}")
        with w.loops([dims[k] for k in axes]) as inner:
            index = {**first, **dict(zip(axes, inner, strict=True))}
            value = w.assign("value", w.element(array, [index[k] for k in range(len(dims))]).code)
            better = f"{value} {'>' if name == 'argmax' else '<'} {best}"
            if array.dtype in FLOATS:
                better = f"({better}) | (({value} != {value}) & ({best} == {best}))"
            with w.nested(f"if {better}:"):
                w.line(f"{best}, {place} = {value}, {here}")
            w.line(f"{here} += 1")
        if result is None:
            return Number(place, "int64")
        w.line(f"{result.code}[{', '.join(outer)}] = {place}")
    return result


def cumulative(w: Writer, name: str, array: ArrayLike, params: Params, dtype: str) -> Stored:
    """`cumsum` and `cumprod`: each element is the one before it along the axis, and one value more."""
    axis = axis_of(params, len(array.dims))
    result = w.allocate(name, dtype, array.dims)
    with w.loops(result.dims) as at:
        here = f"{result.code}[{', '.join(at)}]"
        value = converted(w.element(array, at), dtype).code
        before = [f"{i} - 1" if k == axis else i for k, i in enumerate(at)]
        with w.nested(f"if {at[axis]} == 0:"):
            w.line(f"{here} = {value}")
        with w.nested("else:"):
            w.line(f"{here} = {result.code}[{', '.join(before)}] {'+' if name == 'cumsum' else '*'} {value}")
    return result
