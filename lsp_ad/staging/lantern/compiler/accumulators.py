"""Sums over recursive calls are made in one array, which is handed down and back.

A recursive function whose result is the sum of a contribution of its own and of the results of its calls
makes a whole array for each call; derivatives of recursive functions are like that, with respect to every
parameter. Here it takes the sum so far as an argument and returns it with its contribution added, which is
then done in place. A flag goes with it: where it is false there is no sum yet, and the array means nothing.

    f(x) = zeros(n)                         if x ends
           g(x) + f(a) + f(b)               else
    f(x, sum, started) = sum if started else zeros(n)
                         f(b, f(a, sum, started), true) + g(x)

Right where all that is added up has one shape: `unbroadcast` checks this in code for the case that no axis is
stretched, and this is for such code only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lsp_ad.staging.lantern.compiler.renaming import Fresh
from lsp_ad.staging.lantern.compiler.sums import (
    Analysis,
    Part,
    Ref,
    Sum,
    Sums,
    is_plain_tuple,
    recursive_sums,
)
from lsp_ad.staging.lantern.compiler.uses import size_of
from lsp_ad.staging.lantern.ir import (
    BOOL,
    NEVER,
    Array,
    Binding,
    Call,
    Expr,
    Function,
    If,
    Item,
    Let,
    Op,
    Program,
    Tuple,
    Update,
    Var,
    boolean,
    integer,
    mapped,
)


def accumulated(program: Program, fresh: Mapping[str, Fresh]) -> Program:
    """The program with sums over recursive calls made in place. Each function binds each name once.

    `fresh` gives names for each function.
    """
    sums, analyses = recursive_sums(program)
    if not sums:
        return program
    functions = []
    for f in program.functions:
        if f.name in sums:
            functions.append(_Rewriter(analyses[f.name], sums, fresh[f.name]).function())
        else:
            functions.append(replace(f, body=_plain(f.body, sums)))
    return Program(tuple(functions), program.entry)


@dataclass(frozen=True)
class _Current:
    """The sum so far: its name, and that of the flag. None: there is a sum."""

    name: str
    started: str | None


Currents = Mapping[Part, _Current]


def _plain(expr: Expr, sums: Sums) -> Expr:
    """With calls that begin sums of their own."""
    if isinstance(expr, Call) and expr.function in sums:
        return _call(expr, sums, {})
    return mapped(expr, lambda e: _plain(e, sums))


def _call(expr: Call, sums: Sums, current: Currents) -> Expr:
    args = [_plain(a, sums) for a in expr.args]
    for part, t in sums[expr.function].items():
        if part in current:
            name, started = current[part].name, current[part].started
            args += [Var(name), boolean(True) if started is None else Var(started)]
        else:
            args += [_zeros((integer(0),) * t.rank, t), boolean(False)]
    return Call(expr.function, tuple(args))


def _zeros(sizes: tuple[Expr, ...], t: Array) -> Expr:
    return Op("zeros", sizes, (("dtype", t.dtype),))


def _sizes(name: str, t: Array) -> tuple[Expr, ...]:
    return tuple(Op("size", (Var(name),), (("axis", axis),)) for axis in range(t.rank))


def _like(name: str, sizes: tuple[Expr, ...]) -> Expr:
    """An array, which is checked to have these sizes."""
    return Op("unbroadcast", (Var(name), *sizes))


class _Rewriter:
    """Rewrites one function."""

    def __init__(self, analysis: Analysis, sums: Sums, fresh: Fresh) -> None:
        self.analysis, self.sums, self.fresh = analysis, sums, fresh
        # What has the sizes of what is not computed any more.
        self.same_size: dict[str, str] = {}

    def function(self) -> Function:
        f = self.analysis.function
        types = self.sums[f.name]
        current = {part: _Current(self.fresh("total"), self.fresh("started")) for part in types}
        params = list(f.params)
        for part, t in types.items():
            params += [(current[part].name, t), (current[part].started or "", BOOL)]
        body = self._sized(self._added(f.body, current, types))
        return replace(f, params=tuple(params), body=body)

    def _sized(self, expr: Expr) -> Expr:
        name = size_of(expr)
        if name is None or not isinstance(expr, Op):
            return mapped(expr, self._sized)
        while name in self.same_size:
            name = self.same_size[name]
        return replace(expr, args=(Var(name),))

    def _added(self, expr: Expr, current: Currents, types: Mapping[Part, Array]) -> Expr:
        """The expression with parts of its value added to sums."""
        if self.analysis.type_of(expr) == NEVER:
            return _plain(expr, self.sums)
        if isinstance(expr, Call) and current.keys() <= self.sums.get(expr.function, {}).keys():
            return _call(expr, self.sums, current)
        if isinstance(expr, If):
            then, orelse = (self._added(e, current, types) for e in (expr.then, expr.orelse))
            return If(_plain(expr.test, self.sums), then, orelse)
        return self._sequence(expr if isinstance(expr, Let) else Let((), expr), current, types)

    def _sequence(self, expr: Let, current: Currents, types: Mapping[Part, Array]) -> Expr:
        """A sequence of bindings, whose calls get the sums so far, and whose contributions are added last."""
        analysis = self.analysis
        carrier, local = analysis.carrier(expr), {b.name: b.value for b in expr.bindings}
        bindings, body = list(expr.bindings), expr.body if carrier is None else local[carrier]
        found = {part: analysis.part(expr, part) for part in types}
        if None in found.values():
            bindings.append(Binding(self.fresh("whole"), body))
            body = Var(bindings[-1].name)
            found = {part: (body.name, part) for part in types}
        sums = {part: analysis.sum(ref, local) for part, ref in found.items() if ref is not None}
        partial = {name: ref for s in sums.values() for name, ref in s.partial.items()}
        current = dict(current)
        made: list[Binding] = []
        named: dict[Ref, str] = {}
        for b in bindings:
            if b.name == carrier:
                continue
            if b.name in partial:
                for part, s in sums.items():
                    if b.name in s.partial:
                        named |= self._checked(made, b.value, current[part], types[part], local)
                continue
            parts = {k: part for part, s in sums.items() for name, k in s.sources if name == b.name}
            if not parts:
                made.append(replace(b, value=_plain(b.value, self.sums)))
                continue
            inner = {k: types[part] for k, part in parts.items()}
            made.append(replace(b, value=self._added(b.value, {k: current[parts[k]] for k in parts}, inner)))
            for k, part in parts.items():
                named[b.name, k] = self._named(made, (b.name, k))
                current[part] = _Current(named[b.name, k], None)
        self.same_size |= {name: named.get(ref, ref[0]) for name, ref in partial.items()}
        totals = {}
        for part, s in sums.items():
            terms = [named.get(ref) or self._named(made, ref) for ref in s.terms]
            totals[part] = Var(self._total(made, current[part], types[part], s, terms))
        if None in totals:
            return Let(tuple(made), totals[None])
        whole = analysis.type_of(expr)
        assert isinstance(whole, Tuple)
        items = (self._item(body, k, totals) for k in range(len(whole.items)))
        return Let(tuple(made), Op("tuple", tuple(items)))

    def _item(self, body: Expr, k: int, totals: Mapping[Part, Var]) -> Expr:
        if k in totals:
            return totals[k]
        return body.args[k] if isinstance(body, Op) and is_plain_tuple(body) else Item(body, k)

    def _named(self, made: list[Binding], ref: Ref) -> str:
        name, part = ref
        return name if part is None else self._bound(made, Item(Var(name), part))

    def _bound(self, made: list[Binding], value: Expr) -> str:
        made.append(Binding(self.fresh("total"), value))
        return made[-1].name

    def _checked(
        self, made: list[Binding], value: Expr, current: _Current, t: Array, local: Mapping[str, Expr]
    ) -> dict[Ref, str]:
        """Check that what a call's part is added to has its sizes; the names of the values, checked."""
        checked: dict[Ref, str] = {}
        for operand in value.args if isinstance(value, Op) else ():
            assert isinstance(operand, Var)
            s = self.analysis.sum((operand.name, None), local)
            if not s.sources:
                for ref in s.terms:
                    checked[ref] = self._bound(made, _like(self._named(made, ref), _sizes(current.name, t)))
                for sizes in s.zeros:
                    self._bound(made, _like(current.name, sizes))
        return checked

    def _total(self, made: list[Binding], current: _Current, t: Array, s: Sum, terms: list[str]) -> str:
        """Add to a sum what is not in it yet; the name of the result."""
        name = current.name
        added = terms[0] if terms else ""
        for term in terms[1:]:
            added = self._bound(made, Op("+", (Var(added), Var(term))))
        if current.started is not None:
            sizes = s.zeros[0] if s.zeros else _sizes(added, t)
            begun = If(Var(current.started), _like(name, sizes), _zeros(sizes, t))
            name = self._bound(made, begun)
        if terms:
            name = self._bound(made, Update("add-at", Var(name), (), Var(added)))
        for index, new in s.updates:
            name = self._bound(made, Update("add-at", Var(name), index, new))
        return name
