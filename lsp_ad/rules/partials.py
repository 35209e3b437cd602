"""The adjoint expressions of one call of a rule, whichever form the rule has."""

from __future__ import annotations

from lsp_ad.rules.rule import Adjoint, Bound, Unsupported


def partials(bound: Bound) -> dict[str, Adjoint]:
    """The adjoint that the call adds to each of its arguments; raises Unsupported where there is none."""
    if bound.rule.name == "/" and bound.constant("x1") == 1:
        return {"x2": Adjoint("-dy * y * y", elementwise=True)}
    x = bound.given.get("x")
    if bound.rule.of_complex is not None and x is not None and bound.kind("x").dtype == "complex":
        return {p: Adjoint(t, elementwise=True) for p, t in bound.rule.of_complex.items()}
    if bound.rule.elementwise is not None:
        return bound.rule.each
    if bound.rule.adjoints is None:
        raise Unsupported("this form")
    return bound.rule.adjoints(bound)
