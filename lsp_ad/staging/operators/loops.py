"""`while` and `for` statements."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lsp_ad.staging import decisions
from lsp_ad.staging.backends import loaded, owner
from lsp_ad.staging.backends.base import PLAIN, Backend, Iterable, Options
from lsp_ad.staging.context import active, going_over
from lsp_ad.staging.decisions import decide
from lsp_ad.staging.errors import MismatchError, handled, staging_error
from lsp_ad.staging.operators.branches import why_python
from lsp_ad.staging.operators.iteration import Backwards, gone_over, staged_by
from lsp_ad.staging.operators.jumps import if_jumped
from lsp_ad.staging.operators.lists import check_there
from lsp_ad.staging.operators.optional import Maybe
from lsp_ad.staging.operators.staged_loops import StagedLoop
from lsp_ad.staging.operators.state import NOTHING, State
from lsp_ad.staging.operators.truth import truth

_BY_THEMSELVES = 2  # iterations that may be unrolled before a loop is staged


def while_(
    test: Callable[[], Any],
    body: Callable[[], Any],
    state: State = NOTHING,
    options: Options = PLAIN,
    tests_inside: bool = False,
) -> None:
    """Run a loop; from the first test on that a back end owns, what is left of it is staged.

    `tests_inside`: the test of the user's text stands in the body, which ends the loop.
    """
    count = 0
    while True:
        value = truth(test())
        backend = owner(value)
        if backend is not None:
            if options.unroll:
                raise staging_error(f"A loop with a condition of {backend.name} cannot be unrolled.")
            why = "the condition" if not count else f"after {count} iterations in Python, the condition"
            decide(decisions.WHILE, decisions.STAGED, f"{why} is a value of {backend.name}")
            StagedLoop(backend, state, body, test, None, options).run()
            return
        if not value:
            decide(decisions.WHILE, decisions.UNROLLED, why_python(value), count - tests_inside)
            return
        body()
        count += 1


def for_(
    iterable: Any,
    body: Callable[[Any], Any],
    state: State = NOTHING,
    goes_on: Callable[[], Any] | None = None,
    options: Options = PLAIN,
) -> None:
    """Run a loop over an iterable, or stage it where the iterable is staged. `goes_on`: no `break` so far."""
    iterable = iterable.checked() if isinstance(iterable, Maybe) else iterable
    check_there(iterable)
    over, why = _staged(iterable, options)
    with going_over([iterable, *getattr(over, "arrays", ())]):
        if over is not None:
            decide(decisions.FOR, decisions.STAGED, why)
            _stage(over, body, state, goes_on, options)
        else:
            _unrolled(iterable, body, state, goes_on, options)


def _unrolled(
    iterable: Any,
    body: Callable[[Any], Any],
    state: State,
    goes_on: Callable[[], Any] | None,
    options: Options,
) -> None:
    """Run a loop in Python; what comes after a staged `break` is under a staged condition."""
    count = 0
    for item in iterable:
        if goes_on is not None:
            more = goes_on()
            if owner(more) is not None:
                if_jumped(more, partial(body, item), lambda: None, state)
                count += 1
                continue
            if not more:
                break
        body(item)
        count += 1
    why = "a directive says so" if options.unroll else f"it goes over a Python {type(iterable).__name__}"
    decide(decisions.FOR, decisions.UNROLLED, why, count)


def _stage(
    over: Iterable,
    body: Callable[[Any], Any],
    state: State,
    goes_on: Callable[[], Any] | None,
    options: Options,
) -> None:
    """Stage a loop; its first iterations by themselves where these give a variable the type that it keeps."""
    if isinstance(over.count, int) and over.count == 0:
        return
    for number in range(_BY_THEMSELVES + 1):
        recorded = decisions.count()
        loop = StagedLoop(over.backend, state, body, goes_on, over, options)
        try:
            loop.run()
            return
        except MismatchError as error:
            known = isinstance(over.count, int) and over.count > 0
            if not known or number == _BY_THEMSELVES or (goes_on is not None and goes_on() is not True):
                raise
            handled(error)
            decisions.forget(recorded)
            state.set(loop.before)
        body(over.at(0))
        over = over.rest()
        decide(decisions.FOR, decisions.UNROLLED, "it gives variables the types that they keep", number + 1)


def _staged(iterable: Any, options: Options) -> tuple[Iterable | None, str]:
    """The iterable of a loop that is to be staged, and why it is."""
    over = gone_over(iterable)
    iterable = iterable.left() if isinstance(iterable, Backwards) else iterable
    backend = active()
    if over is not None:
        if options.unroll and isinstance(over.count, int):
            return None, ""
        if options.unroll:
            raise staging_error(f"A loop over {over.what} of unknown length cannot be unrolled.")
        return over, f"it goes over {over.what} of {over.backend.name}"
    if options.unroll is False:
        backend = backend or next((b for b in loaded() if b.tracing()), None)
    if backend is None or options.unroll:
        return None, ""
    if options.unroll is False:
        found = staged_by(backend, iterable)
        if found is None:
            raise staging_error(f"A loop over a Python {type(iterable).__name__} cannot be staged.")
        return found, "a directive says so"
    if _is_long(backend, iterable):
        return staged_by(backend, iterable), (
            f"its {len(iterable)} iterations are more than {backend.longest_unrolled}"
        )
    return None, ""


def _is_long(backend: Backend, iterable: Any) -> bool:
    return isinstance(iterable, (range, np.ndarray)) and len(iterable) > backend.longest_unrolled


__all__ = ["for_", "while_"]
