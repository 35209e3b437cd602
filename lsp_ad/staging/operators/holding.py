"""Objects of the user's that hold an array which is written into under another name."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from lsp_ad.staging.context import bodies
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.libraries import is_users
from lsp_ad.staging.structures import flatten

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
