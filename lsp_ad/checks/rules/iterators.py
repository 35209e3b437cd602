"""STG304: an iterator from outside, of which tracing takes what there is, once."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.outer import outlives, values_of
from lsp_ad.checks.staged_functions import Place
from lsp_ad.checks.traces import Trace, own_nodes
from lsp_ad.problems import Problem, problem
from lsp_ad.source.parse import span_of

_ITERATORS = {
    "builtins.iter",
    "builtins.map",
    "builtins.filter",
    "builtins.zip",
    "builtins.enumerate",
    "builtins.reversed",
    "builtins.open",
}


def iterators(trace: Trace) -> Iterator[Problem]:
    for node in trace.nodes:
        taken = None
        if isinstance(node, gast.Call) and trace.canonical(node.func) == "builtins.next" and node.args:
            taken = node.args[0] if outlives(trace, node.args[0]) else None
        elif isinstance(node, (gast.For, gast.comprehension)) and outlives(trace, node.iter):
            taken = node.iter if _is_iterator(trace, node.iter) else None
        if taken is not None:
            message = (
                f"`{trace.text(taken)}` is gone over {trace.when}, not when it runs: "
                "each run sees the same items."
            )
            yield problem("STG304", message, span_of(taken))


def _is_iterator(trace: Trace, node: gast.expr) -> bool:
    """Is it one that is used up, as what is assigned to it shows?"""
    return any(
        isinstance(v, gast.GeneratorExp)
        or (
            isinstance(v, gast.Call)
            and (_library(trace, v) or _is_generator(trace.functions.find(v.func, None)))
        )
        for v in values_of(trace, node)
    )


def _library(trace: Trace, call: gast.Call) -> bool:
    name = trace.functions.canonical(call.func, None) or ""
    return name in _ITERATORS or name.startswith("itertools.")


def _is_generator(place: Place | None) -> bool:
    return place is not None and any(
        isinstance(n, (gast.Yield, gast.YieldFrom)) for n in own_nodes(place.node)
    )
