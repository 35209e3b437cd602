"""What a staged mask picks: `x[x > 0]`, whose number of elements is known only when the code runs.

The array is kept whole, with the mask beside it. What is done element by element is done to all; sums and the
like take those that the mask picks; a write under the same mask is a choice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lsp_ad.staging.backends.base import Backend, Owned
from lsp_ad.staging.errors import StagingError, staging_error, user_place
from lsp_ad.staging.structures import mapped, register

_UNKNOWN = "How many elements a staged mask picks is known only at run time"


class Picked(Owned):
    """`array[mask]`.

    Where the mask is false, the array has an element that it picks, if there is one, so that nothing happens
    there that does not happen elsewhere.
    """

    def __init__(self, backend: Backend, array: Any, mask: Any):
        self.backend, self.array, self.mask = backend, array, mask

    @property
    def shape(self) -> tuple:
        return (Count(self), *np.shape(self.array)[np.ndim(self.mask) :])

    @property
    def ndim(self) -> int:
        return 1 + np.ndim(self.array) - np.ndim(self.mask)

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    @property
    def size(self) -> Any:
        rest = np.shape(self.array)[np.ndim(self.mask) :]
        return self.backend.function("sum")(self.mask) * int(np.prod(rest))

    def copy(self) -> Picked:
        return self

    def astype(self, dtype: Any) -> Picked:
        return Picked(self.backend, self.array.astype(dtype), self.mask)

    def like(self, array: Any) -> Picked:
        """Other elements under the same mask."""
        return Picked(self.backend, array, self.mask)

    def _unknown(self, *_: Any, **__: Any) -> Any:
        raise unknown()

    __len__ = __iter__ = __getitem__ = __setitem__ = __bool__ = __float__ = __int__ = __array__ = _unknown
    __matmul__ = __rmatmul__ = __contains__ = _unknown

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _REDUCED:
            return lambda *args, **options: reduced(name, self, *args, **options)
        raise AttributeError(f"What a staged mask picks has no `{name}`. {_UNKNOWN}.")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            raise unknown()
        return elementwise(ufunc.__name__, inputs)


class Count:
    """How many elements a mask picks: as many as another one that picks the same."""

    def __init__(self, picked: Picked):
        self.picked = picked

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Count):
            raise unknown()
        check_same(self.picked.backend, self.picked.mask, other.picked.mask)
        return True

    def _unknown(self, *_: Any) -> Any:
        raise unknown()

    __hash__ = __index__ = __int__ = __add__ = __radd__ = __mul__ = __rmul__ = __lt__ = __gt__ = _unknown


register(
    Picked,
    lambda value: ([value.array, value.mask], value.backend),
    lambda backend, parts: Picked(backend, *parts),
)


def unknown() -> StagingError:
    return staging_error(
        f"{_UNKNOWN}, and the shape with it.",
        "Use `np.where(mask, a, b)`, or multiply by the mask.",
    )


def pick(backend: Backend, array: Any, mask: Any) -> Picked:
    """`array[mask]`."""
    shape, axes = np.shape(array), np.ndim(mask)
    if np.shape(mask) != shape[:axes] or not axes:
        raise unknown()
    rows = backend.function("reshape")(array, (-1, *shape[axes:]))
    first = backend.function("argmax")(backend.function("reshape")(mask, (-1,)))
    return Picked(backend, chosen(backend, mask, array, backend.get_item(rows, first)), mask)


def chosen(backend: Backend, mask: Any, array: Any, other: Any) -> Any:
    """The array where a mask of its first axes is true, something else elsewhere."""
    axes = max(np.ndim(array), np.ndim(other)) - np.ndim(mask)
    wide = backend.function("reshape")(mask, (*np.shape(mask), *(1,) * axes))
    return backend.function("where")(wide, array, other)


def check_same(backend: Backend, mask: Any, other: Any) -> None:
    """Have the program raise an error where two masks do not pick the same elements."""
    if mask is other:
        return
    if np.shape(mask) != np.shape(other):
        raise unknown()
    same = backend.function("all")(backend.function("equal")(mask, other))
    place = ":".join(map(str, user_place()))
    text = f"{place}: two masks pick different elements here, which staged code cannot bring together"
    backend.require(same, "ValueError", text)


def elementwise(name: str, args: tuple) -> Picked:
    """A function of NumPy that goes element by element."""
    first = next(value for value in args if isinstance(value, Picked))
    for value in args:
        if isinstance(value, Picked):
            check_same(first.backend, first.mask, value.mask)
            if value.ndim != first.ndim:
                raise unknown()
        elif np.ndim(value):
            raise unknown()
    found = [value.array if isinstance(value, Picked) else value for value in args]
    return first.like(first.backend.function(name)(*found))


def reduced(name: str, x: Picked, axis: Any = None) -> Any:
    """A sum, or the like, of all that is picked."""
    if axis is not None and not (axis == 0 and x.ndim == 1):
        raise unknown()
    backend, kind = x.backend, np.dtype(x.dtype)
    if name == "mean":
        return reduced("sum", x) / x.size
    if name in ("max", "min", "amax", "amin"):
        text = f"{':'.join(map(str, user_place()))}: {name} of no elements"
        backend.require(backend.function("any")(x.mask), "ValueError", text)
        return backend.function(name)(x.array)  # which has nothing else in it
    neutral = {"sum": 0, "prod": 1, "any": False, "all": True}[name]
    return backend.function(name)(chosen(backend, x.mask, x.array, np.array(neutral, kind)))


_REDUCED = frozenset(["sum", "prod", "mean", "max", "min", "amax", "amin", "any", "all"])


def by_numpy(function: Any, name: str, args: tuple, options: dict[str, Any]) -> Any:
    """What a function of NumPy gives of arguments with such values among them."""
    if name in _REDUCED and isinstance(args[0], Picked) and len(args) <= 2 and options.keys() <= {"axis"}:
        return reduced(name, *args, **options)
    if name in ("size", "ndim", "shape") and len(args) == 1 and not options:
        return getattr(args[0], name)
    if name in ("array", "copy", "asarray") and not options:
        return args[0]
    if isinstance(function, np.ufunc) and not options and name == function.__name__:
        return elementwise(name, args)
    if name in ("zeros_like", "ones_like") and isinstance(args[0], Picked):
        return args[0].like(args[0].backend.function(name)(args[0].array, *args[1:], **options))
    raise unknown()


def written(backend: Backend, array: Any, mask: Any, new: Any, add: bool = False) -> Any:
    """`array[mask] = new`, or `array[mask] += new`."""
    if isinstance(new, Picked):
        check_same(backend, mask, new.mask)
        new = new.array
        fits = np.shape(new) == np.shape(array)
    else:  # it goes into each place
        fits = np.ndim(new) <= np.ndim(array) - np.ndim(mask)
    if not fits or not np.ndim(mask) or np.shape(mask) != np.shape(array)[: np.ndim(mask)]:
        raise unknown()
    made = chosen(backend, mask, array + new if add else new, array)
    return backend.cast(made, backend.spec(array))


def computed_masks(value: Any) -> Any:
    """A result that has been computed, with what masks pick in it."""
    return mapped(value, Picked, lambda found, _: np.asarray(found.array)[np.asarray(found.mask)])


def _operator(name: str, swapped: bool = False) -> Callable[..., Any]:
    return lambda self, *others: elementwise(name, (*others, self) if swapped else (self, *others))


_BINARY = {
    **{"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "pow": "power"},
    **{"floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or"},
    **{"xor": "bitwise_xor"},
}
for _name, _stands_for in _BINARY.items():
    setattr(Picked, f"__{_name}__", _operator(_stands_for))
    setattr(Picked, f"__r{_name}__", _operator(_stands_for, swapped=True))
for _name, _stands_for in {
    **{"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal"},
    **{"ne": "not_equal", "neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"},
}.items():
    setattr(Picked, f"__{_name}__", _operator(_stands_for))
