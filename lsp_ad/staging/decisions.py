"""What staging decides about a construct, and the record of it.

One record for each construct and line: the run-time report collects them while a function is traced, and the
static half (`checks/`) predicts them from the text; tests compare the two.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import groupby

from lsp_ad.staging.errors import user_place

STAGED, PYTHON, UNROLLED, LEFT_ALONE, CONVERTED = (
    "staged",
    "decided in Python",
    "unrolled",
    "left alone",
    "converted",
)
IF, IF_EXPRESSION, WHILE, FOR, CASE = "if", "conditional expression", "while", "for", "case"
ITEMS = "items"
AND, OR, NOT, COMPARISON, CALL, ASSERT, EFFECT = (
    "and",
    "or",
    "not",
    "comparison",
    "call",
    "assert",
    "side effect",
)


@dataclass(frozen=True, order=True)
class Decision:
    """One decision: where (file and line of the user's code), what construct, what came of it and why.

    `count`: how many times a loop was unrolled. `subject`: what a call calls, or an effect changes.
    """

    file: str
    line: int
    construct: str
    outcome: str
    why: str = ""
    count: int | None = None
    subject: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"

    @property
    def text(self) -> str:
        """What was decided, without its place."""
        what = f"{self.construct} {self.subject}".rstrip()
        times = f" {self.count} times" if self.count is not None else ""
        why = f": {self.why}" if self.why else ""
        return f"{what}: {self.outcome}{times}{why}"


@dataclass
class Report:
    """The decisions of one trace, in the order in which they were first made, each once.

    Printed: by file and line, with the text that each is about.
    """

    made: dict[Decision, None] = field(default_factory=dict)

    @property
    def decisions(self) -> list[Decision]:
        return list(self.made)

    def __str__(self) -> str:
        lines: list[str] = []
        for file, found in groupby(sorted(self.made, key=lambda d: (d.file, d.line)), lambda d: d.file):
            lines.append(f"{file}:")
            here = ""
            for decision in found:
                text = _excerpt(file, decision.line)
                place = f"{decision.line:>5}  {text:<{_WIDE}}"
                lines.append(f"{place if place != here else '':<{_WIDE + 7}}  {decision.text}")
                here = place
        return "\n".join(lines)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self.decisions)

    def of(self, construct: str) -> list[Decision]:
        """The decisions about one kind of construct."""
        return [d for d in self.decisions if d.construct == construct]


_WIDE = 36


def _excerpt(file: str, line: int) -> str:
    """The text of a line, cut to what fits."""
    text = linecache.getline(file, line).strip()
    return text if len(text) <= _WIDE else text[: _WIDE - 3] + "..."


_report: ContextVar[Report | None] = ContextVar("report", default=None)


@contextmanager
def recording() -> Iterator[Report]:
    """Collect the decisions that are made in a block."""
    report = Report()
    token = _report.set(report)
    try:
        yield report
    finally:
        _report.reset(token)


def count() -> int:
    """How many decisions have been recorded."""
    report = _report.get()
    return len(report.made) if report is not None else 0


def forget(since: int) -> None:
    """Drop all decisions but the first ones: they were made in a trace that is made anew."""
    report = _report.get()
    while report is not None and len(report.made) > since:
        report.made.popitem()


def are_recorded() -> bool:
    """Whether anyone asked for a report."""
    return _report.get() is not None


def decide(construct: str, outcome: str, why: str = "", count: int | None = None, subject: str = "") -> None:
    """Record a decision about the line that is running, if anyone asked for a report.

    Of what stands for no construct of the user's ("") there is nothing to record.
    """
    report = _report.get()
    if report is None or not construct:
        return
    decision = Decision(*user_place(2), construct, outcome, why, count, subject)
    report.made.setdefault(decision)
