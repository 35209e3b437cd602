"""The body of one function without functions in it: every call of one is a call of a lifted function.

Before:                                 After:
    def step(t):                            y = f_step(a, x)
        return a * t                        return apply_f_step(a, y)
    y = step(x)
    return apply(step, y)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gast

from lsp_ad.differentiate.functions.applications import Applications
from lsp_ad.differentiate.functions.callables import (
    Choice,
    Definition,
    Derivation,
    Library,
    Lifted,
    Nothing,
    Partial,
    Value,
    Variable,
    truth_of,
)
from lsp_ad.differentiate.functions.known import Known
from lsp_ad.differentiate.functions.maps import generator, is_map, write_out_loop
from lsp_ad.problems import Refusal, Span, problem
from lsp_ad.rules.declared import declared_call
from lsp_ad.semantics import flow
from lsp_ad.simplify.algebra import constant
from lsp_ad.source.parse import span_of
from lsp_ad.source.trees import copied

if TYPE_CHECKING:
    from lsp_ad.differentiate.functions.lift import Lifter

SIMPLE = (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Return, gast.Expr)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
SOMETIMES = (gast.IfExp, gast.BoolOp, gast.Compare)


class Body:
    """Rewrites the body of a lifted function, statement by statement."""

    def __init__(self, lifter: Lifter, lifted: Lifted):
        self.lifter = lifter
        self.lifted = lifted
        self.known = Known(lifter, lifted)
        self.applications = Applications(lifter, lifted, self.known, self)

    def run(self) -> None:
        for p in sorted(self.lifted.unclear):
            self._rebound(p, self.lifted.sites[p][0])
        self.lifted.body[:] = self.block(self.lifted.body) or [gast.Pass()]

    # --- statements --------------------------------------------------------------------------

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        found: list[gast.stmt] = []
        for s in body:
            try:
                found += self.statement(s)
            except Refusal as refusal:
                self.lifter.problems += refusal.problems
        return found

    def statement(self, s: gast.stmt) -> list[gast.stmt]:
        target = _sole_target(s)
        if target is not None:
            value = self.known.binding(target)
            if value is not None:
                self.lifted.changed = True
                return self.known.hoisted[id(s)]
            if isinstance(s, gast.FunctionDef) or self._is_function(s):
                return self._rebound(target, s)
        if isinstance(s, gast.Nonlocal):
            title = self.lifted.definition.title
            message = f"`{title}` assigns `{s.names[0]}`, a variable of the function around it."
            raise Refusal(problem("AD205", message, span_of(s), "Return the new value instead."))
        if isinstance(s, gast.For) and is_map(s.iter, self.known.canonical):
            write_out_loop(s, self.lifter.new)
            self.lifted.local |= flow.stored(s.target)
            self.lifted.changed = True
        kept: list[gast.stmt] = []
        if isinstance(s, gast.If):
            for n in sorted(n for n, (found, *_) in self.lifted.arms.items() if found is s):
                self.known.binding(n)
            kept = self.known.hoisted.get(id(s), [])
        decided = self._decided(s.test) if isinstance(s, gast.If) else None
        if decided is not None:
            self.lifted.changed = True
            return self.block(s.body if decided else s.orelse)
        before: list[gast.stmt] = []
        self.known.present = s
        self.known.before = before if isinstance(s, (*SIMPLE, gast.If, gast.For)) else None
        for field, value in gast.iter_fields(s):
            if field in ("body", "orelse", "finalbody"):
                continue
            setattr(s, field, self._field(value))
        self.known.before = None
        for field in ("body", "orelse", "finalbody"):
            block = getattr(s, field, None)
            if isinstance(block, list):
                setattr(
                    s, field, self.block(block) or ([gast.copy_location(gast.Pass(), s)] if block else [])
                )
        return [*kept, *before, s]

    def _field(self, value: Any) -> Any:
        if isinstance(value, gast.expr):
            return self.expression(value)
        if isinstance(value, list):
            return [self._field(item) for item in value]
        if isinstance(value, gast.stmt):
            return self.statement(value)[-1]
        if isinstance(value, gast.AST):
            for field, inner in gast.iter_fields(value):
                if isinstance(inner, list) and inner and isinstance(inner[0], gast.stmt):
                    setattr(value, field, self.block(inner))
                else:
                    setattr(value, field, self._field(inner))
        return value

    def _is_function(self, s: gast.stmt) -> bool:
        """Whether a statement binds a function to a name that is bound elsewhere too."""
        return isinstance(s, gast.Assign) and isinstance(
            self.known.expression(s.value, hoisted=[], at=s), (Definition, Partial, Choice, Derivation)
        )

    def _rebound(self, target: str, s: gast.stmt) -> list[gast.stmt]:
        if isinstance(s, gast.FunctionDef) and s.decorator_list:
            message = f"The decorator of `{target}` may change what it computes."
        else:
            message = f"`{target}` stands for a function, and is bound more than once."
        raise Refusal(problem("AD205", message, _place(s, target), "Give each function a name of its own."))

    # --- expressions -------------------------------------------------------------------------

    def evaluated(self, node: gast.expr) -> gast.expr:
        """An expression whose value a callable holds."""
        return self.expression(copied(node))

    def expression(self, node: gast.expr) -> gast.expr:
        if isinstance(node, gast.Constant) or isinstance(getattr(node, "ctx", None), gast.Param):
            return node
        if isinstance(node, gast.Name):
            return self._name(node)
        if isinstance(node, gast.Lambda):
            return node
        if isinstance(node, COMPREHENSIONS):
            return self._comprehension(node)
        decided = self._decided(node.test if isinstance(node, gast.IfExp) else node)
        if decided is not None:
            self.lifted.changed = True
            if isinstance(node, gast.IfExp):
                return self.expression(node.body if decided else node.orelse)
            return gast.copy_location(constant(decided), node)
        entry = self.applications.starred.entry(node, self.expression)
        if entry is not None:
            return gast.copy_location(entry, node)
        if is_map(node, self.known.canonical) and self.known.expression(node.args[0]) is not None:
            self.lifted.changed = True
            return self.expression(generator(node, self.lifter.new))
        if isinstance(node, gast.Call) and self._is_declared(node):
            node.args = [self.expression(a) for a in node.args]
            for k in node.keywords:
                k.value = self.expression(k.value)
            return node
        if isinstance(node, gast.Call):
            value = self._called(node)
            if value is not None:
                return self.applications.apply(value, node.args, {}, node.keywords, node)
        before = self.known.before
        if isinstance(node, SOMETIMES):
            self.known.before = None
        for field, value in gast.iter_fields(node):
            setattr(node, field, self._field(value))
        self.known.before = before
        return node

    def _decided(self, test: gast.expr) -> bool | None:
        """What a test gives that asks which function or which arguments a parameter stands for."""
        if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            inner = self._decided(test.operand)
            return None if inner is None else not inner
        if not isinstance(test, gast.Compare):
            return None
        given = {
            p: v for p, v in self.lifted.given.items() if p not in self.known.hidden | set(self.lifted.sites)
        }
        entry = self.applications.starred.entry(test, self.expression)
        return truth_of(test, given) if entry is None else entry.value

    def _is_declared(self, node: gast.Call) -> bool:
        """Whether the derivative of a call is declared where it stands."""
        constants = self.lifter.program.constants if self.known.is_top_level(node.func) else {}
        return declared_call(node, self.known.canonical, constants) is not None

    def _called(self, node: gast.Call) -> Value | None:
        """What a call calls, if that is a function of the file or known by another name than its own."""
        value = self.known.expression(node.func)
        is_own_name = isinstance(value, Library) and self.known.canonical(node.func) == value.canonical
        if value is None or is_own_name:
            return None
        return value

    def _name(self, node: gast.Name) -> gast.expr:
        if isinstance(node.ctx, gast.Store) or node.id in self.known.hidden:
            return node
        self.lifted.used.add(node.id)
        home = self.lifted.home(node.id)
        if home is not None and node.id in home.imports:
            if home is not self.lifted:
                self.lifted.imported[node.id] = home.sites[node.id][0]
            return node
        value = self.known.expression(node)
        if isinstance(value, Library):
            return (
                node
                if home is None and self.known.canonical(node)
                else self.applications.library(value, node)
            )
        if isinstance(value, Nothing):
            return gast.copy_location(constant(None), node)
        if value is not None or (home is not None and self._defines(home, node.id)):
            message = f"The function `{node.id}` is used as a value here, which cannot be followed."
            raise Refusal(problem("AD205", message, span_of(node)))
        if node.id == self.lifted.kwarg:
            message = f"`{node.id}` is used as a dictionary here."
            raise Refusal(
                problem("AD205", message, span_of(node), f"Use `{node.id}['name']` or `**{node.id}`.")
            )
        if home is not None and home is not self.lifted:
            return self.applications.variable(Variable(home, node.id), node)
        return node

    def _defines(self, home: Lifted, variable: str) -> bool:
        return variable in home.defined

    def _comprehension(self, node: gast.expr) -> gast.expr:
        """What a comprehension binds is its own; all but its first `in` is evaluated where that is known."""
        node.generators[0].iter = self.expression(node.generators[0].iter)
        bound = {
            n.id
            for g in node.generators
            for n in flow.walk(g.target)
            if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
        }
        hidden, before = self.known.hidden, self.known.before
        self.known.hidden, self.known.before = hidden | bound, None
        for number, g in enumerate(node.generators):
            if number:
                g.iter = self.expression(g.iter)
            g.ifs = [self.expression(test) for test in g.ifs]
        for field in ("key", "elt", "value"):
            if hasattr(node, field):
                setattr(node, field, self.expression(getattr(node, field)))
        self.known.hidden, self.known.before = hidden, before
        return node


def _sole_target(s: gast.stmt) -> str | None:
    """The name that a `def` or a plain assignment binds."""
    if isinstance(s, gast.FunctionDef):
        return s.name
    is_plain = isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name)
    return s.targets[0].id if is_plain else None


def _place(s: gast.stmt, target: str) -> Span:
    if isinstance(s, gast.FunctionDef):
        column = s.col_offset + len("def ")
        return Span(s.lineno, column, s.lineno, column + len(target))
    return span_of(s)
