"""Diagnostics: syntax errors, staging, and what forbids the derivatives that somebody wants."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from lsp_ad import checks
from lsp_ad.checks.interest import refusals
from lsp_ad.problems import Problem
from lsp_ad.server.analysis import Analysis
from lsp_ad.server.client import Client
from lsp_ad.server.convert import to_range
from lsp_ad.server.snapshots import Snapshot

SOURCE = "lsp-ad"


def problems(analysis: Analysis, asked: Iterable[str] = ()) -> tuple[Problem, ...]:
    """What there is to say about a file; `asked` names functions whose gradient the user asked for."""
    if analysis.syntax_problems:
        return analysis.syntax_problems
    found = [*refusals(analysis.program, asked, analysis.derivative), *checks.check(analysis.program)]
    return tuple(dict.fromkeys(found))


def diagnostics(snapshot: Snapshot, client: Client, asked: Iterable[str] = ()) -> list[types.Diagnostic]:
    return [_diagnostic(snapshot, client, problem) for problem in problems(snapshot.analysis, asked)]


def _diagnostic(snapshot: Snapshot, client: Client, problem: Problem) -> types.Diagnostic:
    lines = snapshot.document.lines
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(snapshot.uri, to_range(lines, place.span, client.encoding)), place.message
        )
        for place in problem.related
    ]
    return types.Diagnostic(
        to_range(lines, problem.span, client.encoding),
        str(problem),
        severity=types.DiagnosticSeverity(int(problem.severity)),
        code=problem.code,
        source=SOURCE,
        related_information=related if related and client.related_information else None,
    )
