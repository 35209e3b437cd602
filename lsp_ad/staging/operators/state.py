"""The variables that a branch or the body of a loop may change, and what may become of them in a trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lsp_ad.staging.backends.base import Backend, Spec, spec_of
from lsp_ad.staging.context import Body, tracing
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.operators.variables import Undefined
from lsp_ad.staging.structures import Structure, copied, flatten, unflatten

_NUMBERS = (bool, int, float, complex, np.generic, np.ndarray)


@dataclass(frozen=True)
class State:
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
        return self.names.split(", ") if self.names else []


NOTHING = State("", tuple, lambda values: None, 0)


@dataclass
class Outcome:
    """What a body made of one variable: its structure, and its leaves."""

    name: str
    structure: Structure
    leaves: list[Any]


def is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and not (isinstance(value, np.ndarray) and value.dtype == object)


def taken_apart(names: Sequence[str], values: Sequence[Any]) -> list[Outcome]:
    """Variables as structures and leaves."""
    return [
        Outcome(n, structure, leaves)
        for n, v in zip(names, values, strict=True)
        for leaves, structure in [flatten(v)]
    ]


def run_body(construct: str, state: State, start: Sequence[Any], run: Callable[[], Any]) -> list[Outcome]:
    """Trace a body from given values of the state; what its outputs then are."""
    state.set(tuple(map(copied, start)))
    with tracing(Body(construct, state)):
        run()
    return taken_apart(state.all[: state.outputs], state.get()[: state.outputs])


def value_spec(backend: Backend, value: Any) -> Spec:
    return backend.spec(value) if backend.owns(value) else spec_of(value)


def unified(a: Spec, b: Spec, same_shapes: bool) -> Spec | None:
    """The type that values of two types can both be cast to without loss of meaning; None if there is none.

    A Python number takes on the type of the other where it is as wide a kind of number, as in NumPy.
    """
    if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
        shape: tuple[int | None, ...] | None = None
    else:
        shape = tuple(m if m == n else None for m, n in zip(a.shape, b.shape, strict=True))
    if same_shapes and (a.shape is not None and b.shape is not None) and a.shape != b.shape:
        return None
    if a.dtype == b.dtype:
        return Spec(a.dtype, shape, a.weak and b.weak)
    if (a.dtype == bool) != (b.dtype == bool):
        return None
    if a.weak and b.weak:
        return Spec(np.result_type(a.dtype, b.dtype), shape, True)
    for weak, strong in ((a, b), (b, a)):
        if weak.weak and np.can_cast(weak.dtype, np.result_type(strong.dtype, np.int8), "same_kind"):
            return Spec(strong.dtype, shape)
    return None


def is_same(a: Any, b: Any) -> bool:
    """Whether two values that are not staged are the same one."""
    if a is b:
        return True
    if type(a) is not type(b) or isinstance(a, np.ndarray):
        return False
    try:
        return bool(a == b)
    except Exception:  # an __eq__ of the user's
        return False


def restored(values: Sequence[Any], old: Sequence[Any]) -> tuple:
    """The new values, lists and dicts among them put into the objects that they were before."""
    made = []
    for new, before in zip(values, old, strict=True):
        if type(before) is list and type(new) is list:
            before[:] = new
            new = before
        elif type(before) is dict and type(new) is dict:
            before.clear()
            before.update(new)
            new = before
        made.append(new)
    return tuple(made)


def checked_undefined(name: str, value: Any, state: State, place: str) -> None:
    """Refuse a variable that has no value at a place where it must have one."""
    if isinstance(value, Undefined) and name not in state.guarded:
        raise staging_error(f"`{name}` has no value {place}.", "Give it one before the statement.")


def pack(structure: Structure, leaves: Sequence[Any]) -> Any:
    return unflatten(structure, leaves)
