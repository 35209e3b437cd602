"""STG107, STG108: what tracing reads once: random numbers, clocks, globals and attributes that change."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.facts import CONSTRUCTORS
from lsp_ad.checks.flow import rebound_after
from lsp_ad.checks.outer import is_outer, is_self, owner, values_of
from lsp_ad.checks.staged_functions import Place
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Problem, Related, problem
from lsp_ad.source.parse import span_of
from lsp_ad.source.trees import walk

_RANDOM = ("random.", "numpy.random.", "secrets.")
_OTHERS = {
    "time.time", "time.time_ns", "time.perf_counter", "time.perf_counter_ns", "time.monotonic",
    "time.process_time", "time.localtime", "time.gmtime", "time.strftime", "datetime.datetime.now",
    "datetime.datetime.today", "datetime.datetime.utcnow", "datetime.date.today", "uuid.uuid1", "uuid.uuid4",
    "os.urandom",
}  # fmt: skip
_SOURCES = {
    "numpy.random.default_rng",
    "numpy.random.RandomState",
    "random.Random",
    "numpy.random.SeedSequence",
    "numpy.random.Generator",
    "numpy.random.PCG64",
}
_DRAWS = {
    "normal", "uniform", "random", "integers", "randint", "choice", "standard_normal", "permutation",
    "shuffle", "rand", "randn", "exponential", "poisson", "gauss", "sample", "randrange", "binomial", "beta",
    "gamma", "multivariate_normal",
}  # fmt: skip
_WAYS_OUT = {
    "jax.jit": "Use jax.random with a key that is an argument.",
    "tf.function": "Use tf.random.",
    "lsp_ad.staged": "Pass the numbers as an argument.",
}
_ARGUMENT = "Pass it as an argument."


def frozen_values(trace: Trace) -> Iterator[Problem]:
    """Calls that give another value each time, and are called once."""
    for node in trace.nodes:
        if not isinstance(node, gast.Call):
            continue
        name = trace.canonical(node.func)
        if name in _SOURCES:
            seeded = bool(node.args or node.keywords)
            if not seeded and name != "numpy.random.SeedSequence":
                yield _value(trace, node, _WAYS_OUT[trace.staged.transform])
        elif name.startswith(_RANDOM) or _draws(trace, node):
            yield _value(trace, node, _WAYS_OUT[trace.staged.transform])
        elif name in _OTHERS:
            yield _value(trace, node, _ARGUMENT)


def _draws(trace: Trace, node: gast.Call) -> bool:
    """`rng.normal()` of a generator from outside."""
    function = node.func
    if not isinstance(function, gast.Attribute) or function.attr not in _DRAWS:
        return False
    return any(
        isinstance(v, gast.Call) and trace.functions.canonical(v.func, None) in _SOURCES
        for v in values_of(trace, function.value)
    )


def _value(trace: Trace, node: gast.Call, way_out: str) -> Problem:
    message = f"`{trace.text(node.func)}` is called once, {trace.when}: each run uses the same value."
    return problem("STG107", message, span_of(node), way_out)


def frozen_state(trace: Trace) -> Iterator[Problem]:
    """Globals and attributes that the file changes, read while a function is traced."""
    decided = {
        n
        for _, parts in trace.flow.predicates.values()
        for part, origin in parts
        if origin.kind.decided
        for n in walk(part)
    }
    seen: set[str] = set()
    for node in trace.nodes:
        # What decides a conditional has a finding of its own.
        if not isinstance(getattr(node, "ctx", None), gast.Load) or node in decided:
            continue
        if isinstance(node, gast.Name) and node.id not in seen and is_outer(trace, node.id):
            change = _change_of_name(trace, node.id)
            text = node.id
        elif (
            isinstance(node, gast.Attribute)
            and isinstance(node.value, gast.Name)
            and is_self(trace, node.value.id)
        ):
            text = f"{node.value.id}.{node.attr}"
            change = None if text in seen else _change_of_attribute(trace, node)
        else:
            continue
        if change is not None:
            seen.add(text)
            message = f"`{text}` is read once, {trace.when}: a later change has no effect."
            where = (Related("It is changed here.", span_of(change)),)
            yield problem("STG108", message, span_of(node), _ARGUMENT, where)


def _change_of_name(trace: Trace, name: str) -> gast.AST | None:
    """Where a global, or a name of a function around that is not traced, gets another value."""
    around = owner(trace, name)
    if around is None:
        return trace.traces.changes.get(name)
    found = rebound_after(around, name, trace.place) if isinstance(around, Place) else None
    return found if found is not None and found not in set(walk(trace.place.node)) else None


def _change_of_attribute(trace: Trace, node: gast.Attribute) -> gast.AST | None:
    """Where a method other than a constructor gives an attribute a Python value."""
    its_class = trace.functions.class_of(node.value.id, trace.place)
    for method in its_class.body if its_class is not None else ():
        if not isinstance(method, gast.FunctionDef) or method.name in CONSTRUCTORS:
            continue
        if trace.traces.get(trace.functions.places[method]) is not None:
            continue
        for s in walk(method):
            if isinstance(s, (gast.Assign, gast.AugAssign)):
                targets = s.targets if isinstance(s, gast.Assign) else [s.target]
                if any(_is_attribute(t, method, node.attr) for t in targets) and _is_plain(trace, s):
                    return s
    return None


def _is_attribute(target: gast.expr, method: gast.FunctionDef, name: str) -> bool:
    arguments = [*method.args.posonlyargs, *method.args.args]
    return (
        isinstance(target, gast.Attribute)
        and target.attr == name
        and isinstance(target.value, gast.Name)
        and bool(arguments)
        and target.value.id == arguments[0].id
    )


def _is_plain(trace: Trace, s: gast.Assign | gast.AugAssign) -> bool:
    """A value that is no tensor: a number, or under jax.jit anything, as JAX has no variables."""
    if trace.staged.transform == "jax.jit":
        return True
    return isinstance(s.value, gast.Constant) or (
        isinstance(s, gast.Assign) and isinstance(s.value, gast.Name)
    )
