"""STG502: what AutoGraph has no conversion for, so that tf.function runs a whole function as it stands."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Problem, problem
from lsp_ad.source.parse import span_of


def unconverted(trace: Trace) -> Iterator[Problem]:
    if trace.staged.transform != "tf.function" or not trace.staged.converts:
        return
    for node in trace.nodes:
        found = _named(node)
        if found is not None:
            what, where = found
            message = f"{what}: tf.function does not convert {trace.described}, and runs it as it stands."
            yield problem("STG502", message, span_of(where))
            return


def _named(node: gast.AST) -> tuple[str, gast.AST] | None:
    if isinstance(node, gast.NamedExpr):
        return "An assignment in an expression", node
    if isinstance(node, gast.Match):
        return "`match`", node.subject
    if isinstance(node, (gast.For, gast.While)) and node.orelse:
        return "A loop with `else`", node.target if isinstance(node, gast.For) else node.test
    return None
