"""Cuts long sequences of bindings into functions: the time to compile one grows faster than its length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lsp_ad.staging.lantern.compiler.renaming import Fresh
from lsp_ad.staging.lantern.compiler.uses import components, is_recursive
from lsp_ad.staging.lantern.infer import Types
from lsp_ad.staging.lantern.ir import (
    NEVER,
    Binding,
    Call,
    Const,
    Expr,
    Function,
    If,
    Item,
    Let,
    Op,
    Program,
    Tuple,
    Type,
    Var,
    While,
    mapped,
    walk,
)

# How many operations a sequence may have, and how many a part of a longer one gets.
LONGEST, PART = 250, 100
Scope = Mapping[str, Type]


def split(program: Program, fresh: Fresh) -> Program:
    """The program with its long sequences in functions of their own. All names are bound once."""
    splitter = _Splitter(program, fresh)
    whole = tuple(splitter.function(f) for f in program.functions)
    return Program((*whole, *splitter.parts), program.entry)


def _weight(expr: Expr) -> int:
    return sum(not isinstance(e, Const | Var | Let | Item) for e in walk(expr))


class _Splitter:
    def __init__(self, program: Program, fresh: Fresh) -> None:
        self.program, self.fresh = program, fresh
        self.parts: list[Function] = []
        self.table = dict(program.table)
        # Functions that call one another. No part of one is among them: Numba would find the types of all of
        # them again and again.
        self.cycles = {
            name: frozenset(group)
            for group in components(program)
            if is_recursive(group, program)
            for name in group
        }

    def function(self, f: Function) -> Function:
        if _weight(f.body) <= LONGEST:
            return f
        self.name, self.types = f.name, Types(self.table, f.name)
        self.recursive = self.cycles.get(f.name, frozenset())
        self.local = Fresh(frozenset({name for name, _ in f.params} | _bound(f.body)))
        return replace(f, body=self.expr(f.body, dict(f.params)))

    def expr(self, expr: Expr, scope: Scope) -> Expr:
        if isinstance(expr, Let):
            return self.sequence(expr, scope)
        if isinstance(expr, While):
            entry = tuple(replace(b, value=self.expr(b.value, scope)) for b in expr.bindings)
            inner = {**scope, **{b.name: self.types.of(b.value, scope) for b in expr.bindings}}
            return replace(
                expr, bindings=entry, test=self.expr(expr.test, inner), body=self.expr(expr.body, inner)
            )
        return mapped(expr, lambda e: self.expr(e, scope))

    def sequence(self, expr: Let, scope: Scope) -> Let:
        inner = dict(scope)
        bindings, ends = [], False
        for b in expr.bindings:
            value = self.expr(b.value, inner) if isinstance(b.value, If | While | Let) else b.value
            inner[b.name] = self.types.of(b.value, inner)
            ends = ends or inner[b.name] == NEVER
            bindings.append(replace(b, value=value))
        body = self.expr(expr.body, inner)
        weights = [_weight(b.value) for b in bindings]
        if ends or sum(weights) <= LONGEST:
            return Let(tuple(bindings), body)
        last: dict[str, int] = {}
        for k, value in enumerate([*(b.value for b in bindings), body]):
            last.update((e.name, k) for e in walk(value) if isinstance(e, Var))
        made: list[Binding] = []
        start = 0
        for k in range(len(bindings)):
            if self.recurs(bindings[k].value):
                made += bindings[start : k + 1]
                start = k + 1
            elif sum(weights[start : k + 1]) >= PART:
                made += self.part(bindings[start : k + 1], [n for n, at in last.items() if at > k], inner)
                start = k + 1
        return Let((*made, *bindings[start:]), body)

    def recurs(self, expr: Expr) -> bool:
        """Whether an expression calls the function that it is in, or one that calls that."""
        return any(isinstance(e, Call) and e.function in self.recursive for e in walk(expr))

    def part(self, bindings: list[Binding], later: list[str], scope: Scope) -> list[Binding]:
        """A call of a new function for some bindings, and the values that are read later."""
        bound = {b.name for b in bindings}
        given = [n for n in later if n in bound]
        inside = bound.union(*(_bound(b.value) for b in bindings))
        taken = dict.fromkeys(
            e.name for b in bindings for e in walk(b.value) if isinstance(e, Var) and e.name not in inside
        )
        name = self.fresh(f"{self.name}_part")
        result = Tuple(tuple(scope[n] for n in given))
        body = Let(tuple(bindings), Op("tuple", tuple(map(Var, given))))
        function = Function(name, tuple((n, scope[n]) for n in taken), result, body)
        self.parts.append(function)
        self.table[name] = function
        whole = self.local("part")
        call = Binding(whole, Call(name, tuple(map(Var, taken))))
        return [call, *(Binding(n, Item(Var(whole), k)) for k, n in enumerate(given))]


def _bound(expr: Expr) -> set[str]:
    """The names that are bound somewhere in an expression."""
    return {b.name for e in walk(expr) if isinstance(e, Let | While) for b in e.bindings}
