"""STG103: `is` on a traced value, which is an object of its own whatever it stands for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import gast

from lsp_ad.checks import fixes
from lsp_ad.checks.origins import Kind, Origin, Sure
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Fix, Problem, problem
from lsp_ad.source.parse import span_of


def identity(trace: Trace) -> Iterator[Problem]:
    for node in trace.nodes:
        if isinstance(node, gast.Compare) and is_trap(trace, node):
            yield _finding(trace, node)
        elif isinstance(node, gast.Compare) and _equals_none(trace, node):
            message = f"`{trace.text(node)}` compares a traced value with None, which it never is."
            sign = "is" if isinstance(node.ops[0], gast.Eq) else "is not"
            text = f"{fixes.source(trace, node.left)} {sign} None"
            fix = fixes.replaced(node, text, safe=False)
            yield problem("STG103", message, span_of(node), "Write `is None` to ask for None.", fixes=fix)


def is_trap(trace: Trace, node: gast.Compare) -> bool:
    """Does it ask whether a traced value is True, False, or another traced value?"""
    if len(node.ops) > 1 or not isinstance(node.ops[0], (gast.Is, gast.IsNot)):
        return False
    left, right = node.left, node.comparators[0]
    if _is_bool(left) or _is_bool(right):
        other = right if _is_bool(left) else left
        return is_truth(trace.of(other), other)
    sure = trace.is_tensor(left) or trace.is_tensor(right)
    return sure and trace.is_traced(left) and trace.is_traced(right)


def is_truth(origin: Origin, node: gast.expr) -> bool:
    """Does a traced value surely stand for True or False, or for a number?"""
    tested = isinstance(node, (gast.Compare, gast.BoolOp)) and origin.kind is Kind.TRACED
    return tested or origin.sure is Sure.ITSELF


def _equals_none(trace: Trace, node: gast.Compare) -> bool:
    equal = len(node.ops) == 1 and isinstance(node.ops[0], (gast.Eq, gast.NotEq))
    right = node.comparators[0]
    return equal and isinstance(right, gast.Constant) and right.value is None and trace.is_tensor(node.left)


def _finding(trace: Trace, node: gast.Compare) -> Problem:
    left, right = node.left, node.comparators[0]
    if not (_is_bool(left) or _is_bool(right)):
        message = (
            f"`{trace.text(left)}` and `{trace.text(right)}` are traced: `is` asks if they are one object, "
            "not if they are equal."
        )
        sign = "==" if isinstance(node.ops[0], gast.Is) else "!="
        text = f"{fixes.source(trace, left)} {sign} {fixes.source(trace, right)}"
        return problem(
            "STG103",
            message,
            span_of(node),
            "Compare with `==`.",
            fixes=_tested(trace, node, text),
        )
    wanted, value = (left, right) if _is_bool(left) else (right, left)
    message = f"`{trace.text(value)}` is traced, so it is neither True nor False itself."
    return problem("STG103", message, span_of(node), fixes=_fix(trace, node, wanted, value))


def _fix(trace: Trace, node: gast.Compare, wanted: gast.Constant, value: gast.expr) -> tuple[Fix, ...]:
    if wanted.value is isinstance(node.ops[0], gast.Is):
        whole = isinstance(trace.parents.get(node), (gast.stmt, gast.IfExp))
        return _tested(trace, node, fixes.source(trace, value) if whole else fixes.tight(trace, value))
    sign = "not " if trace.staged.converts or fixes.is_test(trace, node) else "~"
    return _tested(trace, node, sign + fixes.tight(trace, value))


def _tested(trace: Trace, node: gast.Compare, text: str) -> tuple[Fix, ...]:
    """Write a test of the value, and let it be converted where nothing does so yet."""
    (fix,) = fixes.replaced(node, text, safe=False)
    if trace.staged.converts or not fixes.is_test(trace, node):
        return (fix,)
    return tuple(
        replace(
            fix,
            title=f"{fix.title}, and let lsp_ad.staged convert the function",
            edits=(*staged.edits, *fix.edits),
        )
        for staged in fixes.stage(trace)
    )


def _is_bool(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, bool)
