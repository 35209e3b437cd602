"""What stands for the functions of NumPy on staged values: operations of the language."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.lantern.staged import Staged, binary

_SAME = """exp expm1 log log1p log2 log10 sqrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh
    arctanh exp2 cbrt conj abs real imag sign floor ceil trunc rint isnan isinf isfinite"""
_UNARY = {name: name for name in _SAME.split()} | {
    "negative": "neg",
    "absolute": "abs",
    "fabs": "abs",
    "conjugate": "conj",
    "logical_not": "not",
}
_SIGNS = """add:+ subtract:- multiply:* divide:/ true_divide:/ floor_divide:// mod:% remainder:% power:**
    equal:== not_equal:!= less:< less_equal:<= greater:> greater_equal:>= logical_and:and logical_or:or
    logical_xor:xor maximum:maximum minimum:minimum arctan2:arctan2 hypot:hypot logaddexp:logaddexp
    copysign:copysign left_shift:<< right_shift:>> bitwise_and:bit-and bitwise_or:bit-or
    bitwise_xor:bit-xor"""
_BINARY = dict(pair.split(":") for pair in _SIGNS.split())
_REDUCTIONS = ("sum", "prod", "mean", "max", "min", "any", "all", "argmax", "argmin")
TABLE: dict[str, Callable[..., Any]] = {}


def function(name: str) -> Callable[..., Any]:
    """What stands for `np.name`. Raises StagingError where nothing does."""
    if name not in TABLE:
        raise staging_error(f"The Lantern back end has no `np.{name}`.")
    return TABLE[name]


def tracer_of(*values: Any) -> Any:
    """The tracer of the first staged value among values, or in lists and tuples of them."""
    for value in values:
        if isinstance(value, Staged):
            return value.tracer
        if isinstance(value, list | tuple):
            found = tracer_of(*value)
            if found is not None:
                return found
    return None


def named(*names: str) -> Callable[[Callable], Callable]:
    """A function as what stands for these of NumPy."""

    def kept(made: Callable) -> Callable:
        TABLE.update(dict.fromkeys(names, made))
        return made

    return kept


def _unary(name: str, operation: str) -> Callable[[Any], Any]:
    def made(x: Any) -> Any:
        x = array_of(x) if tracer_of(x) else x
        return x.tracer.op(operation, x, weak=x.weak) if isinstance(x, Staged) else getattr(np, name)(x)

    return made


def _binary(operation: str) -> Callable[[Any, Any], Staged]:
    def made(a: Any, b: Any) -> Any:
        if operation in ("and", "or", "xor"):
            a, b = as_bool(a), as_bool(b)
        return binary(tracer_of(a, b), operation, a, b)

    return made


def as_bool(value: Any) -> Any:
    """The truth of a number, or of each element."""
    if not isinstance(value, Staged):
        return bool(value) if np.ndim(value) == 0 else np.asarray(value, bool)
    return value if value.dtype == bool else value.tracer.op("cast", value, dtype="bool")


for _name, _operation in _UNARY.items():
    TABLE[_name] = _unary(_name, _operation)
for _name, _operation in _BINARY.items():
    TABLE[_name] = _binary(_operation)


def _reduction(name: str) -> Callable[..., Any]:
    def reduced(x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
        x = array_of(x)
        if name in ("any", "all"):
            x = as_bool(x)
        if not x.ndim:
            return x.tracer.op("cast", x, dtype="int64") if name.startswith("arg") else x
        params: dict[str, Any] = {} if axis is None else {"axis": _axes(axis)}
        if keepdims:
            params["keepdims"] = True
        found = x.tracer.op(name, x, **params)
        return found if dtype is None else astype(found, dtype)

    return reduced


for _name in _REDUCTIONS:
    TABLE[_name] = TABLE["amax" if _name == "max" else "amin" if _name == "min" else _name] = _reduction(
        _name
    )


def _axes(axis: Any) -> Any:
    return tuple(map(int, axis)) if isinstance(axis, tuple | list) else int(axis)


def array_of(value: Any) -> Any:
    """A list of staged values as an array; a staged value as it is."""
    return asarray(value) if isinstance(value, list | tuple) else value


@named("asarray", "asanyarray", "ascontiguousarray")
def asarray(value: Any, dtype: Any = None) -> Any:
    if isinstance(value, list | tuple):
        value = stack([array_of(v) if isinstance(v, list | tuple) else v for v in value])
    if dtype is None or (isinstance(value, Staged) and value.dtype == dtype and not value.weak):
        return value
    return astype(value, dtype)


@named("array")
def array(value: Any, dtype: Any = None, copy: bool = True) -> Any:
    made = asarray(value, dtype)
    return same(made) if made is value else made


@named("astype")
def astype(x: Any, dtype: Any) -> Any:
    name = np.dtype(dtype).name
    return same(x) if x.dtype.name == name and not x.weak else x.tracer.op("cast", x, dtype=name)


for _dtype in ("float64", "float32", "int64", "int32", "complex128"):
    TABLE[_dtype] = lambda x, _dtype=_dtype: asarray(x, _dtype)


@named("positive", "copy")
def same(x: Any) -> Any:
    """A copy: the value, as an object of its own."""
    return x.tracer.staged(x.tracer.value(x), x.weak, x.tracer.sharing.piece())


@named("invert", "bitwise_not")
def invert(x: Any) -> Any:
    return x.tracer.op("not", x) if x.dtype == bool else -x - 1


@named("square")
def square(x: Any) -> Any:
    return x * x


@named("reciprocal")
def reciprocal(x: Any) -> Any:
    if x.dtype.kind not in "fc":
        raise staging_error("`np.reciprocal` of integers has no Lantern form.", "Use `1 / x` or `1 // x`.")
    return 1 / x


@named("where")
def where(test: Any, a: Any, b: Any) -> Any:
    tracer = tracer_of(test, a, b)
    if not isinstance(a, Staged) and not isinstance(b, Staged):
        a = tracer.op("cast", a, dtype=np.result_type(a, b).name) if np.ndim(a) == 0 else a
    from lsp_ad.staging.lantern.staged import _fitted

    return tracer.op("select", as_bool(test), _fitted(a, b), _fitted(b, a))


@named("clip")
def clip(x: Any, low: Any = None, high: Any = None) -> Any:
    if low is not None:
        x = function("maximum")(x, low)
    return x if high is None else function("minimum")(x, high)


@named("matmul")
def matmul(a: Any, b: Any) -> Any:
    return tracer_of(a, b).op("matmul", a, b)


@named("dot")
def dot(a: Any, b: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return a * b
    if np.ndim(b) > 2 or np.ndim(a) > 2:
        raise staging_error("`np.dot` of arrays of more than two axes has no Lantern form.", "Use `@`.")
    return matmul(a, b)


@named("outer")
def outer(a: Any, b: Any) -> Any:
    return ravelled(a)[:, None] * ravelled(b)[None, :]


@named("inner")
def inner(a: Any, b: Any) -> Any:
    if np.ndim(a) > 2 or np.ndim(b) > 2:
        raise staging_error("`np.inner` of arrays of more than two axes has no Lantern form.", "Use `@`.")
    return dot(a, b.T)


@named("vdot")
def vdot(a: Any, b: Any) -> Any:
    a = ravelled(a)
    return dot(function("conj")(a) if a.dtype == complex else a, ravelled(b))


def ravelled(x: Any) -> Any:
    return ravel(x) if isinstance(x, Staged) else np.ravel(x)


@named("ravel")
def ravel(x: Any) -> Any:
    return reshape(x, (-1,))


def _sizes(x: Any, shape: Sequence[Any]) -> list[Any]:
    """The sizes of a reshape, that which is -1 computed."""
    sizes = list(shape)
    if any(isinstance(size, int) and size == -1 for size in sizes):
        at = next(i for i, size in enumerate(sizes) if isinstance(size, int) and size == -1)
        others = math.prod(size for i, size in enumerate(sizes) if i != at and isinstance(size, int))
        product: Any = others
        for i, size in enumerate(sizes):
            if i != at and not isinstance(size, int):
                product = size * product
        sizes[at] = x.size // product if not (isinstance(product, int) and product == 1) else x.size
    return sizes


@named("reshape")
def reshape(x: Any, *shape: Any, **options: Any) -> Any:
    if len(shape) == 1 and isinstance(shape[0], tuple | list):
        shape = tuple(shape[0])
    return x.tracer.op("reshape", x, *_sizes(x, shape))


@named("transpose")
def transpose(x: Any, *axes: Any) -> Any:
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], tuple | list)):
        axes = tuple(axes[0] or ())
    if not axes:
        return x.T
    return x.tracer.op("transpose", x, axes=tuple(axis % x.ndim for axis in axes))


@named("swapaxes")
def swapaxes(x: Any, a: int, b: int) -> Any:
    order = list(range(x.ndim))
    order[a], order[b] = order[b], order[a]
    return transpose(x, order)


@named("broadcast_to")
def broadcast_to(x: Any, shape: Any) -> Any:
    sizes = shape if isinstance(shape, tuple | list) else (shape,)
    return tracer_of(x, sizes).op("broadcast-to", x, *sizes) if sizes else x


@named("expand_dims")
def expand_dims(x: Any, axis: int) -> Any:
    at = axis % (x.ndim + 1)
    return x[(slice(None),) * at + (None,)]


@named("squeeze")
def squeeze(x: Any, axis: Any = None) -> Any:
    if axis is None:
        raise staging_error("`np.squeeze` needs an axis where sizes are not known.")
    axes = {a % x.ndim for a in (axis if isinstance(axis, tuple) else (axis,))}
    return x[tuple(0 if i in axes else slice(None) for i in range(x.ndim))]


@named("stack")
def stack(values: Any, axis: int = 0) -> Any:
    tracer = tracer_of(values)
    return tracer.op("stack", *values, axis=axis)


@named("concatenate", "concat")
def concatenate(values: Any, axis: int = 0) -> Any:
    return tracer_of(values).op("concatenate", *values, axis=axis)


@named("append")
def append(x: Any, values: Any) -> Any:
    return concatenate([ravelled(x), ravelled(values)])
