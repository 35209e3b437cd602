"""Shapes of tensors whose sizes are not all known when they are traced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf


class Sizes(tf.TensorShape):
    """A shape that gives a staged size where TensorFlow has None, which would be unequal to any number."""

    def __init__(self, tensor: tf.Tensor):
        super().__init__(tensor.shape)
        self._tensor = tensor

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return tuple(self)[key]
        found = super().__getitem__(key)
        return tf.shape(self._tensor)[key] if found is None else found

    def __iter__(self) -> Iterator[Any]:
        return (self[axis] for axis in range(self.rank))

    def __eq__(self, other: object) -> bool:
        same = super().__eq__(other)
        if same is None or not (isinstance(other, tf.TensorShape) and other.is_fully_defined()):
            raise ValueError(
                "two shapes of which sizes are not known when they are traced cannot be compared"
            )
        return bool(same)

    __hash__ = None  # type: ignore[assignment]
