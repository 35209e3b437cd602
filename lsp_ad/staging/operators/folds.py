"""Python's functions of iterables that have one value: `sum`, `any`, `all`, `min`, `max`; and `sorted`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from lsp_ad.staging import decisions
from lsp_ad.staging.backends import all_plain, owner
from lsp_ad.staging.backends.base import Backend
from lsp_ad.staging.decisions import decide
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.operators.branches import staged_choice
from lsp_ad.staging.operators.classes import own_method
from lsp_ad.staging.operators.iteration import Staged, gone_over, pulled_by
from lsp_ad.staging.operators.jumps import negated
from lsp_ad.staging.operators.lists import StagedList
from lsp_ad.staging.operators.loops import for_
from lsp_ad.staging.operators.optional import Maybe
from lsp_ad.staging.operators.scalars import bool_
from lsp_ad.staging.operators.state import State
from lsp_ad.staging.operators.truth import truth
from lsp_ad.staging.operators.types import is_number
from lsp_ad.staging.structures import flatten, unflatten

_MISSING: Any = object()


def items(value: Any) -> Iterable[Any]:
    """What Python goes over item by item: the items of something staged, whose number must be known."""
    value = value.checked() if isinstance(value, Maybe) else value
    over = gone_over(value)
    if over is None:
        return value
    if not isinstance(over.count, int):
        if over.backend.owns(value) and over.backend.unpacks:
            return value
        raise staging_error(
            f"How many items {over.what} of {over.backend.name} has is not known when this is traced.",
            "Write a `for` statement.",
        )
    decide(
        decisions.ITEMS, decisions.UNROLLED, f"it takes {over.what} of {over.backend.name} apart", over.count
    )
    return map(over.at, range(over.count))


def kept(test: Any) -> Any:
    """The condition of a comprehension, which says how long the list will be."""
    test = truth(test)
    backend = owner(test)
    if backend is not None:
        raise staging_error(
            "How many items this comprehension keeps depends on a staged value.",
            "Compute all, and choose by `np.where`, or append to a list in a `for` statement.",
        )
    return test


def iter_(value: Any, *sentinel: Any) -> Iterator[Any]:
    """`iter(value)`."""
    return iter(value, *sentinel) if sentinel or owner(value) is None else iter(items(value))


def next_(iterator: Any, *default: Any) -> Any:
    """`next(iterator)`, which for something staged must come from `iter`."""
    if owner(iterator) is not None:
        raise TypeError("something staged is no iterator: call `iter` first")
    return next(iterator, *default)


def list_(*values: Any) -> Any:
    """`list(value)`."""
    if values and isinstance(values[0], StagedList):
        return values[0].copy()
    over = gone_over(values[0]) if values else None
    if isinstance(over, Staged) and not isinstance(over.count, int) and not over.backend.bounded_lists:
        return _listed(over)
    return list(*map(items, values))


def _listed(over: Staged) -> Any:
    """A list of as many items as there are when the program runs."""
    made: list[Any] = [[]]

    def set_state(values: tuple) -> None:
        made[0] = values[0]

    for_(over, lambda item: made[0].append(item), State("list", lambda: (made[0],), set_state, 1))
    return made[0]


def tuple_(*values: Any) -> tuple:
    """`tuple(value)`."""
    return tuple(*map(items, values))


def set_(*values: Any) -> set:
    """`set(value)`; staged values cannot be told from one another."""
    found = [*items(values[0])] if values else []
    backend = owner(*found)
    if backend is not None:
        raise staging_error("Whether staged values are equal is not known: they cannot make a set.")
    return set(found)


def sum_(iterable: Any, start: Any = 0) -> Any:
    """`sum(iterable, start)`."""
    if isinstance(iterable, StagedList):
        iterable = iterable.array()
    if pulled_by(iterable) is not None:
        return _folded("sum", iterable, start, lambda total, item: total + item)
    backend = owner(iterable)
    if backend is None:
        return sum(iterable, start)
    if isinstance(iterable, Staged):
        return _folded("sum", iterable, start, lambda total, item: total + item)
    total = backend.function("sum")(iterable, axis=0)
    return total if isinstance(start, int) and start == 0 else start + total


def _folded(
    what: str,
    iterable: Any,
    start: Any,
    step: Callable[[Any, Any], Any],
    goes_on: Callable[[Any], Any] | None = None,
) -> Any:
    """A value that a staged loop makes of another for each item, while it `goes_on`."""
    value = [start]
    source = pulled_by(iterable)

    def set_state(values: tuple) -> None:
        value[0] = values[0]

    def body(item: Any) -> None:
        if source is not None:
            source.items.append(item)
            item = next(iterable, _MISSING)
            if item is _MISSING:  # an error has ended it, in a trace before this one
                raise staging_error(
                    f"`{what}` goes over several things at once, and how many items they have is not known.",
                    "Write `for` statements.",
                )
        value[0] = step(value[0], item)

    more = None if goes_on is None else lambda: goes_on(value[0])
    over = iterable if source is None else source.over
    for_(over, body, State(what, lambda: (value[0],), set_state, 1), more)
    return value[0]


def _by_logic(plain: Callable[..., bool], whole: str, pairwise: str, ends: bool) -> Callable[[Any], Any]:
    def function(iterable: Any) -> Any:
        if isinstance(iterable, StagedList):
            iterable = iterable.array()
        backend = owner(iterable)
        if backend is not None and not isinstance(iterable, Staged):
            if len(backend.spec(iterable).shape or (0,)) != 1:
                raise staging_error(f"`{whole}` takes single values, this is {backend.spec(iterable)}.")
            return backend.function(whole)(iterable)
        if pulled_by(iterable) is not None:
            goes_on = negated if ends else lambda found: found
            return _folded(whole, iterable, not ends, lambda _, item: bool_(item), goes_on)
        found: Any = not ends
        for item in items(iterable):
            backend = owner(item)
            if backend is None:
                if bool(item) is ends:
                    return ends
            else:
                test = bool_(item)
                found = test if owner(found) is None else backend.function(pairwise)(found, test)
        return found

    function.__name__ = plain.__name__
    return function


any_ = _by_logic(any, "any", "logical_or", True)
all_ = _by_logic(all, "all", "logical_and", False)


def _extreme(plain: Callable[..., Any], whole: str, better: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """`min` or `max`: of equal items the first, as in Python."""

    def function(*args: Any, key: Any = None, default: Any = _MISSING) -> Any:
        if key is None and len(args) > 1 and all_plain(args):
            return plain(*args)
        from lsp_ad.staging.operators.calls import call

        made = None if key is None else call(key)
        options = {} if default is _MISSING else {"default": default}
        if len(args) == 1 and (isinstance(args[0], Iterator) or own_method(args[0], "__iter__")):
            args = (list(args[0]),)
        backend = owner(*flatten(args)[0])
        if backend is None and key is None:
            return plain(*args, **options)
        if len(args) == 1 and isinstance(args[0], StagedList):
            args = (args[0].array(),)
        if len(args) == 1 and backend is not None and backend.owns(args[0]) and key is None:
            spec = backend.spec(args[0])
            if default is not _MISSING and spec.shape is not None and spec.shape[:1] == (0,):
                return default
            if default is not _MISSING and (spec.shape is None or spec.shape[:1] == (None,)):
                raise staging_error(
                    f"`{whole}` has a `default`, and whether there are items is not known when tracing.",
                    f"Write `if len(items) > 0` around `{whole}`.",
                )
            if spec.shape is None or len(spec.shape) == 1:
                return backend.function(whole)(args[0])
        found = list(items(args[0])) if len(args) == 1 else list(args)
        keys = found if made is None else [made(item) for item in found]
        backend = owner(*flatten(keys)[0])
        if backend is None or not found:
            return plain(*args, key=made, **options)
        return _best(backend, found, keys, better, whole)

    return function


def _best(backend: Backend, found: list, keys: list, better: Callable[[Any, Any], Any], what: str) -> Any:
    best, best_key = found[0], keys[0]
    for item, key in zip(found[1:], keys[1:], strict=True):
        wins = better(key, best_key)
        if owner(wins) is None:
            best, best_key = (item, key) if wins else (best, best_key)
            continue
        pair, old = partial(tuple, (item, key)), partial(tuple, (best, best_key))
        best, best_key = staged_choice(backend, wins, pair, old, f"the result of `{what}`")
    return best


min_ = _extreme(min, "min", lambda one, other: one < other)
max_ = _extreme(max, "max", lambda one, other: one > other)


def sorted_(iterable: Any, *, key: Any = None, reverse: bool = False) -> list:
    """`sorted(iterable)`; equal items stay in their order."""
    from lsp_ad.staging.operators.calls import call

    found = list(items(iterable))
    keys = found if key is None else list(map(call(key), found))
    backend = owner(*flatten(keys)[0])
    if backend is None:
        return [found[i] for i in sorted(range(len(found)), key=keys.__getitem__, reverse=reverse)]
    parts, structures = zip(*map(flatten, found), strict=True)
    if any(structure != structures[0] for structure in structures):
        raise staging_error("The items that `sorted` puts into order are not made alike.")
    if not all(backend.owns(value) or is_number(value) for group in (keys, *parts) for value in group):
        raise staging_error("Only numbers and arrays can be put into an order that staged values decide.")
    stack = backend.function("stack")
    order = _order(backend, stack(keys), reverse)
    columns = [backend.get_item(stack(list(column)), order) for column in zip(*parts, strict=True)]
    return [
        unflatten(structures[0], [backend.get_item(column, i) for column in columns])
        for i in range(len(found))
    ]


def _order(backend: Backend, keys: Any, reverse: bool) -> Any:
    argsort = backend.function("argsort")
    if not reverse:
        return argsort(keys)
    backwards = slice(None, None, -1)
    size = (backend.spec(keys).shape or (0,))[0]
    found = argsort(backend.get_item(keys, backwards))
    return (size or 0) - 1 - backend.get_item(found, backwards)
