"""Calls that are not looked into: when a derivative runs, another library or central differences give theirs.

Three ways to say so: `@lsp_ad.opaque(by="numerical")` on a function of the file, a name of the file for a
function from elsewhere (`model = lsp_ad.opaque(other.model, by="jax")`), or the expression itself where it is
called, `lsp_ad.opaque(model, by="autograd")(x)`.
"""

from __future__ import annotations

from collections.abc import Callable, Set

import gast

from lsp_ad.rules.rule import Adjoint, Bound, Rule, literal
from lsp_ad.semantics.shapes import UNKNOWN

OPAQUE = "lsp_ad.opaque"
# Who gives the derivative: `numerical_vjp` and its like are functions of lsp_ad.runtime.
ORACLES = ("numerical", "autograd", "jax")
FUNCTION = "function__"  # the parameter of a rule that stands for the function itself


def marks(node: gast.expr, canonical: Callable[[gast.AST], str | None]) -> bool:
    """Whether an expression is a call of `lsp_ad.opaque`."""
    return isinstance(node, gast.Call) and canonical(node.func) == OPAQUE


def oracle(mark: gast.Call) -> str | None:
    """Who is to give the derivative; None where `by` is not one of those known."""
    options = {k.arg: literal(k.value) for k in mark.keywords}
    by = options.get("by")
    return by if options.keys() == {"by"} and isinstance(by, str) and by in ORACLES else None


def adjoints(by: str, function: str, arguments: dict[str, str]) -> Callable[[Bound], dict[str, Adjoint]]:
    """The adjoints of `arguments` (parameters, and their text in a rule) of a call that is opaque."""

    def of(bound: Bound) -> dict[str, Adjoint]:
        given = {p: text for p, text in arguments.items() if p in bound.given}
        called = _tuple(list(given.values()))
        return {p: Adjoint(f"{by}_vjp({function}, {called}, {i}, dy)") for i, p in enumerate(given)}

    return of


def tangent(by: str, function: str, arguments: dict[str, str]) -> Callable[[Bound, Set[str]], str]:
    """The tangent of a call that is opaque."""

    def of(bound: Bound, moved: Set[str]) -> str:
        given = {p: text for p, text in arguments.items() if p in bound.given}
        tangents = _tuple([f"d{p}" if p in moved else "None" for p in given])
        return f"{by}_jvp({function}, {_tuple(list(given.values()))}, {tangents})"

    return of


def _tuple(items: list[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def rule_of_call(mark: gast.Call, call: gast.Call, prefix: str) -> tuple[Rule, list[gast.expr]] | None:
    """The rule of a call of what the mark stands for, and its arguments: the function, and those of the call.

    The parameters have no names here, so that all arguments are given by position. None where the mark is not
    of the form `opaque(function, by=...)`.
    """
    chosen = oracle(mark)
    if chosen is None or len(mark.args) != 1 or not is_reference(mark.args[0]):
        return None
    names = [f"x{i}" for i in range(1, len(call.args) + 1)]
    text = {p: prefix + p for p in names}
    rule = Rule(
        "the opaque function",
        (FUNCTION, *names),
        adjoints=adjoints(chosen, prefix + FUNCTION, text),
        tangent=tangent(chosen, prefix + FUNCTION, text),
        kind=lambda bound: UNKNOWN,
        differentiable=tuple(names),
        passive=(FUNCTION,),
    )
    return rule, [mark.args[0], *call.args]


def is_reference(node: gast.expr) -> bool:
    """Whether an expression is a name, or an attribute of one."""
    while isinstance(node, gast.Attribute):
        node = node.value
    return isinstance(node, gast.Name)
