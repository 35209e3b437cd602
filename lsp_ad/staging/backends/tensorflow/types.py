"""Types of tensors, as staging knows them."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from lsp_ad.staging.backends.base import Spec, spec_of
from lsp_ad.staging.backends.tensorflow.arrays import Array

# what has no counterpart in NumPy stands under a dtype that nothing else has
_OPAQUE = {tf.string: np.dtype("S"), tf.variant: np.dtype("V1"), tf.resource: np.dtype("V2")}
_BY_NUMPY = {dtype: kind for kind, dtype in _OPAQUE.items()}


def spec(value: Any, numpy: bool) -> Spec:
    """The type of a value. `numpy`: a Python number counts as NumPy does, not as TensorFlow."""
    if isinstance(value, tf.Variable):
        return Spec(numpy_dtype(value.dtype), _shape(value.shape))
    if isinstance(value, tf.Tensor):
        return Spec(numpy_dtype(value.dtype), _shape(value.shape))
    if isinstance(value, Array):
        return Spec(numpy_dtype(value.tensor.dtype), _shape(value.tensor.shape), value.weak)
    found = spec_of(value)
    if found.weak and not numpy:
        narrow = {"i": np.int32, "f": np.float32, "c": np.complex64}.get(found.dtype.kind, found.dtype)
        return Spec(np.dtype(narrow), found.shape, weak=True)
    return found


def numpy_dtype(dtype: tf.DType) -> np.dtype:
    return _OPAQUE[dtype] if dtype in _OPAQUE else np.dtype(dtype.as_numpy_dtype)


def tensor_dtype(spec: Spec) -> tf.DType:
    return _BY_NUMPY[spec.dtype] if spec.dtype in _BY_NUMPY else tf.as_dtype(spec.dtype)


def tensor_spec(spec: Spec) -> tf.TensorSpec:
    return tf.TensorSpec(spec.shape, tensor_dtype(spec))


def is_opaque(spec: Spec) -> bool:
    """Whether a type is none of numbers."""
    return spec.dtype in _BY_NUMPY


def _shape(shape: tf.TensorShape) -> tuple[int | None, ...] | None:
    return None if shape.rank is None else tuple(shape)
