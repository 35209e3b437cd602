"""Derivatives of library functions: declarative tables, and how to look a function up in them."""

from __future__ import annotations

from lsp_ad.rules import (
    complex_numbers,
    contractions,
    elementwise,
    fourier,
    helpers,
    matrices,
    reductions,
    selection,
    sequences,
    special,
    spectral,
    structural,
    zero,
)
from lsp_ad.rules.describe import describe as _describe
from lsp_ad.rules.rule import EACH, LINEAR, Adjoint, Bound, Rule, Unsupported, literal

_MODULES = (
    elementwise,
    reductions,
    structural,
    matrices,
    spectral,
    contractions,
    selection,
    sequences,
    special,
    fourier,
    complex_numbers,
    helpers,
    zero,
)

RULES: dict[str, Rule] = {rule.name: rule for module in _MODULES for rule in module.RULES}

# Functions that are known, but have no derivative here: their arguments must not be active.
CONSTANT_ONLY: dict[str, Rule] = {rule.name: rule for rule in zero.CONSTANT_ONLY}

# Rules of a function when it is called with certain options, see resolve.py.
VARIANTS: dict[str, Rule] = {
    **CONSTANT_ONLY,
    **{rule.name: rule for rule in (*zero.VARIANTS, *structural.VARIANTS)},
}

# Array methods, as the functions that they are.
_METHODS = """sum mean max min prod var std cumsum trace diagonal dot reshape transpose swapaxes clip
    ravel squeeze copy astype argmax argmin argsort all any round conj conjugate take
    repeat compress cumprod nonzero"""
METHODS = {**{name: f"numpy.{name}" for name in _METHODS.split()}, "flatten": "numpy.ravel"}

# Attributes of arrays, as the functions that they are.
ATTRIBUTES = {"T": "numpy.transpose", "real": "numpy.real", "imag": "numpy.imag"}

# Attributes of arrays that carry no derivative.
PASSIVE_ATTRIBUTES = frozenset({"shape", "size", "ndim", "dtype", "__name__"})

# Names of modules that carry no derivative.
_NUMPY_CONSTANTS = """pi e inf nan newaxis euler_gamma complex128 complex64 float64 float32 float16 double
    int64 int32 int16 int8
    uint8 bool_ intp ndarray generic number integer inexact floating complexfloating"""
CONSTANTS = frozenset(
    {f"math.{name}" for name in ("pi", "e", "inf", "nan", "tau")}
    | {f"numpy.{name}" for name in _NUMPY_CONSTANTS.split()}
    | {"builtins.float", "builtins.int", "builtins.bool", "builtins.complex"}
)


def lookup(name: str | None) -> Rule | None:
    """The rule of a canonical name or operator sign, if there is one."""
    return RULES.get(name or "")


def describe(name: str) -> str | None:
    """The rule of a function as Markdown, for hover; None where there is none."""
    rule = RULES.get(name)
    return None if rule is None else _describe(rule)


__all__ = [
    "ATTRIBUTES",
    "CONSTANTS",
    "CONSTANT_ONLY",
    "EACH",
    "LINEAR",
    "METHODS",
    "PASSIVE_ATTRIBUTES",
    "RULES",
    "VARIANTS",
    "Adjoint",
    "Bound",
    "Rule",
    "Unsupported",
    "describe",
    "literal",
    "lookup",
]
