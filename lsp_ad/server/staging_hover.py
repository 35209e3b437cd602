"""Hover on a construct of a staged function: what staging will decide about it."""

from __future__ import annotations

import gast

from lsp_ad.checks import traces_of
from lsp_ad.checks.prediction import Foretold, foretold
from lsp_ad.problems import Span
from lsp_ad.server.analysis import Analysis
from lsp_ad.source.parse import span_of

_KEYWORDS = {gast.If: "if", gast.While: "while", gast.For: "for"}


def staging_at(analysis: Analysis, line: int, column: int) -> tuple[str, Span] | None:
    """What to say of the innermost construct at a position, and its span."""
    if analysis.syntax_problems:
        return None
    here = [f for f in _foretold(analysis) if _span(f).contains(line, column)]
    if not here:
        return None
    inner = max(here, key=lambda f: (f.prediction.node.lineno, f.prediction.node.col_offset))
    texts = dict.fromkeys(_text(f) for f in here if f.prediction.node is inner.prediction.node)
    return "\n\n".join(texts), _span(inner)


def _foretold(analysis: Analysis) -> list[Foretold]:
    derived = analysis.program.derived
    if "foretold" not in derived:
        traces = traces_of(analysis.program)
        derived["foretold"] = foretold(traces) if traces.functions.staged else []
    return derived["foretold"]


def _span(found: Foretold) -> Span:
    """The span of a construct: of a statement, its keyword and what stands behind it on the line."""
    node = found.prediction.node
    whole = span_of(node)
    if type(node) not in _KEYWORDS:
        return whole
    head = node.iter if isinstance(node, gast.For) else node.test
    return Span(whole.line, whole.column, head.end_lineno, head.end_col_offset)


def _text(found: Foretold) -> str:
    construct, _, rest = str(found).partition(": ")
    return f"`{construct}`: {rest}."
