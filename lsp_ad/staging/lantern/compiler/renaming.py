"""Gives every name of a function a meaning of its own, so that tables can be keyed by names."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import replace

from lsp_ad.staging.lantern.ir import Binding, Expr, Function, Let, Var, While, mapped

Names = Mapping[str, str]


class Fresh:
    """Python names that have not been given away yet: `x`, then `x_2`, `x_3`."""

    def __init__(self, taken: frozenset[str]) -> None:
        self.counts = dict.fromkeys(taken, 1)

    def __call__(self, wanted: str) -> str:
        base = re.sub(r"\W", "_", wanted)
        if keyword.iskeyword(base):
            base += "_"
        if base not in self.counts:
            self.counts[base] = 1
            return base
        while True:
            self.counts[base] += 1
            name = f"{base}_{self.counts[base]}"
            if name not in self.counts:
                self.counts[name] = 1
                return name


def renamed(function: Function, fresh: Fresh) -> Function:
    """The function with Python names, each bound once."""
    names = {name: fresh(name) for name, _ in function.params}
    params = tuple((names[name], t) for name, t in function.params)
    return replace(function, params=params, body=_expr(function.body, names, fresh))


def _expr(expr: Expr, names: Names, fresh: Fresh) -> Expr:
    match expr:
        case Var(name):
            return Var(names[name])
        case Let(bindings, body):
            inner, made = dict(names), []
            for b in bindings:
                value = _expr(b.value, inner, fresh)
                inner[b.name] = fresh("t" if b.name == "_" else b.name)
                made.append(Binding(inner[b.name], value, b.place))
            return Let(tuple(made), _expr(body, inner, fresh))
        case While(bindings, test, body, limit):
            inner = {**names, **{b.name: fresh(b.name) for b in bindings}}
            entry = tuple(Binding(inner[b.name], _expr(b.value, names, fresh), b.place) for b in bindings)
            return While(entry, _expr(test, inner, fresh), _expr(body, inner, fresh), limit)
    return mapped(expr, lambda e: _expr(e, names, fresh))
