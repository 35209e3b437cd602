"""Values of TensorFlow that are made of tensors, as structures: tensor arrays, ragged and sparse tensors."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.ops import tensor_array_ops

from lsp_ad.staging.structures import register


class Like:
    """What is known of a composite value besides its tensors: a value that others are made like."""

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Like) and self.value.dtype == other.value.dtype

    def __hash__(self) -> int:
        return hash(self.value.dtype)


def register_all() -> None:
    """Teach `structures` the types of TensorFlow."""
    register(tf.TensorArray, lambda value: ([value.flow], Like(value)), _tensor_array)
    for kind in (tf.RaggedTensor, tf.SparseTensor, tf.IndexedSlices):
        register(kind, _taken, _made)


def _tensor_array(like: Like, parts: list[Any]) -> tf.TensorArray:
    return tensor_array_ops.build_ta_with_new_flow(like.value, parts[0])


def _taken(value: Any) -> tuple[list[Any], Like]:
    return tf.nest.flatten(value, expand_composites=True), Like(value)


def _made(like: Like, parts: list[Any]) -> Any:
    return tf.nest.pack_sequence_as(like.value, parts, expand_composites=True)
