"""STG201: `if`, `while`, `assert` and `x if c else y` on a traced value that nothing converts."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks import fixes
from lsp_ad.checks.rules.before_after import bound_before
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Fix, Problem, problem
from lsp_ad.source.parse import span_of

_CONSTRUCTS = {
    gast.If: "`if`",
    gast.While: "`while`",
    gast.IfExp: "A conditional expression",
    gast.Assert: "`assert`",
}
_WAYS_OUT = {
    "jax.jit": "Use jnp.where or jax.lax.cond, or put lsp_ad.staged around the function.",
    "tf.function": "Use tf.cond, or leave autograph on.",
    "lsp_ad.staged": "Let it be converted: drop `do_not_convert`.",
}
_LOOP_WAY_OUT = "Use jax.lax.while_loop, or put lsp_ad.staged around the function."


def python_tests(trace: Trace) -> Iterator[Problem]:
    converts, transform = trace.staged.converts, trace.staged.transform
    for node in trace.nodes:
        name = _CONSTRUCTS.get(type(node))
        loud = not converts or (isinstance(node, gast.Assert) and transform == "tf.function")
        test = _decisive(trace, node.test) if name else None
        if name and loud and test is not None and trace.is_tensor(test) and not _is_logical(test):
            way_out = _WAYS_OUT[transform]
            if isinstance(node, gast.While) and transform == "jax.jit":
                way_out = _LOOP_WAY_OUT
            elif isinstance(node, gast.Assert):
                way_out = (
                    "Use tf.debugging.assert_equal and its like."
                    if transform == "tf.function"
                    else "Use jax.experimental.checkify.check, or check before the call."
                )
            message = trace.in_vain(name, "True or False", test)
            fix = _fixes(trace, node) if test is node.test else fixes.stage(trace)
            yield problem("STG201", message, span_of(test), way_out, fixes=fix)
        elif isinstance(node, gast.comprehension) and not converts:
            for test in node.ifs:
                if trace.is_tensor(test) and not _is_logical(test):
                    message = trace.in_vain("A comprehension", "True or False", test)
                    yield problem("STG201", message, span_of(test), _WAYS_OUT[transform])


def _decisive(trace: Trace, test: gast.expr) -> gast.expr:
    """The last operand of `and` or `or` where it alone is traced: Python hands it on as the condition."""
    while isinstance(test, gast.BoolOp) and not any(map(trace.is_tensor, test.values[:-1])):
        test = test.values[-1]
    return test


def _is_logical(test: gast.expr) -> bool:
    """`and`, `or`, `not` have findings of their own."""
    chained = isinstance(test, gast.Compare) and (
        len(test.ops) > 1 or isinstance(test.ops[0], (gast.In, gast.NotIn))
    )
    return (
        chained
        or isinstance(test, gast.BoolOp)
        or (isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not))
    )


def _fixes(trace: Trace, node: gast.AST) -> tuple[Fix, ...]:
    if isinstance(node, gast.Assert):
        return ()
    if isinstance(node, gast.IfExp):
        text = fixes.chosen(trace, node, node.test, node.body, node.orelse)
        return (fixes.replaced(node, text, safe=False) if text else ()) + fixes.stage(trace)
    return _chosen(trace, node) + fixes.stage(trace)


def _chosen(trace: Trace, node: gast.AST) -> tuple[Fix, ...]:
    """`if c: y = a` with or without `else: y = b` as one assignment of what is chosen."""
    if not isinstance(node, gast.If) or len(node.body) != 1 or len(node.orelse) > 1:
        return ()
    body, orelse = _assignment(node.body[0]), _assignment(node.orelse[0]) if node.orelse else None
    if body is None or (node.orelse and (orelse is None or orelse[0] != body[0])):
        return ()
    target, value = body
    if orelse is None and not bound_before(trace, target, node):
        return ()
    text = fixes.chosen(trace, node, node.test, value, orelse[1] if orelse else target)
    return fixes.replaced(node, f"{target} = {text}", safe=False) if text else ()


def _assignment(node: gast.stmt) -> tuple[str, gast.expr] | None:
    if isinstance(node, gast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], gast.Name):
        return node.targets[0].id, node.value
    return None
