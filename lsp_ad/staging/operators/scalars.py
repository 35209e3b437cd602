"""Python's functions of numbers, and those of `math`, on staged values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lsp_ad.staging.backends import owner
from lsp_ad.staging.backends.base import Backend, Spec
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.operators.classes import own_method
from lsp_ad.staging.operators.truth import truth

# functions of `math` by the functions of NumPy that stand for them
_MATH = {
    name: name
    for name in (
        *("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "log2", "log10", "log1p", "sqrt"),
        *("cbrt", "exp2", "fmod", "copysign", "degrees", "radians", "isnan", "isinf", "isfinite", "ldexp"),
        *("nextafter", "gcd", "lcm"),
    )
} | {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "atan2": "arctan2",
    "pow": "power",
    "fabs": "abs",
}
_WHOLE = {"floor": "floor", "ceil": "ceil", "trunc": "trunc"}


def by_numpy(plain: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function that is `plain` on Python values, and the function of NumPy called `name` on staged ones."""

    def function(*args: Any, **options: Any) -> Any:
        backend = owner(*args)
        return plain(*args, **options) if backend is None else backend.function(name)(*args, **options)

    return function


def float_(value: Any = 0.0) -> Any:
    """`float(value)`; a staged number keeps its precision."""
    value = _by_method(value, "__float__")
    backend = owner(value)
    if backend is None:
        return float(value)
    number, spec = _single(backend, value, "float")
    return number if spec.dtype.kind == "f" else backend.cast(number, Spec(np.dtype(float), ()))


def int_(value: Any = 0, *base: Any) -> Any:
    """`int(value)`: towards zero."""
    value = _by_method(value, "__int__")
    backend = owner(value)
    if backend is None:
        return int(value, *base)
    number, spec = _single(backend, value, "int")
    return number if spec.dtype.kind in "iu" else _whole(backend, "trunc", number)


def bool_(value: Any = False) -> Any:
    """`bool(value)`."""
    value = truth(value)
    backend = owner(value)
    if backend is None:
        return bool(value)
    number, spec = _single(backend, value, "bool")
    return number if spec.dtype.kind == "b" else number != 0


def complex_(*parts: Any) -> Any:
    """`complex(real, imaginary)`."""
    backend = owner(*parts)
    if backend is None:
        return complex(*parts)
    made = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
    return backend.cast(made, Spec(np.dtype(complex), ()))


def round_(number: Any, ndigits: int | None = None) -> Any:
    """`round(number, ndigits)`: half to even; an integer without `ndigits`."""
    backend = owner(number)
    if backend is None:
        return round(number, ndigits) if ndigits is not None else round(number)
    if ndigits is not None:
        return backend.function("round")(number, ndigits)
    return _whole(backend, "rint", _single(backend, number, "round")[0])


def pow_(base: Any, exponent: Any, modulus: Any = None) -> Any:
    """`pow(base, exponent)`."""
    if modulus is not None:
        if owner(base, exponent, modulus) is not None:
            raise staging_error("`pow` with a modulus has no staged counterpart.")
        return pow(base, exponent, modulus)
    return base**exponent


def divmod_(left: Any, right: Any) -> Any:
    """`divmod(left, right)`."""
    return divmod(left, right) if owner(left, right) is None else (left // right, left % right)


def _by_method(value: Any, name: str) -> Any:
    """What a method gives where that is staged, which Python would not accept; else the object."""
    method = own_method(value, name)
    found = method(value) if method is not None else value
    return value if owner(found) is None else found


def _single(backend: Backend, value: Any, what: str) -> tuple[Any, Spec]:
    """A staged number, also one in an array of one element, and its type."""
    spec = backend.spec(value)
    if spec.shape:
        raise staging_error(f"`{what}` takes one number, this is {spec}.", "Pick an element.")
    return value, spec


def _whole(backend: Backend, rounding: str, number: Any) -> Any:
    """A number rounded, as an integer."""
    kind = backend.spec(number).dtype.kind
    rounded = backend.function(rounding)(number) if kind == "f" else number
    return backend.cast(rounded, Spec(np.dtype(np.int64), ()))


def _rounded(name: str) -> Callable[[Any], Any]:
    plain = getattr(math, name)

    def function(value: Any) -> Any:
        backend = owner(value)
        return plain(value) if backend is None else _whole(backend, _WHOLE[name], value)

    return function


def _log(value: Any, *base: Any) -> Any:
    backend = owner(value, *base)
    if backend is None:
        return math.log(value, *base)
    log = backend.function("log")
    return log(value) / log(base[0]) if base else log(value)


def _hypot(*coordinates: Any) -> Any:
    backend = owner(*coordinates)
    if backend is None:
        return math.hypot(*coordinates)
    return backend.function("sqrt")(sum(c * c for c in coordinates))


def _isclose(a: Any, b: Any, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> Any:
    backend = owner(a, b)
    if backend is None:
        return math.isclose(a, b, rel_tol=rel_tol, abs_tol=abs_tol)
    size, larger = backend.function("abs"), backend.function("maximum")
    return size(a - b) <= larger(rel_tol * larger(size(a), size(b)), abs_tol)


def _plain_only(name: str) -> Callable[..., Any]:
    plain = getattr(math, name)

    def function(*args: Any, **options: Any) -> Any:
        backend = owner(*args)
        if backend is not None:
            raise staging_error(f"`math.{name}` has no staged counterpart in {backend.name}.")
        return plain(*args, **options)

    return function


def _of_math(name: str) -> Callable[..., Any]:
    if name in _MATH:
        return by_numpy(getattr(math, name), _MATH[name])
    return _rounded(name) if name in _WHOLE else _plain_only(name)


abs_ = by_numpy(abs, "abs")
MATH: dict[Any, Callable[..., Any]] = {
    value: _of_math(name) for name, value in vars(math).items() if callable(value) and name[0] != "_"
} | {math.log: _log, math.hypot: _hypot, math.isclose: _isclose}
