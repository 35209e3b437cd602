"""Lists that grow in staged code, as the lists of tensors that TensorFlow has: they need no bound."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import tensorflow as tf

from lsp_ad.staging.backends.base import Spec
from lsp_ad.staging.backends.tensorflow import types


@dataclass(frozen=True)
class ListSpec(Spec):
    """The type of what holds the items of a list."""

    item: Spec = field(default_factory=lambda: Spec(np.dtype(float), ()))

    @classmethod
    def of(cls, item: Spec) -> ListSpec:
        return cls(np.dtype("V1"), (), item=replace(item, weak=False))

    def __str__(self) -> str:
        return f"a list of {self.item}"


class Items:
    """What holds the items of a list: a tensor, and the type of the items."""

    def __init__(self, tensor: tf.Tensor, item: Spec):
        self.tensor, self.item = tensor, replace(item, weak=False)


def empty(item: Spec) -> Items:
    made = tf.raw_ops.EmptyTensorList(
        element_shape=_shape(item), max_num_elements=-1, element_dtype=types.tensor_dtype(item)
    )
    return Items(made, item)


def of(values: tf.Tensor, item: Spec) -> Items:
    """The list of the elements of a tensor."""
    return Items(tf.raw_ops.TensorListFromTensor(tensor=values, element_shape=_shape(item)), item)


def get(store: Items, index: tf.Tensor) -> tf.Tensor:
    found = tf.raw_ops.TensorListGetItem(
        input_handle=store.tensor,
        index=index,
        element_shape=_shape(store.item),
        element_dtype=types.tensor_dtype(store.item),
    )
    return tf.ensure_shape(found, store.item.shape) if found.shape.rank is None else found


def set_(store: Items, index: tf.Tensor, value: tf.Tensor) -> Items:
    """A list with one item changed, or with one more."""
    made = tf.raw_ops.TensorListSetItem(
        input_handle=store.tensor, index=index, item=value, resize_if_index_out_of_bounds=True
    )
    return Items(made, store.item)


def stacked(store: Items) -> tf.Tensor:
    """All items as one tensor."""
    return tf.raw_ops.TensorListStack(
        input_handle=store.tensor,
        element_shape=_shape(store.item),
        element_dtype=types.tensor_dtype(store.item),
        num_elements=-1,
    )


def cast(store: Items, item: Spec) -> Items:
    """The same items in another type."""
    if (store.item.dtype, store.item.shape) == (item.dtype, item.shape):
        return Items(store.tensor, item)
    return of(tf.cast(stacked(store), types.tensor_dtype(item)), item)


def _shape(item: Spec) -> Any:
    if item.shape is None:
        return -1
    return tf.constant([-1 if size is None else size for size in item.shape], tf.int32)
