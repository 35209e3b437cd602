"""STG403, STG404: `return` and `break` in staged control flow."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.rules.before_after import leaves
from lsp_ad.checks.rules.branches import is_staged_loop
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Problem, problem
from lsp_ad.source.parse import span_of


def jumps(trace: Trace) -> Iterator[Problem]:
    """A `return` under a staged condition where another path ends without one, and in staged loops."""
    body = trace.place.node.body
    if not isinstance(body, list) or not trace.staged.converts:
        return
    falls = not leaves(body)
    tensorflow = trace.staged.transform == "tf.function"
    for node in trace.nodes:
        if isinstance(node, gast.Return):
            around = list(trace.around(node))
            loops = [n for n in around if isinstance(n, (gast.For, gast.While))]
            staged = [n for n in around if isinstance(n, gast.If) and trace.is_tensor(n.test)]
            if tensorflow and (any(is_staged_loop(trace, n) for n in loops) or (loops and staged)):
                message = f"tf.function cannot stage this `return` from a loop of {trace.described}."
                yield problem(
                    "STG404",
                    message,
                    span_of(node),
                    "Set a flag, break off by the loop's condition, return after it.",
                )
            elif falls and staged and node.value is not None and not _is_none(node.value):
                message = (
                    f"This returns a value of {trace.described} under a condition that "
                    f"{trace.staged.transform} stages, and another path ends without one."
                )
                yield problem("STG403", message, span_of(node))
        elif isinstance(node, gast.Break) and tensorflow and _breaks_python_loop(trace, node):
            message = f"tf.function cannot stage this `break` from a Python loop of {trace.described}."
            yield problem("STG404", message, span_of(node))


def _breaks_python_loop(trace: Trace, node: gast.Break) -> bool:
    staged = False
    for around in trace.around(node):
        if isinstance(around, gast.If):
            staged = staged or trace.is_tensor(around.test)
        if isinstance(around, gast.For):
            name = trace.canonical(around.iter.func) if isinstance(around.iter, gast.Call) else ""
            return (
                staged
                and name == "builtins.range"
                and not is_staged_loop(trace, around)
                and all(trace.of(a).kind.decided for a in around.iter.args)
            )
        if isinstance(around, gast.While):
            return staged and isinstance(around.test, gast.Constant)
    return False


def _is_none(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and node.value is None
