"""`and`, `or`, `not`, chained comparisons, `in` and `is`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from lsp_ad.staging import decisions
from lsp_ad.staging.backends import owner
from lsp_ad.staging.backends.base import Backend, Spec
from lsp_ad.staging.decisions import decide
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.operators.branches import in_python, staged_choice
from lsp_ad.staging.operators.classes import own_method
from lsp_ad.staging.operators.jumps import negated
from lsp_ad.staging.operators.optional import is_none
from lsp_ad.staging.operators.truth import truth, truth_value
from lsp_ad.staging.structures import flatten


def eq(left: Any, right: Any) -> Any:
    """`left == right`, also of tuples and lists with staged values in them."""
    pair = isinstance(left, (tuple, list)) and type(left) is type(right)
    backend = owner(*flatten((left, right))[0]) if pair else None
    if backend is None:
        return left == right
    if len(left) != len(right):
        return False
    same: Any = True
    for one, other in zip(left, right, strict=True):
        here = eq(one, other)
        if owner(here) is None and not here:
            return False
        if owner(here) is not None:
            same = here if same is True else backend.function("logical_and")(same, here)
    return same


def ne(left: Any, right: Any) -> Any:
    """`left != right`, also of tuples and lists with staged values in them."""
    if own_method(left, "__eq__") is not None and type(left).__ne__ is object.__ne__:
        return negated(left == right)
    if not isinstance(left, (tuple, list)):
        return left != right
    same = eq(left, right)
    return not same if isinstance(same, bool) else negated(same)


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": eq,
    "!=": ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def and_(left: Any, right: Callable[[], Any], construct: str = decisions.AND) -> Any:
    """`left and right()`: the right side is evaluated only where the left one is true.

    `construct`: what stands there in the user's text.
    """
    test = truth(left)
    backend = owner(test)
    if backend is None:
        in_python(construct, left)
        return right() if test else left
    decide(construct, decisions.STAGED, f"its left side is a value of {backend.name}")
    if not _is_truth(backend, left):
        return staged_choice(backend, test, right, lambda: left, "and")
    found = staged_choice(backend, test, right, lambda: False, "and")
    return found if owner(found) is not None else backend.function("logical_and")(left, found)


def or_(left: Any, right: Callable[[], Any], construct: str = decisions.OR) -> Any:
    """`left or right()`: the right side is evaluated only where the left one is false."""
    test = truth(left)
    backend = owner(test)
    if backend is None:
        in_python(construct, left)
        return left if test else right()
    decide(construct, decisions.STAGED, f"its left side is a value of {backend.name}")
    if not _is_truth(backend, left):
        return staged_choice(backend, test, lambda: left, right, "or")
    found = staged_choice(backend, test, lambda: True, right, "or")
    return found if owner(found) is not None else backend.function("logical_or")(left, found)


def _is_truth(backend: Backend, left: Any) -> bool:
    """Whether a left side is a truth value, which is known where it decides."""
    return backend.owns(left) and backend.spec(left) == Spec(np.dtype(bool), ())


def both(left: Any, right: Callable[[], Any], construct: str = decisions.AND) -> Any:
    """`left and right()` of which only the truth is asked, as in a condition."""
    return and_(truth_value(left), lambda: truth_value(right()), construct)


def either(left: Any, right: Callable[[], Any], construct: str = decisions.OR) -> Any:
    """`left or right()` of which only the truth is asked."""
    return or_(truth_value(left), lambda: truth_value(right()), construct)


def not_(value: Any) -> Any:
    """`not value`."""
    value = truth(value)
    backend = owner(value)
    if backend is None:
        in_python(decisions.NOT, value)
    else:
        decide(decisions.NOT, decisions.STAGED, f"its operand is a value of {backend.name}")
    return negated(value)


def compare(left: Any, *links: Any) -> Any:
    """A chained comparison: `a < b <= c` is `compare(a, "<", lambda: b, "<=", lambda: c)`."""
    sign, get, *rest = links
    right = get()
    here = _compared(left, sign, right)
    return here if not rest else and_(here, lambda: compare(right, *rest))


def _compared(left: Any, sign: str, right: Any) -> Any:
    if sign in _COMPARE:
        return _COMPARE[sign](left, right)
    found = in_(left, right) if sign.endswith("in") else is_(left, right)
    return negated(found) if sign in ("not in", "is not") else found


def ordered(sign: str, left: Sequence[Any], right: Sequence[Any]) -> Any:
    """`left < right` (or `<=`, `>`, `>=`) of as many values each: the first that differ decide."""
    found: Any = sign in ("<=", ">=")
    for one, other in reversed([*zip(left, right, strict=True)]):
        same = partial(and_, eq(one, other), partial(lambda rest: rest, found), "")
        found = or_(_COMPARE[sign[0]](one, other), same, "")
    return found


def in_(item: Any, container: Any) -> Any:
    """`item in container`."""
    method = own_method(container, "__contains__")
    if method is not None:
        return truth(method(container, item))
    inside = container if isinstance(container, (list, tuple, dict)) else ()
    backend = owner(item, container, *inside)
    if backend is None:
        return item in container
    decide(decisions.COMPARISON, decisions.STAGED, f"an operand is a value of {backend.name}")
    if owner(container) is not None:
        return backend.function("any")(container == item)
    found: Any = False
    for one in container:
        found = _same(item, one) if found is False else or_(found, partial(_same, item, one), "")
    return found


def _same(item: Any, other: Any) -> Any:
    """Whether `in` takes two values for the same."""
    apart = any(isinstance(v, (str, bytes, type(None))) for v in (item, other)) and owner(item, other)
    return False if apart else item is other or eq(item, other)


def is_(left: Any, right: Any) -> Any:
    """`left is right`. Of a staged value only identity with None can be told."""
    if left is None or right is None:
        return is_none(left if right is None else right)
    backend = owner(left, right)
    if backend is not None and left is not right:
        raise staging_error(
            "`is` compares Python objects: a staged value is never the one that it will stand for.",
            "Compare with `==`.",
        )
    return left is right
