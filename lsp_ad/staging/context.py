"""Where a trace stands: the back end that was asked for, and the staged bodies that are being traced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lsp_ad.staging.backends.base import Backend
    from lsp_ad.staging.operators.state import State


@dataclass
class Body:
    """A body (of a branch, of a loop) that is traced once, whatever happens at run time.

    `state` is what it may change; `made`: containers that it made itself, by identity.
    """

    construct: str
    state: State
    made: dict[int, Any] = field(default_factory=dict)


_backend: ContextVar[Backend | None] = ContextVar("backend", default=None)
_bodies: ContextVar[tuple[Body, ...]] = ContextVar("bodies", default=())
_written: ContextVar[list[tuple[Any, str]] | None] = ContextVar("written", default=None)
_given: ContextVar[Callable[[], list[tuple[str, Any]]]] = ContextVar("given", default=list)
_gone_over: ContextVar[tuple[Any, ...]] = ContextVar("gone_over", default=())


_views: ContextVar[dict[int, tuple[Any, list[Any]]] | None] = ContextVar("views", default=None)


@dataclass(frozen=True)
class Wishes:
    """What is to happen when the code runs, where that is not for free: indices that are known only then are
    checked, and a `raise` in a staged branch raises its error."""

    check_bounds: bool = False
    raise_errors: bool = False


_wishes: ContextVar[Wishes] = ContextVar("wishes", default=Wishes())  # noqa: B039  (it cannot change)


def wishes() -> Wishes:
    """What has been asked for, of the functions that are being traced."""
    return _wishes.get()


@contextmanager
def wishing(wanted: Wishes) -> Iterator[None]:
    old = _wishes.get()
    both = Wishes(wanted.check_bounds or old.check_bounds, wanted.raise_errors or old.raise_errors)
    token = _wishes.set(both)
    try:
        yield
    finally:
        _wishes.reset(token)


def views() -> dict[int, tuple[Any, list[Any]]]:
    """By identity: the arrays that are views of others, with these."""
    found = _views.get()
    return {} if found is None else found


@contextmanager
def following_views() -> Iterator[None]:
    token = _views.set({})
    try:
        yield
    finally:
        _views.reset(token)


def superseded(array: Any, place: str) -> None:
    """Remember that an array that a function was given has been written into, and is out of date."""
    arrays = _written.get()
    if arrays is not None:
        arrays.append((array, place))


def written() -> list[tuple[Any, str]]:
    """The arrays that are out of date, with the place of the write."""
    return _written.get() or []


@contextmanager
def writing() -> Iterator[list[tuple[Any, str]]]:
    """Collect the arrays that go out of date in a block; they do so for the block around it, too."""
    arrays: list[tuple[Any, str]] = []
    around = _written.get()
    token = _written.set(arrays)
    try:
        yield arrays
    finally:
        _written.reset(token)
        if around is not None:
            around += arrays


def arguments() -> list[tuple[str, Any]]:
    """The arrays that the function being traced was given, with their names."""
    return _given.get()()


@contextmanager
def given(arrays: Callable[[], list[tuple[str, Any]]]) -> Iterator[None]:
    token = _given.set(arrays)
    try:
        yield
    finally:
        _given.reset(token)


def gone_over() -> tuple[Any, ...]:
    """The arrays that loops are going over now."""
    return _gone_over.get()


@contextmanager
def going_over(arrays: Iterable[Any]) -> Iterator[None]:
    token = _gone_over.set((*_gone_over.get(), *arrays))
    try:
        yield
    finally:
        _gone_over.reset(token)


def active() -> Backend | None:
    """The back end that a function is being compiled for, by `staged(f, backend=...)`."""
    return _backend.get()


def bodies() -> tuple[Body, ...]:
    """The staged bodies that are being traced, from the outside in."""
    return _bodies.get()


@contextmanager
def compiling(backend: Backend) -> Iterator[None]:
    token, written = _backend.set(backend), _written.set([])
    try:
        yield
    finally:
        _backend.reset(token)
        _written.reset(written)


@contextmanager
def tracing(body: Body) -> Iterator[None]:
    token = _bodies.set((*_bodies.get(), body))
    try:
        yield
    finally:
        _bodies.reset(token)
