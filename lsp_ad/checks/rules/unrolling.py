"""STG104: a loop over a range of Python, which is unrolled, with how often."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.prediction.loops import LONGEST_UNROLLED
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Problem, Severity, problem
from lsp_ad.source.parse import span_of

MANY = 100  # iterations, from which on a loop is worth an information
_WAYS_OUT = {
    "jax.jit": "Use jax.lax.fori_loop or jax.lax.scan to keep it a loop.",
    "tf.function": "Use tf.range to keep it a loop.",
    "lsp_ad.staged": "Give a bound that is an array to keep it a loop.",
}


def unrolling(trace: Trace) -> Iterator[Problem]:
    for node in trace.nodes:
        if not isinstance(node, gast.For) or not isinstance(node.iter, gast.Call):
            continue
        if trace.canonical(node.iter.func) != "builtins.range" or not node.iter.args:
            continue
        if not all(trace.of(bound).kind.decided for bound in node.iter.args):
            continue
        count = count_of(node.iter.args)
        if count is not None and (count < 2 or _leaves(node)):
            continue
        if trace.staged.backend and count is not None and count > LONGEST_UNROLLED:
            continue  # lsp_ad stages it
        how = f"{count} times" if count is not None else f"as often as `{trace.text(node.iter)}` says"
        message = f"This loop is unrolled {how} {trace.when}."
        severity = Severity.INFORMATION if count is not None and count >= MANY else Severity.HINT
        yield problem(
            "STG104", message, span_of(node.iter), _WAYS_OUT[trace.staged.transform], severity=severity
        )


def _leaves(loop: gast.For) -> bool:
    """May it end before its last iteration?"""
    return any(isinstance(n, (gast.Break, gast.Return)) for n in gast.walk(loop))


def count_of(bounds: list[gast.expr]) -> int | None:
    """How many numbers a range has whose bounds are written out."""
    try:
        values = [gast.literal_eval(bound) for bound in bounds]
        return len(range(*values))
    except (ValueError, TypeError, SyntaxError):
        return None
