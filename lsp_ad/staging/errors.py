"""Errors of staging. Each names the file and the line of the user's code that it is about."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dis import opmap
from typing import Any, TypeVar

import gast

CONVERTED: dict[object, bool] = {}
"""The code objects of converted functions, which carry the file and the lines of the user's own text.

True of one that is a block of the function around it: a branch, the body of a loop.
"""

MADE = "__lsp_ad_converted__"
"""The attribute of a function that keeps it, its code and the function that was made of it."""


class Unsupported(Exception):
    """A node that a converter has no answer to: what is wrong, and a way out. Becomes a ConversionError."""

    def __init__(self, node: gast.AST, message: str, way_out: str = ""):
        super().__init__(f"{message} {way_out}".rstrip())
        self.node, self.message, self.way_out = node, message, way_out
        self.line: int = getattr(node, "lineno", 0)


SURVIVORS: dict[object, dict[int, list[Any]]] = {}
"""For the code of a converted function, by line: the calls there, with the variables that outlive them."""

TRIES: dict[object, list[tuple[int, int]]] = {}
"""For the code of a converted function: the first and the last line of what stands in `try` or `with`."""

GENERATED: dict[object, float] = {}
"""For the code of functions that lsp-ad generated, the line after which the backward sweep stands."""


class ConversionError(ValueError):
    """A function cannot be converted; nothing has run. The message names construct, place and way out."""


class StagingError(TypeError):
    """A construct cannot be staged with the values that it was given."""


class MismatchError(StagingError):
    """A variable is of two types that no type covers, in two branches or before and after an iteration."""


def place(function: Any) -> str:
    """File and line of the definition of a function."""
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else "<unknown>:0"


def user_place(depth: int = 1) -> tuple[str, int]:
    """File and line of the innermost converted function that is running; ("<unknown>", 0) where none is."""
    frame = sys._getframe(depth)
    while frame is not None:
        if frame.f_code in CONVERTED:
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return "<unknown>", 0


def raise_statement(error: BaseException) -> str | None:
    """File and line of the `raise` of converted code that an exception comes from; None of others."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None or traceback.tb_frame.f_code not in CONVERTED or isinstance(error, StagingError):
        return None
    code = traceback.tb_frame.f_code
    raised = code.co_code[traceback.tb_lasti] == opmap["RAISE_VARARGS"]
    return f"{code.co_filename}:{traceback.tb_lineno}" if raised else None


E = TypeVar("E", bound=BaseException)


def noted(error: E, place: str | None) -> E:
    """The error, with a note of where the code is that raised it when the program ran."""
    if place is not None and hasattr(error, "add_note"):  # Python 3.11
        error.add_note(f"{_NOTE} {place}")
    return error


def is_noted(error: BaseException) -> bool:
    """Whether an error says by a note where it comes from."""
    return any(note.startswith(_NOTE) for note in getattr(error, "__notes__", ()))


def in_try(depth: int = 1) -> bool:
    """Whether converted code that is running now has a `try` or a `with` around where it is."""
    frame = sys._getframe(depth)
    while frame is not None:
        ranges = TRIES.get(frame.f_code, ())
        if any(first <= frame.f_lineno <= last for first, last in ranges):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


_NOTE = "raised at"
_raised: ContextVar[list[StagingError] | None] = ContextVar("raised", default=None)


@contextmanager
def collecting() -> Iterator[list[StagingError]]:
    """The staging errors made in a block, whether or not an `except` of the user's has caught them."""
    made: list[StagingError] = []
    token = _raised.set(made)
    try:
        yield made
    finally:
        _raised.reset(token)


def staging_error(message: str, way_out: str = "", kind: type[StagingError] = StagingError) -> StagingError:
    """A StagingError at the line that is running now."""
    file, line = user_place(2)
    return again(kind(f"{file}:{line}: {message}{' ' if way_out else ''}{way_out}"))


def handled(error: StagingError) -> None:
    """Forget a staging error that staging itself has found an answer to."""
    raised = _raised.get()
    if raised is not None:
        raised.remove(error)


def again(error: StagingError) -> StagingError:
    """A staging error that was made, and forgotten, and is to be raised after all."""
    raised = _raised.get()
    if raised is not None:
        raised.append(error)
    return error


def in_generated_code(backward: bool = False) -> bool:
    """Whether the innermost converted function that is running is one that lsp-ad generated.

    `backward`: and it is in its backward sweep.
    """
    frame = sys._getframe(1)
    while frame is not None and frame.f_code not in CONVERTED:
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None or frame.f_code not in GENERATED:
        return False
    return not backward or frame.f_lineno > GENERATED[frame.f_code]
