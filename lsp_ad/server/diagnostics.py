"""Diagnostics: syntax errors, staging, and what forbids the derivatives that somebody wants."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types
from pygls import uris

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
    return [diagnostic(snapshot, client, problem) for problem in problems(snapshot.analysis, asked)]


def diagnostic(snapshot: Snapshot, client: Client, problem: Problem) -> types.Diagnostic:
    lines = snapshot.document.lines
    related = []
    for place in problem.related:
        where = snapshot.analysis.lines(place.path) if place.path else lines
        if where is not None:
            uri = (uris.from_fs_path(place.path) or "") if place.path else snapshot.uri
            location = types.Location(uri, to_range(where, place.span, client.encoding))
            related.append(types.DiagnosticRelatedInformation(location, place.message))
    return types.Diagnostic(
        to_range(lines, problem.span, client.encoding),
        str(problem),
        severity=types.DiagnosticSeverity(int(problem.severity)),
        code=problem.code,
        source=SOURCE,
        related_information=related if related and client.related_information else None,
    )
