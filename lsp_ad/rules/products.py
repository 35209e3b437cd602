"""Products of one name and literals, `3.0 * x * x`, as one operation: its derivative is `6.0 * x`."""

from __future__ import annotations

from functools import lru_cache

import gast

from lsp_ad.rules.rule import Rule, literal
from lsp_ad.source.numerals import is_moderate, product_of


def factors(node: gast.expr) -> list[gast.expr] | None:
    """The factors of a product of literals with one name that occurs more than once; None for any other.

    >>> len(factors(gast.parse("0.5 * x * x", mode="eval").body))
    3
    """
    if type(node) is not gast.BinOp or type(node.op) is not gast.Mult:
        return None
    found: list[gast.expr] = []
    names: list[str] = []
    pending: list[gast.expr] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, gast.Name):
            if names and part.id != names[0]:
                return None
            names.append(part.id)
            found.append(part)
        elif isinstance(part, gast.BinOp) and isinstance(part.op, gast.Mult):
            pending += [part.right, part.left]
        elif _is_real(literal(part)):
            found.append(part)
        else:
            return None
    return found if len(names) > 1 else None


def rule_of(found: list[gast.expr]) -> Rule:
    """The rule of a product with these factors."""
    return _rule(tuple(None if isinstance(f, gast.Name) else literal(f) for f in found))


@lru_cache(256)
def _rule(literals: tuple[object, ...]) -> Rule:
    """`literals`: the value of each factor, None for the name."""
    parameters = tuple(f"x{i + 1}" for i in range(len(literals)))
    power = literals.count(None)
    x = parameters[literals.index(None)]
    total = product_of([power, *(v for v in literals if v is not None)])  # type: ignore[list-item]
    scaled = {1.0: "dy", -1.0: "-dy"}.get(total, f"{'-' * (total < 0)}dy * {abs(total)!r}")
    text = " * ".join([scaled, *[x] * (power - 1)])
    return Rule("*", parameters, elementwise={x: text}, differentiable=parameters)


def _is_real(value: object) -> bool:
    """Whether a literal is a real number that may be put together with others."""
    return type(value) in (int, float) and is_moderate(abs(value))  # type: ignore[arg-type]
