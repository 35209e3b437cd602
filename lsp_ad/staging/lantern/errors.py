"""What can be wrong with a program in the intermediate language."""

from __future__ import annotations


class LanternError(Exception):
    """The root of all errors of this package."""


class LanternRaised(LanternError):
    """An error of a program, of a type that is not a built-in one: the name of the type, and the message."""

    def __init__(self, type_name: str, message: str) -> None:
        super().__init__(f"{type_name}: {message}")
        self.type_name, self.message = type_name, message


class LanternSyntaxError(LanternError):
    """A text is no program; `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"{line}:{column}: {message}")
        self.line, self.column = line, column


class LanternTypeError(LanternError):
    """An expression has no type; the message shows the expression, its function and its place."""


class LanternRecursionError(LanternError, RecursionError):
    """Calls are nested deeper than there is memory for."""
