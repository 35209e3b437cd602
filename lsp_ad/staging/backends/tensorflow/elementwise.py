"""Elementwise functions of NumPy: a line names the function of TensorFlow that computes it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from lsp_ad.staging.backends.tensorflow.arrays import (
    Array,
    common_dtype,
    dtype_of,
    floating,
    is_weak,
    promoted,
    tensor_of,
)
from lsp_ad.staging.errors import staging_error

Function = Callable[..., Any]
FUNCTIONS: dict[str, Function] = {}
_FLOATING: dict[str, Function] = {
    "sin": tf.sin,
    "cos": tf.cos,
    "tan": tf.tan,
    "arcsin": tf.asin,
    "arccos": tf.acos,
    "arctan": tf.atan,
    "sinh": tf.sinh,
    "cosh": tf.cosh,
    "tanh": tf.tanh,
    "arcsinh": tf.asinh,
    "arccosh": tf.acosh,
    "arctanh": tf.atanh,
    "exp": tf.exp,
    "exp2": lambda x: tf.exp(x * math.log(2.0)),
    "expm1": tf.math.expm1,
    "log": tf.math.log,
    "log2": lambda x: tf.math.log(x) / math.log(2.0),
    "log10": lambda x: tf.math.log(x) / math.log(10.0),
    "log1p": tf.math.log1p,
    "sqrt": tf.sqrt,
    "fabs": tf.abs,
    "cbrt": lambda x: tf.sign(x) * tf.pow(tf.abs(x), 1.0 / 3.0),
    "deg2rad": lambda x: x * (math.pi / 180.0),
    "radians": lambda x: x * (math.pi / 180.0),
    "rad2deg": lambda x: x * (180.0 / math.pi),
    "degrees": lambda x: x * (180.0 / math.pi),
    "sinc": lambda x: tf.where(
        x == 0, tf.ones_like(x), tf.sin(math.pi * x) / (math.pi * tf.where(x == 0, tf.ones_like(x), x))
    ),
}
_KEPT: dict[str, Function] = {
    "square": tf.square,
    "sign": tf.sign,
    "conj": tf.math.conj,
    "conjugate": tf.math.conj,
    "positive": tf.identity,
    "floor": lambda x: tf.floor(x) if x.dtype.is_floating else x,
    "ceil": lambda x: tf.math.ceil(x) if x.dtype.is_floating else x,
    "rint": lambda x: tf.math.rint(x) if x.dtype.is_floating else tf.cast(x, tf.float64),
    "trunc": lambda x: tf.where(x < 0, tf.math.ceil(x), tf.floor(x)) if x.dtype.is_floating else x,
    "fix": lambda x: tf.where(x < 0, tf.math.ceil(x), tf.floor(x)) if x.dtype.is_floating else x,
    "real": tf.math.real,
    "imag": lambda x: tf.math.imag(x) if x.dtype.is_complex else tf.zeros_like(x),
    "reciprocal": lambda x: tf.math.reciprocal(x) if not x.dtype.is_integer else 1 // x,
}
_PREDICATES: dict[str, Function] = {
    "isnan": tf.math.is_nan,
    "isinf": tf.math.is_inf,
    "isfinite": tf.math.is_finite,
    "signbit": lambda x: _is_negative(x),
}
_BINARY: dict[str, Function] = {
    "add": tf.add,
    "subtract": tf.subtract,
    "multiply": tf.multiply,
    "floor_divide": lambda x, y: _floor_divide(x, y),
    "mod": tf.math.floormod,
    "remainder": tf.math.floormod,
    "fmod": lambda x, y: tf.raw_ops.TruncateMod(x=x, y=y),
    "maximum": tf.maximum,
    "minimum": tf.minimum,
    "left_shift": tf.bitwise.left_shift,
    "right_shift": tf.bitwise.right_shift,
}
_FLOATING_BINARY: dict[str, Function] = {
    "divide": tf.divide,
    "true_divide": tf.divide,
    "arctan2": tf.atan2,
    "hypot": lambda x, y: _hypot(x, y),
    "logaddexp": lambda x, y: _log_add_exp(x, y),
    "copysign": lambda x, y: tf.where(_is_negative(y), -tf.abs(x), tf.abs(x)),
    "float_power": tf.pow,
    "heaviside": lambda x, y: tf.where(x == 0, y, tf.where(x == x, tf.cast(x > 0, x.dtype), x)),
}
_COMPARE: dict[str, Function] = {
    "equal": tf.equal,
    "not_equal": tf.not_equal,
    "less": tf.less,
    "less_equal": tf.less_equal,
    "greater": tf.greater,
    "greater_equal": tf.greater_equal,
}
_LOGICAL: dict[str, Function] = {
    "logical_and": tf.logical_and,
    "logical_or": tf.logical_or,
    "logical_xor": tf.math.logical_xor,
}
_BITWISE: dict[str, tuple[Function, Function]] = {
    "bitwise_and": (tf.logical_and, tf.bitwise.bitwise_and),
    "bitwise_or": (tf.logical_or, tf.bitwise.bitwise_or),
    "bitwise_xor": (tf.math.logical_xor, tf.bitwise.bitwise_xor),
}
_OF_BOOLS = {
    "add": tf.logical_or,
    "multiply": tf.logical_and,
    "maximum": tf.logical_or,
    "minimum": tf.logical_and,
}


def named(*names: str) -> Callable[[Function], Function]:
    """Make a function stand for functions of NumPy."""

    def kept(function: Function) -> Function:
        FUNCTIONS.update(dict.fromkeys(names, function))
        return function

    return kept


def negated(test: tf.Tensor) -> tf.Tensor:
    """`not test`. TensorFlow makes `x <= y` of `tf.logical_not(x > y)`, which is something else for NaN."""
    return tf.where(test, False, True)


def _is_negative(x: tf.Tensor) -> tf.Tensor:
    """Whether the sign is that of a negative number, as -0.0 has it."""
    if not x.dtype.is_floating:
        return x < 0
    return tf.bitcast(x, {2: tf.int16, 4: tf.int32, 8: tf.int64}[x.dtype.size]) < 0


def _floor_divide(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """As NumPy: of infinity it is NaN."""
    found = tf.math.floordiv(x, y)
    return tf.where(tf.math.is_inf(x), x - x, found) if x.dtype.is_floating else found


def _log_add_exp(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    apart = tf.where(x == y, tf.zeros_like(x - y), x - y)  # of two infinities, too
    return tf.maximum(x, y) + tf.math.log1p(tf.exp(-tf.abs(apart)))


def _hypot(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Computed of numbers of about 1, whose squares do not overflow."""
    size = tf.maximum(tf.abs(x), tf.abs(y))
    size = tf.where((size > 0) & tf.math.is_finite(size), size, tf.ones_like(size))
    return size * tf.sqrt(tf.square(x / size) + tf.square(y / size))


def truth(value: Any) -> tf.Tensor:
    """Whether each element is true."""
    tensor = tensor_of(value)
    return tensor if tensor.dtype == tf.bool else tf.not_equal(tensor, tf.zeros([], tensor.dtype))


def _in_place(function: Function) -> Function:
    """With the options of ufuncs that can be staged: none but `dtype`."""

    def made(*args: Any, dtype: Any = None, **options: Any) -> Any:
        if options:
            raise staging_error(f"`{', '.join(options)}=` of an elementwise function cannot be staged.")
        result = function(*args)
        return result if dtype is None else Array(tensor_of(result, dtype))

    return made


def _both_weak(x: Any, y: Any) -> bool:
    return is_weak(x) and is_weak(y)


def _arithmetic(name: str, function: Function) -> Function:
    def made(x: Any, y: Any) -> Array:
        weak = _both_weak(x, y)
        a, b = promoted(x, y)
        if a.dtype == tf.bool and not weak:
            if name not in _OF_BOOLS:
                raise staging_error(f"NumPy has no `{name}` of boolean arrays.", "Use `^` or `logical_xor`.")
            return Array(_OF_BOOLS[name](a, b))
        if a.dtype == tf.bool:
            a, b = tf.cast(a, tf.int64), tf.cast(b, tf.int64)
        return Array(function(a, b), weak)

    return made


def _floating_binary(function: Function) -> Function:
    def made(x: Any, y: Any) -> Array:
        dtype = common_dtype(x, y)
        if dtype.kind not in "fc":
            dtype = np.result_type(dtype, np.float16) if not _both_weak(x, y) else np.dtype(float)
        return Array(function(tensor_of(x, dtype), tensor_of(y, dtype)), _both_weak(x, y))

    return made


def _install() -> None:
    def unary(function: Function, taken: Function, keeps_weak: bool = False) -> Function:
        return lambda x: Array(function(taken(x)), keeps_weak and is_weak(x))

    for name, function in _FLOATING.items():
        FUNCTIONS[name] = _in_place(unary(function, floating))
    for name, function in _KEPT.items():
        FUNCTIONS[name] = _in_place(unary(function, tensor_of, keeps_weak=True))
    for name, function in _PREDICATES.items():
        FUNCTIONS[name] = _in_place(unary(function, floating))
    for name, function in _BINARY.items():
        FUNCTIONS[name] = _in_place(_arithmetic(name, function))
    for name, function in _FLOATING_BINARY.items():
        FUNCTIONS[name] = _in_place(_floating_binary(function))
    for name, function in _COMPARE.items():
        FUNCTIONS[name] = _in_place(lambda x, y, f=function: Array(f(*promoted(x, y))))
    for name, function in _LOGICAL.items():
        FUNCTIONS[name] = _in_place(lambda x, y, f=function: Array(f(truth(x), truth(y))))
    for name, (of_bools, of_integers) in _BITWISE.items():
        FUNCTIONS[name] = _in_place(_bitwise(of_bools, of_integers))


def _bitwise(of_bools: Function, of_integers: Function) -> Function:
    def made(x: Any, y: Any) -> Array:
        a, b = promoted(x, y)
        return Array((of_bools if a.dtype == tf.bool else of_integers)(a, b), _both_weak(x, y))

    return made


@named("negative")
def _negative(x: Any) -> Array:
    tensor = tensor_of(x)
    if tensor.dtype == tf.bool:
        raise staging_error("NumPy has no minus of a boolean array.", "Use `~`.")
    return Array(tf.negative(tensor), is_weak(x))


@named("abs", "absolute")
def _abs(x: Any) -> Array:
    tensor = tensor_of(x)
    return Array(tensor if tensor.dtype == tf.bool else tf.abs(tensor), is_weak(x))


@named("invert", "bitwise_not")
def _invert(x: Any) -> Array:
    tensor = tensor_of(x)
    return Array(negated(tensor) if tensor.dtype == tf.bool else tf.bitwise.invert(tensor), is_weak(x))


@named("logical_not")
def _logical_not(x: Any) -> Array:
    return Array(negated(truth(x)))


@named("power")
def _power(x: Any, y: Any) -> Array:
    if isinstance(y, (int, float)) and not isinstance(y, bool):
        if y == 2:
            return FUNCTIONS["multiply"](x, x)
        if is_weak(x) and isinstance(y, int) and y < 0:
            x = Array(tensor_of(x, float), weak=True)  # as Python does
    return _arithmetic("power", tf.pow)(x, y)


@named("round", "around", "round_")
def _round(x: Any, decimals: int = 0) -> Array:
    tensor = tensor_of(x)
    if not tensor.dtype.is_floating:
        if decimals < 0:
            raise staging_error("Integers cannot be rounded to tens when they are staged.")
        return Array(tensor, is_weak(x))
    scale = 10.0**decimals
    return Array(tf.math.rint(tensor * scale) / scale if decimals else tf.math.rint(tensor), is_weak(x))


@named("angle")
def _angle(z: Any) -> Array:
    return Array(tf.math.angle(floating(z)))


@named("nan_to_num")
def _nan_to_num(x: Any, nan: float = 0.0) -> Array:
    tensor = tensor_of(x)
    if not tensor.dtype.is_floating:
        return Array(tensor, is_weak(x))
    low, high = tensor.dtype.min, tensor.dtype.max
    finite = tf.clip_by_value(tensor, low, high)
    return Array(tf.where(tf.math.is_nan(tensor), tf.constant(nan, tensor.dtype), finite))


@named("isclose")
def _isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08) -> Array:
    x, y = promoted(a, b)
    x, y = floating(Array(x)), floating(Array(y))
    near = tf.abs(x - y) <= tf.cast(atol, x.dtype) + tf.cast(rtol, x.dtype) * tf.abs(y)
    return Array(tf.where(tf.math.is_finite(x) & tf.math.is_finite(y), near, x == y))


@named("where")
def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        return FUNCTIONS["nonzero"](condition)
    a, b = promoted(x, y)
    return Array(tf.where(truth(condition), a, b), _both_weak(x, y))


@named("clip")
def _clip(a: Any, a_min: Any = None, a_max: Any = None) -> Array:
    result = a
    if a_min is not None:
        result = FUNCTIONS["maximum"](result, a_min)
    if a_max is not None:
        result = FUNCTIONS["minimum"](result, a_max)
    return Array(tensor_of(result), is_weak(result))


def cast_to(dtype: np.dtype) -> Function:
    """A type of NumPy called as a function: `np.float64(x)`."""
    return lambda x=0, *_: Array(tensor_of(x, dtype))


for _name in [
    "bool_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]:
    FUNCTIONS[_name] = cast_to(np.dtype(getattr(np, _name)))
_install()

__all__ = ["FUNCTIONS", "dtype_of", "named", "truth"]
