"""Derivatives of library functions: declarative tables, and how to look a function up in them."""

from __future__ import annotations

from lsp_ad.rules import elementwise, reductions, structural, zero
from lsp_ad.rules.describe import describe as _describe
from lsp_ad.rules.rule import Adjoint, Bound, Rule, Unsupported, literal

RULES: dict[str, Rule] = {
    rule.name: rule for rule in [*elementwise.RULES, *reductions.RULES, *structural.RULES, *zero.RULES]}

# Functions that are known, but have no derivative here: their arguments must not be active.
CONSTANT_ONLY: dict[str, Rule] = {rule.name: rule for rule in zero.CONSTANT_ONLY}

# Array methods, as the functions that they are.
METHODS = {
    **{name: f"numpy.{name}" for name in (
        "sum", "mean", "max", "min", "prod", "dot", "reshape", "transpose", "clip", "ravel", "squeeze", "copy", "argmax",
        "argmin", "argsort", "all", "any", "round")},
    "flatten": "numpy.ravel",
}

# Attributes of arrays that carry no derivative.
PASSIVE_ATTRIBUTES = frozenset({"shape", "size", "ndim", "dtype"})

# Methods that leave their object alone and are no functions of it that could carry a derivative.
CONSTANTS = frozenset({f"{m}.{c}" for m in ("math", "numpy") for c in ("pi", "e", "inf", "nan", "tau")}
                      | {"numpy.newaxis", "numpy.float64", "numpy.float32", "numpy.int64", "numpy.int32", "numpy.euler_gamma",
                         "numpy.bool_", "numpy.intp", "builtins.float", "builtins.int", "builtins.bool"})


def lookup(name: str | None) -> Rule | None:
    """The rule of a canonical name or operator sign, if there is one."""
    return RULES.get(name or "")


def describe(name: str) -> str | None:
    """The rule of a function as Markdown, for hover; None where there is none."""
    rule = RULES.get(name)
    return None if rule is None else _describe(rule)


__all__ = ["CONSTANTS", "CONSTANT_ONLY", "METHODS", "PASSIVE_ATTRIBUTES", "RULES", "Adjoint", "Bound", "Rule",
           "Unsupported", "describe", "literal", "lookup"]
