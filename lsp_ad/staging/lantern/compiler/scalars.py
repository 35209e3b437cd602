"""The code of operations on numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from lsp_ad.staging.lantern.compiler.operands import Number, Operand, type_of
from lsp_ad.staging.lantern.compiler.writer import Writer
from lsp_ad.staging.lantern.dtypes import FLOATS, INTEGERS, dtype_of, inexact, promote
from lsp_ad.staging.lantern.elementwise import ELEMENTWISE, INEXACT
from lsp_ad.staging.lantern.ir import Const

_UNIT = re.compile(r"[\w.]+(\[[^\[\]]*\]|\([^()]*\))?")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_LOGIC = {"and": "&", "or": "|", "xor": "!=", "bit-and": "&", "bit-or": "|", "bit-xor": "^"}
_SHIFTS = {"<<": "shift_left", ">>": "shift_right"}
_MATH = {
    "exp": "exp",
    "expm1": "expm1",
    "log": "log",
    "log1p": "log1p",
    "log10": "log10",
    "sqrt": "sqrt",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "arctan2": "atan2",
    "hypot": "hypot",
    "copysign": "copysign",
}


# What is longer gets a line of its own.
LONGEST = 100
VECTORIZED = ("exp", "expm1", "log", "log1p", "tanh")
OWN = {"sin": "sine", "cos": "cosine"}


def constant(c: Const) -> Number:
    return Number(_literal(c.value, c.type.dtype), c.type.dtype)


def _literal(value: complex, dtype: str) -> str:
    if isinstance(value, complex):
        return f"complex({_literal(value.real, 'float64')}, {_literal(value.imag, 'float64')})"
    if isinstance(value, float):
        text = "np.nan" if math.isnan(value) else "np.inf" if math.isinf(value) else repr(abs(value))
        text = f"-{text}" if math.copysign(1.0, value) < 0.0 and not math.isnan(value) else text
    else:
        text = repr(value)
    return text if dtype in ("bool", "int64", "float64") else f"np.{dtype}({text})"


def part(code: str) -> str:
    """Code as an operand of an operator."""
    return code if _UNIT.fullmatch(code) else f"({code})"


def converted(number: Number, dtype: str) -> Number:
    """A number in another dtype of at least its range."""
    if number.dtype == dtype:
        return number
    if dtype == "float64" and re.fullmatch(r"-?\d{1,15}", number.code):
        return Number(f"{number.code}.0", dtype)
    return Number(f"np.{'bool_' if dtype == 'bool' else dtype}({number.code})", dtype)


def applied(w: Writer, name: str, operands: list[Number], result: str, in_loop: bool = False) -> Number:
    """An elementwise operation on numbers, with the dtype of its result.

    `in_loop`: on elements of arrays, for which there are functions that LLVM vectorises.
    """
    if name == "cast":
        return _cast(w, operands[0], result)
    if name == "select":
        test, a, b = operands[0].code, *(converted(o, result).code for o in operands[1:])
        return Number(f"{part(a)} if {test} else {part(b)}", result)
    common = promote(*[o.dtype for o in operands])
    if name in INEXACT:
        common = inexact(common)
    if common == "bool" and name in COMPARISONS[2:]:
        common = "int64"
    codes = [converted(o, common).code for o in operands]
    vectorized = in_loop and common == "float64" and name in VECTORIZED
    if vectorized:
        found = f"vector_{name}({codes[0]})"
    elif common == "float64" and name in OWN:
        found = f"{OWN[name]}({codes[0]})"
    else:
        found = _code(name, codes, common)
    # Numba computes with int32 in 64 bits, and some functions of float32 in float64.
    if result == "int32" or (result == "float32" and name not in ("+", "-", "*", "neg")):
        found = f"np.{result}({found})"
    apart = may_raise(name, operands, result) or len(found) > LONGEST
    return Number(w.assign("t", found) if apart else found, result)


def may_raise(name: str, operands: Sequence[Operand], result: str) -> bool:
    """Whether an operation on some numbers raises an error."""
    if result not in INTEGERS:
        return False
    if name == "cast":
        return any(dtype_of(type_of(o)) in FLOATS for o in operands)
    return name in ("//", "%", "**")


def _code(name: str, codes: list[str], dtype: str) -> str:
    a, b = part(codes[0]), part(codes[-1])
    real, integral = dtype != "complex128", dtype in INTEGERS
    if name == "/" and not real:
        return f"complex_divide({codes[0]}, {codes[1]})"
    if name in ("+", "-", "*", "/", *COMPARISONS):
        return f"{a} {name} {b}"
    if name in _LOGIC:
        return f"{a} {_LOGIC[name]} {b}"
    if name in ("//", "%"):
        return f"{_DIVISION[name, integral]}({codes[0]}, {codes[1]})"
    if name in _SHIFTS:
        return f"{_SHIFTS[name]}({codes[0]}, {codes[1]})"
    if name == "**":
        if codes[1] in ("2", "2.0") and re.fullmatch(r"\w+", a):
            return f"{a} * {a}"
        return f"integer_power({codes[0]}, {codes[1]})" if integral else f"{a} ** {b}"
    if name in ("maximum", "minimum", "logaddexp"):
        return f"{name}({codes[0]}, {codes[1]})"
    if name == "neg":
        return f"-{a}"
    if name == "not":
        return f"not {a}"
    if name == "abs":
        return f"abs({codes[0]})"
    if name == "sign":
        return f"sign({codes[0]})"
    if name in ("conj", "real", "imag"):
        return _of_complex(name, codes[0], real, dtype)
    if name in ("floor", "ceil", "trunc", "rint"):
        return codes[0] if integral else f"np.{name}({codes[0]})"
    if name in ("isnan", "isinf", "isfinite"):
        if dtype not in (*FLOATS, "complex128"):
            return str(name == "isfinite")
        return f"{'math' if real else 'np'}.{name}({codes[0]})"
    if real and name in _MATH:
        return f"math.{_MATH[name]}({', '.join(codes)})"
    return f"np.{name}({', '.join(codes)})"


_DIVISION = {
    ("//", True): "integer_floor_divide",
    ("%", True): "integer_remainder",
    ("//", False): "floor_divide",
    ("%", False): "remainder",
}


def _of_complex(name: str, code: str, real: bool, dtype: str) -> str:
    if real:
        return code if name != "imag" else f"np.{dtype}(0)"
    return f"np.conj({code})" if name == "conj" else f"{part(code)}.{name}"


def _cast(w: Writer, number: Number, dtype: str) -> Number:
    if number.dtype == dtype:
        return number
    if dtype == "bool":
        return Number(f"{part(number.code)} != 0", dtype)
    if dtype in INTEGERS and number.dtype in FLOATS:
        return Number(w.assign("t", f"whole_{dtype}({number.code})"), dtype)
    return converted(number, dtype)


__all__ = ["ELEMENTWISE", "applied", "constant", "converted", "part"]
