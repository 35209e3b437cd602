"""STG202: `and`, `or`, `not`, chained comparisons and `in` where nothing converts them."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks import fixes
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Fix, Problem, problem
from lsp_ad.source.parse import span_of

_PURE = (gast.Name, gast.Constant, gast.Attribute)


def traced_logic(trace: Trace) -> Iterator[Problem]:
    converts = trace.staged.converts
    for node in trace.nodes:
        if isinstance(node, gast.BoolOp) and not converts:
            word = "and" if isinstance(node.op, gast.And) else "or"
            traced = next((v for v in node.values[:-1] if trace.is_tensor(v)), None)
            if traced is not None:
                yield _finding(trace, node, f"`{word}`", traced, _by_bits(trace, node))
        elif isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not) and not converts:
            if trace.is_tensor(node.operand) and not isinstance(node.operand, gast.BoolOp):
                fix = (
                    fixes.replaced(node, f"~{fixes.tight(trace, node.operand)}")
                    if _is_test(node.operand)
                    else ()
                )
                yield _finding(trace, node, "`not`", node.operand, fix)
        elif isinstance(node, gast.Compare):
            yield from _compared(trace, node)


def _compared(trace: Trace, node: gast.Compare) -> Iterator[Problem]:
    if isinstance(node.ops[0], (gast.In, gast.NotIn)):
        left, right = node.left, node.comparators[0]
        # A list or dict of arrays has no number among its items either.
        traced = left if trace.is_traced(left) else right if trace.is_tensor(right) else None
        if traced is not None and trace.staged.transform != "lsp_ad.staged":
            yield _finding(trace, node, "`in`", traced, _by_any(trace, node, left, right))
    elif len(node.ops) > 1 and not trace.staged.converts:
        operands = [node.left, *node.comparators]
        ordered = all(isinstance(op, (gast.Lt, gast.LtE, gast.Gt, gast.GtE)) for op in node.ops)
        is_traced = trace.is_traced if ordered else trace.is_tensor  # tuples are compared by their parts
        traced = next((n for n in operands[:-1] if is_traced(n)), None)
        if traced is not None:
            yield _finding(trace, node, "A chained comparison", traced, _in_pairs(trace, node, operands))


def _finding(trace: Trace, node: gast.expr, what: str, traced: gast.expr, fix: tuple[Fix, ...]) -> Problem:
    transform = trace.staged.transform
    message = trace.in_vain(what, "True or False", traced)
    if fixes.is_test(trace, node) and transform == "jax.jit":
        fix = fixes.stage(trace)  # a condition of arrays is none for Python either
    way_out = "Use tf.reduce_any(tf.equal(...))." if transform == "tf.function" and what == "`in`" else ""
    return problem("STG202", message, span_of(node), way_out, fixes=fix)


def _is_test(node: gast.expr) -> bool:
    """A comparison, or what is made of comparisons: True and False, of which `&` and `|` make the same."""
    if isinstance(node, gast.Compare):
        return len(node.ops) == 1 and not isinstance(node.ops[0], (gast.In, gast.NotIn, gast.Is, gast.IsNot))
    if isinstance(node, gast.BoolOp):
        return all(map(_is_test, node.values))
    return (
        isinstance(node, gast.UnaryOp)
        and isinstance(node.op, (gast.Not, gast.Invert))
        and _is_test(node.operand)
    )


def _is_truth(node: gast.expr) -> bool:
    """A plain comparison, or its negation by `~`."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Invert):
        node = node.operand
    return isinstance(node, gast.Compare) and _is_test(node)


def _by_bits(trace: Trace, node: gast.BoolOp) -> tuple[Fix, ...]:
    if not all(map(_is_truth, node.values)):
        return ()
    sign = " & " if isinstance(node.op, gast.And) else " | "
    return fixes.replaced(node, _enclosed(trace, node, sign.join(fixes.tight(trace, v) for v in node.values)))


def _in_pairs(trace: Trace, node: gast.Compare, operands: list[gast.expr]) -> tuple[Fix, ...]:
    if not all(isinstance(o, _PURE) for o in operands[1:-1]):
        return ()
    signs = [_SIGNS.get(type(op)) for op in node.ops]
    if None in signs:
        return ()
    texts = [fixes.source(trace, o) for o in operands]
    pairs = [f"({a} {sign} {b})" for a, sign, b in zip(texts, signs, texts[1:], strict=False)]
    return fixes.replaced(node, _enclosed(trace, node, " & ".join(pairs)))


def _by_any(trace: Trace, node: gast.Compare, left: gast.expr, right: gast.expr) -> tuple[Fix, ...]:
    name = fixes.alias(trace, fixes.numbers_of(trace))
    if name is None or isinstance(node.ops[0], gast.NotIn):
        return ()
    many = fixes.tight(trace, right)
    if fixes.numbers_of(trace) == "tensorflow":
        return (
            fixes.replaced(node, f"{name}.reduce_any({many} == {fixes.tight(trace, left)})")
            if (trace.is_tensor(right))
            else ()
        )
    many = many if trace.is_tensor(right) else f"{name}.asarray({fixes.source(trace, right)})"
    return fixes.replaced(node, f"{name}.any({many} == {fixes.tight(trace, left)})")


def _enclosed(trace: Trace, node: gast.expr, text: str) -> str:
    """In parentheses, unless the expression is all there is."""
    whole = isinstance(trace.parents.get(node), (gast.stmt, gast.IfExp))
    return text if whole or trace.parents.get(node) is None else f"({text})"


_SIGNS = {gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">=", gast.Eq: "==", gast.NotEq: "!="}
