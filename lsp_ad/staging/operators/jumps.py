"""What jumps become: flags, what depends on them, and tests of loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsp_ad.staging import decisions
from lsp_ad.staging.backends import owner
from lsp_ad.staging.decisions import decide
from lsp_ad.staging.operators.branches import if_, in_python, staged_choice
from lsp_ad.staging.operators.state import NOTHING, State
from lsp_ad.staging.operators.truth import truth


def if_jumped(flag: Any, body: Callable[[], Any], orelse: Callable[[], Any], state: State = NOTHING) -> None:
    """Run one of two bodies, by whether a jump has set a flag."""
    if_(flag, body, orelse, state, "")


def negated(value: Any) -> Any:
    """`not value`."""
    value = truth(value)
    backend = owner(value)
    return not value if backend is None else backend.not_(value)


def no_break(condition: Any) -> Any:
    """`not condition`: that of an `if` with a `break`, as a part of the test of the loop."""
    test = truth(condition)
    backend = owner(test)
    if backend is None:
        in_python(decisions.IF, test)
        return not test
    decide(decisions.IF, decisions.STAGED, f"the condition is a value of {backend.name}")
    return backend.not_(test)


def unless(flag: Any, value: Callable[[], Any]) -> Any:
    """`not flag and value()`: the test of a loop that a jump may have left."""
    goes_on = negated(flag)
    backend = owner(goes_on)
    if backend is None:
        return goes_on and value()
    return staged_choice(backend, goes_on, value, lambda: False, "the condition of the loop")


__all__ = ["if_jumped", "negated", "no_break", "unless"]
