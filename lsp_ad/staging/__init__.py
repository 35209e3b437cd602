"""Staging of imperative Python by dynamic dispatch; so far only its mark."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable)


def staged(function: F) -> F:
    """Mark a function as staged, and return it unchanged.

    Nothing is staged yet: the function runs as plain Python. What the mark does today is to let the
    editor and `lsp-ad check` warn of conditionals in it that a staging transform would decide when the
    function is traced.
    """
    return function
