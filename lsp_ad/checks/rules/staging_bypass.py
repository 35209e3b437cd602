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

from collections.abc import Iterator

import gast

from lsp_ad.checks.origins import Origin
from lsp_ad.checks.outer import ends_itself
from lsp_ad.checks.parameters import defaults_of
from lsp_ad.checks.rules.identity import is_trap
from lsp_ad.checks.rules.type_tests import is_type_trap
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Fix, Problem, Span, problem
from lsp_ad.rules.settings import settings_of
from lsp_ad.source.parse import span_of

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


def staging_bypass(trace: Trace) -> Iterator[Problem]:
    """Conditionals of a traced function that a Python value decides."""
    for construct, parts in trace.flow.predicates.values():
        if isinstance(construct, gast.While) and isinstance(construct.test, gast.Constant):
            continue  # `while True` ends by a `break`, which its own condition decides
        for part, origin in parts:
            if _is_silenced(trace, origin) or _is_dead(construct, part):
                continue
            trap = (isinstance(part, gast.Compare) and is_trap(trace, part)) or is_type_trap(trace, part)
            if origin.kind.decided and not trap:
                yield _finding(trace, construct, part, origin)


def _finding(trace: Trace, construct: gast.AST, part: gast.expr, origin: Origin) -> Problem:
    transform = trace.staged.transform
    loop = isinstance(construct, gast.While)
    what = "This loop is unrolled" if loop else "This branch is chosen"
    clause = origin.clause or f"`{trace.text(part)}` is a Python value"
    message = f"{what} {trace.when}, not when it runs: {clause}."
    fix = _fix(trace, origin) if trace.place is trace.root else ()
    if origin.kind.deliberate or (isinstance(construct, gast.If) and ends_itself(trace, construct)):
        return problem("STG102", message, span_of(part), origin.way_out, origin.related, fixes=fix)
    way_out = origin.way_out or (_LOOP_WAYS_OUT if loop else _WAYS_OUT)[transform]
    return problem("STG101", message, span_of(part), way_out, origin.related, fixes=fix)


def _is_dead(construct: gast.AST, part: gast.expr) -> bool:
    """`if test and False`: code that is taken out."""
    return isinstance(construct, gast.If) and isinstance(part, gast.Constant) and part is not construct.test


def _is_silenced(trace: Trace, origin: Origin) -> bool:
    """Do the settings name the parameter among the flags that are meant?"""
    if origin.parameter is None:
        return False
    name = origin.parameter.id
    return bool({name, f"{trace.place.name}.{name}"} & settings_of(trace.traces.program).flags)


def _fix(trace: Trace, origin: Origin) -> tuple[Fix, ...]:
    """Say that a parameter is meant to be a Python value."""
    parameter = origin.parameter
    if parameter is None:
        return ()
    if trace.staged.transform == "jax.jit":
        return _named_static(trace, parameter.id) if origin.way_out else ()
    if parameter.annotation is not None or not origin.way_out.startswith("Annotate"):
        return ()
    text = origin.way_out.split("`")[1]
    default = defaults_of(trace.place.node).get(parameter.id)
    if default is None:
        end = parameter.lineno, parameter.col_offset + len(parameter.id)
    else:
        end, text = (default.lineno, default.col_offset), f"{text} = "
    span = Span(parameter.lineno, parameter.col_offset, *end)
    return (Fix(f"Annotate {text.removesuffix(' = ')}", ((span, text),)),)


def _named_static(trace: Trace, name: str) -> tuple[Fix, ...]:
    where = trace.staged.where
    title = f"Name {name} in static_argnames"
    if isinstance(where, (gast.Name, gast.Attribute)):
        text = f'{trace.text(where)}(static_argnames="{name}")'
        return (Fix(title, ((span_of(where), text),), safe=False),)
    if isinstance(where, gast.Call) and not any((k.arg or "").startswith("static") for k in where.keywords):
        end = Span(where.end_lineno, where.end_col_offset - 1, where.end_lineno, where.end_col_offset)
        separator = ", " if where.args or where.keywords else ""
        return (Fix(title, ((end, f'{separator}static_argnames="{name}")'),), safe=False),)
    return ()
