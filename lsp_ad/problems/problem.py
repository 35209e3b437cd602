"""A problem: a code, a message, the place, and a way out."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import NamedTuple

from lsp_ad.problems import catalogue


class Severity(enum.IntEnum):
    """How much a problem matters; the numbers are those of the language server protocol."""

    ERROR = 1
    WARNING = 2
    INFORMATION = 3
    HINT = 4


class Span(NamedTuple):
    """A half-open piece of a text: lines count from 1, columns from 0, in code points."""

    line: int
    column: int
    end_line: int
    end_column: int

    def contains(self, line: int, column: int) -> bool:
        return (self.line, self.column) <= (line, column) <= (self.end_line, self.end_column)


@dataclass(frozen=True)
class Related:
    """A second place that explains a problem: a definition, an assignment, a call.

    `path` is the file, where it is another one than that of the problem.
    """

    message: str
    span: Span
    path: str = ""


@dataclass(frozen=True)
class Fix:
    """A change of the text that mends a problem: each span is replaced by its text.

    `safe`: what the program computes stays as it is.
    """

    title: str
    edits: tuple[tuple[Span, str], ...]
    safe: bool = True


@dataclass(frozen=True)
class Problem:
    """Something the user should know about one place of the text.

    `code` is a key of the catalogue, `way_out` what a person can do about it.
    """

    code: str
    message: str
    span: Span
    severity: Severity = Severity.ERROR
    way_out: str = ""
    related: tuple[Related, ...] = field(default=())
    fixes: tuple[Fix, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        tail = f" {self.way_out}" if self.way_out else ""
        return f"{self.message}{tail}"


def problem(
    code: str,
    message: str,
    span: Span,
    way_out: str = "",
    related: tuple[Related, ...] = (),
    severity: Severity | None = None,
    fixes: tuple[Fix, ...] = (),
) -> Problem:
    """Make a problem of a catalogued code; the entry gives severity and way out where none is named."""
    known = catalogue.entry(code)
    return Problem(
        code,
        message,
        span,
        Severity[known.severity.upper()] if severity is None else severity,
        way_out or known.way_out,
        related,
        fixes,
    )


class Refusal(Exception):
    """Raised inside a pass to give up on a function; the stage that called it hands on the problems."""

    def __init__(self, *problems: Problem):
        super().__init__("; ".join(str(p) for p in problems))
        self.problems = problems
