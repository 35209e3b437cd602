"""Functions in functions, lambdas, `functools.partial` and functions as arguments become ordinary functions.

Before:                                 After:
    def f(x, a):                            def f_step(a, t):
        def step(t):                            return a * t
            return a * t
        return np.sum(step(x))              def f(x, a):
                                                return np.sum(f_step(a, x))

What a function captures are parameters of it: a variable around it is read when it is called, and a
call passes the value that the variable has then. A function that is given functions is written anew for
these. What cannot be followed is refused (AD205).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import gast

from lsp_ad.differentiate.functions.callables import Definition, Derivation, Lifted, Spread, Value, Variable
from lsp_ad.differentiate.functions.closures import Body
from lsp_ad.differentiate.functions.known import Known, TopLevel
from lsp_ad.differentiate.functions.plain import is_plain
from lsp_ad.differentiate.unit import float_parameters
from lsp_ad.problems import Problem, Refusal, Related, problem
from lsp_ad.rules.declared import declared
from lsp_ad.semantics import flow
from lsp_ad.semantics.names import Program, parameters
from lsp_ad.simplify.algebra import name
from lsp_ad.source.parse import span_of

MOST_COPIES = 24

# The derivative of a function of a program: its functions, the name of the one that is called, and its seed.
Derive = Callable[[Program, str, "tuple[str, ...]", str], "tuple[dict[str, gast.FunctionDef], str, str]"]


@dataclass(eq=False)
class Derived:
    """The derivative of a lifted function, and its calls that give a seed."""

    target: Lifted
    value: Derivation
    name: str
    at: gast.Call
    seeded: list[gast.Call] = field(default_factory=list)


def lift(program: Program, function: gast.FunctionDef, derive: Derive) -> Program:
    """The program in which a function of the file calls ordinary functions only; Refusal where it cannot be.

    `derive` differentiates a function of a program, for derivatives that are called in it.
    """
    if declared(program, function) is not None or is_plain(program, function):
        return program
    lifter = Lifter(program)
    entry = lifter.lifted(lifter.top.definition(function), {}, Spread(), None)
    lifter.run()
    if lifter.problems:
        raise Refusal(*dict.fromkeys(lifter.problems))
    assert not entry.captured
    return lifter.finish(derive)


class Lifter:
    """All functions that are reached from one, as they are lifted."""

    def __init__(self, program: Program):
        self.program = program
        self.top = TopLevel(program)
        self.problems: list[Problem] = []
        self.copies: dict[tuple, Lifted] = {}
        self.counts: dict[Definition, int] = {}
        self.bodies: dict[Lifted, Body] = {}
        self.derivatives: dict[tuple, Derived] = {}
        self.pending: list[Lifted] = []
        self.used: set[str] | None = None

    def run(self) -> None:
        """Rewrite the functions that were asked for, and those that they ask for."""
        while self.pending:
            self.body(self.pending.pop()).run()

    def body(self, lifted: Lifted) -> Body:
        if lifted not in self.bodies:
            self.bodies[lifted] = Body(self, lifted)
        return self.bodies[lifted]

    def known(self, lifted: Lifted) -> Known:
        return self.body(lifted).known

    def lifted(
        self, definition: Definition, given: dict[str, Value], spread: Spread, caller: Lifted | None
    ) -> Lifted:
        """The function for a definition with some functions given; `caller`: where it gets a new name."""
        key = (definition, tuple(sorted(given.items(), key=lambda item: item[0])), spread, caller is None)
        if key in self.copies:
            return self.copies[key]
        self.counts[definition] = self.counts.get(definition, 0) + 1
        if self.counts[definition] > MOST_COPIES:
            message = f"`{definition.title}` is called with ever new functions."
            raise Refusal(problem("AD205", message, span_of(definition.node)))
        title = definition.title
        chosen = (
            definition.node.name
            if caller is None
            else self.new(f"{(definition.owner or caller).name}_{title}")
        )
        lifted = Lifted(definition, chosen, given, spread)
        lifted.more = [self.new(f"{lifted.vararg}_{number}") for number in range(spread.count)]
        lifted.keywords = {k: self.new(f"{lifted.kwarg}_{k}") for k in spread.keywords}
        lifted.local |= {*lifted.more, *lifted.keywords.values()}
        self.copies[key] = lifted
        self.pending.append(lifted)
        return lifted

    def derived(self, target: Lifted, value: Derivation, at: gast.Call) -> Derived:
        key = (target, value.wrt, value.mode)
        if key not in self.derivatives:
            count = sum(d.target is target and d.value.mode == value.mode for d in self.derivatives.values())
            chosen = self.new(f"{target.name}_{value.mode}{count + 1 if count else ''}")
            self.derivatives[key] = Derived(target, value, chosen, at)
        return self.derivatives[key]

    def captured(self, lifted: Lifted, variable: Variable) -> str:
        """The name that a function has for a variable, which is a parameter if it is another function's."""
        if variable.owner is lifted:
            return variable.name
        if variable not in lifted.captured:
            is_own = lifted.home(variable.name) is variable.owner
            free = is_own or variable.name not in lifted.words
            if not free or variable.name in lifted.captured.values():
                chosen = self.new(variable.name)
            else:
                chosen = variable.name
            lifted.captured[variable] = chosen
        return lifted.captured[variable]

    def new(self, wanted: str) -> str:
        """A name that the file does not use."""
        chosen, number = wanted, 1
        while self.is_taken(chosen):
            number += 1
            chosen = f"{wanted}{number}"
        assert self.used is not None
        self.used.add(chosen)
        return chosen

    def is_taken(self, wanted: str) -> bool:
        if self.used is None:
            module = self.program.parsed.module
            self.used = set(self.program.bound)
            self.used |= {n.id for n in flow.walk(module) if isinstance(n, gast.Name)}
            self.used |= {n.name for n in flow.walk(module) if isinstance(n, gast.FunctionDef)}
        return wanted in self.used

    @cached_property
    def writes_in_place(self) -> bool:
        """Whether any function of the file may change an array, a list or an object that it is given."""
        functions = [*self.program.functions.values(), *self.program.links.functions.values()]
        for n in (n for f in functions for n in flow.walk(f)):
            if isinstance(n, (gast.Subscript, gast.Attribute)) and not isinstance(n.ctx, gast.Load):
                return True
            if isinstance(n, gast.AugAssign) or (isinstance(n, gast.Expr) and isinstance(n.value, gast.Call)):
                return True
        return False

    # --- the program that comes out ----------------------------------------------------------

    def finish(self, derive: Derive) -> Program:
        self._pass_captured()
        made = {f.name: f.tree() for f in self.copies.values() if f.changed or not f.stands}
        made.update(
            {d.title: d.node for d in self._standing() if not isinstance(d.written, gast.FunctionDef)} | made
        )
        if not made:
            return self.program
        written = {f.name: f.definition.written for f in self.copies.values()}
        program = replace(
            self.program, made={**self.program.made, **made}, written={**written, **self.program.written}
        )
        done: set[Derived] = set()
        for derived in self.derivatives.values():
            program = self._derive(derived, program, derive, done, ())
        return program

    def _standing(self) -> list[Definition]:
        return [f.definition for f in self.copies.values() if f.stands]

    def _pass_captured(self) -> None:
        """Give every call what its target captures, which its caller may have to capture for it."""
        growing = True
        while growing:
            growing = False
            for lifted in list(self.copies.values()):
                before = len(lifted.captured)
                for call in lifted.calls:
                    for variable in list(call.target.captured):
                        self.captured(lifted, variable)
                growing = growing or len(lifted.captured) > before
        for lifted in self.copies.values():
            for call in lifted.calls:
                names = [self.captured(lifted, v) for v in call.target.captured]
                inside = {n.target.id for n in flow.walk(call.node) if isinstance(n, gast.NamedExpr)}
                if taken := sorted((call.hidden | inside).intersection(names)):
                    message = (
                        f"`{taken[0]}`, a variable of a function that is called here, is bound here too."
                    )
                    raise Refusal(problem("AD205", message, span_of(call.node), f"Rename one `{taken[0]}`."))
                call.node.args[:0] = [gast.copy_location(name(n), call.node) for n in names]

    def _derive(
        self,
        derived: Derived,
        program: Program,
        derive: Derive,
        done: set[Derived],
        within: tuple[Derived, ...],
    ) -> Program:
        """The program with a derivative as a function of it; first those that it needs itself."""
        if derived in done:
            return program
        if derived in within:
            message = f"The derivative of `{derived.target.definition.title}` calls itself."
            raise Refusal(problem("AD205", message, span_of(derived.at)))
        for other in self._needed(derived.target):
            program = self._derive(other, program, derive, done, (*within, derived))
        done.add(derived)
        wrt = self._wrt(derived, program)
        try:
            functions, found, seed = derive(program, derived.target.name, wrt, derived.value.mode)
        except Refusal as refusal:
            first = refusal.problems[0]
            title = derived.target.definition.title
            message = f"`{title}` cannot be differentiated: line {first.span.line}: {first.message}"
            related = tuple(Related(p.message, p.span) for p in refusal.problems)
            at = span_of(derived.at)
            raise Refusal(problem("AD203", message, at, first.way_out, related)) from None
        for call in derived.seeded:
            call.keywords[-1].arg = seed
        made = dict(program.made)
        for title, function in functions.items():
            for n in flow.walk(function):
                if isinstance(n, (gast.expr, gast.stmt)):
                    gast.copy_location(n, derived.at)
                if isinstance(n, gast.Name) and n.id == found:
                    n.id = derived.name
                if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store):
                    # an operand where its target stands would be that of an augmented assignment
                    n.end_lineno, n.end_col_offset = n.lineno, n.col_offset
            made[derived.name if title == found else title] = function
        made[derived.name].name = derived.name
        written = dict(program.written) | dict.fromkeys(made.keys() - program.made.keys(), derived.at)
        return replace(program, made=made, written=written)

    def _needed(self, function: Lifted) -> list[Derived]:
        """The derivatives that a function calls, directly or not."""
        by_name = {d.name: d for d in self.derivatives.values()}
        found, seen, pending = [], {function}, [function]
        while pending:
            for call in pending.pop().calls:
                derived = by_name.get(getattr(call.node.func, "id", ""))
                if derived is not None:
                    found.append(derived)
                elif call.target not in seen:
                    seen.add(call.target)
                    pending.append(call.target)
        return found

    def _wrt(self, derived: Derived, program: Program) -> tuple[str, ...]:
        """The parameters that a derivative is with respect to, of those that the text shows."""
        wanted = derived.value.wrt
        node = derived.target.definition.node
        known = parameters(node)
        if wanted is None:
            return tuple(p for p in float_parameters(program, node) if p not in derived.target.given)
        found = []
        for w in wanted:
            if isinstance(w, int) and -len(known) <= w < len(known):
                w = known[w]
            if w not in known or w in derived.target.given:
                message = f"`{derived.target.definition.title}` has no parameter {w!r} for a derivative."
                raise Refusal(problem("AD501", message, span_of(derived.at)))
            found.append(w)
        return tuple(found)
