"""The variables that a branch or the body of a loop may change, and what may become of them in a trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lsp_ad.staging import decisions
from lsp_ad.staging.backends import loaded
from lsp_ad.staging.backends.base import Backend, Ended
from lsp_ad.staging.context import Body, active, tracing
from lsp_ad.staging.effects import no_hidden_changes
from lsp_ad.staging.errors import in_try, raise_statement, staging_error, user_place
from lsp_ad.staging.operators.identity import Copies, Ends
from lsp_ad.staging.operators.lists import Moved, StagedList
from lsp_ad.staging.structures import Structure, flatten, unflatten


class State(NamedTuple):
    """Variables by name, with how to read and to set them all.

    The first `outputs` of them may be read afterwards. `guarded`: those that a flag guards, so that they are
    read only where they have been set; the others must have a value on every path.
    """

    names: str
    get: Callable[[], tuple]
    set: Callable[[tuple], None]
    outputs: int
    guarded: tuple[str, ...] = ()

    @property
    def all(self) -> list[str]:
        """The names one by one."""
        return self.names.split(", ") if self.names else []


NOTHING = State("", tuple, lambda values: None, 0)


@dataclass
class Outcome:
    """What a body made of one variable: its structure, and its leaves."""

    name: str
    structure: Structure
    leaves: list[Any]


def taken_apart(names: Sequence[str], values: Sequence[Any]) -> list[Outcome]:
    """Variables as structures and leaves."""
    return [
        Outcome(n, structure, leaves)
        for n, v in zip(names, values, strict=True)
        for leaves, structure in [flatten(v)]
    ]


def run_body(
    construct: str, state: State, start: Sequence[Any], run: Callable[[], Any]
) -> tuple[tuple, Ends]:
    """Trace a body from copies of given values of the state.

    Returns the values then, and what has become of the lists, dicts and objects in them.
    """
    copies = Copies(start)
    state.set(copies.values)
    with tracing(Body(construct, state)), no_hidden_changes(construct, state.all, state.get()):
        try:
            run()
        except Exception as error:
            _raise_later(error)
            raise _in_a_trace(error, construct) from None
    values = state.get()
    return values, copies.ends(values)


def _raise_later(error: Exception) -> None:
    """Let the program raise what a `raise` statement in a body raises, where the back end can do that."""
    backend = _tracing()
    place = raise_statement(error)
    if backend is not None and backend.raises and place is not None and not in_try():
        backend.raise_(error, place)
        raise Ended from None


def _tracing() -> Backend | None:
    """The back end that the code is being traced for."""
    return active() or next((b for b in loaded() if b.tracing()), None)


def _in_a_trace(error: Exception, construct: str) -> Exception:
    """An exception that leaves a body in a trace, where it says nothing of whether the body ever runs."""
    if isinstance(error, UnboundLocalError) and error.name:
        return staging_error(
            f"`{error.name}` has no value here on some path: all of them are traced.",
            "Give it one before the statement.",
        )
    place = raise_statement(error)
    if place is not None:
        backend = _tracing()
        asked = backend is not None and backend.raises_if_asked and not backend.raises and not in_try()
        what = "loop" if construct in (decisions.FOR, decisions.WHILE) else "branch"
        return staging_error(
            f"this staged {what} has a `raise` ({type(error).__name__}, {place}): it would be raised whatever"
            " the staged values are.",
            "Use `assert`, or decide it by values of Python"
            f"{', or ask for it: `lsp_ad.staged(..., raise_errors=True)`' if asked else ''}.",
        )
    return error


def restored(values: Sequence[Any], old: Sequence[Any]) -> tuple:
    """The new values, lists and dicts among them put into the objects that they were before.

    A list that has become a staged one is another object: what is left of the old one raises when used.
    """
    made = []
    for new, before in zip(values, old, strict=True):
        if type(before) is list and type(new) is list:
            before[:] = new
            new = before
        elif type(before) is list and type(new) is StagedList:
            before[:] = [Moved(":".join(map(str, user_place())))]
        elif type(before) is dict and type(new) is dict:
            before.clear()
            before.update(new)
            new = before
        made.append(new)
    return tuple(made)


def checked_undefined(name: str, guarded: Sequence[str], place: str) -> None:
    """Refuse a variable that has no value at a place where it must have one, unless a flag guards it."""
    if name not in guarded:
        raise staging_error(f"`{name}` has no value {place}.", "Give it one before the statement.")


def pack(structure: Structure, leaves: Sequence[Any]) -> Any:
    return unflatten(structure, leaves)
