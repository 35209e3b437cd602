"""`assert`, and directives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsp_ad.staging import decisions
from lsp_ad.staging.backends import owner
from lsp_ad.staging.decisions import decide
from lsp_ad.staging.operators.texts import message_of


def assert_(test: Any, message: Callable[[], Any] | None = None) -> None:
    """`assert test, message()`."""
    backend = owner(test)
    if backend is not None:
        decide(decisions.ASSERT, decisions.STAGED, f"its condition is a value of {backend.name}")
        backend.assert_(test, (lambda: message_of(message())) if message is not None else (lambda: ""))
        return
    if not test:
        raise AssertionError(message()) if message is not None else AssertionError
