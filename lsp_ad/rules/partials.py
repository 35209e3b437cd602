"""The adjoint expressions of one call of a rule, whichever form the rule has."""

from __future__ import annotations

import gast

from lsp_ad.rules.rule import Adjoint, Bound, Unsupported


def partials(bound: Bound) -> dict[str, Adjoint]:
    """The adjoint that the call adds to each of its arguments; raises Unsupported where there is none."""
    if is_square(bound):
        # one contribution instead of two equal ones
        return {"x1": Adjoint("dy * 2.0 * x1", elementwise=True)}
    x = bound.given.get("x")
    if bound.rule.of_complex is not None and x is not None and bound.kind("x").dtype == "complex":
        return {p: Adjoint(t, elementwise=True) for p, t in bound.rule.of_complex.items()}
    if bound.rule.elementwise is not None:
        return {p: Adjoint(t, elementwise=True) for p, t in bound.rule.elementwise.items()}
    if bound.rule.adjoints is None:
        raise Unsupported("this form")
    return bound.rule.adjoints(bound)


def is_square(bound: Bound) -> bool:
    """Whether a call is the product of a name with itself."""
    a, b = bound.given.get("x1"), bound.given.get("x2")
    return bound.rule.name == "*" and isinstance(a, gast.Name) and isinstance(b, gast.Name) and a.id == b.id
