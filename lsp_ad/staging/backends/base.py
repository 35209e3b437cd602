"""What a back end is: a small interface, with everything optional refused by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lsp_ad.staging.errors import StagingError, staging_error


@dataclass(frozen=True)
class Spec:
    """Type of a staged value: `shape` holds None for a size that is not known, is None where the rank is not.

    `weak`: it was a Python number, which takes on the type of what it meets. `listed`: how many of the first
    sizes are those of lists, of a back end that has lists.
    """

    dtype: np.dtype
    shape: tuple[int | None, ...] | None
    weak: bool = False
    listed: int = 0

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
    `effects`: whether it does more than give values, so that it must be kept without any.
    """

    specs: tuple[Spec, ...]
    code: Any
    picks: tuple[int | None, ...] | None = None
    effects: bool = False
    ends: bool = False  # it raises, and gives nothing


class Ended(BaseException):
    """Raised in code that is traced where it does not go on: there the program raises an error."""


@dataclass(frozen=True)
class Options:
    """What a directive says of a loop. `unroll`: in Python (True) or staged (False)."""

    maximum_iterations: int | None = None
    unroll: bool | None = None
    parallel_iterations: int | None = None
    shape_invariants: dict[str, tuple[int | None, ...]] | None = None


PLAIN = Options()


class Owned:
    """A value made of staged ones, which its `backend` owns: a staged list, what a staged loop goes over."""

    backend: Backend


class Kept(Owned):
    """What stands for a list or tuple until it is used."""

    def opened(self) -> Any:
        """The list or tuple."""
        raise NotImplementedError


class Iterable(Owned):
    """What a staged loop goes over by a cursor. `count`: how many items there are, None if nobody knows.

    `what` it is, for reports.
    """

    what: str
    count: Any = None

    @property
    def cursor(self) -> Spec:
        """The type of the cursor."""
        raise NotImplementedError

    def start(self) -> Any:
        """The cursor before the first item."""
        raise NotImplementedError

    def more(self, cursor: Any) -> Any:
        """Whether there is an item."""
        raise NotImplementedError

    def at(self, cursor: Any) -> Any:
        """The item."""
        raise NotImplementedError

    def after(self, cursor: Any, goes_on: Callable[[], Any] | None) -> Any:
        """The cursor after an item; `goes_on`: whether the next one is wanted."""
        raise NotImplementedError

    def rest(self) -> Iterable:
        """All but the first, where it is known that there is one."""
        raise NotImplementedError

    def enumerated(self, start: Any) -> Iterable:
        """Pairs of a number and an item."""
        raise staging_error(f"`enumerate` of {self.what} of {self.backend.name} cannot be staged.")

    def __iter__(self) -> Any:
        raise staging_error(f"{self.what} of {self.backend.name} can be gone over by a `for` statement only.")


class Backend(ABC):
    """One target of staging. What has no default must be there; the rest may be left out."""

    name: str
    same_shapes = True  # whether a variable has one shape in both branches, in all iterations
    same_ranks = True  # whether it has one number of dimensions
    takes_arrays = False  # whether `for_loop` goes over the elements of arrays, too
    optional = False  # whether there are values that may be None when the program runs
    bounded_lists = True  # whether a list needs room for all items from the start
    follows_memory = False  # whether it knows which arrays may share memory in Python (`are_apart`)
    raises = False  # whether a staged branch may raise an exception of the user's
    raises_if_asked = False  # whether it may where `raise_errors` is asked for
    unpacks = False  # whether an array of unknown size can be assigned to several names
    longest_unrolled = 64  # a Python loop of more iterations is staged where a function is being compiled

    @abstractmethod
    def owns(self, value: Any) -> bool:
        """Whether a value is one of this back end: staged, without a value yet."""

    def holds(self, value: Any) -> bool:
        """Whether a value is an array of the library's that is there already, and cannot be written into."""
        return False

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
    def while_loop(
        self,
        test: Traced,
        body: Traced,
        initial: list[Any],
        specs: Sequence[Spec],
        options: Options = PLAIN,
    ) -> list[Any]:
        """A loop: test and body take the state, of the types `specs`, that `initial` has already."""

    @abstractmethod
    def numpy(self, name: str) -> Callable[..., Any] | None:
        """What stands for a function of NumPy, by its name without `numpy.`; None if nothing does."""

    def for_loop(
        self,
        count: Any,
        body: Traced,
        initial: list[Any],
        specs: Sequence[Spec],
        arrays: Sequence[Any] = (),
        options: Options = PLAIN,
    ) -> list[Any] | None:
        """A loop over 0, 1, ..., count - 1; None where the back end has no such thing.

        The body takes the index (int64), the elements of `arrays` there, and the state.
        """
        return None

    def results(self, traced: Traced, values: Sequence[Any], specs: Sequence[Spec]) -> list[Any]:
        """What is wanted of the values that a trace gave, in the types `specs`."""
        picks = range(len(values)) if traced.picks is None else traced.picks
        return [
            self.zeros(s) if p is None else self.filled(values[p], s)
            for p, s in zip(picks, specs, strict=True)
        ]

    def filled(self, value: Any, spec: Spec) -> Any:
        """A value in a type, a number repeated where the type is that of an array."""
        made = self.cast(value, spec)
        if not spec.shape or self.spec(made).shape != ():
            return made
        return self.function("broadcast_to")(made, spec.shape)

    def constant(self, value: Any) -> Any:
        """A number or an array as a staged value."""
        return value

    def copied(self, value: Any) -> Any:
        """A staged value as an object of its own."""
        return self.get_item(value, ...)

    def are_apart(self, one: Any, other: Any, otherwise: StagingError, seen: bool = False) -> bool:
        """Whether arrays share no memory in Python, a list of arrays as all of them.

        With `seen`: whether they have not been seen to share any.

        Where only a loop that is being traced will show it, that raises `otherwise` if it is not so.
        """
        return False

    def items_apart(self, items: Any, otherwise: StagingError) -> bool:
        """Whether no array has been seen to be several items of a staged list, as `are_apart`."""
        return True

    def zeros(self, spec: Spec) -> Any:
        """A placeholder of a type."""
        return self.constant(np.zeros([size or 0 for size in spec.shape or ()], spec.dtype)[()])

    def get_item(self, value: Any, index: Any) -> Any:
        return value[index]

    def set_item(self, value: Any, index: Any, new: Any) -> Any:
        """A value like `value` with some of its elements changed."""
        raise staging_error(f"The back end {self.name} has no write into an array.")

    def check_shape(self, made: Any, value: Any) -> None:
        """Refuse what an array is updated to where it has not the shape of the array."""
        if np.shape(made) != np.shape(value):
            raise staging_error(f"An array of shape {np.shape(value)} is updated to one of {np.shape(made)}.")

    def add_at(self, value: Any, index: Any, by: Any) -> Any:
        """A value like `value` with something added to some of its elements, as often as they are named."""
        raise staging_error(f"The back end {self.name} has no `np.add.at`.")

    def size(self, value: Any) -> Any:
        """How many elements there are along the first axis; staged where that is not known yet."""
        return value.shape[0]

    def item_spec(self, array: Any) -> Spec:
        """The type of the elements of an array along its first axis."""
        return self.list_item(self.spec(array))

    def list_spec(self, item: Spec, capacity: int) -> Spec:
        """The type of what holds the items of a list."""
        return Spec(item.dtype, None if item.shape is None else (capacity, *item.shape))

    def list_item(self, store: Spec) -> Spec:
        """The type of the items of a list, by that of what holds them."""
        return Spec(store.dtype, None if store.shape is None else store.shape[1:])

    def list_new(self, item: Spec, capacity: int) -> Any:
        """What holds the items of a list."""
        return self.zeros(self.list_spec(item, capacity))

    def list_full(self, value: Any, item: Spec, capacity: int) -> Any:
        """What holds the items of a list, all of which are the same."""
        shape = np.shape(value)
        return self.cast(np.broadcast_to(value, (capacity, *shape)), self.list_spec(item, capacity))

    def list_cast(self, store: Any, item: Spec) -> Any:
        """The same items in another type."""
        return self.cast(store, Spec(item.dtype, self.spec(store).shape))

    def list_grown(self, store: Any, by: int) -> Any:
        """Room for more items."""
        if by <= 0:
            return store
        return self.function("concatenate")([store, self.list_new(self.list_item(self.spec(store)), by)])

    def list_get(self, store: Any, index: Any) -> Any:
        return self.get_item(store, index)

    def list_set(self, store: Any, index: Any, item: Any) -> Any:
        """The items with one changed."""
        return self.set_item(store, index, item)

    def list_append(self, store: Any, length: Any, item: Any) -> Any:
        """The first `length` items, and one more."""
        return self.list_set(store, length, item)

    def require(self, test: Any, error: str, message: str) -> None:
        """Raise an error, by the name of its type, where a staged condition does not hold."""
        raise staging_error(f"The back end {self.name} cannot raise errors.")

    def raise_(self, error: Exception, place: str) -> None:
        """Raise an exception of the user's text when the program comes to where the trace is."""
        raise staging_error(f"The back end {self.name} cannot raise errors.")

    def list_array(self, store: Any, length: Any, capacity: int) -> Any:
        """The items as an array."""
        if not isinstance(length, int):
            raise staging_error(
                "The number of items of this list is known only at run time, and with it the shape of the"
                " array.",
                "Go over the list by a loop, or append in each iteration.",
            )
        return store if length == capacity else self.get_item(store, slice(0, length))

    def shape(self, value: Any) -> Any:
        """`value.shape`: sizes that are not known yet are staged numbers."""
        return value.shape

    def index_spec(self, count: Any) -> Spec:
        """The type of the index of a loop that runs `count` times: a number of Python's."""
        return Spec(np.dtype(np.int64), (), weak=True)

    def iterable(self, value: Any) -> Iterable | None:
        """What a staged loop over a value of the library's goes over, if not over the items of an array."""
        return None

    def outermost(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """A converted function as code that is not converted calls it, kept from what a library would do."""
        return run

    def tracing(self) -> bool:
        """Whether its library is tracing a function now."""
        return False

    def print_(self, *values: Any, **options: Any) -> None:
        raise staging_error(f"The back end {self.name} has no `print`.")

    def print_text(self, template: str, *values: Any, **options: Any) -> None:
        """Print `template.format(*values)`."""
        raise staging_error(f"The back end {self.name} has no `print` of a formatted text.")

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

    def is_description(self, value: Any) -> bool:
        """Whether a value only says what type and shape an argument has."""
        return False

    def trace_only(self, function: Callable[..., Any], args: tuple, named: dict[str, Any]) -> None:
        """Trace a function with descriptions among its arguments."""
        raise staging_error(f"The back end {self.name} traces no descriptions of arguments.")

    def underlying(self, function: Any) -> Any:
        """The Python function that one compiled by the library of the back end stands for; None of others."""
        return None

    def is_undecidable(self, error: BaseException) -> bool:
        """Whether an error says that Python asked a staged value for its value."""
        return False

    def tidy(self, error: BaseException) -> None:
        """Take out of an error what the library says of its own frames, which staging leaves out as well."""
        return

    def call(self, function: Any, args: tuple, named: dict[str, Any]) -> Any:
        """A call of a converted function, in code that is compiled for this back end."""
        return function(*args, **named)

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, compiled when it is first called with arguments of each type."""
        raise staging_error(f"The back end {self.name} cannot compile a function by itself.")
