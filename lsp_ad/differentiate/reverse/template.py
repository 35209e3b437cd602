"""From the text of a rule to the expression that stands in generated code."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import gast

from lsp_ad.rules.declared import ARGUMENT, MODULE, NAME
from lsp_ad.rules.rule import Bound
from lsp_ad.simplify.algebra import bare, name, store
from lsp_ad.source.trees import copied, rebuilt, walk


class Values(NamedTuple):
    """What the names of a rule stand for: each function is called only for what the rule mentions.

    `derivatives`: the adjoint `dy`, or the tangents of the parameters (`dx`).
    """

    argument: Callable[[str], gast.expr]
    result: Callable[[], gast.expr]
    derivatives: dict[str, gast.expr]
    module: Callable[[str], gast.expr]
    helper: Callable[[str], gast.expr]
    local: Callable[[str], str]
    shape: Callable[[str], gast.expr]
    size: Callable[[str], gast.expr]
    length: Callable[[str, int], gast.expr]


def instantiate(
    text: str, bound: Bound, values: Values, shared: dict[str, str]
) -> tuple[list[gast.stmt], gast.expr]:
    """The statements and the expression that a rule's text stands for in one call.

    `shared`: text of a statement to the local name it has bound already, for the next argument of the call.
    """
    *lines, last = text.split("\n")
    filler = _Filler(bound, values)
    statements = []
    for line in lines:
        assignment = _parsed(line)
        if line in shared:
            filler.locals[assignment.targets[0].id] = shared[line]
            continue
        statements.append(filler.assignment(assignment))
        shared[line] = statements[-1].targets[0].id
    return statements, filler.fill(_parsed(last).value)


@lru_cache(4096)
def _parsed(line: str) -> gast.stmt:
    """One line of a rule as a statement; it is only read."""
    return bare(gast.parse(line)).body[0]


@lru_cache(4096)
def mentioned(text: str) -> frozenset[str]:
    """The names in the text of a rule."""
    return frozenset(
        n.id for line in text.split("\n") for n in walk(_parsed(line)) if isinstance(n, gast.Name)
    )


class _Filler:
    """Makes the expressions of one call out of those of the rule."""

    def __init__(self, bound: Bound, values: Values):
        self.bound = bound
        self.values = values
        self.locals: dict[str, str] = {}

    def assignment(self, node: gast.Assign) -> gast.Assign:
        value = self.fill(node.value)
        target = node.targets[0].id
        self.locals[target] = self.values.local(target)
        return gast.Assign([store(self.locals[target])], value, None)

    def fill(self, node: gast.AST) -> gast.AST:
        if isinstance(node, gast.Name):
            return self._name(node)
        if isinstance(node, gast.Subscript):
            # `np.shape(x)[k]`: a length that is often known by a shorter name
            asked = _asks(node.value, "shape")
            if asked is not None and isinstance(node.slice, (gast.Constant, gast.UnaryOp)):
                at = node.slice.value if isinstance(node.slice, gast.Constant) else -node.slice.operand.value
                return self.values.length(asked, at)
        elif isinstance(node, gast.Call):
            if (asked := _asks(node, "shape")) is not None:
                return self.values.shape(asked)
            asked = _asks(node, "size")
            if asked is not None and asked in self.bound.given:
                return self.values.size(asked)
        return rebuilt(node, self.fill)

    def _name(self, node: gast.Name) -> gast.expr:
        if node.id in self.locals:
            return name(self.locals[node.id])
        if node.id.startswith(ARGUMENT):
            return self.parameter(node.id[len(ARGUMENT) :])
        if node.id.startswith(NAME):
            return name(node.id[len(NAME) :])
        if node.id.startswith(MODULE):
            return self.values.module(node.id[len(MODULE) :].replace("__", "."))
        if node.id in self.values.derivatives:
            return copied(self.values.derivatives[node.id])
        if node.id == "y":
            return self.values.result()
        if node.id in self.bound.rule.parameters:
            return self.parameter(node.id)
        if node.id in ("np", "math"):
            return self.values.module("numpy" if node.id == "np" else "math")
        return self.values.helper(node.id)

    def parameter(self, parameter: str) -> gast.expr:
        if parameter in self.bound.given:
            return self.values.argument(parameter)
        return gast.Constant(self.bound.rule.defaults[parameter], None)


def _asks(node: gast.expr, what: str) -> str | None:
    """The parameter p in `np.shape(p)` or `np.size(p)`."""
    if (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Attribute)
        and node.func.attr == what
        and isinstance(node.func.value, gast.Name)
        and node.func.value.id == "np"
        and isinstance(node.args[0], gast.Name)
    ):
        return node.args[0].id
    return None
