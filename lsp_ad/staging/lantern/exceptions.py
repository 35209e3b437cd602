"""Exceptions of `raise` statements in staged branches: the program raises them when it comes there."""

from __future__ import annotations

import builtins
import copy
import re
from collections.abc import Callable
from typing import Any

from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.lantern.errors import LanternRaised
from lsp_ad.staging.operators.texts import StagedText
from lsp_ad.staging.structures import flatten


class Exceptions:
    """The exceptions of one program. `made`: by name, what makes each that is no built-in one of a text."""

    def __init__(self) -> None:
        self.made: dict[str, Callable[[str], BaseException]] = {}

    def parts(self, error: Exception) -> tuple[str, list[Any]]:
        """The name of the type of an exception in the program, and the parts of its message."""
        kind = type(error)
        text = error.args[0] if len(error.args) == 1 else None
        plain = getattr(builtins, kind.__name__, None) is kind
        if isinstance(text, StagedText):
            parts = _parts(text)
            return (kind.__name__ if plain else self._named(kind, kind)), parts
        if any(hasattr(leaf, "tracer") for leaf in flatten(list(error.args))[0]):
            raise staging_error(
                f"The {kind.__name__} that is raised has a staged value in it.",
                'Put the value into its text: `raise ValueError(f"... {x}")`.',
            )
        if plain and type(text) is str:
            return kind.__name__, [text]
        return self._named(kind, lambda _: copy.copy(error)), []

    def _named(self, kind: type, make: Callable[[str], BaseException]) -> str:
        name = f"{kind.__name__}_{len(self.made) + 1}"
        self.made[name] = make
        return name

    def of(self, error: LanternRaised) -> BaseException:
        """The exception that one of the program stands for."""
        make = self.made.get(error.type_name)
        return error if make is None else make(error.message)


def _parts(text: StagedText) -> list[Any]:
    """A text with staged values in it as texts and values, in their order."""
    pieces = re.split(r"(\{[^{}]*\})", text.template.replace("{{", "\0").replace("}}", "\1"))
    values = iter(text.values)
    if text.named or any(piece.startswith("{") and piece not in ("{}", "{!s}") for piece in pieces):
        raise staging_error(
            f"The text {text.shown()!r} of an exception gives its staged values a format.",
            "Write the values as they are: `{x}`.",
        )
    made = [next(values) if piece.startswith("{") else piece for piece in pieces if piece]
    return [p.replace("\0", "{").replace("\1", "}") if isinstance(p, str) else p for p in made]
