"""A call of a known function as a call of an ordinary one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gast

from lsp_ad.differentiate.functions.arguments import Given, bind
from lsp_ad.differentiate.functions.callables import (
    Call,
    Choice,
    Definition,
    Derivation,
    Library,
    Lifted,
    Nothing,
    Partial,
    Settled,
    Spread,
    Value,
    Variable,
    placed,
)
from lsp_ad.differentiate.functions.known import Known
from lsp_ad.differentiate.functions.starred import Starred
from lsp_ad.problems import Refusal, problem
from lsp_ad.rules.declared import declared
from lsp_ad.semantics import flow
from lsp_ad.semantics.hints import default_values
from lsp_ad.simplify.algebra import name
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import expression_text
from lsp_ad.source.trees import copied

if TYPE_CHECKING:
    from lsp_ad.differentiate.functions.closures import Body
    from lsp_ad.differentiate.functions.lift import Lifter


class Applications:
    """The calls in the body of one lifted function."""

    def __init__(self, lifter: Lifter, lifted: Lifted, known: Known, body: Body):
        self.lifter = lifter
        self.lifted = lifted
        self.known = known
        self.body = body
        self.starred = Starred(lifted)

    def apply(
        self,
        value: Value,
        args: Sequence[Any],
        named: dict[str, Any],
        keywords: list[gast.keyword],
        at: gast.Call,
    ) -> gast.expr:
        """A call of a known function; `args` and `named` may hold what a `partial` holds."""
        if isinstance(value, Partial):
            return self.apply(
                value.function, [*value.args, *args], {**dict(value.keywords), **named}, keywords, at
            )
        args, named = self.starred.unrolled(args, named, keywords, self.known.hidden, _wanted(value))
        if isinstance(value, Choice):
            self.lifted.changed = True
            before, self.known.before = self.known.before, None
            test = self._held(value.test, at)
            again = {k: _copied(v) for k, v in named.items()}
            first = self.apply(value.first, [_copied(a) for a in args], again, [], at)
            second = self.apply(value.second, args, named, [], at)
            self.known.before = before
            return gast.copy_location(gast.IfExp(test, first, second), at)
        if isinstance(value, Library):
            function = self.library(value, at.func)
            options = [gast.keyword(k, self._argument(v, at)) for k, v in named.items()]
            call = gast.Call(function, [self._argument(a, at) for a in args], options)
            return gast.copy_location(call, at)
        if isinstance(value, Definition):
            return self._call(value, args, named, at)
        if isinstance(value, Derivation) and isinstance(value.function, Definition):
            return self._derivative(value, value.function, args, named, at)
        message = f"It cannot be told what `{expression_text(at.func)}` does."
        raise Refusal(problem("AD205", message, span_of(at)))

    def _call(self, d: Definition, args: list[Any], named: dict[str, Any], at: gast.Call) -> gast.expr:
        if d.reference is not None and declared(self.lifter.program, d.node) is not None:
            return self._declared(d, args, named, at)
        given = bind(args, named, d.node, at, d.title)
        callables = self._callables(d, given)
        starred = d.node.args.vararg is not None or d.node.args.kwarg is not None
        spread = Spread(len(given.more), tuple(given.keywords)) if starred else Spread()
        alone = d.reference is None or bool(callables) or starred or self._is_hidden(d)
        target = self.lifter.lifted(d, callables, spread, self.lifted if alone else None)
        if not alone and self.known.expression(at.func) is d and self._is_plain(at):
            at.args = [self.body.expression(a) for a in at.args]
            for k in at.keywords:
                k.value = self.body.expression(k.value)
            return at
        self.lifted.changed = True
        call = self._arguments(target, d, args, named, given, at)
        self.lifted.calls.append(Call(call, target, self.known.hidden))
        return call

    def _declared(self, d: Definition, args: list[Any], named: dict[str, Any], at: gast.Call) -> gast.expr:
        """A call of a function whose body is not looked at."""
        if self._is_hidden(d):
            message = f"`{d.title}` means something else in `{self.lifted.definition.title}`."
            raise Refusal(problem("AD205", message, span_of(at), "Rename the local variable."))
        positional = [self._argument(a, at) for a in args]
        keywords = [gast.keyword(k, self._argument(v, at)) for k, v in named.items()]
        function = placed(d.reference, at)
        return gast.copy_location(gast.Call(function, positional, keywords), at)

    def _is_hidden(self, d: Definition) -> bool:
        """Whether the name of a function of the file means something else here."""
        return d.reference is not None and not self.known.is_top_level(d.reference)

    def _is_plain(self, call: gast.Call) -> bool:
        """Whether a call names its function as the top level does, and has no stars."""
        starred = any(isinstance(a, gast.Starred) for a in call.args) or any(
            k.arg is None for k in call.keywords
        )
        return self.known.is_top_level(call.func) and not starred

    def _callables(self, d: Definition, given: Given) -> dict[str, Value]:
        """The functions that a call gives to parameters, by itself or by default."""
        found = {}
        for p, item in given.named.items():
            value = item if isinstance(item, Value) else None
            if isinstance(item, gast.expr) and not isinstance(item, gast.Constant):
                value = self.known.expression(item, p)
            elif _is_none(item) and p in d.called:
                value = Nothing()
            if value is not None:
                found[p] = value
        for p, default in default_values(d.node).items():
            if p not in given.named:
                held = d.defaults.get(p) or (self.lifter.top.held(default) if d.reference else None)
                if isinstance(held, Value):
                    found[p] = held
                elif _is_none(default) and p in d.called:
                    found[p] = Nothing()
        return found

    def _arguments(
        self,
        target: Lifted,
        d: Definition,
        args: list[Any],
        named: dict[str, Any],
        given: Given,
        at: gast.Call,
    ) -> gast.Call:
        """The call with what the target still takes: positional arguments as they are, the others by name."""
        a = d.node.args
        order = [p.id for p in [*a.posonlyargs, *a.args]]
        positional = [
            self._argument(item, at)
            for number, item in enumerate(args)
            if number >= len(order) or order[number] not in target.given
        ]
        keywords = [
            gast.keyword(target.keywords.get(k, k), self._argument(item, at))
            for k, item in named.items()
            if k not in target.given
        ]
        if not target.stands:
            for p, default in default_values(d.node).items():
                if p not in given.named and p not in target.given:
                    keywords.append(gast.keyword(p, self._default(d, p, default, at)))
        function = placed(d.reference if target.stands else name(target.name), at)
        return gast.copy_location(gast.Call(function, positional, keywords), at)

    def _default(self, d: Definition, p: str, default: gast.expr, at: gast.Call) -> gast.expr:
        held = d.defaults.get(p) or (self.lifter.top.held(default) if d.owner is None else None)
        if held is None:
            message = f"The default of `{p}` of `{d.title}` is not a constant."
            raise Refusal(problem("AD202", message, span_of(at), f"Pass `{p}` in this call."))
        return self._held(held, at)

    def _argument(self, item: Any, at: gast.AST) -> gast.expr:
        return self.body.expression(item) if isinstance(item, gast.expr) else self._held(item, at)

    def _held(self, held: Any, at: gast.AST) -> gast.expr:
        if isinstance(held, Variable):
            return self.variable(held, at)
        if isinstance(held, Library):
            return self.library(held, at)
        if isinstance(held, Settled):
            hidden = {n for n in flow.reads(held.node) if self.lifted.home(n) or n in self.known.hidden}
            if not hidden:
                return placed(held.node, at)
            message = f"`{held.text}`, which a function holds, means something else here."
            raise Refusal(problem("AD205", message, span_of(at), f"Rename `{min(hidden)}`."))
        message = "A function is given where it cannot be followed."
        raise Refusal(problem("AD205", message, span_of(at)))

    def _derivative(
        self, value: Derivation, d: Definition, args: list[Any], named: dict[str, Any], at: gast.Call
    ) -> gast.expr:
        """A call of the derivative of a function: of a function of its own, with what it captures."""
        seed, a = None, d.node.args
        if len(args) == len(a.posonlyargs) + len(a.args) + 1 and a.vararg is None:
            *args, seed = args
        given = bind(args, named, d.node, at, d.title)
        callables = self._callables(d, given)
        starred = a.vararg is not None or a.kwarg is not None
        spread = Spread(len(given.more), tuple(given.keywords)) if starred else Spread()
        alone = not isinstance(d.reference, gast.Name) or bool(callables) or starred or self._is_hidden(d)
        alone = alone or self.lifter.is_taken(f"{d.title}_{value.mode}")
        target = self.lifter.lifted(d, callables, spread, self.lifted if alone else None)
        call = self._arguments(target, d, args, named, given, at)
        derived = self.lifter.derived(target, value, at)
        if seed is not None:
            derived.seeded.append(call)
            call.keywords.append(gast.keyword("seed", self._argument(seed, at)))
        self.lifted.changed = True
        call.func.id = derived.name
        self.lifted.calls.append(Call(call, target, self.known.hidden))
        return call

    def variable(self, variable: Variable, at: gast.AST) -> gast.expr:
        """A variable of this function or of one around it, as this function knows it."""
        known = self.lifter.captured(self.lifted, variable)
        if known in self.known.hidden:
            message = (
                f"A comprehension uses the name of the variable `{known}` of a function that is called in it."
            )
            raise Refusal(problem("AD205", message, span_of(at), f"Rename `{known}` in the comprehension."))
        return gast.copy_location(name(known), at)

    def library(self, value: Library, at: gast.AST) -> gast.expr:
        """A function of a library by the name that it has at the top level, if it means the same here."""
        if self.known.canonical(value.node) != value.canonical:
            message = (
                f"`{expression_text(value.node)}` means something else in `{self.lifted.definition.title}`."
            )
            raise Refusal(problem("AD205", message, span_of(at), "Rename the local variable."))
        self.lifted.changed = True
        return placed(value.node, at)


def _is_none(node: Any) -> bool:
    node = node.node if isinstance(node, Settled) else node
    return isinstance(node, gast.Constant) and node.value is None


def _copied(item: Any) -> Any:
    return copied(item) if isinstance(item, gast.AST) else item


def _wanted(value: Value) -> tuple[str, ...] | None:
    """The parameters that every call of a function gives, if all that can be given by position are such."""
    if not isinstance(value, Definition):
        return None
    a = value.node.args
    return None if a.defaults or a.vararg is not None else tuple(p.id for p in (*a.posonlyargs, *a.args))
