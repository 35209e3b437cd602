"""Objects of the user's that hold an array which is written into under another name."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lsp_ad.staging.context import bodies
from lsp_ad.staging.errors import StagingError, staging_error
from lsp_ad.staging.libraries import is_users
from lsp_ad.staging.operators.views import are_related
from lsp_ad.staging.structures import flatten, parts_of

_NONE = (types.FunctionType, types.MethodType, types.ModuleType, type)


def objects_in(value: Any) -> list[Any]:
    """The objects of classes of the user's that are reached through a value."""
    found: list[Any] = []
    pending = flatten(value)[0]
    while pending:
        one = pending.pop()
        known = isinstance(one, _NONE) or not hasattr(one, "__dict__") or not is_users(type(one))
        if not known and all(one is not other for other in found):
            found.append(one)
            pending += flatten(list(vars(one).values()))[0]
    return found


def put_into(
    value: Any, name: str, old: Any, related: Callable[[Any], bool], replaced: Callable[[Any], Any]
) -> None:
    """Have the objects in a variable hold what an array has become; an error where that cannot be."""
    for one in objects_in(value):
        for attribute, held in list(vars(one).items()):
            leaves = flatten(held)[0]
            found = any(leaf is old for leaf in leaves)
            if any(related(leaf) for leaf in leaves if leaf is not old) or (found and bodies()):
                raise staging_error(
                    f"`{name}` has the array that is written into here, or a part of it, in its attribute"
                    f" `{attribute}`.",
                    "Write into the array by that attribute, or make one of them a copy (`.copy()`).",
                )
            if found:
                object.__setattr__(one, attribute, replaced(held))


def shared_memory(name: str) -> StagingError:
    return staging_error(
        f"{name} may share its memory with the array that is written into here.",
        "Make one of them a copy (`.copy()`) where it gets its value.",
    )


def check_whole(whole: Any, old: Any) -> None:
    """Refuse a write into an array that an object, or a dict, has in it twice."""
    if whole is None or not np.ndim(old):
        return
    values = [whole, *(held for one in objects_in(whole) for held in vars(one).values())]
    leaves = [leaf for value in values for leaf in flatten(value)[0]]
    others = [leaf for leaf in leaves if leaf is not old and np.ndim(leaf) and are_related(leaf, old)]
    if others or sum(leaf is old for leaf in leaves) > 1:
        raise staging_error(
            "The array that is written into here is in one object or dict twice, as a whole or in part.",
            "Make one of them a copy (`.copy()`).",
        )


def check_keeper(name: str, old: Any, other: Any) -> None:
    """Refuse a function, or a container of another kind, that has an array in it which it would keep."""
    held: list[Any] = []
    if isinstance(other, partial):
        held = [*other.args, *other.keywords.values()]
    elif isinstance(other, types.FunctionType):
        held = [*(other.__defaults__ or ()), *(other.__kwdefaults__ or {}).values()]
    elif isinstance(other, dict) and parts_of(other) is None:
        held = list(other.values())
    elif isinstance(other, deque):
        held = list(other)
    if any(leaf is old or (np.ndim(leaf) and are_related(leaf, old)) for leaf in flatten(held)[0]):
        raise shared_memory(f"`{name}`")
