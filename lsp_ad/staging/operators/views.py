"""Which staged arrays are views of others in Python, and which are copies.

A copy is an object of its own, even where a library hands on the array itself, which cannot change: a write
into one of the two is not one into the other. Of what was seen to be a view it is known of which array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from lsp_ad.staging.backends import owner
from lsp_ad.staging.backends.base import Owned
from lsp_ad.staging.context import views
from lsp_ad.staging.structures import flatten

# methods and functions of NumPy that may give an array that is given, or a view of it
_METHODS = ("conj", "conjugate", "diagonal", "ravel", "reshape", "squeeze", "swapaxes", "transpose", "view")
_NAMES = """array_split asarray asanyarray ascontiguousarray asfortranarray atleast_1d atleast_2d atleast_3d
    broadcast_arrays broadcast_to diag dsplit expand_dims flip fliplr flipud hsplit imag moveaxis permute_dims
    real require rollaxis rot90 split unstack vsplit bool_ int32 int64 float32 float64 complex64 complex128"""
_FUNCTIONS = frozenset([*_METHODS, *_NAMES.split()])


def own(name: str, made: Any, given: Iterable[Any]) -> Any:
    """What the function `np.name` gives, which is not what it is given unless it is a view."""
    if name in _FUNCTIONS:
        for part in flatten(made)[0]:  # there are several, of `np.split`
            for value in given:
                seen(part, value)
        return made
    return _copied(made) if any(made is value for value in given) else made


def method(function: Callable[..., Any], call: Callable[..., Any]) -> Callable[..., Any]:
    """What to call for a function; a method of a staged array copies where that of NumPy does."""
    array: Any = getattr(function, "__self__", None)
    if owner(array) is None or isinstance(array, Owned):
        return call

    def called(*args: Any, **named: Any) -> Any:
        made = call(*args, **named)
        # the methods of a library's arrays may all have one name
        if any(getattr(array, name, None) == function for name in _METHODS):
            seen(made, array)
            return made
        return _copied(made) if made is array else made

    return called


def positive(value: Any) -> Any:
    """`+value`."""
    made = +value
    return _copied(made) if made is value else made


def view_of(value: Any, attribute: str) -> Any:
    """`value.T`, or another attribute that may be a view of an array."""
    made = getattr(value, attribute)
    seen(made, value)
    return made


def seen(made: Any, value: Any) -> None:
    """Remember that an array may be a view of another one."""
    if made is not value and np.ndim(made) and owner(made) is not None:
        views().setdefault(id(made), (made, []))[1].append(value)


def are_related(one: Any, other: Any) -> bool:
    """Whether two arrays were seen to be views of one."""
    return not _roots(one).isdisjoint(_roots(other))


def _roots(value: Any) -> set[int]:
    found, pending = set(), [value]
    while pending:
        one = pending.pop()
        if id(one) not in found:
            found.add(id(one))
            pending += views().get(id(one), (one, []))[1]
    return found


def _copied(value: Any) -> Any:
    backend = owner(value)
    return value if backend is None else backend.copied(value)
