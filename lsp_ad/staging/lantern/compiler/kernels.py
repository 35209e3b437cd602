"""The functions that compiled programs call, compiled by Numba. Only compiling a program imports this."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from lsp_ad.staging.lantern.compiler import trigonometric, vectorized
from lsp_ad.staging.lantern.compiler.intrinsics import accumulate, multiply_up, stack_pointer


class Stretch(Exception):
    """An axis of size 1 has to be broadcast, and the code was written for the case that none has."""


compiled = numba.njit(error_model="numpy", cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


# ---------------------------------------------------------------------------------------------------------
# numbers


@compiled
def integer_floor_divide(a, b):
    if b == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return a // b if b != -1 else -a


@compiled
def integer_remainder(a, b):
    if b == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return a % b if b != -1 else a - a


@compiled
def integer_power(a, b):
    if b < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    result, power = a - a + 1, a
    while b:
        if b & 1:
            result *= power
        power *= power
        b >>= 1
    return result


@compiled
def complex_divide(a, b):
    """As NumPy computes it, also by zero."""
    if abs(b.real) >= abs(b.imag):
        if b.real == 0.0:
            return complex(a.real / abs(b.real), a.imag / abs(b.real))
        ratio = b.imag / b.real
        scale = 1.0 / (b.real + b.imag * ratio)
        return complex((a.real + a.imag * ratio) * scale, (a.imag - a.real * ratio) * scale)
    ratio = b.real / b.imag
    scale = 1.0 / (b.imag + b.real * ratio)
    return complex((a.real * ratio + a.imag) * scale, (a.imag * ratio - a.real) * scale)


@compiled
def shift_left(a, b):
    return a << b if 0 <= b < 64 else a - a


@compiled
def shift_right(a, b):
    return a >> (b if 0 <= b < 64 else 63)


@compiled
def remainder(a, b):
    """As NumPy computes it: the sign of the divisor."""
    rest = np.fmod(a, b)
    if rest != 0.0:
        return rest + b if (b < 0.0) != (rest < 0.0) else rest
    return math.copysign(rest, b)


@compiled
def floor_divide(a, b):
    if b == 0.0:
        return a / b
    rest = np.fmod(a, b)
    quotient = (a - rest) / b
    if rest != 0.0 and (b < 0.0) != (rest < 0.0):
        quotient -= 1.0
    if quotient == 0.0:
        return math.copysign(0.0 * a, a / b)
    whole = np.floor(quotient)
    return whole + 1.0 if quotient - whole > 0.5 else whole


@compiled
def maximum(a, b):
    return a if (a > b) | (a != a) else b


@compiled
def minimum(a, b):
    return a if (a < b) | (a != a) else b


@compiled
def sign(a):
    if a != a:
        return a
    return type(a)(1) if a > 0 else type(a)(-1) if a < 0 else type(a)(0)


@compiled
def logaddexp(a, b):
    if a == b:
        return a + math.log(2.0)
    high, low = max(a, b), min(a, b)
    if high - low > 0.0:
        return high + math.log1p(math.exp(low - high))
    return a + b


@compiled
def whole_int64(a):
    whole = np.trunc(a)
    if not (whole >= -(2.0**63) and whole < 2.0**63):
        raise ValueError("not all values fit int64")
    return np.int64(whole)


@compiled
def whole_int32(a):
    whole = np.trunc(a)
    if not (whole >= -(2.0**31) and whole < 2.0**31):
        raise ValueError("not all values fit int32")
    return np.int32(whole)


# ---------------------------------------------------------------------------------------------------------
# indices and sizes


@compiled
def at(index, size):
    """An index that is within a size; negative ones count from the end."""
    if index < 0:
        index += size
    if index < 0 or index >= size:
        raise IndexError("index is out of bounds")
    return index


@compiled
def list_at(index, size):
    if index < -size or index >= size:
        raise IndexError("list index out of range")
    return index


@compiled
def broadcast_size(a, b):
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    raise ValueError("operands could not be broadcast together")


@compiled
def check_equal(a, b):
    """Of code that does not stretch axes of size 1: if that is needed, other code is."""
    if a != b:
        if a == 1 or b == 1:
            raise Stretch
        raise ValueError("operands could not be broadcast together")


@compiled
def check_fits_exactly(size, wanted):
    if size != wanted:
        if size == 1:
            raise Stretch
        raise ValueError("could not broadcast an input array into the shape that is wanted")


@compiled
def check_fits(size, wanted):
    if size != wanted and size != 1:
        raise ValueError("could not broadcast an input array into the shape that is wanted")


@compiled
def check_same(a, b):
    if a != b:
        raise ValueError("all input arrays must have the same shape")


@compiled
def check_size(size):
    if size < 0:
        raise ValueError("negative dimensions are not allowed")


@compiled
def check_matmul(a, b):
    if a != b:
        raise ValueError("matmul: the sizes of the axes that are summed over differ")


@compiled
def check_mask(size, wanted):
    if size != wanted:
        raise IndexError("boolean index did not match the indexed array")


@compiled
def check_some(size):
    if size == 0:
        raise ValueError("zero-size array to a reduction that has no identity")


@compiled
def resolved(size, product, total):
    """A size to reshape to, where -1 stands for what is left; `product` is that of all sizes."""
    if size == -1 and product != 0:
        return total // -product
    return size


@compiled
def check_total(total, wanted):
    if total != wanted:
        raise ValueError("cannot reshape an array into this shape")


@compiled
def integer_arange_size(start, stop, step):
    if step == 0:
        raise ZeroDivisionError("division by zero")
    if step > 0:
        return max(0, (stop - start + step - 1) // step)
    return max(0, (start - stop - step - 1) // -step)


@compiled
def float_arange_size(start, stop, step):
    if step == 0.0:
        raise ZeroDivisionError("division by zero")
    size = np.ceil((stop - start) / step)
    if not size < 2.0**63:
        raise ValueError("Maximum allowed size exceeded")
    return max(0, int(size))


@compiled
def positions(mask):
    """The indices of what is true in a vector."""
    count = 0
    for i in range(mask.shape[0]):
        count += mask[i]
    found = np.empty(count, np.int64)
    count = 0
    for i in range(mask.shape[0]):
        if mask[i]:
            found[count] = i
            count += 1
    return found


# ---------------------------------------------------------------------------------------------------------
# lists and arrays


@compiled
def empty_list(sample):
    """A list without items, of the type of a sample."""
    return [sample for _ in range(0)]  # Numba gives a list in brackets a type with its values in it


@compiled
def list_from_python(items):
    """A list of our own, of all items but the last."""
    made = [items[0]]
    made.clear()
    for i in range(len(items) - 1):
        made.append(items[i])
    return made


@compiled
def dot(a, b):
    check_matmul(a.shape[0], b.shape[0])
    total = a.dtype.type(0)
    for i in range(a.shape[0]):
        total = accumulate(total, a[i] * b[i])
    return total


@compiled
def matrix_vector(a, x):
    check_matmul(a.shape[1], x.shape[0])
    result = np.empty(a.shape[0], a.dtype)
    for i in range(a.shape[0]):
        total = a.dtype.type(0)
        for j in range(a.shape[1]):
            total = accumulate(total, a[i, j] * x[j])
        result[i] = total
    return result


@compiled
def vector_matrix(x, a):
    check_matmul(x.shape[0], a.shape[0])
    result = np.zeros(a.shape[1], a.dtype)
    for i in range(a.shape[0]):
        factor = x[i]
        for j in range(a.shape[1]):
            result[j] += factor * a[i, j]
    return result


SMALL = 16**3


@compiled
def matrix_matrix(a, b):
    check_matmul(a.shape[1], b.shape[0])
    if a.shape[0] * a.shape[1] * b.shape[1] > SMALL:
        return np.dot(a, b)
    return matrix_product(a, b)


@compiled
def matrix_product(a, b):
    check_matmul(a.shape[1], b.shape[0])
    result = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            factor = a[i, k]
            for j in range(b.shape[1]):
                result[i, j] += factor * b[k, j]
    return result


@numba.njit(cache=True)
def stack_address():
    return stack_pointer()


# What generated code may call.
KERNELS: dict[str, Any] = {
    "accumulate": accumulate,
    "at": at,
    "broadcast_size": broadcast_size,
    "check_equal": check_equal,
    "complex_divide": complex_divide,
    "check_fits": check_fits,
    "check_fits_exactly": check_fits_exactly,
    "check_mask": check_mask,
    "check_matmul": check_matmul,
    "check_same": check_same,
    "check_size": check_size,
    "check_some": check_some,
    "check_total": check_total,
    "dot": dot,
    "empty_list": empty_list,
    "float_arange_size": float_arange_size,
    "floor_divide": floor_divide,
    "integer_arange_size": integer_arange_size,
    "integer_floor_divide": integer_floor_divide,
    "integer_power": integer_power,
    "shift_left": shift_left,
    "shift_right": shift_right,
    "integer_remainder": integer_remainder,
    "list_at": list_at,
    "list_from_python": list_from_python,
    "logaddexp": logaddexp,
    "matrix_matrix": matrix_matrix,
    "matrix_product": matrix_product,
    "matrix_vector": matrix_vector,
    "maximum": maximum,
    "minimum": minimum,
    "multiply_up": multiply_up,
    "positions": positions,
    "remainder": remainder,
    "resolved": resolved,
    "sign": sign,
    "stack_pointer": stack_pointer,
    "vector_matrix": vector_matrix,
    "whole_int32": whole_int32,
    "whole_int64": whole_int64,
    **vectorized.FUNCTIONS,
    **trigonometric.FUNCTIONS,
}
