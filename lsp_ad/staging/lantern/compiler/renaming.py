"""Gives every name of a function a meaning of its own, so that tables can be keyed by names."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import replace

from lsp_ad.staging.lantern.ir import (
    Binding,
    Call,
    Const,
    Error,
    Expr,
    Function,
    Get,
    If,
    Index,
    Item,
    Let,
    NewAxis,
    Op,
    Print,
    Slice,
    Update,
    Var,
    While,
)

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
    def again(e: Expr) -> Expr:
        return _expr(e, names, fresh)

    match expr:
        case Const():
            return expr
        case Var(name):
            return Var(names[name])
        case Let(bindings, body):
            inner, made = dict(names), []
            for b in bindings:
                value = _expr(b.value, inner, fresh)
                inner[b.name] = fresh("t" if b.name == "_" else b.name)
                made.append(Binding(inner[b.name], value, b.place))
            return Let(tuple(made), _expr(body, inner, fresh))
        case If(test, then, orelse):
            return If(again(test), again(then), again(orelse))
        case While(bindings, test, body, limit):
            inner = {**names, **{b.name: fresh(b.name) for b in bindings}}
            entry = tuple(Binding(inner[b.name], again(b.value), b.place) for b in bindings)
            return While(entry, _expr(test, inner, fresh), _expr(body, inner, fresh), limit)
        case Call(name, args):
            return Call(name, tuple(map(again, args)))
        case Op(name, args, params):
            return Op(name, tuple(map(again, args)), params)
        case Item(value, number):
            return Item(again(value), number)
        case Get(value, index):
            return Get(again(value), _indices(index, names, fresh))
        case Update(kind, value, index, new):
            return Update(kind, again(value), _indices(index, names, fresh), again(new))
        case Error(type_, parts):
            return Error(type_, tuple(p if isinstance(p, str) else again(p) for p in parts))
        case Print(parts):
            return Print(tuple(p if isinstance(p, str) else again(p) for p in parts))


def _indices(index: tuple[Index, ...], names: Names, fresh: Fresh) -> tuple[Index, ...]:
    found: list[Index] = []
    for i in index:
        if isinstance(i, Slice):
            parts = (i.start, i.stop, i.step)
            found.append(Slice(*(None if p is None else _expr(p, names, fresh) for p in parts)))
        else:
            found.append(i if isinstance(i, NewAxis) else _expr(i, names, fresh))
    return tuple(found)
