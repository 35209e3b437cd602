"""STG203, STG207: functions of Python that need the numbers of what they are given, or go over it."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks import fixes
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Fix, Problem, problem
from lsp_ad.source.parse import span_of

_JAX = {
    "min": ("minimum", "min"),
    "max": ("maximum", "max"),
    "any": ("", "any"),
    "all": ("", "all"),
    "sorted": ("", "sort"),
}
_TF = {
    "min": ("minimum", "reduce_min"),
    "max": ("maximum", "reduce_max"),
    "any": ("", "reduce_any"),
    "all": ("", "reduce_all"),
    "sum": ("", "reduce_sum"),
    "round": ("", "round"),
}
_TABLES = {"jax.jit": _JAX, "tf.function": _TF}


def traced_builtins(trace: Trace) -> Iterator[Problem]:
    table = _TABLES.get(trace.staged.transform, {})
    for node in trace.nodes:
        if not isinstance(node, gast.Call) or not node.args:
            continue
        name = trace.canonical(node.func).removeprefix("builtins.")
        given = node.args[0]
        inside = (
            given.elts if len(node.args) == 1 and isinstance(given, (gast.List, gast.Tuple)) else node.args
        )
        if name in ("any", "all") and isinstance(given, (gast.GeneratorExp, gast.ListComp)):
            inside = [given.elt]
        traced = next((a for a in inside if trace.is_tensor(a)), None)
        if name in table and traced is not None:
            message = trace.in_vain(f"`{name}` of Python", "the numbers", traced)
            pairwise, whole = table[name]
            library = "tf" if trace.staged.transform == "tf.function" else "jnp"
            which = whole if len(node.args) == 1 or not pairwise else pairwise
            yield problem(
                "STG203",
                message,
                span_of(node),
                f"Use {library}.{which}.",
                fixes=_fix(trace, node, pairwise, whole),
            )


def _fix(trace: Trace, node: gast.Call, pairwise: str, whole: str) -> tuple[Fix, ...]:
    module = fixes.numbers_of(trace)
    if node.keywords or any(isinstance(a, gast.Starred) for a in node.args):
        return ()
    if isinstance(node.args[0], (gast.GeneratorExp, gast.ListComp)):
        return _of_several(trace, node, module, whole)
    if len(node.args) == 1 and not isinstance(node.args[0], (gast.List, gast.Tuple)):
        return fixes.called(trace, node, module, whole, node.args[0])
    if len(node.args) == 2 and pairwise:
        return fixes.called(trace, node, module, pairwise, *node.args)
    return ()


def _of_several(trace: Trace, node: gast.Call, module: str, whole: str) -> tuple[Fix, ...]:
    """`all(test for x in xs)` as `jnp.all(jnp.array([test for x in xs]))`."""
    name = fixes.alias(trace, module)
    if name is None or len(node.args) > 1:
        return ()
    text = fixes.source(trace, node.args[0])
    if text.startswith(("(", "[")):
        text = text[1:-1]
    stacked = f"{name}.stack" if module == "tensorflow" else f"{name}.array"
    return fixes.replaced(node, f"{name}.{whole}({stacked}([{text}]))", safe=False)


def traced_iteration(trace: Trace) -> Iterator[Problem]:
    """Comprehensions over a tensor, and assignments of one to several names, under tf.function."""
    if trace.staged.transform != "tf.function":
        return
    for node in trace.nodes:
        if isinstance(node, gast.comprehension) and trace.is_tensor(node.iter):
            yield _iterated(trace, node.iter, "A comprehension")
        if isinstance(node, (gast.For, gast.comprehension)) and isinstance(node.iter, gast.Call):
            function = trace.canonical(node.iter.func).removeprefix("builtins.")
            over = next((a for a in node.iter.args if trace.is_tensor(a)), None)
            if function in ("enumerate", "zip") and over is not None:
                yield _iterated(trace, over, f"`{function}`")
        if not isinstance(node, gast.Assign) or not isinstance(node.targets[0], (gast.Tuple, gast.List)):
            continue
        if trace.is_tensor(node.value):
            yield _iterated(trace, node.value, "An assignment to several names")


def _iterated(trace: Trace, node: gast.expr, what: str) -> Problem:
    message = f"{what} goes over `{trace.text(node)}`, a tensor, while tf.function traces {trace.described}."
    module = fixes.alias(trace, "tensorflow")
    text = f"{module}.unstack({fixes.source(trace, node)})"
    fix = fixes.replaced(node, text, safe=False) if module else ()
    return problem("STG207", message, span_of(node), fixes=fix)
