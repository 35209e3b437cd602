"""STG501: a function that lsp_ad.staged refuses to convert, told before it is called."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Problem, Span, problem
from lsp_ad.source.parse import span_of
from lsp_ad.staging.converters import unsupported
from lsp_ad.staging.errors import Unsupported


def unconvertible(trace: Trace) -> Iterator[Problem]:
    """What the converters have no answer to: they themselves say it."""
    node, place = trace.place.node, trace.place
    inside = place.parent is not None and trace.traces.get(place.parent) is not None
    if trace.staged.transform != "lsp_ad.staged" or not trace.staged.converts or inside:
        return  # a function inside another is converted with it
    what = f"`{place.name}` cannot be converted by lsp_ad.staged"
    if isinstance(node, gast.AsyncFunctionDef):
        start = span_of(node)
        words = Span(start.line, start.column, start.line, start.column + len("async def"))
        yield problem("STG501", f"{what}: it is `async`.", words)
    elif isinstance(node, gast.FunctionDef):
        try:
            unsupported.check(node)
        except Unsupported as found:
            yield problem("STG501", f"{what}: {found.message}", span_of(found.node), found.way_out)
