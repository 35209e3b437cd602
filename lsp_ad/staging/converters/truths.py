"""Sums of truth values, and what only the truth is asked of.

    (a > b) + (b > c)      ag.add(a > b, b > c)
    if a and b: ...        if ag.both(a, lambda: b): ...

Python counts truth values, and NumPy does not: the operator refuses where that makes a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.names import parameters
from lsp_ad.source.trees import walk
from lsp_ad.staging.converters.building import operator
from lsp_ad.staging.converters.expressions import Expressions

_TESTS = {
    *("bool", "isinstance", "issubclass", "hasattr", "callable", "any", "all", "isnan", "isinf", "isfinite"),
    *("isclose", "allclose", "array_equal", "logical_and", "logical_or", "logical_not", "logical_xor"),
}
_SUMS = {gast.Add: "add", gast.Sub: "subtract"}
_KEEPING = (gast.Mult, gast.BitAnd, gast.BitOr, gast.BitXor)


class Sums(Expressions):
    """Converts `+` and `-` of what is a truth value by its look; `flags`: the variables that are."""

    kinds = (gast.BinOp,)

    def __init__(self, flags: Set[str]):
        self.flags = flags

    def convert(self, node: gast.BinOp) -> gast.AST:
        if type(node.op) not in _SUMS or not _is_sum(node, self.flags):
            return node
        made = operator(_SUMS[type(node.op)], node.left, node.right)
        made.is_sum = True
        return made


def flags(function: gast.FunctionDef) -> Set[str]:
    """The variables that are given truth values only, as far as that can be seen."""
    given: dict[str, list[gast.expr]] = {}
    others = set(parameters(function))
    others.update(
        n for node in walk(function) if isinstance(node, (gast.Nonlocal, gast.Global)) for n in node.names
    )
    for s in flow.statements(function.body):
        if isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name):
            given.setdefault(s.targets[0].id, []).append(s.value)
        else:
            others |= flow.header_writes(s)
    found = given.keys() - others
    while wrong := {n for n in found if not all(_is_truth(value, found) for value in given[n])}:
        found -= wrong
    return found


def mark(nodes: Iterable[gast.AST]) -> None:
    """Mark each `and` and `or` of which only the truth is asked, before expressions are converted."""
    for node in nodes:
        if isinstance(node, (gast.If, gast.While, gast.IfExp, gast.Assert)):
            _mark(node.test)
        elif isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            _mark(node.operand)


def _mark(test: gast.expr) -> None:
    if isinstance(test, gast.BoolOp):
        test.only_truth = True
        for value in test.values:
            _mark(value)


def _is_sum(node: gast.BinOp, flags: Set[str]) -> bool:
    return _is_truth(node.left, flags) and _is_truth(node.right, flags)


def _is_truth(node: gast.expr, flags: Set[str]) -> bool:
    """Whether an expression looks like a truth value, or an array of them, or a sum of such."""
    if isinstance(node, gast.Compare):
        return True
    if isinstance(node, gast.Name):
        return node.id in flags
    if isinstance(node, gast.Constant):
        return isinstance(node.value, bool)
    if isinstance(node, gast.BoolOp):
        return all(_is_truth(value, flags) for value in node.values)
    if isinstance(node, gast.UnaryOp):
        return isinstance(node.op, gast.Not) or (
            isinstance(node.op, gast.Invert) and _is_truth(node.operand, flags)
        )
    if isinstance(node, gast.BinOp):
        return isinstance(node.op, (*_SUMS, *_KEEPING)) and _is_sum(node, flags)
    if isinstance(node, gast.Call):
        called = node.func
        name = called.id if isinstance(called, gast.Name) else getattr(called, "attr", None)
        return name in _TESTS or getattr(node, "is_sum", False)
    return False
