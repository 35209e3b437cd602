"""Discrete Fourier transforms of NumPy on tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from lsp_ad.staging.backends.tensorflow.arrays import Array, dtype_of, tensor_of
from lsp_ad.staging.backends.tensorflow.elementwise import FUNCTIONS, named
from lsp_ad.staging.errors import staging_error

_INVERSE = frozenset(["ifft", "irfft", "ihfft"])


def _size(tensor: tf.Tensor) -> int:
    found: int | None = tensor.shape[-1]
    if found is None:
        raise staging_error("The size of the axis of a Fourier transform is not known when it is traced.")
    return found


def _of_size(tensor: tf.Tensor, n: int) -> tf.Tensor:
    """The first elements along the last axis, and zeros."""
    missing = max(n - _size(tensor), 0)
    padded = tf.pad(tensor, [[0, 0]] * (tensor.shape.rank - 1) + [[0, missing]]) if missing else tensor
    return padded[..., :n]


def _scaled(made: tf.Tensor, n: int, inverse: bool, norm: str | None) -> tf.Tensor:
    """A transform as `norm` says; TensorFlow divides the inverse one by the number of elements."""
    factor = {None: 1.0, "backward": 1.0, "ortho": n**0.5 if inverse else n**-0.5}.get(norm)
    if factor is None:
        factor = float(n) if inverse else 1.0 / n
    return made if factor == 1.0 else made * tf.constant(factor, made.dtype)


def _transform(name: str, a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    kind = np.result_type(dtype_of(a), np.float32)
    if name in ("fft", "ifft", "irfft"):
        kind = np.result_type(kind, np.complex64)
    elif kind.kind == "c":
        raise TypeError(f"np.fft.{name} takes real numbers")
    tensor = tensor_of(a, kind)
    last = tf.convert_to_tensor(FUNCTIONS["moveaxis"](tensor, axis, tensor.shape.rank - 1).tensor)
    size = n if n is not None else 2 * (_size(last) - 1) if name == "irfft" else _size(last)
    if name == "irfft":
        made = tf.signal.irfft(_of_size(last, size // 2 + 1), [size])
    elif name == "rfft":
        made = tf.signal.rfft(_of_size(last, size))
    else:
        made = getattr(tf.signal, name)(_of_size(last, size))
    made = _scaled(made, size, name in _INVERSE, norm)
    return Array(FUNCTIONS["moveaxis"](made, made.shape.rank - 1, axis % made.shape.rank).tensor)


def _several(
    first: str,
    then: str,
    default: Sequence[int] | None,
    a: Any,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """A transform of several axes: `first` of the last one, `then` of the others."""
    count = tensor_of(a).shape.rank if s is None else len(s)
    along = [*(axes if axes is not None else default if default is not None else range(-count, 0))]
    sizes: list[int | None] = [None] * len(along) if s is None else list(s)
    steps = list(zip(along, sizes, strict=True))
    order = [*steps[:-1], steps[-1]] if first == "irfft" else [steps[-1], *steps[:-1]]
    for axis, n in order:
        a = _transform(first if (axis, n) == steps[-1] else then, a, n, axis, norm)
    return a if isinstance(a, Array) else Array(tensor_of(a))


for _name in ("fft", "ifft", "rfft", "irfft"):
    _then = {"rfft": "fft", "irfft": "ifft"}.get(_name, _name)
    _made: Callable[..., Array] = partial(_transform, _name)
    named(f"fft.{_name}")(_made)
    named(f"fft.{_name}2")(partial(_several, _name, _then, (-2, -1)))
    named(f"fft.{_name}n")(partial(_several, _name, _then, None))


def _shifted(sign: int, x: Any, axes: Any = None) -> Array:
    tensor = tensor_of(x)
    along = range(tensor.shape.rank) if axes is None else [axes] if isinstance(axes, int) else list(axes)
    by = [tensor.shape[axis] // 2 if sign > 0 else -(tensor.shape[axis] // 2) for axis in along]
    return Array(tf.roll(tensor, by, list(along)))


named("fft.fftshift")(partial(_shifted, 1))
named("fft.ifftshift")(partial(_shifted, -1))
