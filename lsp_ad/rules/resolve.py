"""Which rule an expression stands for, whether it is written as operator, function, method or attribute."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass

import gast

from lsp_ad.rules import CONSTANT_ONLY, METHODS, RULES
from lsp_ad.rules.rule import Bound, Rule
from lsp_ad.semantics.names import HERE, Program
from lsp_ad.semantics.shapes import Kind

OPERATORS = {gast.Add: "+", gast.Sub: "-", gast.Mult: "*", gast.Div: "/", gast.Mod: "%", gast.Pow: "**",
             gast.MatMult: "@", gast.USub: "u-", gast.UAdd: "u+"}


@dataclass(frozen=True)
class Operation:
    """An expression as a call of a rule."""

    rule: Rule
    args: list[gast.expr]
    keywords: list[gast.keyword]

    def bind(self, kind_of: Callable[[gast.expr], Kind]) -> Bound:
        return self.rule.bind(self.args, self.keywords, kind_of)


@dataclass(frozen=True)
class Scope:
    """What names mean inside one function: those of the program, less the local ones."""

    program: Program
    local: Set[str]

    def canonical(self, node: gast.AST) -> str | None:
        return self.program.canonical(node, self.local)

    def callee(self, node: gast.expr) -> gast.FunctionDef | None:
        """The function of this file that a call calls, if it is one."""
        name = self.canonical(node.func) if isinstance(node, gast.Call) else None
        return self.program.functions[name[len(HERE):]] if name and name.startswith(HERE) else None

    def operation(self, node: gast.expr) -> Operation | None:
        """The rule that an expression stands for with its arguments, or None."""
        if isinstance(node, gast.BinOp) and type(node.op) in OPERATORS:
            return Operation(RULES[OPERATORS[type(node.op)]], [node.left, node.right], [])
        if isinstance(node, gast.UnaryOp) and type(node.op) in OPERATORS:
            return Operation(RULES[OPERATORS[type(node.op)]], [node.operand], [])
        if isinstance(node, gast.Attribute) and node.attr == "T" and self.canonical(node) is None:
            return Operation(RULES["numpy.transpose"], [node.value], [])
        if isinstance(node, gast.Call):
            return self._call(node)
        return None

    def _call(self, node: gast.Call) -> Operation | None:
        name = self.canonical(node.func)
        if name is not None:
            rule = RULES.get(name) or CONSTANT_ONLY.get(name)
            return Operation(rule, list(node.args), list(node.keywords)) if rule else None
        if isinstance(node.func, gast.Attribute) and node.func.attr in METHODS and self.is_value(node.func.value):
            args = list(node.args)
            method = node.func.attr
            if method in ("reshape", "transpose") and len(args) > 1:
                args = [gast.Tuple(args, gast.Load())]
            return Operation(RULES[METHODS[method]], [node.func.value, *args], list(node.keywords))
        return None

    def is_value(self, node: gast.expr) -> bool:
        """Whether an expression is a value, not a module or part of one."""
        while isinstance(node, gast.Attribute):
            node = node.value
        return not isinstance(node, gast.Name) or node.id in self.local or node.id not in self.program.imports
