"""Type rules of the operations that go element by element.

- int32 and int64 wrap around on overflow, as NumPy's do and Python's do not.
- `/` of integers is float64; division of floats by zero gives inf or nan.
- `//` and `%` round towards minus infinity; of integers by zero they raise ZeroDivisionError.
- `**` of an integer to a negative integer raises ValueError; both operands are promoted first.
- `and`, `or` and `xor` evaluate both operands; `if` is what evaluates one of two.
- Arithmetic on bools alone is refused: cast them.
"""

from __future__ import annotations

from collections.abc import Callable

from lsp_ad.staging.lantern.dtypes import (
    INTEGERS,
    Mismatch,
    Params,
    dtype_of,
    dtype_param,
    inexact,
    promote,
    rank_of,
)
from lsp_ad.staging.lantern.ir import Type, ranked

Rule = Callable[[list[Type], Params], Type]


def _elementwise(types: list[Type]) -> tuple[list[str], int]:
    return [dtype_of(t) for t in types], max(rank_of(t) for t in types)


def _to_inexact(types: list[Type], _: Params) -> Type:
    dtypes, rank = _elementwise(types)
    return ranked(inexact(promote(*dtypes)), rank)


def _to_real_inexact(types: list[Type], params: Params) -> Type:
    result = _to_inexact(types, params)
    if dtype_of(result) == "complex128":
        raise Mismatch("not defined for complex numbers")
    return result


def _same(types: list[Type], _: Params) -> Type:
    dtypes, rank = _elementwise(types)
    dtype = promote(*dtypes)
    if dtype == "bool":
        raise Mismatch("arithmetic needs numbers: cast the bool")
    return ranked(dtype, rank)


def _same_real(types: list[Type], params: Params) -> Type:
    result = _same(types, params)
    if dtype_of(result) == "complex128":
        raise Mismatch("not defined for complex numbers")
    return result


def _to_real(types: list[Type], params: Params) -> Type:
    result = _same(types, params)
    return ranked("float64", rank_of(result)) if dtype_of(result) == "complex128" else result


def _test(types: list[Type], _: Params) -> Type:
    return ranked("bool", _elementwise(types)[1])


def _order(types: list[Type], params: Params) -> Type:
    if "complex128" in _elementwise(types)[0]:
        raise Mismatch("complex numbers have no order")
    return _test(types, params)


def _logic(types: list[Type], _: Params) -> Type:
    dtypes, rank = _elementwise(types)
    if set(dtypes) != {"bool"}:
        raise Mismatch("operands are bools")
    return ranked("bool", rank)


def _bits(types: list[Type], _: Params) -> Type:
    dtypes, rank = _elementwise(types)
    if not set(dtypes) <= set(INTEGERS):
        raise Mismatch("operands are integers")
    return ranked(promote(*dtypes), rank)


def select(types: list[Type], _: Params) -> Type:
    dtypes, rank = _elementwise(types)
    if dtypes[0] != "bool":
        raise Mismatch("the first operand is a bool")
    return ranked(promote(*dtypes[1:]), rank)


def cast(types: list[Type], params: Params) -> Type:
    dtypes, rank = _elementwise(types)
    dtype = dtype_param(params)
    if dtypes[0] == "complex128" and dtype not in ("complex128", "bool"):
        raise Mismatch("take the real part of a complex number")
    return ranked(dtype, rank)


UNARY: dict[Rule, str] = {
    _to_inexact: "exp expm1 log log1p log2 log10 sqrt sin cos tan arcsin arccos arctan sinh cosh tanh "
    "arcsinh arccosh arctanh",
    _to_real_inexact: "exp2 cbrt",
    _same: "neg conj",
    _to_real: "abs real imag",
    _same_real: "sign floor ceil trunc rint",
    _test: "isnan isinf isfinite",
    _logic: "not",
}
BINARY: dict[Rule, str] = {
    _to_inexact: "/",
    _same: "+ - * **",
    _same_real: "// % maximum minimum",
    _to_real_inexact: "arctan2 hypot logaddexp copysign",
    _test: "== !=",
    _order: "< <= > >=",
    _logic: "and or xor",
    _bits: "bit-and bit-or bit-xor << >>",
}
ELEMENTWISE = frozenset(" ".join([*UNARY.values(), *BINARY.values(), "select cast"]).split())
# Those that compute in floats, or in complex numbers, whatever they are given.
INEXACT = frozenset(
    " ".join(
        names
        for rules in (UNARY, BINARY)
        for rule, names in rules.items()
        if rule in (_to_inexact, _to_real_inexact)
    ).split()
)
