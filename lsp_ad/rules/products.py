"""Products in which a name occurs more than once, as one operation: the derivative of `3 * x * x`."""

from __future__ import annotations

from functools import lru_cache

import gast

from lsp_ad.rules.rule import Rule, literal
from lsp_ad.source.numerals import is_moderate, product_of


def factors(node: gast.expr) -> list[gast.expr] | None:
    """The factors of a product of a name that occurs more than once, literals, and at most one other name.

    None for any other expression.

    >>> len(factors(gast.parse("0.5 * m * v * v", mode="eval").body))
    4
    """
    if type(node) is not gast.BinOp or type(node.op) is not gast.Mult:
        return None
    found: list[gast.expr] = []
    counts: dict[str, int] = {}
    pending: list[gast.expr] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, gast.Name):
            counts[part.id] = counts.get(part.id, 0) + 1
            if len(counts) > 2:
                return None
            found.append(part)
        elif isinstance(part, gast.BinOp) and isinstance(part.op, gast.Mult):
            pending += [part.right, part.left]
        elif _is_real(literal(part)):
            found.append(part)
        else:
            return None
    once = sum(count == 1 for count in counts.values())
    return found if once < 2 and len(counts) - once == 1 else None


def rule_of(found: list[gast.expr]) -> Rule:
    """The rule of a product with these factors."""
    first: dict[str, str] = {}
    pattern: list[object] = []
    for position, factor in enumerate(found, start=1):
        is_name = isinstance(factor, gast.Name)
        pattern.append(first.setdefault(factor.id, f"x{position}") if is_name else literal(factor))
    return _rule(tuple(pattern))


@lru_cache(256)
def _rule(pattern: tuple[object, ...]) -> Rule:
    """`pattern`: for each factor, its value or the first parameter that stands for its name."""
    literals = [v for v in pattern if isinstance(v, (int, float))]
    names = [v for v in pattern if isinstance(v, str)]
    texts = {}
    for x in dict.fromkeys(names):
        total = float(product_of([names.count(x), *literals]))
        scaled = {1.0: "dy", -1.0: "-dy"}.get(total, f"{'-' * (total < 0)}dy * {abs(total)!r}")
        others = list(names)
        others.remove(x)
        texts[x] = " * ".join([scaled, *others])
    parameters = tuple(f"x{i + 1}" for i in range(len(pattern)))
    return Rule("*", parameters, elementwise=texts, differentiable=parameters)


def _is_real(value: object) -> bool:
    """Whether a literal is a real number that may be put together with others."""
    return type(value) in (int, float) and is_moderate(abs(value))  # type: ignore[arg-type]
