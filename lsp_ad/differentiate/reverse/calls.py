"""Calls of functions of the file that are too large to write out.

In reverse mode these get a forward and a backward function each:

`y = g(a, b)` becomes `y, saved = g_forward(a, b)` in the forward sweep and
`da, db = g_backward(saved, dy)` in the backward sweep. The pair is generated once for each set of
active parameters; a recursive function calls its own pair. In forward mode it is one function,
`y, dy = g_jvp(a, b, da, db)`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.differentiate.functions.arguments import match
from lsp_ad.differentiate.reverse.adjoints import Adjoints
from lsp_ad.differentiate.reverse.forms import Form, State
from lsp_ad.differentiate.reverse.values import ForwardValues
from lsp_ad.simplify.algebra import assign, name, store


@dataclass(frozen=True)
class Pair:
    """The forward and the backward function of a callee, for the derivative with respect to `wrt`."""

    callee: str
    wrt: tuple[str, ...]
    forward: str
    backward: str


@dataclass(frozen=True)
class Tangent:
    """The forward-mode derivative of a callee with respect to `wrt`."""

    callee: str
    wrt: tuple[str, ...]
    name: str


@dataclass
class Callees:
    """What a derivative needs of the functions that it calls, in the order in which it was asked for."""

    taken: set[str]
    pairs: dict[tuple[str, tuple[str, ...]], Pair] = field(default_factory=dict)
    tangents: dict[tuple[str, tuple[str, ...]], Tangent] = field(default_factory=dict)

    def tangent(self, callee: str, wrt: tuple[str, ...]) -> Tangent:
        if (callee, wrt) not in self.tangents:
            shown, number = f"{callee}_jvp", 1
            while shown in self.taken:
                number += 1
                shown = f"{callee}{number}_jvp"
            self.taken.add(shown)
            self.tangents[callee, wrt] = Tangent(callee, wrt, shown)
        return self.tangents[callee, wrt]

    def own(self, function: str, wrt: tuple[str, ...]) -> Tangent:
        """The derivative itself as one that a recursive function calls."""
        own = Tangent(function, wrt, f"{function}_jvp")
        self.taken.add(own.name)
        self.tangents[function, wrt] = own
        return own

    def asked(self) -> list[Pair | Tangent]:
        return [*self.pairs.values(), *self.tangents.values()]

    def pair(self, callee: str, wrt: tuple[str, ...]) -> Pair:
        if (callee, wrt) not in self.pairs:
            base, number = callee, 1
            while f"{base}_forward" in self.taken or f"{base}_backward" in self.taken:
                number += 1
                base = f"{callee}{number}"
            self.taken |= {f"{base}_forward", f"{base}_backward"}
            self.pairs[callee, wrt] = Pair(callee, wrt, f"{base}_forward", f"{base}_backward")
        return self.pairs[callee, wrt]

    def backward(
        self,
        call: gast.Call,
        target: str,
        dy: gast.expr,
        form: Form,
        s: gast.stmt,
        state: State,
        out: list[gast.stmt],
        values: ForwardValues,
        adjoints: Adjoints,
    ) -> None:
        """The adjoint statements of one call."""
        function = values.scope.callee(call)
        assert function is not None
        given = match(call, function, values.scope)
        wrt = tuple(p for p, a in given.items() if isinstance(a, gast.Name) and a.id in adjoints.active)
        for p, a in given.items():
            if p not in wrt:
                adjoints.passive(a)
        pair = self.pair(function.name, wrt)
        fresh: Fresh = values.fresh
        if not form.exact:
            kept = fresh.new("b")
            out.append(assign(kept, values.full_result(dy, target, s)))
            dy = name(kept)
        known = values.calls.get(id(s))
        saved = known[0] if known else fresh.new("t", f"{function.name}_saved")
        values.calls[id(s)] = (saved, pair.forward)
        results = [fresh.new("b", f"d{p}") for p in wrt]
        value = gast.Call(name(pair.backward), [name(saved), dy], [])
        if len(results) == 1:
            out.append(assign(results[0], value))
        else:
            out.append(gast.Assign([gast.Tuple([store(r) for r in results], gast.Store())], value, None))
        for p, result in zip(wrt, results, strict=True):
            adjoints.contribute(given[p].id, name(result), Form(True, False, False), state, out)
