"""STG405: a function that calls itself under a condition that is staged: its trace never ends."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.rules.before_after import leaves
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Problem, problem
from lsp_ad.source.parse import span_of


def recursion(trace: Trace) -> Iterator[Problem]:
    """Both branches are traced, so the one that calls is, too. Lantern has functions, and may recur."""
    if not trace.staged.converts or trace.staged.backend == "lantern":
        return
    if not (trace.staged.jitted or trace.staged.backend or trace.staged.transform == "tf.function"):
        return  # it may be traced by anything
    if any(isinstance(n, gast.If) and not trace.is_tensor(n.test) and leaves(n.body) for n in trace.nodes):
        return  # Python ends it
    for node, (callee, call, _) in trace.flow.calls.items():
        if callee is not trace.place or call is None:
            continue
        tests = [n for n in trace.around(node) if isinstance(n, (gast.If, gast.IfExp))]
        if tests and all(trace.is_tensor(n.test) for n in tests):
            message = (
                f"`{callee.name}` calls itself under a condition that {trace.staged.transform} stages: both "
                "branches are traced, so the trace never ends."
            )
            yield problem("STG405", message, span_of(node))
