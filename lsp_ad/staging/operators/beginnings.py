"""What is known of a staged loop before its first iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lsp_ad.staging import decisions
from lsp_ad.staging.backends.base import Iterable
from lsp_ad.staging.operators.state import State


def flags(state: State, before: Sequence[Any], test: Callable[[], Any] | None) -> list[int]:
    """Which variables are flags of jumps: where one is set the loop ends, so no body sees it set."""
    found = []
    for position, (name, value) in enumerate(zip(state.all, before, strict=True)):
        if value is False and name in state.guarded and test is not None:
            state.set((*before[:position], True, *before[position + 1 :]))
            with decisions.recording():  # of nothing that happens
                found += [position] if test() is False else []
    state.set(tuple(before))
    return found


def runs(over: Iterable | None, test: Callable[[], Any] | None) -> bool:
    """Whether it is known that there is an iteration."""
    if over is None or not isinstance(over.count, int) or over.count == 0:
        return False
    with decisions.recording():  # of nothing that happens
        return test is None or test() is True
