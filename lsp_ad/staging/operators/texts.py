"""Text with staged values in it, which is known when the code runs: it can be printed, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from lsp_ad.staging.backends import loaded, owner
from lsp_ad.staging.backends.base import Backend, Owned
from lsp_ad.staging.errors import StagingError, staging_error
from lsp_ad.staging.structures import flatten, unflatten

_CONVERSIONS = {"%s": "{}", "%r": "{!r}", "%d": "{:d}", "%f": "{:f}", "%g": "{:g}"}


class StagedText(Owned):
    """A format and the staged values for it."""

    def __init__(self, backend: Backend, template: str, values: tuple, named: dict[str, Any]):
        self.backend, self.template, self.values, self.named = backend, template, values, named

    def shown(self) -> str:
        """The text with a question mark for each value."""
        return re.sub(r"\{[^{}]*\}", "?", self.template)

    def __repr__(self) -> str:
        return f"<text {self.shown()!r} with staged values>"

    def _unknown(self, *_: Any, **__: Any) -> Any:
        raise self.error()

    def error(self) -> StagingError:
        return staging_error(
            f"The text {self.shown()!r} has staged values in it, which are known when the code runs only.",
            "It can be printed, or be the message of an error.",
        )

    __str__ = __format__ = __add__ = __radd__ = __eq__ = __hash__ = _unknown
    __len__ = __iter__ = __contains__ = __getitem__ = __bool__ = __mod__ = __lt__ = __mul__ = _unknown

    def __getattr__(self, name: str) -> Any:
        raise self.error()


def text(template: str, *values: Any, **named: Any) -> Any:
    """`template.format(*values)`: the text of an f-string."""
    backend = owner(*flatten((values, named))[0])
    if backend is None:
        return template.format(*values, **named)
    return StagedText(backend, template, values, named)


def percent(template: str, values: Any) -> Any:
    """`template % values`."""
    if owner(*flatten(values)[0]) is None:
        return template % values
    pieces = re.split(r"(%[srdfg])", template.replace("{", "{{").replace("}", "}}"))
    if any("%" in piece for piece in pieces[::2]):
        raise staging_error("`%` writes a text that has staged values in it.", "Write an f-string.")
    pieces[1::2] = [_CONVERSIONS[piece] for piece in pieces[1::2]]
    return text("".join(pieces), *(values if isinstance(values, tuple) else (values,)))


def str_(*args: Any) -> Any:
    """`str(value)`."""
    return text("{}", args[0]) if len(args) == 1 and owner(*flatten(args)[0]) is not None else str(*args)


def repr_(value: Any) -> Any:
    """`repr(value)`."""
    return text("{!r}", value) if owner(*flatten(value)[0]) is not None else repr(value)


def print_(*values: Any, **options: Any) -> None:
    """`print(*values)`, when the code runs where one of them is staged."""
    backend = owner(*flatten(values)[0]) or next((b for b in loaded() if b.tracing()), None)
    if backend is None:
        print(*values, **options)
        return
    if not any(isinstance(value, StagedText) for value in values):
        backend.print_(*values, **options)
        return
    named: dict[str, Any] = {}
    pieces: list[str] = []
    found: list[Any] = []
    for value in values:
        if isinstance(value, StagedText):
            pieces.append(value.template)
            found += value.values
            named |= value.named
        else:
            pieces.append("{}")
            found.append(value)
    backend.print_text(options.pop("sep", " ").join(pieces), *found, **named, **options)


def staged_parts(error: Exception) -> tuple[list[Any], Callable[[Sequence[Any]], Exception]]:
    """The staged values in an exception, in its texts too, and what puts values into it in their place."""
    leaves, structure = flatten((error.args, vars(error)))
    staged: list[Any] = []
    puts: list[Callable[[Iterator[Any]], Any]] = []
    for leaf in leaves:
        inside = flatten((leaf.values, leaf.named))[0] if isinstance(leaf, StagedText) else [leaf]
        staged += [value for value in inside if owner(value) is not None]
        puts.append(partial(_put, leaf))

    def made(values: Sequence[Any]) -> Exception:
        rest = iter(values)
        args, attributes = unflatten(structure, [put(rest) for put in puts])
        error.args = args
        vars(error).update(attributes)
        return error

    return staged, made if staged else lambda _: error


def _put(leaf: Any, values: Iterator[Any]) -> Any:
    """A part of an exception with values in the place of staged ones."""
    if not isinstance(leaf, StagedText):
        return leaf if owner(leaf) is None else next(values)
    found, structure = flatten((leaf.values, leaf.named))
    args, named = unflatten(structure, [v if owner(v) is None else next(values) for v in found])
    return leaf.template.format(*args, **named)


def message_of(made: Any) -> str:
    """The message of an assertion that is checked when the code runs."""
    return made.shown() if isinstance(made, StagedText) else str(made)
