"""Elements of tensors as NumPy picks them: numbers, slices, arrays of integers, masks, `None`, `...`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lsp_ad.staging.backends.tensorflow.arrays import Array, sizes, tensor_of
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.operators.lists import StagedList


@dataclass(frozen=True)
class Index:
    """An index by axis: `basic` has slices and None and `:` for each array, which `arrays` holds by axis.

    Numbers beside arrays count as arrays. An axis of `arrays` is one of the result of `basic`.
    """

    basic: tuple
    arrays: dict[int, tf.Tensor]


def has_arrays(index: Any) -> bool:
    """Whether an index has arrays of integers or masks in it."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(
        isinstance(p, (list, np.ndarray)) or (isinstance(p, tf.Tensor) and p.shape.rank) for p in parts
    )


def item(value: tf.Tensor, index: Any) -> tf.Tensor:
    """`value[index]`."""
    parsed = _parsed(value, index)
    picked = value if all(_is_whole(p) for p in parsed.basic) else value[parsed.basic]
    return _gathered(picked, parsed.arrays) if parsed.arrays else picked


def changed(value: tf.Tensor, index: Any, new: Any) -> tf.Tensor:
    """A tensor like `value` with `value[index] = new`."""
    parsed = _parsed(value, index)
    elements = tensor_of(new, value.dtype.as_numpy_dtype)
    if not parsed.arrays:
        return _with_slice(value, parsed.basic, elements)
    if set(parsed.arrays) == {0} and len(parsed.basic) == 1:
        places = parsed.arrays[0]
        shape = tf.concat([tf.shape(places), tf.shape(value)[1:]], 0)
        at = _inside(places, value, 0)[..., None]
        return tf.tensor_scatter_nd_update(value, at, tf.broadcast_to(elements, shape))
    return _scattered(value, index, elements, tf.tensor_scatter_nd_update)


def added(value: tf.Tensor, index: Any, new: Any) -> tf.Tensor:
    """A tensor like `value` after `np.add.at(value, index, new)`."""
    return _scattered(value, index, tensor_of(new, value.dtype.as_numpy_dtype), tf.tensor_scatter_nd_add)


def _scattered(
    value: tf.Tensor, index: Any, elements: tf.Tensor, scatter: Callable[..., tf.Tensor]
) -> tf.Tensor:
    numbers = tf.reshape(tf.range(tf.size(value, tf.int64)), sizes(value))
    places = item(numbers, index)
    flat = tf.reshape(tf.broadcast_to(elements, tf.shape(places)), [-1])
    return tf.reshape(scatter(tf.reshape(value, [-1]), tf.reshape(places, [-1, 1]), flat), sizes(value))


def _with_slice(value: tf.Tensor, basic: tuple, elements: tf.Tensor) -> tf.Tensor:
    """A write by numbers and slices, as one operation."""
    parts = [part for part in basic if part is not None]
    parts += [slice(None)] * (value.shape.rank - len(parts))
    picked = value[tuple(parts)]
    shape = picked.shape.as_list() if picked.shape.is_fully_defined() else tf.shape(picked)
    if None in [part for part in basic if not isinstance(part, tf.Tensor)]:
        elements = tf.reshape(tf.broadcast_to(elements, tf.shape(value[basic])), shape)
    if elements.shape.rank is not None and elements.shape.rank > picked.shape.rank:
        elements = tf.reshape(elements, elements.shape[elements.shape.rank - picked.shape.rank :])
    if elements.shape != picked.shape or not picked.shape.is_fully_defined():
        elements = tf.broadcast_to(elements, shape)
    joined = _joined(value, parts, elements)
    if joined is not None:
        return joined
    begin, end, stride = [], [], []
    begin_mask = end_mask = shrink_mask = 0
    for axis, part in enumerate(parts):
        if isinstance(part, slice):
            begin_mask |= (part.start is None) << axis
            end_mask |= (part.stop is None) << axis
            begin.append(0 if part.start is None else part.start)
            end.append(0 if part.stop is None else part.stop)
            stride.append(1 if part.step is None else part.step)
        else:
            shrink_mask |= 1 << axis
            begin.append(part)
            end.append(part + 1)
            stride.append(1)
    return tf.raw_ops.TensorStridedSliceUpdate(
        input=value,
        begin=_vector(begin),
        end=_vector(end),
        strides=_vector(stride),
        value=elements,
        begin_mask=begin_mask,
        end_mask=end_mask,
        shrink_axis_mask=shrink_mask,
    )


def _joined(value: tf.Tensor, parts: list[Any], elements: tf.Tensor) -> tf.Tensor | None:
    """A write of neighbours along one axis as what is before them, they, and what is after: faster."""
    axes = [axis for axis, part in enumerate(parts) if not _is_whole(part)]
    if len(axes) != 1 or not isinstance(parts[axes[0]], slice):
        return elements if not axes else None
    axis, part = axes[0], parts[axes[0]]
    size = value.shape[axis]
    if size is None or any(isinstance(bound, tf.Tensor) for bound in (part.start, part.stop, part.step)):
        return None
    start, stop, step = part.indices(size)
    if step != 1 or stop <= start:
        return None
    around = (slice(None),) * axis
    head, tail = (*around, slice(0, start)), (*around, slice(stop, None))
    before = [value[head]] if start > 0 else []
    after = [value[tail]] if stop < size else []
    return tf.concat([*before, elements, *after], axis) if before or after else elements


def _vector(numbers: list[Any]) -> tf.Tensor:
    if any(isinstance(n, tf.Tensor) for n in numbers):
        return tf.stack([tf.cast(n, tf.int64) for n in numbers])
    return tf.constant(numbers, tf.int64)


def _gathered(picked: tf.Tensor, arrays: dict[int, tf.Tensor]) -> tf.Tensor:
    axes = sorted(arrays)
    if len(axes) == 1:
        return tf.gather(picked, _inside(arrays[axes[0]], picked, axes[0]), axis=axes[0])
    places = [_inside(arrays[axis], picked, axis) for axis in axes]
    shape = places[0].shape
    for place in places[1:]:
        shape = tf.broadcast_static_shape(shape, place.shape)
    dynamic = tf.shape(sum(places[1:], places[0]))
    stacked = tf.stack([tf.broadcast_to(place, dynamic) for place in places], -1)
    rank = picked.shape.rank
    others = [axis for axis in range(rank) if axis not in axes]
    found = tf.gather_nd(tf.transpose(picked, [*axes, *others]), stacked)
    if axes == list(range(axes[0], axes[-1] + 1)) and axes[0] > 0:
        order = list(range(found.shape.rank))
        front, rest = order[: shape.rank], order[shape.rank :]
        found = tf.transpose(found, [*rest[: axes[0]], *front, *rest[axes[0] :]])
    return found


def _inside(places: tf.Tensor, value: tf.Tensor, axis: int) -> tf.Tensor:
    """Numbers of elements, counted from the start where they are negative."""
    known = tf.get_static_value(places)
    size = value.shape[axis]
    if known is not None and (size is not None or (known >= 0).all()):
        return tf.constant(np.where(known < 0, known + (size or 0), known), places.dtype)
    count = sizes(value)[axis]
    return tf.where(places < 0, places + count, places)


def _parsed(value: tf.Tensor, index: Any) -> Index:
    parts = _expanded(value, index if isinstance(index, tuple) else (index,))
    advanced = any(isinstance(p, tf.Tensor) and p.shape.rank != 0 for p in parts)
    basic: list[Any] = []
    arrays: dict[int, tf.Tensor] = {}
    axis = 0
    for part in parts:
        if isinstance(part, slice) or part is None:
            basic.append(part)
        elif advanced:
            arrays[axis] = tensor_of(part, np.int64)
            basic.append(slice(None))
        else:
            basic.append(part)
            continue
        axis += 1
    return Index(tuple(basic), arrays)


def _expanded(value: tf.Tensor, parts: tuple) -> list[Any]:
    """The parts of an index as numbers, slices, None and tensors of int64; `...` and masks written out."""
    found: list[Any] = []
    for part in parts:
        if isinstance(part, StagedList):
            part = part.array()
        if isinstance(part, (list, np.ndarray)) or (isinstance(part, np.generic) and part.dtype == bool):
            part = tensor_of(np.asarray(part, np.int64) if isinstance(part, list) and not part else part)
        elif isinstance(part, (Array, tf.Variable)):
            part = tensor_of(part)
        if isinstance(part, (bool, np.bool_)):
            raise staging_error("An index of True or False cannot be staged.")
        if isinstance(part, tf.Tensor) and part.dtype == tf.bool:
            found += tf.unstack(tf.where(part), part.shape.rank, axis=1)
        elif isinstance(part, tf.Tensor):
            if not part.dtype.is_integer:
                raise IndexError(
                    "only integers, slices, ellipsis, None and arrays of integers or bools are indices"
                )
            found.append(tf.cast(part, tf.int64))
        elif isinstance(part, slice):
            found.append(slice(*(_bound(b) for b in (part.start, part.stop, part.step))))
        elif part is None or part is Ellipsis:
            found.append(part)
        else:
            found.append(part.__index__())
    if Ellipsis in [p for p in found if not isinstance(p, (tf.Tensor, slice))]:
        place = next(i for i, p in enumerate(found) if p is Ellipsis)
        taken = sum(p is not None and p is not Ellipsis for p in found)
        found[place : place + 1] = [slice(None)] * (value.shape.rank - taken)
    return found


def _bound(bound: Any) -> Any:
    if isinstance(bound, (Array, tf.Tensor)):
        return tensor_of(bound, np.int64)
    return None if bound is None else bound.__index__()


def _is_whole(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)
