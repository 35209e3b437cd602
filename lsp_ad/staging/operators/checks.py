"""`assert`, and directives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsp_ad.staging import decisions
from lsp_ad.staging.backends import owner
from lsp_ad.staging.decisions import decide
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.operators.bounds import unseen
from lsp_ad.staging.operators.texts import message_of
from lsp_ad.staging.operators.truth import truth
from lsp_ad.staging.structures import flatten


def no_errors(caught: str, before: int | None, *values: Any) -> None:
    """What the body of a `try` statement has computed, where a clause is to catch errors of numbers.

    `before`: what `unseen()` was where the body began, if the clause is about indices only.
    """
    backend = owner(*flatten(values)[0])
    if backend is not None and (before is None or before != unseen()):
        raise staging_error(
            f"`except {caught}` sees no errors of values of {backend.name}: these are computed later.",
            "Decide by a condition (`if x != 0`), or catch only what Python itself may raise here.",
        )


def assert_(test: Any, message: Callable[[], Any] | None = None) -> None:
    """`assert test, message()`."""
    test = truth(test)
    backend = owner(test)
    if backend is not None:
        decide(decisions.ASSERT, decisions.STAGED, f"its condition is a value of {backend.name}")
        backend.assert_(test, (lambda: message_of(message())) if message is not None else (lambda: ""))
        return
    if not test:
        raise AssertionError(message()) if message is not None else AssertionError
