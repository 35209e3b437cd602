"""From the text of a rule to the expression that stands in the backward sweep."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import gast

from lsp_ad.rules.declared import ARGUMENT, NAME
from lsp_ad.rules.rule import Bound
from lsp_ad.simplify.algebra import bare, name, store


@dataclass(frozen=True)
class Values:
    """What the names of a rule stand for: each function is called only for what the rule mentions."""

    argument: Callable[[str], gast.expr]
    result: Callable[[], gast.expr]
    adjoint: gast.expr
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
        assignment = bare(gast.parse(line)).body[0]
        if line in shared:
            filler.locals[assignment.targets[0].id] = shared[line]
            continue
        statements.append(filler.visit(assignment))
        shared[line] = statements[-1].targets[0].id
    return statements, filler.visit(bare(gast.parse(last)).body[0].value)


class _Filler(gast.NodeTransformer):
    def __init__(self, bound: Bound, values: Values):
        self.bound = bound
        self.values = values
        self.locals: dict[str, str] = {}

    def visit_Assign(self, node: gast.Assign) -> gast.Assign:
        value = self.visit(node.value)
        target = node.targets[0].id
        self.locals[target] = self.values.local(target)
        return gast.Assign([store(self.locals[target])], value, None)

    def visit_Name(self, node: gast.Name) -> gast.expr:
        if node.id in self.locals:
            return name(self.locals[node.id])
        if node.id.startswith(ARGUMENT):
            return self.parameter(node.id[len(ARGUMENT) :])
        if node.id.startswith(NAME):
            return name(node.id[len(NAME) :])
        if node.id == "dy":
            return copy.deepcopy(self.values.adjoint)
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

    def visit_Subscript(self, node: gast.Subscript) -> gast.expr:
        """`np.shape(x)[k]`: a length that is often known by a shorter name."""
        asked = _asks(node.value, "shape")
        if asked is not None and isinstance(node.slice, (gast.Constant, gast.UnaryOp)):
            index = node.slice.value if isinstance(node.slice, gast.Constant) else -node.slice.operand.value
            return self.values.length(asked, index)
        return self.generic_visit(node)

    def visit_Call(self, node: gast.Call) -> gast.expr:
        if (asked := _asks(node, "shape")) is not None:
            return self.values.shape(asked)
        if (asked := _asks(node, "size")) is not None:
            return self.values.size(asked)
        return self.generic_visit(node)


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
