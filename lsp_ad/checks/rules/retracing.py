"""STG105: a function that is traced anew each time round a loop."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.parameters import bind
from lsp_ad.checks.staged_functions import TRANSFORMS, Place
from lsp_ad.checks.traces import Traces
from lsp_ad.problems import Problem, problem
from lsp_ad.semantics.names import bound_names
from lsp_ad.source.parse import span_of
from lsp_ad.source.trees import children

_LOOPS = (gast.For, gast.While)
_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)


def retracing(traces: Traces) -> Iterator[Problem]:
    """Transforms in loops, and calls in loops with another static number each time."""
    pending: list[tuple[gast.AST, gast.AST | None, Place | None]] = [
        (traces.program.parsed.module, None, None)
    ]
    while pending:
        node, loop, place = pending.pop()
        if isinstance(node, gast.Call) and loop is not None:
            yield from _transform(traces, node, loop, place)
            yield from _static(traces, node, loop, place)
        if isinstance(node, _FUNCTIONS):
            if loop is not None and not isinstance(node, gast.Lambda):
                yield from _decorated(traces, node, place)
            loop, place = None, traces.functions.places.get(node, place)
        if isinstance(node, _LOOPS):
            heads = [node.iter] if isinstance(node, gast.For) else [node.test]
            pending += [(child, loop, place) for child in [*heads, *node.orelse]]
            pending += [(child, node, place) for child in node.body]
        else:
            pending += [(child, loop, place) for child in children(node)]


def _transform(traces: Traces, call: gast.Call, loop: gast.AST, place: Place | None) -> Iterator[Problem]:
    name = traces.functions.canonical(call.func, place)
    if name not in TRANSFORMS or name.startswith("lsp_ad.") or not call.args:
        return
    target = call.args[0]
    inside = bound_names([loop])
    mentioned = {n.id for n in gast.walk(target) if isinstance(n, gast.Name)}
    new = isinstance(target, (gast.Lambda, gast.Call)) or TRANSFORMS[name] == "tf.function"
    # `for f in functions: fast.append(jax.jit(f))` traces each function once.
    if new and not mentioned & inside:
        yield _finding(
            call,
            f"`{TRANSFORMS[name]}` makes a new function each time round this loop, which is traced anew.",
            "Make it before the loop.",
        )


def _decorated(traces: Traces, node: gast.AST, place: Place | None) -> Iterator[Problem]:
    inner = traces.functions.places[node]
    staged = traces.functions.staged.get(inner)
    if staged is not None and staged.transform != "lsp_ad.staged" and staged.where in node.decorator_list:
        message = (
            f"`{inner.name}` is defined, and so traced by {staged.transform}, each time round this loop."
        )
        yield _finding(staged.where, message, "Define it before the loop.")


def _static(traces: Traces, call: gast.Call, loop: gast.AST, place: Place | None) -> Iterator[Problem]:
    """`for i in range(n): f(x, i)` where the second argument of f is static."""
    counter = _counter(traces, loop, place)
    function = traces.functions.find(call.func, place)
    staged = traces.functions.staged.get(function) if function is not None else None
    if counter is None or function is None or staged is None or staged.static is None:
        return
    if place is not None and traces.get(place) is not None:
        return  # one trace for all
    bound = (
        bind(call, function, 1 if isinstance(call.func, gast.Attribute) and function.receiver else 0) or {}
    )
    for name, value in bound.items():
        numbers = staged.transform == "tf.function" and not staged.jitted
        if isinstance(value, gast.Name) and value.id == counter and (numbers or name in staged.static):
            way_out = (
                "Pass a tensor: tf.constant, or loop over tf.range."
                if numbers
                else "Pass it as an array, not static."
            )
            message = f"`{function.name}` is traced for each value of `{counter}`, a Python number."
            yield _finding(value, message, way_out)


def _counter(traces: Traces, loop: gast.AST, place: Place | None) -> str | None:
    """The name that counts in a loop over a range of Python."""
    counted = isinstance(loop, gast.For) and isinstance(loop.iter, gast.Call)
    if not counted or not isinstance(loop.target, gast.Name):
        return None
    return loop.target.id if traces.functions.canonical(loop.iter.func, place) == "builtins.range" else None


def _finding(node: gast.AST, message: str, way_out: str) -> Problem:
    return problem("STG105", message, span_of(node), way_out)
