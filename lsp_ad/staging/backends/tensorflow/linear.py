"""Products of arrays and linear algebra of NumPy."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lsp_ad.staging.backends.tensorflow.arrays import Array, floating, promoted, tensor_of
from lsp_ad.staging.backends.tensorflow.elementwise import FUNCTIONS, named
from lsp_ad.staging.errors import staging_error


def _sums(a: Any, b: Any) -> tuple[tf.Tensor, tf.Tensor]:
    x, y = promoted(a, b)
    if x.dtype == tf.bool:
        raise staging_error("A product of boolean matrices cannot be staged.", "Convert them to integers.")
    return x, y


@named("matmul")
def _matmul(x1: Any, x2: Any) -> Array:
    a, b = _sums(x1, x2)
    left, right = a.shape.rank, b.shape.rank
    if 0 in (left, right):
        raise ValueError("matmul: an operand has no dimensions")
    if left == 1 and right == 1:
        return Array(tf.reduce_sum(a * b))
    if right == 1:
        return Array(tf.linalg.matvec(a, b))
    if left == 1:
        return Array(tf.linalg.matvec(b, a, transpose_a=True))
    return Array(tf.matmul(a, b))


@named("dot")
def _dot(a: Any, b: Any) -> Array:
    x, y = _sums(a, b)
    if 0 in (x.shape.rank, y.shape.rank):
        return Array(x * y)
    if x.shape.rank <= 2 and y.shape.rank <= 2:
        return _matmul(x, y)
    return Array(tf.tensordot(x, y, [[-1], [max(y.shape.rank - 2, 0)]]))


@named("inner")
def _inner(a: Any, b: Any) -> Array:
    x, y = _sums(a, b)
    if 0 in (x.shape.rank, y.shape.rank):
        return Array(x * y)
    return Array(tf.tensordot(x, y, [[-1], [-1]]))


@named("vdot")
def _vdot(a: Any, b: Any) -> Array:
    x, y = (tf.reshape(v, [-1]) for v in _sums(a, b))
    return Array(tf.reduce_sum(tf.math.conj(x) * y))


@named("outer")
def _outer(a: Any, b: Any) -> Array:
    x, y = (tf.reshape(v, [-1]) for v in _sums(a, b))
    return Array(x[:, None] * y[None, :])


@named("tensordot")
def _tensordot(a: Any, b: Any, axes: Any = 2) -> Array:
    return Array(tf.tensordot(*_sums(a, b), axes))


@named("einsum")
def _einsum(subscripts: str, *operands: Any) -> Array:
    return Array(tf.einsum(subscripts, *promoted(*operands)))


@named("kron")
def _kron(a: Any, b: Any) -> Array:
    x, y = _sums(a, b)
    rank = max(x.shape.rank, y.shape.rank)
    x, y = (t[(None,) * (rank - t.shape.rank)] if t.shape.rank < rank else t for t in (x, y))
    left = x[(slice(None), None) * rank]
    right = y[(None, slice(None)) * rank]
    return Array(tf.reshape(left * right, tf.shape(x) * tf.shape(y)))


@named("cross")
def _cross(a: Any, b: Any) -> Array:
    return Array(tf.linalg.cross(*_sums(a, b)))


@named("trace")
def _trace(a: Any, offset: int = 0) -> Array:
    return FUNCTIONS["sum"](tf.linalg.diag_part(tensor_of(a), k=offset), -1)


@named("linalg.norm")
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    tensor = floating(x)
    if (
        ord not in (None, 2)
        or (ord == 2 and axis is None and tensor.shape.rank != 1)
        or isinstance(axis, tuple)
    ):
        raise staging_error(f"`np.linalg.norm` with ord={ord!r}, axis={axis!r} cannot be staged.")
    return Array(tf.norm(tensor, axis=axis, keepdims=keepdims))


@named("linalg.solve")
def _solve(a: Any, b: Any) -> Array:
    x, y = (floating(Array(v)) for v in promoted(a, b))
    if y.shape.rank == 1:
        return Array(tf.linalg.solve(x, y[:, None])[:, 0])
    return Array(tf.linalg.solve(x, y))


@named("linalg.inv")
def _inv(a: Any) -> Array:
    return Array(tf.linalg.inv(floating(a)))


@named("linalg.det")
def _det(a: Any) -> Array:
    return Array(tf.linalg.det(floating(a)))


@named("linalg.slogdet")
def _slogdet(a: Any) -> tuple[Array, Array]:
    sign, logarithm = tf.linalg.slogdet(floating(a))
    return Array(sign), Array(logarithm)


@named("linalg.cholesky")
def _cholesky(a: Any) -> Array:
    return Array(tf.linalg.cholesky(floating(a)))


@named("linalg.eigh")
def _eigh(a: Any) -> tuple[Array, Array]:
    values, vectors = tf.linalg.eigh(floating(a))
    return Array(values), Array(vectors)


@named("linalg.matrix_power")
def _matrix_power(a: Any, n: int) -> Array:
    tensor = tensor_of(a) if n >= 0 else tf.linalg.inv(floating(a))
    made = tf.eye(tf.shape(tensor)[-1], dtype=tensor.dtype)
    for _ in range(abs(n)):
        made = tf.matmul(made, tensor)
    return Array(made)
