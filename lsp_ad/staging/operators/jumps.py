"""What jumps become: flags, and what depends on them. No report is about these: they are not the user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsp_ad.staging.backends import owner
from lsp_ad.staging.operators.branches import if_, staged_choice
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


def unless(flag: Any, value: Callable[[], Any]) -> Any:
    """`not flag and value()`: the test of a loop that a jump may have left."""
    goes_on = negated(flag)
    backend = owner(goes_on)
    if backend is None:
        return goes_on and value()
    return staged_choice(backend, goes_on, value, lambda: goes_on, "the condition of the loop")


__all__ = ["if_jumped", "negated", "unless"]
