"""What a back end is: a small interface, with everything optional refused by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lsp_ad.staging.errors import staging_error


@dataclass(frozen=True)
class Spec:
    """Type of a staged value: `shape` holds None for a size that is not known, is None where the rank is not.

    `weak`: it was a Python number, which takes on the type of what it meets.
    """

    dtype: np.dtype
    shape: tuple[int | None, ...] | None
    weak: bool = False

    def __str__(self) -> str:
        shape = "unknown shape" if self.shape is None else f"shape {self.shape}".replace("None", "?")
        return f"{self.dtype} of {shape}" if self.shape != () else str(self.dtype)


def spec_of(value: Any) -> Spec:
    """The type of a number or an array of NumPy."""
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return Spec(np.dtype(type(value)), (), weak=True)
    array = np.asarray(value)
    return Spec(array.dtype, array.shape)


def is_data(value: Any) -> bool:
    """Whether an argument of a compiled function is staged: a float, a complex number, an array."""
    if isinstance(value, (bool, int)) and not isinstance(value, np.generic):
        return False
    if isinstance(value, (float, complex, np.generic)):
        return True
    return hasattr(value, "dtype") and hasattr(value, "shape") and value.dtype != object


@dataclass(frozen=True)
class Traced:
    """Code run once on symbolic inputs: `specs` are the types of what it gave, `code` is the back end's.

    `picks`: which of these are wanted, in order; None for a placeholder, where there is no value.
    """

    specs: tuple[Spec, ...]
    code: Any
    picks: tuple[int | None, ...] | None = None


class Backend(ABC):
    """One target of staging. What has no default must be there; the rest may be left out."""

    name: str
    same_shapes = True  # whether the two branches of a conditional must give values of the same shapes

    @abstractmethod
    def owns(self, value: Any) -> bool:
        """Whether a value is one of this back end: staged, without a value yet."""

    @abstractmethod
    def spec(self, value: Any) -> Spec:
        """The type of a value that it owns."""

    @abstractmethod
    def trace(self, run: Callable[[list[Any]], list[Any]], specs: Sequence[Spec]) -> Traced:
        """Run code once on symbolic inputs of the types `specs`.

        Values that the code finds around it may be staged, too.
        """

    @abstractmethod
    def cast(self, value: Any, spec: Spec) -> Any:
        """A number, an array or a staged value as a staged value of the dtype of `spec`."""

    @abstractmethod
    def cond(self, test: Any, then: Traced, orelse: Traced, specs: Sequence[Spec]) -> list[Any]:
        """A conditional of two traces without inputs; `results` gives what each branch is to return."""

    @abstractmethod
    def while_loop(self, test: Traced, body: Traced, initial: list[Any], specs: Sequence[Spec]) -> list[Any]:
        """A loop: test and body take the state, of the types `specs`, that `initial` has already."""

    @abstractmethod
    def numpy(self, name: str) -> Callable[..., Any] | None:
        """What stands for a function of NumPy, by its name without `numpy.`; None if nothing does."""

    def for_loop(
        self, count: Any, body: Traced, initial: list[Any], specs: Sequence[Spec]
    ) -> list[Any] | None:
        """A loop over 0, 1, ..., count - 1; body takes the index (int64) and state. None: no such thing."""
        return None

    def results(self, traced: Traced, values: Sequence[Any], specs: Sequence[Spec]) -> list[Any]:
        """What is wanted of the values that a trace gave, in the types `specs`."""
        picks = range(len(values)) if traced.picks is None else traced.picks
        return [
            self.zeros(s) if p is None else self.cast(values[p], s) for p, s in zip(picks, specs, strict=True)
        ]

    def constant(self, value: Any) -> Any:
        """A number or an array as a staged value."""
        return value

    def zeros(self, spec: Spec) -> Any:
        """A placeholder of a type."""
        return self.constant(np.zeros([size or 0 for size in spec.shape or ()], spec.dtype)[()])

    def get_item(self, value: Any, index: Any) -> Any:
        return value[index]

    def set_item(self, value: Any, index: Any, new: Any) -> Any:
        """A value like `value` with some of its elements changed."""
        raise staging_error(f"The back end {self.name} has no write into an array.")

    def size(self, value: Any) -> Any:
        """How many elements there are along the first axis; staged where that is not known yet."""
        return value.shape[0]

    def print_(self, *values: Any, **options: Any) -> None:
        raise staging_error(f"The back end {self.name} has no `print`.")

    def assert_(self, test: Any, message: Callable[[], str]) -> None:
        raise staging_error(f"The back end {self.name} has no `assert`.")

    def not_(self, value: Any) -> Any:
        return self.function("logical_not")(value)

    def function(self, name: str) -> Callable[..., Any]:
        """What stands for a function of NumPy. Raises StagingError where nothing does."""
        found = self.numpy(name)
        if found is None:
            raise staging_error(f"The back end {self.name} has no `np.{name}`.")
        return found

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, compiled when it is first called with arguments of each type."""
        raise staging_error(f"The back end {self.name} cannot compile a function by itself.")
