"""Values that may be None when the program runs, for back ends that can say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from lsp_ad.staging.backends.base import Backend, Owned
from lsp_ad.staging.structures import mapped, register

_known: ContextVar[tuple[tuple[Any, bool], ...]] = ContextVar("known", default=())


@contextmanager
def knowing(test: Any, holds: bool) -> Iterator[None]:
    """Let a staged condition be known in a block: it is traced as one of the branches that it decides."""
    token = _known.set((*_known.get(), (test, holds)))
    try:
        yield
    finally:
        _known.reset(token)


class Maybe(Owned):
    """None, or a value: `there` says which. Every use but a comparison with None needs the value."""

    def __init__(self, backend: Backend, there: Any, value: Any):
        self.backend, self.there, self.value = backend, there, value
        self.asked: list[Any] = []  # the conditions that say whether it is None

    def is_there(self) -> Any:
        """Whether there is a value: known in a branch that this decides, else staged."""
        for test, holds in _known.get():
            if test is self.there:
                return holds
            if any(test is absent for absent in self.asked):
                return not holds
        return self.there

    def checked(self) -> Any:
        """The value; the program raises a TypeError where it is None, as Python does."""
        if self.is_there() is not True:
            self.backend.require(self.there, "TypeError", "None is used where a value is needed")
        return self.value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.checked(), name)

    def __getitem__(self, index: Any) -> Any:
        return self.checked()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.checked())

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*map(certain, inputs), **options)


register(
    Maybe,
    lambda value: ([value.there, value.value], value.backend),
    lambda backend, parts: Maybe(backend, *parts),
)


def certain(value: Any) -> Any:
    """A value with what may be None in it checked."""
    return mapped(value, Maybe, lambda found, _: found.checked(), ())


def computed(value: Any) -> Any:
    """A result that has been computed, with None, or the values, for what may be None in it."""
    return mapped(value, Maybe, lambda found, _: found.value if found.there else None)


def maybe_in(value: Any) -> list[Maybe]:
    """What may be None in a value."""
    found: list[Maybe] = []

    def seen(one: Maybe, path: tuple) -> Maybe:
        found.append(one)
        return one

    mapped(value, Maybe, seen)
    return found


def narrowed(value: Any) -> Any:
    """A value with what is known not to be None in it, in a branch that decides this, as what it is."""
    return mapped(value, Maybe, lambda found, _: found.value if found.is_there() is True else found)


def is_none(value: Any) -> Any:
    """`value is None`."""
    if not isinstance(value, Maybe):
        return value is None
    there = value.is_there()
    if isinstance(there, bool):
        return not there
    value.asked.append(value.backend.not_(there))
    return value.asked[-1]


def _operator(name: str) -> Callable[..., Any]:
    return lambda self, *others: getattr(self.checked(), name)(*map(certain, others))


_BINARY = "add sub mul truediv floordiv mod pow matmul and or xor"
_NAMES = [side + name for name in _BINARY.split() for side in ("", "r")]
for _name in [*_NAMES, *["lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs", "invert", "bool"]]:
    setattr(Maybe, f"__{_name}__", _operator(f"__{_name}__"))
