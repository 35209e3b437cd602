"""What the catalogue says of one code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One code: `severity` is error, warning, information or hint; `example` is Python text."""

    code: str
    name: str
    severity: str
    summary: str
    way_out: str
    example: str
    explanation: str = ""
