"""STG106: what the user says has to be staged, and a Python value decides."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.origins import Origin
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Problem, problem
from lsp_ad.source.parse import span_of

MARKS = ("lsp_ad.must_stage", "lsp_ad.markers.must_stage", "lsp_ad.staging.must_stage")


def must_stage(trace: Trace) -> Iterator[Problem]:
    decorators = getattr(trace.place.node, "decorator_list", [])
    parent = trace.place.parent
    if any(trace.functions.canonical(d, parent) in MARKS for d in decorators):
        for construct, parts in trace.flow.predicates.values():
            if isinstance(construct, (gast.If, gast.While)):
                for part, origin in parts:
                    yield from _decided(trace, part, origin)
    for node in trace.nodes:
        if isinstance(node, gast.Call) and trace.canonical(node.func) in MARKS and node.args:
            condition = node.args[0]
            loop = trace.parents.get(node)
            # A range of Python is staged there.
            if not (isinstance(loop, gast.For) and loop.iter is node):
                yield from _decided(trace, condition, trace.of(condition))


def _decided(trace: Trace, node: gast.expr, origin: Origin) -> Iterator[Problem]:
    if origin.kind.decided:
        clause = origin.clause or f"`{trace.text(node)}` is a Python value"
        message = f"This has to be staged, and is decided {trace.when}: {clause}."
        yield problem("STG106", message, span_of(node), related=origin.related)
