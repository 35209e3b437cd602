"""Values that may be None when the program runs, for back ends that can say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lsp_ad.staging.backends.base import Backend, Owned
from lsp_ad.staging.structures import mapped, register


class Maybe(Owned):
    """None, or a value: `there` says which. Every use but a comparison with None needs the value."""

    def __init__(self, backend: Backend, there: Any, value: Any):
        self.backend, self.there, self.value = backend, there, value

    def checked(self) -> Any:
        """The value; the program raises a TypeError where it is None, as Python does."""
        if self.there is not True:
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


def is_none(value: Any) -> Any:
    """`value is None`."""
    if not isinstance(value, Maybe):
        return value is None
    return not value.there if isinstance(value.there, bool) else value.backend.not_(value.there)


def _operator(name: str) -> Callable[..., Any]:
    return lambda self, *others: getattr(self.checked(), name)(*map(certain, others))


_BINARY = "add sub mul truediv floordiv mod pow matmul and or xor"
_NAMES = [side + name for name in _BINARY.split() for side in ("", "r")]
for _name in [*_NAMES, *["lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs", "invert", "bool"]]:
    setattr(Maybe, f"__{_name}__", _operator(f"__{_name}__"))
