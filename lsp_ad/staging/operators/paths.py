"""The shape of an array, and views of it that a write goes through: `y.T[0] = e` changes `y`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lsp_ad.staging.backends import owner
from lsp_ad.staging.errors import in_generated_code, staging_error

_SHAPED = ("reshape", "ravel", "flat", "squeeze")


def shape(value: Any) -> Any:
    """`value.shape`, with a staged size where the library gives None because it does not know it yet."""
    backend = owner(value)
    return value.shape if backend is None else backend.shape(value)


class View:
    """One step from an array to a view of it, by an attribute or a method of NumPy's.

    `in_order`: the array is surely one whose elements stand in memory row by row.
    """

    def __init__(self, name: str, arguments: tuple, in_order: bool):
        self.name, self.arguments, self.in_order = name, arguments, in_order

    def of(self, array: Any) -> Any:
        """The view."""
        found = getattr(array, self.name)
        return found(*self.arguments) if callable(found) else found

    def through(self, array: Any) -> Any:
        """What stands for the view, where a write gives a new array."""
        if self.name in ("reshape", "ravel"):
            self._check_order(array)
        return self._done(array, self._axes())

    def back(self, array: Any, changed: Any) -> Any:
        """The array where the view is `changed`."""
        if self.name in _SHAPED:
            return _function("reshape", changed)(changed, shape(array))
        axes = self._axes()
        return self._done(changed, axes and tuple(sorted(range(len(axes)), key=lambda i: axes[i])))

    def _done(self, array: Any, axes: tuple[int, ...] | None) -> Any:
        """What the attribute or the method gives, by a function."""
        if self.name in ("T", "transpose"):
            return _function("transpose", array)(array, axes)
        if self.name == "reshape":
            given = self.arguments[0] if len(self.arguments) == 1 else self.arguments
            return _function("reshape", array)(array, given)
        if self.name in ("ravel", "flat"):
            return _function("reshape", array)(array, (-1,))
        return _function(self.name, array)(array, *self.arguments)

    def _axes(self) -> tuple[int, ...] | None:
        """The axes of a transpose, counted from the first; None where they are reversed."""
        if self.name != "transpose":
            return None
        given = self.arguments[0] if len(self.arguments) == 1 else self.arguments
        return tuple(axis % len(given) for axis in given) if given else None

    def _check_order(self, array: Any) -> None:
        if isinstance(array, np.ndarray):
            known = array.flags.c_contiguous
        else:
            known = self.in_order or in_generated_code() or len(np.shape(array)) < 2
        if not known:
            raise staging_error(
                f"Whether `{self.name}` gives a view of this array, so that a write changes it, depends on"
                " the order of its elements in memory, which is not known.",
                "Write into the array by its own index, or through `flat`.",
            )


def _function(name: str, array: Any) -> Callable[..., Any]:
    """A function of NumPy, or what stands for it."""
    backend = owner(array)
    return getattr(np, name) if backend is None else backend.function(name)


def view(name: str, *arguments: Any, in_order: bool = False) -> View:
    """A step in the path of a write: `y.T[0] = e` is `y = set_item(y, view("T"), 0, e)`."""
    return View(name, arguments, in_order)


__all__ = ["View", "view"]
