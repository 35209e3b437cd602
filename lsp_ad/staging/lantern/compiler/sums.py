"""Which results of recursive functions are sums over calls: what `accumulators.py` rewrites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lsp_ad.staging.lantern.compiler.uses import components, is_recursive, uses
from lsp_ad.staging.lantern.infer import Types
from lsp_ad.staging.lantern.ir import (
    Array,
    Call,
    Const,
    Expr,
    Function,
    If,
    Index,
    Item,
    Let,
    NewAxis,
    Op,
    Program,
    Slice,
    Tuple,
    Type,
    Update,
    Var,
    While,
    children,
)

# A part of a value: the number of an item, or None for all of it; and a part of what a name stands for.
Part = int | None
Ref = tuple[str, Part]
# The parts of the results of functions that are sums, with their types.
Sums = dict[str, dict[Part, Array]]
# How many operations a sum may nest: a longer one is left as it is.
DEEPEST = 200


def recursive_sums(program: Program) -> tuple[Sums, dict[str, Analysis]]:
    """The results that are sums over calls, and what is known of their functions."""
    sums = _candidates(program)
    analyses = {name: Analysis(program, program.table[name], sums) for name in sums}
    while True:
        others = [(f, k) for f, parts in sums.items() for k in parts if not analyses[f].adds_up(k)]
        for f, k in others:
            del sums[f][k]
        if not others:
            return {f: parts for f, parts in sums.items() if parts}, analyses


def _candidates(program: Program) -> Sums:
    """The arrays among the results of recursive functions. The entry stays as it is."""
    found: Sums = {}
    for group in components(program):
        for name in group if is_recursive(group, program) else ():
            result = program.table[name].result
            parts: list[tuple[Part, Type]] = [(None, result)]
            if isinstance(result, Tuple):
                parts = list(enumerate(result.items))
            if name != program.entry:
                found[name] = {k: t for k, t in parts if isinstance(t, Array) and t.dtype != "bool"}
    return found


@dataclass(frozen=True)
class Sum:
    """What is added up: parts of calls, or of conditionals with calls; zeros; values; `add-at`s.

    `sources` are the calls, `zeros` are sizes. `partial` are the names of sums that need not be computed any
    more, each with something that has its sizes.
    """

    sources: tuple[Ref, ...] = ()
    zeros: tuple[tuple[Expr, ...], ...] = ()
    terms: tuple[Ref, ...] = ()
    updates: tuple[tuple[tuple[Index, ...], Expr], ...] = ()
    partial: Mapping[str, Ref] = field(default_factory=dict)

    def with_(self, other: Sum) -> Sum:
        return Sum(
            self.sources + other.sources,
            self.zeros + other.zeros,
            self.terms + other.terms,
            self.updates + other.updates,
            {**self.partial, **other.partial},
        )


class Analysis:
    """What the values of one function, which binds each name once, are sums of."""

    def __init__(self, program: Program, function: Function, sums: Sums) -> None:
        self.function, self.sums = function, sums
        self.counts = uses(function.body)
        self._taken_apart = {use[0] for use in self.counts if not isinstance(use, str)}
        self._types = Types(program.table, function.name)
        self.types: dict[str, Type] = dict(function.params)
        self._note_types(function.body)

    def _note_types(self, expr: Expr) -> None:
        if not isinstance(expr, Let | While):
            for child in children(expr):
                self._note_types(child)
            return
        for b in expr.bindings:
            self._note_types(b.value)
            self.types[b.name] = self.type_of(b.value)
        for part in (expr.body,) if isinstance(expr, Let) else (expr.test, expr.body):
            self._note_types(part)

    def type_of(self, expr: Expr) -> Type:
        return self._types.of(expr, self.types)

    def adds_up(self, part: Part) -> bool:
        """Whether a part of the function's result is a sum with calls in it."""
        return self._has_calls(self.function.body, part)

    def _has_calls(self, expr: Expr, part: Part) -> bool:
        match expr:
            case If(_, then, orelse):
                return self._has_calls(then, part) or self._has_calls(orelse, part)
            case Call(callee):
                return part in self.sums.get(callee, {})
            case Let():
                ref, local = self.part(expr, part), {b.name: b.value for b in expr.bindings}
                return ref is not None and bool(self.sum(ref, local).sources)
        return False

    def is_once(self, name: str) -> bool:
        """Whether a name is read once only, as a whole."""
        return self.counts[name] == 1 and name not in self._taken_apart

    def carrier(self, expr: Let) -> str | None:
        """The name, which nothing else reads, of the tuple that is the value of a sequence."""
        if not isinstance(expr.body, Var) or not self.is_once(expr.body.name):
            return None
        values = (b.value for b in expr.bindings if b.name == expr.body.name)
        return expr.body.name if is_plain_tuple(next(values, expr)) else None

    def part(self, expr: Let, part: Part) -> Ref | None:
        """What a part of the value of a sequence is, if that has a name."""
        body, carrier = expr.body, self.carrier(expr)
        if carrier is not None:
            body = next(b.value for b in expr.bindings if b.name == carrier)
        if isinstance(body, Op) and part is not None and is_plain_tuple(body):
            body, part = body.args[part], None
        return (body.name, part) if isinstance(body, Var) else None

    def sum(self, ref: Ref, local: Mapping[str, Expr], depth: int = 0) -> Sum:
        """What a value, bound in a sequence with these bindings, is the sum of."""
        (name, part), whole = ref, Sum(terms=(ref,))
        if name not in local or not self.is_once(name) or depth > DEEPEST:
            return whole
        value = local[name]
        if self._has_calls(value, part):
            return Sum(sources=(ref,))
        match value:
            case Op("+", (Var(a), Var(b))) if self.types[a] == self.types[b] == self.types[name]:
                one, other = (self.sum((n, None), local, depth + 1) for n in (a, b))
                apart = {n for n, _ in one.sources}.isdisjoint(n for n, _ in other.sources)
                if apart and (one.sources or other.sources):
                    both = one.with_(other)
                    return both.with_(Sum(partial={name: both.sources[0]}))
            case Update("add-at", Var(a), index, new) if _simple(*index, new):
                base = self.sum((a, None), local, depth + 1)
                if base.sources or (base.zeros and not base.terms):
                    like = base.sources[0] if base.sources else (a, None)
                    return base.with_(Sum(updates=((index, new),), partial={name: like}))
            case Item(Var(a), k) if self.counts[a, k] == 1 and self.counts[a] == 0 and a in local:
                if self._has_calls(local[a], k):
                    return Sum(sources=((a, k),), partial={name: (a, k)})
            case Op("zeros", sizes) if _simple(*sizes):
                return Sum(zeros=(sizes,))
            case Op("full", (what, *sizes)) if _simple(*sizes) and _is_zero(what, local):
                return Sum(zeros=(tuple(sizes),))
        return whole


def is_plain_tuple(expr: Expr) -> bool:
    return isinstance(expr, Op) and expr.name == "tuple" and _simple(*expr.args)


def _simple(*parts: Index) -> bool:
    """Whether the value of an expression is there already, so that it does not matter when it is read."""
    for part in parts:
        if isinstance(part, Slice):
            if not _simple(*(p for p in (part.start, part.stop, part.step) if p is not None)):
                return False
        elif not isinstance(part, Var | Const | NewAxis):
            return False
    return True


def _is_zero(expr: Expr, local: Mapping[str, Expr]) -> bool:
    while True:
        match expr:
            case Const(value):
                return value == 0
            case Var(name) if name in local:
                expr = local[name]
            case Op("cast", (value,)):
                expr = value
            case _:
                return False
