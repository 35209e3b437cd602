"""STG105: a function that is traced anew each time round a loop."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.certainty import is_number
from lsp_ad.checks.parameters import bind
from lsp_ad.checks.staged_functions import TRANSFORMS, Place, bound_already
from lsp_ad.checks.traces import Traces
from lsp_ad.problems import Problem, problem
from lsp_ad.semantics.names import bound_names
from lsp_ad.source.parse import span_of
from lsp_ad.source.trees import children

_LOOPS = (gast.For, gast.While)
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
_Loops = tuple[gast.AST, ...]


def retracing(traces: Traces) -> Iterator[Problem]:
    """Transforms in loops, and calls in loops with another static number each time."""
    pending: list[tuple[gast.AST, _Loops, Place | None]] = [(traces.program.parsed.module, (), None)]
    while pending:
        node, loops, place = pending.pop()
        if isinstance(node, gast.Call) and loops:
            yield from _transform(traces, node, loops[-1], place)
            yield from _static(traces, node, loops, place)
        if isinstance(node, _FUNCTIONS):
            if loops and not isinstance(node, gast.Lambda):
                yield from _decorated(traces, node, loops[-1])
            loops, place = (), traces.functions.places.get(node, place)
        if isinstance(node, _LOOPS):
            heads = [node.iter] if isinstance(node, gast.For) else [node.test]
            pending += [(child, loops, place) for child in [*heads, *node.orelse]]
            pending += [(child, (*loops, node), place) for child in node.body]
        elif isinstance(node, _COMPREHENSIONS):
            made = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
            pending += [(child, loops, place) for child in node.generators]
            pending += [(child, (*loops, node), place) for child in made]
        else:
            pending += [(child, loops, place) for child in children(node)]


def _bound(loop: gast.AST) -> set[str]:
    """The names that have another value each time round."""
    if isinstance(loop, _COMPREHENSIONS):
        targets = [n for g in loop.generators for n in gast.walk(g.target)]
        return {n.id for n in targets if isinstance(n, gast.Name)}
    return bound_names([loop])


def _transform(traces: Traces, call: gast.Call, loop: gast.AST, place: Place | None) -> Iterator[Problem]:
    name = traces.functions.canonical(call.func, place)
    if name not in TRANSFORMS or name.startswith("lsp_ad.") or not call.args:
        return
    target = call.args[0]
    mentioned = {n.id for n in gast.walk(target) if isinstance(n, gast.Name)}
    new = isinstance(target, (gast.Lambda, gast.Call)) or TRANSFORMS[name] == "tf.function"
    # `for f in functions: fast.append(jax.jit(f))` traces each function once.
    if new and not mentioned & _bound(loop):
        yield _finding(
            call,
            f"`{TRANSFORMS[name]}` makes a new function each time round this loop, which is traced anew.",
            "Make it before the loop.",
        )


def _decorated(traces: Traces, node: gast.AST, loop: gast.AST) -> Iterator[Problem]:
    inner = traces.functions.places[node]
    read = {n.id for n in gast.walk(node) if isinstance(n, gast.Name)} - inner.locals
    if read & bound_names([loop]) - {node.name}:
        return  # it depends on what the loop changes
    staged = traces.functions.staged.get(inner)
    if staged is not None and staged.transform != "lsp_ad.staged" and staged.where in node.decorator_list:
        message = (
            f"`{inner.name}` is defined, and so traced by {staged.transform}, each time round this loop."
        )
        yield _finding(staged.where, message, "Define it before the loop.")


def _static(traces: Traces, call: gast.Call, loops: _Loops, place: Place | None) -> Iterator[Problem]:
    """`for i in range(n): f(x, i)` where the second argument of f is static."""
    function = traces.functions.find(call.func, place, called=True)
    if function is None and isinstance(call.func, gast.Attribute) and isinstance(call.func.value, gast.Name):
        made = traces.functions.made_class(call.func.value.id, place)
        function = traces.functions.method(made, call.func.attr) if made is not None else None
    staged = traces.functions.staged.get(function) if function is not None else None
    if function is None or staged is None or staged.static is None:
        return
    if place is not None and traces.get(place) is not None:
        return  # one trace for all
    bound = bind(call, function, bound_already(call.func, function)) or {}
    numbers = staged.transform == "tf.function" and not staged.jitted
    for name, value in bound.items():
        if not isinstance(value, gast.Name) or not (numbers or name in staged.static):
            continue
        if any(value.id in _counters(traces, loop, place) for loop in loops):
            way_out = (
                "Pass a tensor: tf.constant, or loop over tf.range."
                if numbers
                else "Pass it as an array, not static."
            )
            message = f"`{function.name}` is traced for each value of `{value.id}`, a Python number."
            yield _finding(value, message, way_out)


def _counters(traces: Traces, loop: gast.AST, place: Place | None) -> set[str]:
    """The names that are another number of Python each time round a loop."""
    if not isinstance(loop, _LOOPS):
        return set()
    found = {name for name in bound_names(loop.body) if _is_updated(traces, name, loop, place)}
    if isinstance(loop, gast.For) and isinstance(loop.iter, gast.Call):
        over = traces.functions.canonical(loop.iter.func, place)
        target = loop.target
        if over == "builtins.enumerate" and isinstance(target, gast.Tuple):
            target = target.elts[0]
        if isinstance(target, gast.Name) and over in ("builtins.range", "builtins.enumerate"):
            found.add(target.id)
    return found


def _is_updated(traces: Traces, name: str, loop: gast.AST, place: Place | None) -> bool:
    """Is a name a number that is written out before a loop, and computed from itself in it?"""
    scope = place.node if place is not None else traces.program.parsed.module
    if place is not None and (name in place.parameters or not isinstance(scope.body, list)):
        return False
    values = list(_values(scope, name))
    inside = {id(n) for n in gast.walk(loop)}
    first = [v for s, v in values if id(s) not in inside]
    later = [v for s, v in values if id(s) in inside]
    return bool(later) and bool(first) and all(map(is_number, first)) and all(_is_of(v, name) for v in later)


def _values(scope: gast.AST, name: str) -> Iterator[tuple[gast.stmt, gast.expr]]:
    for s in gast.walk(scope):
        if (
            isinstance(s, gast.Assign) and any(isinstance(t, gast.Name) and t.id == name for t in s.targets)
        ) or (isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name) and s.target.id == name):
            yield s, s.value


def _is_of(node: gast.expr, name: str) -> bool:
    """Is it made of numbers and that name?"""
    leaves = [
        n for n in gast.walk(node) if isinstance(n, (gast.Name, gast.Call, gast.Subscript, gast.Attribute))
    ]
    return all(isinstance(n, gast.Name) and n.id == name for n in leaves)


def _finding(node: gast.AST, message: str, way_out: str) -> Problem:
    return problem("STG105", message, span_of(node), way_out)
