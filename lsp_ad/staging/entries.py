"""Where user code calls staged code: errors leave it with the user's lines only, and none is swallowed."""

from __future__ import annotations

import functools
import os
import types
from collections import Counter
from collections.abc import Callable
from typing import Any

from lsp_ad.staging.arguments import entered
from lsp_ad.staging.backends import loaded, owner
from lsp_ad.staging.backends.base import Ended
from lsp_ad.staging.context import Wishes, following_views, wishing, writing
from lsp_ad.staging.effects import no_leaks
from lsp_ad.staging.errors import CONVERTED, ConversionError, StagingError, collecting, is_noted
from lsp_ad.staging.libraries import OWN, is_library
from lsp_ad.staging.operators.classes import converted_methods, meet
from lsp_ad.staging.operators.identity import no_changes_of_choices
from lsp_ad.staging.operators.lists import StagedList
from lsp_ad.staging.structures import flatten, mapped

ENTRY = "__lsp_ad_entry__"
_FULL = os.environ.get("LSP_AD_TRACEBACK") == "full"


class Entry:
    """What `staged` makes of a converted function; `compile_` compiles it, where a back end was asked for."""

    def __init__(
        self,
        made: Callable[..., Any],
        compile_: Callable[[Any], Callable[..., Any]] | None,
        wanted: Wishes,
    ):
        self.made, self.wanted = made, wanted
        self.compiled = compile_(self._watched) if compile_ is not None else None
        self.function = self._function(self.compiled or self._watched)

    def _watched(self, *args: Any, **named: Any) -> Any:
        """The converted function; no staged values are left behind where it is traced."""
        plain = getattr(self.made, "__func__", self.made)
        if not isinstance(plain, types.FunctionType) or owner(*flatten((args, named))[0]) is None:
            return self.made(*args, **named)
        bound = (self.made.__self__,) if isinstance(self.made, types.MethodType) else ()
        with (
            converted_methods(),
            no_leaks(plain, (*bound, *args), named) as reached,
            writing(),
            following_views(),
            wishing(self.wanted),
            no_changes_of_choices(),
        ):
            for value in reached:
                meet(type(value))
            try:
                return entered(self.made, args, named)
            except Ended as ended:
                raise _never(ended) from None

    def _function(self, run: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(self.made)
        def entry(*args: Any, **named: Any) -> Any:
            try:
                with collecting() as raised:
                    try:
                        outermost = run
                        for backend in loaded():
                            outermost = backend.outermost(outermost)
                        value = outermost(*args, **named)
                    except Exception as error:
                        told = explained(error)
                        if told is error:
                            raise
                        raise told.with_traceback(error.__traceback__) from None
                if raised:  # and caught by an `except` of the user's
                    raise raised[0]
                return value if self.compiled is not None else self._returned(value)
            except Exception as error:
                error.__traceback__ = trimmed(error.__traceback__, is_noted(error))
                for backend in loaded():
                    backend.tidy(error)
                raise

        entry.__dict__[ENTRY] = self
        entry.__dict__["autograph_info__"] = {}  # by which TensorFlow knows what it is not to convert
        return entry

    def _returned(self, value: Any) -> Any:
        """A result with Python lists for staged ones: a library knows nothing of these."""

        def made(found: StagedList, path: tuple) -> Any:
            if found.known:
                return list(found)
            if not found.backend.bounded_lists:
                return found
            code = getattr(self.made, "__func__", self.made).__code__
            raise StagingError(
                f"{code.co_filename}:{code.co_firstlineno}: A list is returned of which only the running code"
                " will know how many items it has. Return an array of fixed size, and the number of items."
            )

        return mapped(value, StagedList, made) if owner(*flatten(value)[0]) is not None else value

    def callee(self) -> Callable[..., Any]:
        """What converted code calls in its place: not compiled apart where an argument is staged."""
        compiled = self.compiled
        if compiled is None:
            return self.made

        def either(*args: Any, **named: Any) -> Any:
            here = owner(*flatten((args, named))[0]) is not None
            return (self.made if here else compiled)(*args, **named)

        return either


def _never(ended: Ended) -> StagingError:
    """The error where every path through a function raises one."""
    found = [(code, line) for code, line in _frames(ended) if code in CONVERTED]
    place = f"{found[0][0].co_filename}:{found[0][1]}" if found else "<unknown>:0"
    return StagingError(f"{place}: every path from here on raises an error.")


def trimmed(traceback: types.TracebackType | None, wholly: bool = False) -> types.TracebackType | None:
    """A traceback without the frames of operators, and of what these call that calls user code again.

    One that has no others is left as it is, unless it is `wholly` trimmed.
    """
    if _FULL:
        return traceback
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    own = [t.tb_frame.f_code.co_filename.startswith(OWN) for t in entries]
    kept: list[types.TracebackType] = []
    for position, t in enumerate(entries):
        if own[position]:
            continue
        # between two of ours with nothing of the user's in between: the library of a back end
        before = _nearest(entries, own, range(position - 1, -1, -1))
        after = _nearest(entries, own, range(position + 1, len(entries)))
        if before and after and t.tb_frame.f_code not in CONVERTED:
            continue
        if kept and CONVERTED.get(t.tb_frame.f_code):
            kept.pop()  # the function of which this is a block
        kept.append(t)
    made: types.TracebackType | None = None
    for t in reversed(kept if kept or wholly else entries):
        made = types.TracebackType(made, t.tb_frame, t.tb_lasti, t.tb_lineno)
    return made


def _nearest(entries: list[types.TracebackType], own: list[bool], where: range) -> bool:
    """Whether a frame of ours comes before one of converted code."""
    for position in where:
        if own[position]:
            return True
        if entries[position].tb_frame.f_code in CONVERTED:
            return False
    return False


def explained(error: Exception) -> Exception:
    """The error, or one that says in terms of staging what it means."""
    if isinstance(error, (StagingError, ConversionError)):
        return error
    if isinstance(error, RecursionError):
        return _recursion(error)
    for backend in loaded():
        if backend.is_undecidable(error):
            return _undecidable(error, backend.name)
    return error


def _frames(error: BaseException) -> list[tuple[types.CodeType, int]]:
    found = []
    traceback = error.__traceback__
    while traceback is not None:
        found.append((traceback.tb_frame.f_code, traceback.tb_lineno))
        traceback = traceback.tb_next
    return found


def _recursion(error: RecursionError) -> Exception:
    """A recursion in the traces of branches has no end, since both branches are traced."""
    frames = _frames(error)
    if sum(code.co_name == "run_body" and code.co_filename.startswith(OWN) for code, _ in frames) < 3:
        return error
    lines = Counter((code, line) for code, line in frames if code in CONVERTED)
    (code, line), _ = max(reversed(lines.items()), key=lambda item: item[1])
    on_lantern = any(code.co_filename.startswith(OWN) and "lantern" in code.co_filename for code, _ in frames)
    return StagingError(
        f"{code.co_filename}:{line}: `{code.co_name}` comes back to this call under a staged condition: both"
        " branches are traced, so the trace would never end. Write a loop, make the condition one of Python"
        " values, or "
        + (
            "let all that the call is given be numbers and arrays: it is given something else."
            if on_lantern
            else "use the back end lantern, which has recursion."
        )
    )


def _undecidable(error: Exception, backend: str) -> Exception:
    """Python has asked a staged value for its value, in a place that no operator stands in for."""
    users = [(code, line) for code, line in _frames(error) if not is_library(code.co_filename)]
    inside = [position for position, (code, _) in enumerate(users) if code in CONVERTED]
    if not inside:
        return error
    code, line = users[-1]
    what = f"{code.co_filename}:{line}: Python asks a staged value of {backend} for its value"
    if code in CONVERTED:
        return StagingError(f"{what}, in a function of Python or of a library that is called here.")
    by, by_line = users[inside[-1]]
    return StagingError(
        f"{what}. `{getattr(code, 'co_qualname', code.co_name)}` runs unconverted: {by.co_filename}:{by_line}"
        " calls it by way of an operator, a property or a library. Call it there by its name."
    )
