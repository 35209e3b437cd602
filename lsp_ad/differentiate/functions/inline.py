"""Small straight-line functions of the file are written out where they are called.

Before:                                 After:
    r = rms(x @ w - y)                      e = x @ w - y
                                            r = np.sqrt(np.mean(e * e))

Only calls that may carry a derivative are inlined, with those in what is written out; a callee keeps its
own local names where the caller has no use for them.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from lsp_ad.differentiate.desugar.comprehensions import COLLECTING, REDUCING
from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.differentiate.functions.arguments import match
from lsp_ad.differentiate.writes import mutations
from lsp_ad.rules.resolve import Scope
from lsp_ad.rules.rule import UNKNOWN_VALUE, literal
from lsp_ad.semantics import flow
from lsp_ad.semantics.names import Program, bound_names, local_names, parameters
from lsp_ad.simplify.algebra import assign, name, substitute
from lsp_ad.source.printing import plain_assignment
from lsp_ad.source.trees import copied

MOST_STATEMENTS = 12
EXTREMES = REDUCING[1:]


def is_small(function: gast.FunctionDef, scope: Scope) -> bool:
    """Whether a function is straight-line and short, with all that it calls of this file."""
    return _size(function, scope.program) <= MOST_STATEMENTS


def _size(function: gast.FunctionDef, program: Program) -> int:
    """The number of statements that a function is when it is written out; too many where it cannot be."""
    key = ("size", id(function))
    if key not in program.derived:
        program.derived[key] = MOST_STATEMENTS + 1  # while it is counted: a function that calls itself
        program.derived[key] = _counted(function, program)
    return program.derived[key]


def _counted(function: gast.FunctionDef, program: Program) -> int:
    body, large = _body(function), MOST_STATEMENTS + 1
    inner = Scope.of(program, function)
    if not body or not isinstance(body[-1], gast.Return) or len(body) > MOST_STATEMENTS:
        return large
    if not all(isinstance(s, (gast.Assign, gast.AugAssign, gast.AnnAssign)) for s in body[:-1]):
        return large
    size = len(body)
    compound = (gast.IfExp, gast.BoolOp, gast.NamedExpr, gast.ListComp, gast.DictComp, gast.GeneratorExp)
    for n in (n for s in body for n in flow.walk(s)):
        if isinstance(n, compound) or _becomes_loop(n, inner):
            return large
        callee = inner.callee(n) if isinstance(n, gast.Call) else None
        if callee is not None:
            size += _size(callee, program)
    return min(size, large)


def _becomes_loop(node: gast.AST, scope: Scope) -> bool:
    """Whether a loop stands for an expression: the extreme or a copy of a list, or what it pops."""
    if not isinstance(node, gast.Call):
        return False
    if isinstance(node.func, gast.Attribute) and node.func.attr == "pop":
        return True
    function = scope.canonical(node.func)
    return function in COLLECTING or (function in EXTREMES and len(node.args) == 1)


def inline(
    function: gast.FunctionDef, scope: Scope, varied: Callable[[], set[str]], fresh: Fresh
) -> set[str]:
    """Inline the small callees of a function in place; returns the names of the callees written out.

    `varied` gives the names that may carry a derivative.
    """
    if not any(type(n) is gast.Call and scope.callee(n) is not None for n in flow.walk(function)):
        return set()
    inliner = _Inliner(function, scope, varied(), fresh)
    function.body = inliner.block(function.body)
    return inliner.done


class _Inliner:
    def __init__(self, function: gast.FunctionDef, scope: Scope, varied: set[str], fresh: Fresh):
        self.scope = scope
        self.varied = varied
        self.fresh = fresh
        self.taken = local_names(function) | {n.id for n in flow.walk(function) if isinstance(n, gast.Name)}
        self.done: set[str] = set()

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        found: list[gast.stmt] = []
        for s in body:
            if (
                isinstance(s, (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Return))
                and s.value is not None
            ):
                before: list[gast.stmt] = []
                s.value = self.expression(s.value, before, s)
                found += before
            for block in flow.blocks(s):
                block[:] = self.block(block)
            found.append(s)
        return found

    def expression(self, node: gast.expr, before: list[gast.stmt], at: gast.stmt) -> gast.expr:
        """The expression with its calls inlined, innermost first;
        what is evaluated only sometimes is left alone.
        """
        if isinstance(node, (gast.IfExp, gast.BoolOp, gast.Lambda, gast.Compare)):
            return node
        for field, value in gast.iter_fields(node):
            if isinstance(value, gast.expr):
                setattr(node, field, self.expression(value, before, at))
            elif isinstance(value, list):
                for position, item in enumerate(value):
                    if isinstance(item, gast.expr):
                        value[position] = self.expression(item, before, at)
                    elif isinstance(item, gast.keyword):
                        item.value = self.expression(item.value, before, at)
        callee = self.scope.callee(node)
        if callee is None or not is_small(callee, self.scope) or not flow.reads(node) & self.varied:
            return node
        return self._write_out(node, callee, before, at)

    def _write_out(
        self, call: gast.Call, callee: gast.FunctionDef, before: list[gast.stmt], at: gast.stmt
    ) -> gast.expr:
        given = match(call, callee, self.scope)
        own = bound_names(_body(callee))
        outer = {n for s in callee.body for n in flow.reads(s)} - own - set(parameters(callee))
        if outer & (self.scope.local | set(self.scope.imports)):
            return call  # a global of the callee's is hidden by a local name here
        values: dict[str, gast.expr] = {}
        for parameter, argument in given.items():
            simple = literal(argument) is not UNKNOWN_VALUE or (
                isinstance(argument, gast.Name) and parameter not in own
            )
            if simple and parameter not in own:
                values[parameter] = argument
            else:
                local = self._name(parameter)
                before.append(gast.copy_location(assign(local, argument), at))
                values[parameter] = name(local)
                if flow.reads(argument) & self.varied:
                    self.varied.add(local)
        renamed = {n: self._name(n) for n in sorted(own - set(parameters(callee)))}
        values.update({old: name(new) for old, new in renamed.items()})
        renamed.update({p: v.id for p, v in values.items() if p in own and isinstance(v, gast.Name)})
        body = [copied(s) for s in _body(callee)]
        for s in body:
            for n in flow.walk(s):
                if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store) and n.id in renamed:
                    n.id = renamed[n.id]
            substitute(s, values)
        # only now: an augmented assignment is known by its operand that stands where its target stands
        body = mutations.rewrite([plain_assignment(s) for s in body], self.scope, self.fresh)
        self.done.add(callee.name)
        # later statements depend on the locals that are new here
        self.varied |= set(renamed.values())
        for s in body:
            s.value = self.expression(s.value, before, s)
            if s is not body[-1]:
                before.append(s)
        return body[-1].value

    def _name(self, wanted: str) -> str:
        chosen = wanted
        number = 2
        while chosen in self.taken:
            chosen, number = f"{wanted}{number}", number + 1
        self.taken.add(chosen)
        self.fresh.used.add(chosen)
        return chosen


def _body(function: gast.FunctionDef) -> list[gast.stmt]:
    body = function.body
    if body and isinstance(body[0], gast.Expr) and isinstance(body[0].value, gast.Constant):
        body = body[1:]
    return body
