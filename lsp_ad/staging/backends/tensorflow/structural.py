"""Functions of NumPy that make, reshape and join arrays."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lsp_ad.staging.backends.tensorflow.arrays import (
    Array,
    common_dtype,
    dtype_of,
    is_weak,
    promoted,
    size_vector,
    sizes,
    tensor_of,
)
from lsp_ad.staging.backends.tensorflow.elementwise import FUNCTIONS, named, truth
from lsp_ad.staging.errors import staging_error


@named("array", "asarray", "asanyarray", "ascontiguousarray")
def _array(a: Any, dtype: Any = None, **_: Any) -> Array:
    if isinstance(a, (list, tuple)):
        kind = common_dtype(*_leaves(a)) if dtype is None else np.dtype(dtype)
        return Array(_stacked(a, kind))
    return Array(tensor_of(a, dtype))


def _leaves(a: Any) -> list[Any]:
    return [leaf for part in a for leaf in _leaves(part)] if isinstance(a, (list, tuple)) else [a]


def _stacked(a: Any, dtype: np.dtype) -> tf.Tensor:
    if not isinstance(a, (list, tuple)):
        return tensor_of(a, dtype)
    return tf.stack([_stacked(part, dtype) for part in a]) if a else tf.zeros([0], dtype)


@named("copy")
def _copy(a: Any) -> Array:
    return Array(tensor_of(a), is_weak(a))


@named("ravel")
def _ravel(a: Any) -> Array:
    return Array(tf.reshape(tensor_of(a), [-1]))


FUNCTIONS["flatten"] = _ravel


@named("reshape")
def _reshape(a: Any, shape: Any) -> Array:
    return Array(tf.reshape(tensor_of(a), size_vector(shape)))


@named("transpose", "permute_dims")
def _transpose(a: Any, axes: Any = None) -> Array:
    tensor = tensor_of(a)
    if axes is not None:
        axes = [axis % tensor.shape.rank for axis in axes]
    return Array(tensor if tensor.shape.rank in (0, 1) else tf.transpose(tensor, axes))


@named("swapaxes")
def _swapaxes(a: Any, axis1: int, axis2: int) -> Array:
    axes = list(range(_rank(a)))
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return Array(tf.transpose(tensor_of(a), axes))


@named("moveaxis")
def _moveaxis(a: Any, source: Any, destination: Any) -> Array:
    rank = _rank(a)
    taken, put = ([i % rank for i in ([v] if isinstance(v, int) else v)] for v in (source, destination))
    axes = [axis for axis in range(rank) if axis not in taken]
    for place, axis in sorted(zip(put, taken, strict=True)):
        axes.insert(place, axis)
    return Array(tf.transpose(tensor_of(a), axes))


def _rank(a: Any) -> int:
    rank: int | None = tensor_of(a).shape.rank
    if rank is None:
        raise staging_error("The number of dimensions of this array is not known when it is traced.")
    return rank


@named("expand_dims")
def _expand_dims(a: Any, axis: Any) -> Array:
    tensor = tensor_of(a)
    axes = [axis] if isinstance(axis, int) else list(axis)
    rank = _rank(a) + len(axes)
    for one in sorted(i % rank for i in axes):
        tensor = tf.expand_dims(tensor, one)
    return Array(tensor)


@named("squeeze")
def _squeeze(a: Any, axis: Any = None) -> Array:
    return Array(tf.squeeze(tensor_of(a), axis))


@named("concatenate", "concat")
def _concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Array:
    parts = promoted(*arrays)
    if axis is None:
        parts, axis = [tf.reshape(part, [-1]) for part in parts], 0
    return Array(tf.concat(parts, axis))


@named("stack")
def _stack(arrays: Sequence[Any], axis: int = 0) -> Array:
    return Array(tf.stack(promoted(*arrays), axis))


@named("vstack", "row_stack")
def _vstack(arrays: Sequence[Any]) -> Array:
    return _concatenate([_atleast_2d(a) for a in arrays], 0)


@named("hstack")
def _hstack(arrays: Sequence[Any]) -> Array:
    parts = [_atleast_1d(a) for a in arrays]
    return _concatenate(parts, 0 if _rank(parts[0]) == 1 else 1)


@named("column_stack")
def _column_stack(arrays: Sequence[Any]) -> Array:
    return _concatenate([a if _rank(a) > 1 else Array(tensor_of(a)[:, None]) for a in arrays], 1)


@named("append")
def _append(arr: Any, values: Any, axis: int | None = None) -> Array:
    return _concatenate([arr, values], axis)


@named("atleast_1d")
def _atleast_1d(a: Any) -> Array:
    return Array(tf.reshape(tensor_of(a), [1])) if _rank(a) == 0 else Array(tensor_of(a))


@named("atleast_2d")
def _atleast_2d(a: Any) -> Array:
    a = _atleast_1d(a)
    return Array(a.tensor[None, :]) if a.ndim == 1 else a


@named("split")
def _split(a: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    tensor = tensor_of(a)
    if isinstance(indices_or_sections, int):
        parts = tf.split(tensor, indices_or_sections, axis)
    else:
        whole = tensor.shape[axis]
        if whole is None:
            raise staging_error("`np.split` at places needs a size that is known when it is traced.")
        bounds = [0, *indices_or_sections, whole]
        parts = tf.split(tensor, [b - a for a, b in itertools.pairwise(bounds)], axis)
    return [Array(part) for part in parts]


@named("tile")
def _tile(a: Any, reps: Any) -> Array:
    tensor = tensor_of(a)
    counts = [reps] if isinstance(reps, (int, np.integer, Array)) else list(reps)
    rank = max(len(counts), _rank(a))
    for _ in range(rank - _rank(a)):
        tensor = tf.expand_dims(tensor, 0)
    return Array(tf.tile(tensor, size_vector([1] * (rank - len(counts)) + counts)))


@named("repeat")
def _repeat(a: Any, repeats: Any, axis: int | None = None) -> Array:
    tensor = tensor_of(a)
    if axis is None:
        tensor = tf.reshape(tensor, [-1])
    return Array(tf.repeat(tensor, tensor_of(repeats), axis or 0))


@named("flip")
def _flip(m: Any, axis: Any = None) -> Array:
    axes = range(_rank(m)) if axis is None else [axis] if isinstance(axis, int) else axis
    return Array(tf.reverse(tensor_of(m), list(axes)))


FUNCTIONS["flipud"] = lambda m: _flip(m, 0)
FUNCTIONS["fliplr"] = lambda m: _flip(m, 1)


@named("roll")
def _roll(a: Any, shift: Any, axis: Any = None) -> Array:
    tensor = tensor_of(a)
    if axis is None:
        return Array(tf.reshape(tf.roll(tf.reshape(tensor, [-1]), shift, 0), sizes(tensor)))
    return Array(tf.roll(tensor, shift, axis))


@named("broadcast_to")
def _broadcast_to(array: Any, shape: Any) -> Array:
    return Array(tf.broadcast_to(tensor_of(array), size_vector(shape)))


def _made(value: Any, dtype: Any, shape: Any) -> Array:
    return Array(tf.fill(size_vector(shape), tensor_of(value, dtype)))


@named("zeros", "empty")
def _zeros(shape: Any, dtype: Any = float) -> Array:
    return _made(0, np.dtype(dtype), shape)


@named("ones")
def _ones(shape: Any, dtype: Any = float) -> Array:
    return _made(1, np.dtype(dtype), shape)


@named("full")
def _full(shape: Any, fill_value: Any, dtype: Any = None) -> Array:
    return _made(fill_value, dtype, shape)


def _like(value: Any) -> Callable[..., Array]:
    def made(a: Any, dtype: Any = None, *, shape: Any = None) -> Array:
        return _made(value, dtype or dtype_of(a), sizes(a) if shape is None else shape)

    return made


FUNCTIONS.update(zeros_like=_like(0), empty_like=_like(0), ones_like=_like(1))


@named("full_like")
def _full_like(a: Any, fill_value: Any, dtype: Any = None) -> Array:
    return _made(fill_value, dtype or dtype_of(a), sizes(a))


@named("arange")
def _arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Array:
    if stop is None:
        start, stop = 0, start
    kind = common_dtype(start, stop, step)
    return Array(tensor_of(tf.range(*(tensor_of(v, kind) for v in (start, stop, step))), dtype))


@named("linspace")
def _linspace(start: Any, stop: Any, num: int = 50) -> Array:
    low, high = (tensor_of(v, np.float64) for v in (start, stop))
    return Array(tf.linspace(low, high, num))


@named("eye", "identity")
def _eye(N: Any, M: Any = None, dtype: Any = float) -> Array:
    columns = None if M is None else tensor_of(M, np.int32)
    return Array(tf.eye(tensor_of(N, np.int32), columns, dtype=np.dtype(dtype)))


@named("diag")
def _diag(v: Any, k: int = 0) -> Array:
    tensor = tensor_of(v)
    return Array(tf.linalg.diag(tensor, k=k) if _rank(v) == 1 else tf.linalg.diag_part(tensor, k=k))


@named("diagonal")
def _diagonal(a: Any, offset: int = 0) -> Array:
    return Array(tf.linalg.diag_part(tensor_of(a), k=offset))


@named("tril")
def _tril(m: Any, k: int = 0) -> Array:
    return _where_near_diagonal(m, lambda row, column: column <= row + k)


@named("triu")
def _triu(m: Any, k: int = 0) -> Array:
    return _where_near_diagonal(m, lambda row, column: column >= row + k)


def _where_near_diagonal(m: Any, kept: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]) -> Array:
    tensor = tensor_of(m)
    rows, columns = (tf.range(n) for n in tf.unstack(sizes(m)[-2:]))
    return Array(tf.where(kept(rows[:, None], columns[None, :]), tensor, tf.zeros([], tensor.dtype)))


@named("take")
def _take(a: Any, indices: Any, axis: int | None = None) -> Array:
    from lsp_ad.staging.backends.tensorflow.indexing import item

    tensor = tensor_of(a)
    if axis is None:
        tensor, axis = tf.reshape(tensor, [-1]), 0
    return Array(item(tensor, (*[slice(None)] * (axis % _rank(tensor)), indices)))


@named("take_along_axis")
def _take_along_axis(arr: Any, indices: Any, axis: int = -1) -> Array:
    tensor, rank = tensor_of(arr), _rank(arr)
    last = _moveaxis(tensor, axis, rank - 1).tensor
    found = tf.gather(last, _moveaxis(indices, axis, rank - 1).tensor, axis=-1, batch_dims=rank - 1)
    return _moveaxis(found, rank - 1, axis)


@named("nonzero")
def _nonzero(a: Any) -> tuple[Array, ...]:
    return tuple(Array(part) for part in tf.unstack(tf.where(truth(a)), _rank(a), axis=1))


@named("flatnonzero")
def _flatnonzero(a: Any) -> Array:
    return Array(tf.where(tf.reshape(truth(a), [-1]))[:, 0])


@named("searchsorted")
def _searchsorted(a: Any, v: Any, side: str = "left") -> Array:
    x, y = promoted(a, v)
    found = tf.searchsorted(x, tf.reshape(y, [-1]), side=side, out_type=tf.int64)
    return Array(tf.reshape(found, sizes(y)))


@named("diff")
def _diff(a: Any, n: int = 1, axis: int = -1) -> Array:
    tensor = _moveaxis(a, axis, _rank(a) - 1).tensor
    for _ in range(n):
        tensor = tensor[..., 1:] - tensor[..., :-1]
    return _moveaxis(tensor, _rank(a) - 1, axis)


@named("pad")
def _pad(array: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Array:
    if mode not in ("constant", "reflect", "symmetric"):
        raise staging_error(f"`np.pad` with mode {mode!r} cannot be staged.")
    widths = np.broadcast_to(pad_width, (_rank(array), 2))
    tensor = tensor_of(array)
    return Array(tf.pad(tensor, widths, mode.upper(), tensor_of(constant_values, dtype_of(array))))


@named("meshgrid")
def _meshgrid(*xi: Any, indexing: str = "xy") -> list[Array]:
    return [Array(grid) for grid in tf.meshgrid(*map(tensor_of, xi), indexing=indexing)]


@named("shape")
def _shape(a: Any) -> tuple:
    return Array(tensor_of(a)).shape


@named("ndim")
def _ndim(a: Any) -> int:
    return _rank(a)


@named("size")
def _size(a: Any, axis: int | None = None) -> Any:
    array = Array(tensor_of(a))
    return array.size if axis is None else array.shape[axis]


@named("result_type")
def _result_type(*values: Any) -> np.dtype:
    return common_dtype(*(np.empty(0, v) if isinstance(v, (type, np.dtype)) else v for v in values))


@named("iscomplexobj")
def _iscomplexobj(x: Any) -> bool:
    return dtype_of(x).kind == "c"


@named("broadcast_shapes")
def _broadcast_shapes(*shapes: Any) -> tuple:
    made = [tf.zeros(size_vector(shape)) for shape in shapes]
    return Array(functools.reduce(tf.add, made)).shape
