"""STG101, STG102: a conditional in a staged function that a Python value decides while it is traced.

Staging acts on values that are traced; a Python value silently picks one branch for good:

    USE_RELU = True

    @tf.function
    def f(x):
        if USE_RELU:                  # STG101: USE_RELU = False later has no effect
            x = tf.nn.relu(x)
        return x

is mended by a flag that is plainly one (STG102, an information), or by a tensor (no finding):

    @tf.function
    def f(x, use_relu: bool):
        if use_relu:                  # STG102: one trace for each value
            x = tf.nn.relu(x)
        return x

Limits: the flow of values is followed through one file, not through containers, attributes of
objects other than `self`, or `match`. What cannot be told gives no finding.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import gast

from lsp_ad.checks.facts import Facts
from lsp_ad.checks.flow import Flow
from lsp_ad.checks.origins import Kind, Origin
from lsp_ad.checks.parameters import handed_over, literal_arguments, parameter_origins
from lsp_ad.checks.staged_functions import Functions, Place, Staged
from lsp_ad.checks.values import Values, module_origin
from lsp_ad.problems import Problem, problem
from lsp_ad.semantics.names import Program
from lsp_ad.source.parse import span_of

_Call = tuple[gast.Call | None, dict[str, Origin] | None]
_VISITS = 4  # how often a function is looked at again because more calls of it were found

_WAYS_OUT = {
    "jax.jit": "Pass it as an argument: named in static_argnames, or an array for jax.lax.cond or jnp.where.",
    "tf.function": "Pass it as an argument: a `bool` to choose at each call, a tensor to stage the branch.",
    "lsp_ad.staged": "Pass it as an argument: a `bool` to choose at each call, an array to stage the branch.",
}
_LOOP_WAYS_OUT = {
    "jax.jit": "Use jax.lax.while_loop or jax.lax.fori_loop to keep the loop, or write `for` over a range.",
    "tf.function": "Count with tensors (tf.range) to keep the loop, or write `for` over a range.",
    "lsp_ad.staged": "Count with arrays to keep the loop, or write `for` over a range.",
}


def staging_bypass(program: Program) -> list[Problem]:
    """All findings of this rule in a file, in the order of the text."""
    functions = Functions(program)
    if not functions.staged:
        return []
    analysis = _Analysis(Facts(functions, module_origin))
    for place, staged in functions.staged.items():
        # Expressions or calls nested deeper than Python recurses: what is known by then is told.
        with contextlib.suppress(RecursionError):
            analysis.start(place, staged)
    found = {(p.span, p.code): p for p in analysis.problems()}
    return [found[key] for key in sorted(found)]


@dataclass(frozen=True)
class _Trace:
    """Under which transform a function is traced, and through which staged function."""

    staged: Staged
    root: Place


class _Analysis:
    """Follows calls from the staged functions of a file to its other functions."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.flows: dict[Place, tuple[Flow, _Trace]] = {}
        self.outer: dict[Place, Flow] = {}
        self.calls: dict[Place, dict[gast.AST, _Call]] = {}
        self.visits: dict[Place, int] = {}

    def start(self, place: Place, staged: Staged) -> None:
        """Look at a function that is staged itself."""
        parameters = parameter_origins(self.facts.functions, place, staged)
        if staged.transform != "jax.jit":  # which traces the bools it is passed
            literal = literal_arguments(self.facts.functions, place)
            parameters |= {n: o for n, o in literal.items() if parameters[n].kind is Kind.TRACED}
        self._run(place, _Trace(staged, place), parameters, self._around(place))

    def _around(self, place: Place) -> Values | None:
        """The function around, as it stands when the inner one is called."""
        parent = place.parent
        if parent is None:
            return None
        if parent in self.flows:
            return self.flows[parent][0]
        if parent not in self.outer:
            own = parameter_origins(self.facts.functions, parent, None)
            self.outer[parent] = Flow(self.facts, parent, own, self._around(parent), traced=False).run()
        return self.outer[parent]

    def _run(self, place: Place, trace: _Trace, parameters: dict[str, Origin], around: Values | None) -> None:
        flow = Flow(self.facts, place, parameters, around).run()
        self.flows[place] = flow, trace
        callees = dict.fromkeys(callee for callee, _, _ in flow.calls.values())
        for node, (callee, call, bound) in flow.calls.items():
            self.calls.setdefault(callee, {})[node] = call, bound
        for callee in callees:
            self._call(callee, trace)
        # A function defined inside and handed on (to a scan, a cond) is traced as well.
        for inner in flow.inner.values():
            if inner not in callees and inner not in self.facts.functions.staged:
                self.calls.setdefault(inner, {}).setdefault(inner.node, (None, None))
                self._call(inner, trace)

    def _call(self, callee: Place, trace: _Trace) -> None:
        if callee in self.facts.functions.staged:
            return
        own = parameter_origins(self.facts.functions, callee, Staged(trace.staged.transform))
        passed = handed_over(list(self.calls[callee].values()), callee, own)
        parameters = parameter_origins(self.facts.functions, callee, Staged(trace.staged.transform), passed)
        known = self.flows.get(callee)
        if known and _kinds(known[0].parameters) == _kinds(parameters):
            return
        self.visits[callee] = self.visits.get(callee, 0) + 1
        if self.visits[callee] <= _VISITS:
            self._run(callee, known[1] if known else trace, parameters, self._around(callee))

    def problems(self) -> list[Problem]:
        return [_finding(flow, trace, construct, part, origin)
                for flow, trace in self.flows.values()
                for construct, parts in flow.predicates.values()
                for part, origin in parts if origin.kind.decided]


def _kinds(origins: dict[str, Origin]) -> dict[str, Kind]:
    return {name: origin.kind for name, origin in origins.items()}


def _finding(flow: Flow, trace: _Trace, construct: gast.AST, part: gast.expr, origin: Origin) -> Problem:
    staged, place = trace.staged, flow.place
    assert place
    loop = isinstance(construct, gast.While)
    what = "This loop is unrolled" if loop else "This branch is chosen"
    through = "" if place is trace.root else f" for `{trace.root.name}`"
    name = place.name if isinstance(place.node, gast.Lambda) else f"`{place.name}`"
    clause = origin.clause or f"`{flow.text(part)}` is a Python value"
    message = f"{what} when {staged.transform} traces {name}{through}, not when it runs: {clause}."
    if origin.kind.deliberate:
        return problem("STG102", message, span_of(part), origin.way_out, origin.related)
    way_out = origin.way_out or (_LOOP_WAYS_OUT if loop else _WAYS_OUT)[staged.transform]
    return problem("STG101", message, span_of(part), way_out, origin.related)
