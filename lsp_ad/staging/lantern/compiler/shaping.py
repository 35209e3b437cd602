"""Making arrays and changing their shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lsp_ad.staging.lantern.compiler.elementwise import constant_array
from lsp_ad.staging.lantern.compiler.operands import (
    NOTHING,
    ArrayLike,
    Computed,
    Number,
    Operand,
    Stored,
    element_of,
    reindexed,
    stored,
    sure,
)
from lsp_ad.staging.lantern.compiler.scalars import converted
from lsp_ad.staging.lantern.compiler.writer import Writer
from lsp_ad.staging.lantern.dtypes import FLOATS, Params, axis_of
from lsp_ad.staging.lantern.ir import Array


def reshape(w: Writer, array: ArrayLike, sizes: list[str]) -> Operand:
    source = w.contiguous(array)
    total = w.assign("total", f"{source.code}.size")
    if not sizes:
        w.line(f"check_total({total}, 1)")
        return Number(w.assign("t", f"{source.code}[{', '.join('0' * len(source.dims))}]"), source.dtype)
    product = " * ".join(sizes)
    unknown = [s for s in sizes if not s.isdigit()]
    known = [w.assign("n", f"resolved({s}, {product}, {total})") if s in unknown else s for s in sizes]
    w.line(f"check_total({total}, {' * '.join(known)})")
    code = w.assign("t", f"{source.code}.reshape(({', '.join(known)},))")
    return Stored(code, source.dtype, tuple(known), source.roots)


def transpose(w: Writer, array: ArrayLike, params: Params) -> Operand:
    rank = len(array.dims)
    axes = params.get("axes") or tuple(range(rank))[::-1]
    assert isinstance(axes, tuple)
    back = [axes.index(k) for k in range(rank)]
    if isinstance(array, Computed) and not array.cheap:
        array = w.store(array)
    found = reindexed(array, [array.dims[a] for a in axes], lambda at: [at[k] for k in back])
    return replace(found, transposed=array) if axes == (1, 0) and isinstance(array, Stored) else found


def concatenate(w: Writer, operands: Sequence[ArrayLike], params: Params, result: Array) -> Operand:
    axis = axis_of(params, result.rank)
    dims = list(map(w.size, operands[0].dims))
    for o in operands[1:]:
        for k, (a, b) in enumerate(zip(dims, o.dims, strict=True)):
            if k != axis:
                w.require_same(a, b, "check_same")
    dims[axis] = w.assign("n", " + ".join(o.dims[axis] for o in operands))
    made = w.allocate("t", result.dtype, dims)
    offset = "0"
    for o in operands:
        with w.loops(o.dims) as at:
            place = [f"{offset} + {i}" if k == axis and offset != "0" else i for k, i in enumerate(at)]
            value = converted(w.element(o, at), result.dtype).code
            w.line(f"{made.code}[{', '.join(place)}] = {value}")
        offset = o.dims[axis] if offset == "0" else w.assign("offset", f"{offset} + {o.dims[axis]}")
    return made


def stack(w: Writer, operands: Sequence[Operand], params: Params, result: Array) -> Operand:
    axis = axis_of(params, result.rank)
    first = operands[0]
    dims = [] if isinstance(first, Number) else [w.size(d) for d in _array(first).dims]
    for o in operands[1:]:
        for a, b in zip(dims, [] if isinstance(o, Number) else _array(o).dims, strict=True):
            w.require_same(a, b, "check_same")
    made = w.allocate("t", result.dtype, [*dims[:axis], str(len(operands)), *dims[axis:]])
    for number, o in enumerate(operands):
        with w.loops(dims) as at:
            value = o if isinstance(o, Number) else w.element(_array(o), at)
            place = [*at[:axis], str(number), *at[axis:]]
            w.line(f"{made.code}[{', '.join(place)}] = {converted(value, result.dtype).code}")
    return made


def _array(operand: Operand) -> ArrayLike:
    assert isinstance(operand, Stored | Computed)
    return operand


def full(w: Writer, value: Number, sizes: list[str]) -> Operand:
    """An array of one value. It is not made before somebody needs more than its elements."""
    for s in sizes:
        if not s.isdigit():
            w.check(f"check_size({s})")
    return constant_array(w.atom(value.code), value.dtype, sizes) if sizes else value


def zero(dtype: str) -> Number:
    known = {"bool": "False", "int64": "0", "float64": "0.0", "complex128": "complex(0.0, 0.0)"}
    return Number(known.get(dtype) or f"np.{dtype}(0)", dtype)


def arange(w: Writer, operands: Sequence[Number], result: Array) -> Operand:
    start, stop, step = (w.atom(converted(o, result.dtype).code) for o in operands)
    if result.dtype not in FLOATS:
        size = w.assign("n", f"integer_arange_size({start}, {stop}, {step})")
        return Computed(
            result.dtype,
            (size,),
            lambda at: f"np.{result.dtype}({start} + ({sure(at[0], size)}) * {step})",
            NOTHING,
            cheap=True,
        )
    size = w.assign("n", f"float_arange_size({start}, {stop}, {step})")
    second = w.assign("second", f"np.{result.dtype}({start} + {step})")
    # As NumPy computes it: from the first two elements.
    element = f"{start} + np.{result.dtype}({{0}}) * ({second} - {start})"
    return Computed(result.dtype, (size,), lambda at: element.format(sure(at[0], size)), NOTHING, cheap=True)


def sort(w: Writer, name: str, array: ArrayLike, params: Params, result: Array) -> Operand:
    """Sorts vectors along an axis, one after the other."""
    axis = axis_of(params, result.rank)
    source = w.contiguous(array)
    made = w.allocate("t", result.dtype, source.dims)
    rest = [k for k in range(result.rank) if k != axis]
    how = "np.sort({})" if name == "sort" else "np.argsort({}, kind='mergesort')"
    with w.loops([source.dims[k] for k in rest]) as outer:
        places = dict(zip(rest, outer, strict=True))
        whole = ", ".join(places.get(k, ":") for k in range(result.rank))
        row = w.assign("row", how.format(f"{source.code}[{whole}].copy()"))
        with w.loops([made.dims[axis]]) as (i,):
            place = ", ".join(places.get(k, i) for k in range(result.rank))
            w.line(f"{made.code}[{place}] = {row}[{i}]")
    return made


def list_stack(w: Writer, items: str, result: Array) -> Operand:
    """A list of numbers or arrays as one array."""
    count = w.assign("n", f"len({items})")
    if result.rank == 1:
        made = w.allocate("t", result.dtype, [count])
        with w.loops(made.dims) as (i,):
            w.line(f"{made.code}[{i}] = {items}[{i}]")
        return made
    w.line(f"check_some({count})")
    first = stored(w.assign("first", f"{items}[0]"), Array(result.dtype, result.rank - 1), NOTHING)
    made = w.allocate("t", result.dtype, [count, *first.dims])
    with w.loops(made.dims[:1]) as (i,):
        item = stored(w.assign("item", f"{items}[{i}]"), Array(result.dtype, result.rank - 1), NOTHING)
        for a, b in zip(made.dims[1:], item.dims, strict=True):
            w.require_same(a, b, "check_same")
        with w.loops(made.dims[1:]) as at:
            w.line(f"{made.code}[{', '.join([i, *at])}] = {element_of(item, at)}")
    return made
