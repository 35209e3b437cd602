"""Which choices of truth values JAX makes without a branch.

A conditional costs more than a few operations on numbers, most of all in the test of a loop. Truth values
have no derivatives, and what computes them here raises nothing: both sides may be computed always.
"""

from __future__ import annotations

from typing import Any

_MOST = 24  # operations on both sides
_OPERATIONS = """
abs add and broadcast_in_dim ceil convert_element_type copy div dynamic_slice eq floor gather ge gt
integer_pow is_finite le lt max min mul ne neg not or rem reshape round select_n sign slice sqrt square
squeeze sub xor
"""
_CHEAP = frozenset(_OPERATIONS.split())
_WITHIN = frozenset(["jit", "pjit"])  # operations that are those of a function


def are_cheap(*sides: Any) -> bool:
    """Whether the code of all sides is so little."""
    counts = [_count(side.jaxpr) for side in sides]
    return sum(n for n in counts if n is not None) <= _MOST and None not in counts


def _count(jaxpr: Any) -> int | None:
    """How many operations on single numbers there are; None if there are others."""
    found = 0
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        inner = _count(equation.params["jaxpr"].jaxpr) if name in _WITHIN else int(name in _CHEAP) or None
        if inner is None or any(v.aval.size > 1 for v in equation.outvars):
            return None
        found += inner
    return found
