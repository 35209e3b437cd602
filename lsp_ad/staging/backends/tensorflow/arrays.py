"""An array of TensorFlow that computes as one of NumPy does.

TensorFlow has no promotion of types, no methods on tensors and no writes; a program for NumPy that is
compiled for TensorFlow sees its arguments as values of the class `Array`. Nothing of TensorFlow is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.libraries import is_users
from lsp_ad.staging.operators.optional import Maybe

_METHODS = [
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "clip",
    "conj",
    "conjugate",
    "copy",
    "cumprod",
    "cumsum",
    "diagonal",
    "dot",
    "flatten",
    "max",
    "mean",
    "min",
    "nonzero",
    "prod",
    "ravel",
    "repeat",
    "reshape",
    "round",
    "squeeze",
    "std",
    "sum",
    "swapaxes",
    "take",
    "trace",
    "transpose",
    "var",
]
_BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "mod",
    "pow": "power",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
_COMPARE = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
_UNARY = {"neg": "negative", "pos": "positive", "abs": "abs", "invert": "invert"}


class Array:
    """A symbolic array. `weak`: it was a Python number, and takes on the type of what it meets."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tensor: tf.Tensor, weak: bool = False):
        self.tensor, self.weak = tensor, weak

    def __repr__(self) -> str:
        return f"<staged {self.dtype} of shape {self.tensor.shape}>"

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.tensor.dtype.as_numpy_dtype)

    @property
    def shape(self) -> tuple:
        """Each size a number, or a staged one where it is not known yet."""
        if self.tensor.shape.rank is None:
            raise staging_error("The number of dimensions of this array is not known when it is traced.")
        sizes: Any = None
        found: list[Any] = []
        for axis, size in enumerate(self.tensor.shape):
            if size is None and sizes is None:
                sizes = tf.shape(self.tensor, tf.int64)
            found.append(size if size is not None else Array(sizes[axis], weak=True))
        return tuple(found)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Any:
        known = self.tensor.shape.num_elements()
        return known if known is not None else Array(tf.size(self.tensor, tf.int64), weak=True)

    @property
    def T(self) -> Any:
        return function("transpose")(self)

    @property
    def real(self) -> Any:
        return function("real")(self)

    @property
    def imag(self) -> Any:
        return function("imag")(self)

    def astype(self, dtype: Any, **options: Any) -> Array:
        return Array(tf.cast(self.tensor, np.dtype(dtype)))

    def fill(self, value: Any) -> None:
        raise staging_error("`fill` cannot be staged.", "Write `a[:] = value`.")

    def item(self, *index: int) -> Any:
        return self[index] if index else function("reshape")(self, ())

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of unsized object")
        size = self.tensor.shape[0]
        if size is None:
            raise staging_error("The size of this array is not known when it is traced.")
        return int(size)

    def __iter__(self) -> Iterator[Array]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        from lsp_ad.staging.backends.tensorflow.indexing import item

        return Array(item(self.tensor, index))

    def __setitem__(self, index: Any, value: Any) -> None:
        raise staging_error(
            "This write into a staged array stands where staging does not convert it.",
            "Write one assignment with one target, in a function that is converted.",
        )

    def __contains__(self, item: Any) -> bool:
        raise staging_error("`in` on a staged array outside of converted code has no value yet.")

    def __bool__(self) -> bool:
        raise staging_error("The truth of a staged value is not known when it is traced.")

    def __index__(self) -> int:
        raise staging_error("A staged number cannot be used where Python needs a number.")

    __int__ = __float__ = __complex__ = __index__

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise staging_error("A staged array cannot become one of NumPy: it has no value yet.")

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> tf.Tensor:
        """What a function of TensorFlow sees."""
        if dtype is not None and dtype != self.tensor.dtype and self.weak:
            return tf.cast(self.tensor, dtype)
        return tf.convert_to_tensor(self.tensor, dtype, name=name)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """A function of NumPy that code which is not converted calls, or an operator of a NumPy value."""
        if method != "__call__":
            raise staging_error(f"`np.{ufunc.__name__}.{method}` cannot be staged.")
        return function(ufunc.__name__)(*inputs, **options)

    def __array_function__(self, called: Any, types: Any, args: Any, options: Any) -> Any:
        module = called.__module__.removeprefix("numpy").lstrip(".")
        name = f"{module}.{called.__name__}" if module in ("linalg", "fft") else called.__name__
        return function(name)(*args, **options)


def function(name: str) -> Callable[..., Any]:
    """What stands for a function of NumPy. Raises StagingError where nothing does."""
    from lsp_ad.staging.backends.tensorflow.functions import FUNCTIONS

    if name not in FUNCTIONS:
        raise staging_error(f"The back end tensorflow has no `np.{name}`.")
    return FUNCTIONS[name]


def _method(name: str) -> Callable[..., Any]:
    def method(self: Array, *args: Any, **options: Any) -> Any:
        if name in ("reshape", "transpose") and len(args) > 1:
            args = (args,)
        return function(name)(self, *args, **options)

    method.__name__ = name
    return method


def _operator(name: str, swapped: bool = False) -> Callable[[Array, Any], Any]:
    def method(self: Array, other: Any) -> Any:
        if other is None or isinstance(other, (str, tuple, dict, Maybe)) or is_users(type(other)):
            return NotImplemented
        left, right = (other, self) if swapped else (self, other)
        return function(name)(left, right)

    return method


def _install() -> None:
    for name in _METHODS:
        setattr(Array, name, _method(name))
    for sign, name in _BINARY.items():
        setattr(Array, f"__{sign}__", _operator(name))
        setattr(Array, f"__r{sign}__", _operator(name, swapped=True))
    for sign, name in _COMPARE.items():
        setattr(Array, f"__{sign}__", _operator(name))
    for sign, name in _UNARY.items():
        setattr(Array, f"__{sign}__", _method(name))


_install()


def is_weak(value: Any) -> bool:
    """Whether a value is a number that takes on the type of what it meets."""
    if isinstance(value, Array):
        return value.weak
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)


def tensor_of(value: Any, dtype: Any = None) -> tf.Tensor:
    """A value as a tensor of the type that NumPy would give it, or of `dtype`."""
    if isinstance(value, Array):
        value = value.tensor
    if isinstance(value, tf.Variable):
        value = tf.convert_to_tensor(value)
    if isinstance(value, (list, tuple)) and any(map(_holds_tensor, value)):
        value = function("array")(value).tensor
    if not isinstance(value, tf.Tensor):
        made = np.asarray(value)
        if dtype is not None:
            made = made.astype(dtype)
        return tf.constant(made)
    if dtype is None:
        return value
    wanted = dtype if isinstance(dtype, tf.DType) else tf.as_dtype(np.dtype(dtype))
    return value if value.dtype == wanted else tf.cast(value, wanted)


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_tensor, value))
    return isinstance(value, (Array, tf.Tensor, tf.Variable))


def dtype_of(value: Any) -> np.dtype:
    """The dtype that a value has in NumPy."""
    if isinstance(value, (Array, np.ndarray, np.generic)):
        return value.dtype
    if isinstance(value, (tf.Tensor, tf.Variable)):
        return np.dtype(value.dtype.as_numpy_dtype)
    if isinstance(value, (list, tuple)):
        return np.result_type(*map(dtype_of, value)) if value else np.dtype(float)
    return np.asarray(value).dtype


def common_dtype(*values: Any) -> np.dtype:
    """The dtype of a computation with several values; a Python number counts by its kind only."""
    return np.result_type(*(_sample(value) for value in values))


def _sample(value: Any) -> Any:
    if not is_weak(value):
        return dtype_of(value)
    zeros = {"b": False, "i": 0, "f": 0.0, "c": 0j}
    kind = dtype_of(value).kind
    if kind not in zeros:
        raise staging_error(f"{value!r} is no number of 64 bits, in which staged code computes.")
    return zeros[kind]


def promoted(*values: Any) -> list[tf.Tensor]:
    """Values as tensors of one type."""
    dtype = common_dtype(*values)
    return [tensor_of(value, dtype) for value in values]


def floating(value: Any) -> tf.Tensor:
    """A value as the tensor of floats or complex numbers that NumPy computes with."""
    dtype = dtype_of(value)
    return tensor_of(value, dtype if dtype.kind in "fc" else np.result_type(dtype, np.float16))


def sizes(value: Any) -> tf.Tensor:
    """The shape of an array as a tensor: known numbers where they all are."""
    tensor = tensor_of(value)
    return (
        tf.constant(tensor.shape.as_list(), tf.int64)
        if tensor.shape.is_fully_defined()
        else tf.shape(tensor, tf.int64)
    )


def size_vector(shape: Any) -> tf.Tensor | list[int]:
    """A shape given as numbers, staged or not, as what functions of TensorFlow take."""
    if isinstance(shape, (Array, tf.Tensor)):
        tensor = tensor_of(shape, np.int64)
        return tf.reshape(tensor, [1]) if tensor.shape.rank == 0 else tensor
    if isinstance(shape, (int, np.integer)):
        return [int(shape)]
    if any(isinstance(size, (Array, tf.Tensor)) for size in shape):
        return tf.stack([tensor_of(size, np.int64) for size in shape])
    return [int(size) for size in shape]
