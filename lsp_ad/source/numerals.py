"""Numbers as they are written in a text."""

from __future__ import annotations

from decimal import Decimal


def product_of(values: list[int | float]) -> int | float:
    """The product of numbers as they are written; of integers, an integer.

    >>> product_of([3, 0.1]), product_of([3, 2])
    (0.3, 6)
    """
    total = Decimal(1)
    for value in values:
        total *= Decimal(repr(value))
    return int(total) if all(isinstance(v, int) for v in values) else float(total)


def is_moderate(value: object) -> bool:
    """Whether a literal is a positive number of ordinary size: a product of a few such is not far from it."""
    return type(value) in (int, float) and 1e-3 <= value <= 1e3  # type: ignore[operator]
