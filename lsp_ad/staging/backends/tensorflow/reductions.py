"""Reductions, scans and sorting of NumPy on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from lsp_ad.staging.backends.tensorflow.arrays import Array, dtype_of, floating, sizes, tensor_of
from lsp_ad.staging.backends.tensorflow.elementwise import FUNCTIONS, named, truth

Axis = int | tuple[int, ...] | None


def _accumulated(x: Any, dtype: Any = None) -> tf.Tensor:
    """What a sum is taken of: bools and small integers count as int64."""
    kind = dtype_of(x)
    if dtype is None and kind.kind in "bi" and kind.itemsize < 8:
        dtype = np.int64
    if dtype is None and kind.kind == "u" and kind.itemsize < 8:
        dtype = np.uint64
    return tensor_of(x, dtype)


def _averaged(x: Any, dtype: Any = None) -> tf.Tensor:
    """What a mean is taken of: integers count as float64."""
    return tensor_of(x, dtype if dtype is not None else (None if dtype_of(x).kind in "fc" else np.float64))


def _reduction(function: Callable[..., tf.Tensor], taken: Callable[..., tf.Tensor]) -> Callable[..., Array]:
    def made(a: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
        return Array(function(taken(a, dtype), axis=axis, keepdims=keepdims))

    return made


def _extreme(function: Callable[..., tf.Tensor]) -> Callable[..., Array]:
    def made(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
        tensor = tensor_of(a)
        if tensor.dtype == tf.bool:
            found = function(tf.cast(tensor, tf.int8), axis=axis, keepdims=keepdims)
            return Array(tf.cast(found, tf.bool))
        return Array(function(tensor, axis=axis, keepdims=keepdims))

    return made


def _of_truth(function: Callable[..., tf.Tensor]) -> Callable[..., Array]:
    return lambda a, axis=None, *, keepdims=False: Array(function(truth(a), axis=axis, keepdims=keepdims))


def count_of(x: tf.Tensor, axis: Axis) -> tf.Tensor:
    """How many elements a reduction over `axis` takes together."""
    known = x.shape
    if known.is_fully_defined():
        axes = range(len(known)) if axis is None else [axis] if isinstance(axis, int) else axis
        return tf.constant(int(np.prod([known[i] for i in axes], dtype=np.int64)), tf.int64)
    return tf.reduce_prod(sizes(x) if axis is None else tf.gather(sizes(x), axis))


@named("nansum")
def _nansum(a: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    x = _accumulated(a, dtype)
    if x.dtype.is_floating:
        x = tf.where(tf.math.is_nan(x), tf.zeros_like(x), x)
    return Array(tf.reduce_sum(x, axis=axis, keepdims=keepdims))


@named("var")
def _var(a: Any, axis: Axis = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Array:
    x = _averaged(a, dtype)
    away = x - tf.reduce_mean(x, axis=axis, keepdims=True)
    squares = tf.square(away) if not x.dtype.is_complex else tf.math.real(away * tf.math.conj(away))
    total = tf.reduce_sum(squares, axis=axis, keepdims=keepdims)
    return Array(total / tf.cast(count_of(x, axis) - ddof, total.dtype))


@named("std")
def _std(a: Any, axis: Axis = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Array:
    return Array(tf.sqrt(_var(a, axis, dtype, ddof=ddof, keepdims=keepdims).tensor))


@named("ptp")
def _ptp(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    x = tensor_of(a)
    return Array(tf.reduce_max(x, axis, keepdims) - tf.reduce_min(x, axis, keepdims))


@named("average")
def _average(a: Any, axis: Axis = None, weights: Any = None) -> Array:
    if weights is None:
        return FUNCTIONS["mean"](a, axis)
    weighted = FUNCTIONS["multiply"](a, weights)
    return FUNCTIONS["divide"](FUNCTIONS["sum"](weighted, axis), FUNCTIONS["sum"](weights, axis))


@named("count_nonzero")
def _count_nonzero(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    return Array(tf.reduce_sum(tf.cast(truth(a), tf.int64), axis=axis, keepdims=keepdims))


def _position(function: Callable[..., tf.Tensor]) -> Callable[..., Array]:
    def made(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Array:
        tensor = tensor_of(a)
        if tensor.dtype == tf.bool:
            tensor = tf.cast(tensor, tf.int8)
        if axis is None:
            tensor = tf.reshape(tensor, [-1])
        if tensor.dtype.is_floating:  # the first NaN is the greatest and the least of all
            nan = tf.math.is_nan(tensor)
            some = tf.reduce_any(nan, axis=axis or 0, keepdims=True)
            limit = tf.constant(np.inf if function is tf.argmax else -np.inf, tensor.dtype)
            tensor = tf.where(some, tf.where(nan, limit, -limit), tensor)
        found = function(tensor, axis=axis or 0, output_type=tf.int64)
        return Array(tf.expand_dims(found, axis or 0) if keepdims else found)

    return made


def _scan(function: Callable[..., tf.Tensor]) -> Callable[..., Array]:
    def made(a: Any, axis: int | None = None, dtype: Any = None) -> Array:
        tensor = _accumulated(a, dtype)
        if axis is None:
            tensor = tf.reshape(tensor, [-1])
        return Array(function(tensor, axis=axis or 0))

    return made


def _keys(tensor: tf.Tensor) -> tf.Tensor:
    """Numbers in the order of these, NaN as the greatest, which TensorFlow puts anywhere."""
    if tensor.dtype == tf.bool:
        return tf.cast(tensor, tf.int8)
    if tensor.dtype not in (tf.float32, tf.float64):
        return tensor
    whole = tf.int32 if tensor.dtype == tf.float32 else tf.int64
    number = tf.where(tensor == 0, tf.zeros_like(tensor), tensor)
    bits = tf.bitcast(tf.where(tf.math.is_nan(tensor), tensor.dtype.as_numpy_dtype(np.nan), number), whole)
    # those of negative numbers count down as the numbers grow
    return tf.where(bits < 0, tf.bitwise.bitwise_xor(bits, whole.max), bits)


@named("sort")
def _sort(a: Any, axis: int | None = -1) -> Array:
    tensor = tensor_of(a)
    if axis is None:
        tensor, axis = tf.reshape(tensor, [-1]), -1
    order = tf.argsort(_keys(tensor), axis=axis, stable=True)
    return Array(tf.experimental.numpy.take_along_axis(tensor, order, axis))


@named("argsort")
def _argsort(a: Any, axis: int | None = -1, kind: Any = None, *, stable: Any = None) -> Array:
    keys = _keys(tensor_of(a))
    if axis is None:
        keys, axis = tf.reshape(keys, [-1]), -1
    return Array(tf.cast(tf.argsort(keys, axis=axis, stable=True), tf.int64))


@named("allclose")
def _allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08) -> Array:
    return Array(tf.reduce_all(FUNCTIONS["isclose"](a, b, rtol, atol).tensor))


@named("array_equal")
def _array_equal(a1: Any, a2: Any) -> Array:
    x, y = tensor_of(a1), tensor_of(a2)
    if not x.shape.is_compatible_with(y.shape):
        return Array(tf.constant(False))
    return Array(tf.reduce_all(FUNCTIONS["equal"](a1, a2).tensor))


@named("logaddexp.reduce")
def _logsumexp(a: Any, axis: Axis = 0) -> Array:
    return Array(tf.reduce_logsumexp(floating(a), axis=axis))


FUNCTIONS.update(
    sum=_reduction(tf.reduce_sum, _accumulated),
    prod=_reduction(tf.reduce_prod, _accumulated),
    mean=_reduction(tf.reduce_mean, _averaged),
    max=_extreme(tf.reduce_max),
    amax=_extreme(tf.reduce_max),
    min=_extreme(tf.reduce_min),
    amin=_extreme(tf.reduce_min),
    any=_of_truth(tf.reduce_any),
    all=_of_truth(tf.reduce_all),
    argmax=_position(tf.argmax),
    argmin=_position(tf.argmin),
    cumsum=_scan(tf.cumsum),
    cumprod=_scan(tf.math.cumprod),
)
