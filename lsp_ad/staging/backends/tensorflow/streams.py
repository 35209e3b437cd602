"""What gives items one by one in a graph: data sets, iterators, rows of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from lsp_ad.staging.backends.base import Iterable, Spec
from lsp_ad.staging.backends.tensorflow.arrays import tensor_of
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.operators.iteration import Staged, range_
from lsp_ad.staging.structures import flatten, unflatten

if TYPE_CHECKING:
    from lsp_ad.staging.backends.tensorflow.backend import TensorFlow

_VARIANT = Spec(np.dtype("V1"), ())


class Stream(Iterable):
    """An iterator. The cursor holds the next item, if there is one; none is taken that is not wanted."""

    def __init__(self, backend: TensorFlow, iterator: Any, what: str):
        self.backend: TensorFlow = backend
        self.iterator, self.what = iterator, what
        self.form = tf.OptionalSpec(iterator.element_spec)

    @property
    def cursor(self) -> Spec:
        return _VARIANT

    def start(self) -> tf.Tensor:
        return self._next()

    def more(self, cursor: Any) -> Any:
        return self.backend.wrapped(tf.raw_ops.OptionalHasValue(optional=cursor))

    def at(self, cursor: Any) -> Any:
        found = tf.nest.pack_sequence_as(self.form, [cursor], expand_composites=True).get_value()
        leaves, structure = flatten(found)
        return unflatten(structure, [self.backend.wrapped(leaf) for leaf in leaves])

    def after(self, cursor: Any, goes_on: Callable[[], Any] | None) -> Any:
        wanted = True if goes_on is None else goes_on()
        if isinstance(wanted, bool):
            return self._next() if wanted else tf.raw_ops.OptionalNone()
        return tf.cond(tensor_of(wanted), self._next, tf.raw_ops.OptionalNone)

    def _next(self) -> tf.Tensor:
        return tf.nest.flatten(self.iterator.get_next_as_optional(), expand_composites=True)[0]


class Dataset(Stream):
    """A data set, gone over by an iterator of its own."""

    def __init__(self, backend: TensorFlow, dataset: Any):
        super().__init__(backend, iter(dataset), "a data set")
        self.dataset = dataset

    def enumerated(self, start: Any) -> Iterable:
        return Dataset(self.backend, self.dataset.enumerate(start))


def stream(backend: TensorFlow, value: Any) -> Iterable | None:
    """What a loop in a graph goes over where it does not go over the elements of a tensor."""
    if isinstance(value, tf.Tensor):
        return _range(value) if tf.is_symbolic_tensor(value) and value.op.type == "Range" else None
    if isinstance(value, tf.data.Dataset):
        return Dataset(backend, value)
    if isinstance(value, tf.data.Iterator):
        return Stream(backend, value, "an iterator")
    if isinstance(value, (tf.distribute.DistributedDataset, tf.distribute.DistributedIterator)):
        raise staging_error(
            "A loop over a distributed data set cannot be staged.",
            "Go over it outside of the function, or over the data set of each replica inside `strategy.run`.",
        )
    if isinstance(value, tf.RaggedTensor):
        return Staged(backend, value.nrows(tf.int32), lambda i, _: value[i], "a ragged tensor")
    return None


def _range(value: tf.Tensor) -> Any:
    """`tf.range`, without making its elements."""
    start, stop, step = value.op.inputs
    if not value.dtype.is_integer:
        return None
    known = [tf.get_static_value(bound) for bound in (start, step)]
    return range_(
        start if known[0] is None else int(known[0]), stop, step if known[1] is None else int(known[1])
    )
