"""Writes into what a function is given, which staged code cannot do for its caller."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from lsp_ad.staging.backends import owner
from lsp_ad.staging.context import active, given, written
from lsp_ad.staging.errors import CONVERTED, SURVIVORS, StagingError, place, staging_error
from lsp_ad.staging.operators.optional import maybe_in
from lsp_ad.staging.operators.picked import Picked
from lsp_ad.staging.structures import contains, flatten


def check_caller(
    function: Callable[..., Any], args: tuple, named: dict[str, Any], arrays: list[tuple[Any, str]]
) -> None:
    """Refuse writes of a callee into arrays for which a variable stands here that is read afterwards."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code not in CONVERTED:
        frame = frame.f_back
    if frame is None:
        return

    def is_written(value: Any) -> bool:
        return any(leaf is array for leaf in flatten(value)[0] for array, _ in arrays)

    calls = SURVIVORS.get(frame.f_code, {}).get(frame.f_lineno, [])
    for name in sorted({n for call in calls for n in call.variables(args, named, is_written)}):
        leaves = flatten(frame.f_locals.get(name))[0]
        if any(np.ndim(leaf) for leaf in leaves if owner(leaf) is not None or isinstance(leaf, np.ndarray)):
            callee = getattr(function, "__name__", "a function")
            raise staging_error(
                f"`{callee}` writes ({arrays[0][1]}) into an array that `{name}` may stand for here.",
                "Let it return the array, and give the variable its value.",
            )


def check_operator(method: Callable[..., Any], arrays: list[tuple[Any, str]]) -> None:
    """Refuse writes of a method that an operator calls into arrays for which a variable stands here.

    Which variables share memory with what an operator is given, nobody has looked at: all that have arrays
    may, but those of the method itself.
    """
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code not in CONVERTED:
        frame = frame.f_back
    if frame is None:
        return
    for name, value in frame.f_locals.items():
        leaves = flatten(value)[0]
        if any(np.ndim(leaf) for leaf in leaves if owner(leaf) is not None or isinstance(leaf, np.ndarray)):
            raise staging_error(
                f"`{method.__name__}`, which an operator or a property calls here, writes ({arrays[0][1]})"
                f" into an array that `{name}` may stand for.",
                "Call a method by its name.",
            )


def entered(function: Callable[..., Any], args: tuple, named: dict[str, Any]) -> Any:
    """The result of a function that is traced. Raises StagingError where it changes an argument."""
    leaves, structure = flatten((args, named))
    inner = getattr(function, "__func__", function)
    with given(lambda: [(_argument(inner, args, named, leaf), leaf) for leaf in leaves]):
        result = function(*args, **named)
    for array, where in written():
        if any(leaf is array for leaf in leaves):
            raise StagingError(
                f"{where}: An argument of a function that is traced is written into:"
                f" `{_argument(inner, args, named, array)}`. Return the array, or begin with a copy of it."
            )
    if active() is None and maybe_in(result):
        raise StagingError(
            f"{place(inner)}: the result of `{inner.__name__}` may be None, by a staged value, which code"
            " that is traced cannot return. Return a number in its place, or beside it whether there is one."
        )
    if active() is None and contains(flatten(result)[1], Picked):
        raise StagingError(
            f"{place(inner)}: the result of `{inner.__name__}` is what a staged mask picks: how many elements"
            " there are is known only at run time. Return the array and the mask, or `np.where(mask, a, b)`."
        )
    after, form = flatten((args, named))
    if form != structure or any(a is not b for a, b in zip(leaves, after, strict=True)):
        raise StagingError(
            f"{place(inner)}: `{inner.__name__}` changes a list, a dict or an object that it is given, which"
            " code that is traced cannot do for others. Return the new value."
        )
    return result


def _argument(function: Any, args: tuple, named: dict[str, Any], array: Any) -> str:
    """The name of the parameter that an array was given for."""
    code = getattr(function, "__code__", None)
    parameters = code.co_varnames if code is not None else ()
    pairs = [*zip(parameters, args, strict=False), *named.items()]
    return next((n for n, v in pairs if any(leaf is array for leaf in flatten(v)[0])), "?")
