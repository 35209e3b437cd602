"""Runs programs directly, in NumPy: the meaning of the language, against which the compiler is tested.

Calls are kept on a stack of its own, so that recursion may be as deep as memory allows.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Generator, Mapping
from typing import Any

import numpy as np

from lsp_ad.staging.lantern.errors import LanternRaised, LanternRecursionError
from lsp_ad.staging.lantern.infer import check
from lsp_ad.staging.lantern.ir import (
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
    List,
    NewAxis,
    Op,
    Print,
    Program,
    Slice,
    Tuple,
    Type,
    Update,
    Var,
    While,
)
from lsp_ad.staging.lantern.primitives import PRIMITIVES, Stack, Value, plain
from lsp_ad.staging.lantern.values import accepted, shown

DEPTH = 500_000
Env = Mapping[str, Value]
# Yields calls to make, takes their results, and returns a value.
Run = Generator[tuple[Function, list[Value]], Value, Value]


def interpret(program: Program, *args: Any, depth: int = DEPTH) -> Any:
    """The result of a program; a LanternRecursionError where calls nest deeper than `depth`.

    An exception that the program raises has the place that it comes from as `lantern_place`.
    """
    check(program)
    entry = program.table[program.entry]
    if len(args) != len(entry.params):
        raise TypeError(f"{entry.name} takes {len(entry.params)} arguments, and is given {len(args)}")
    values = [_inward(accepted(a, t, n), t) for a, (n, t) in zip(args, entry.params, strict=True)]
    with np.errstate(all="ignore"):
        return _outward(_Machine(program, depth).run(entry, values))


def _inward(value: Value, t: Type) -> Value:
    if isinstance(t, Tuple):
        return tuple(_inward(v, i) for v, i in zip(value, t.items, strict=True))
    if isinstance(t, List):
        return Stack([_inward(v, t.item) for v in value], len(value))
    return value


def _outward(value: Value) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_outward, value))
    if isinstance(value, Stack):
        return [_outward(v) for v in value.items[: value.length]]
    return value


def raised(type_name: str, message: str) -> Exception:
    """The exception that a name of a type stands for: a built-in one, or else a LanternRaised."""
    kind = getattr(builtins, type_name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        return kind(message)
    return LanternRaised(type_name, message)


class _Machine:
    def __init__(self, program: Program, depth: int) -> None:
        self.functions, self.depth = program.table, depth

    def run(self, entry: Function, args: list[Value]) -> Value:
        calls = [self.entered(entry, args)]
        value: Value = None
        try:
            while calls:
                try:
                    function, args = calls[-1].send(value)
                except StopIteration as stop:
                    value = stop.value
                    calls.pop()
                    continue
                if len(calls) >= self.depth:
                    raise LanternRecursionError(f"calls of {function.name} nest deeper than {self.depth}")
                calls.append(self.entered(function, args))
                value = None
        finally:
            while calls:
                calls.pop()
        return value

    def entered(self, function: Function, args: list[Value]) -> Run:
        names = (name for name, _ in function.params)
        return self.value(function.body, dict(zip(names, args, strict=True)))

    def value(self, expr: Expr, env: Env) -> Run:
        while isinstance(expr, Let | If):
            if isinstance(expr, If):
                expr = expr.then if (yield from self.value(expr.test, env)) else expr.orelse
                continue
            inner = dict(env)
            for b in expr.bindings:
                inner[b.name] = yield from self.placed(b.place, b.value, inner)
            env, expr = inner, expr.body
        if isinstance(expr, Var):
            return env[expr.name]
        return (yield from HANDLERS[type(expr)](self, expr, env))

    def placed(self, place: str | None, expr: Expr, env: Env) -> Run:
        """A value; an exception of its own takes the place along."""
        try:
            return (yield from self.value(expr, env))
        except Exception as error:
            if place is not None and not hasattr(error, "lantern_place"):
                error.lantern_place = place  # type: ignore[attr-defined]
            raise

    def const(self, expr: Const, env: Env) -> Run:
        yield from ()
        return np.dtype(expr.type.dtype).type(expr.value)

    def loop(self, expr: While, env: Env) -> Run:
        names = [b.name for b in expr.bindings]
        values = []
        for b in expr.bindings:
            values.append((yield from self.placed(b.place, b.value, env)))
        done = 0
        while True:
            inner = {**env, **dict(zip(names, values, strict=True))}
            if not (yield from self.value(expr.test, inner)):
                return tuple(values)
            if done == expr.limit:
                raise RuntimeError(f"the loop goes on after the {done} iterations that are its limit")
            values = yield from self.value(expr.body, inner)
            done += 1

    def call(self, expr: Call, env: Env) -> Run:
        args = yield from self.values(expr.args, env)
        return (yield self.functions[expr.function], args)

    def values(self, exprs: tuple[Expr, ...], env: Env) -> Generator[Any, Value, list[Value]]:
        found = []
        for e in exprs:
            found.append((yield from self.value(e, env)))
        return found

    def operation(self, expr: Op, env: Env) -> Run:
        args = yield from self.values(expr.args, env)
        return PRIMITIVES[expr.name](*args, **dict(expr.params))

    def item(self, expr: Item, env: Env) -> Run:
        return (yield from self.value(expr.value, env))[expr.index]

    def get(self, expr: Get, env: Env) -> Run:
        value = yield from self.value(expr.value, env)
        return plain(value[(yield from self.index(expr.index, env))])

    def update(self, expr: Update, env: Env) -> Run:
        value = yield from self.value(expr.value, env)
        index = yield from self.index(expr.index, env)
        new = yield from self.value(expr.new, env)
        changed = value.copy()
        if expr.kind == "set":
            changed[index] = new
        else:
            np.add.at(changed, index, new)
        return changed

    def index(self, index: tuple[Index, ...], env: Env) -> Generator[Any, Value, tuple]:
        found: list[Any] = []
        for i in index:
            if isinstance(i, NewAxis):
                found.append(None)
            elif isinstance(i, Slice):
                parts = []
                for part in (i.start, i.stop, i.step):
                    parts.append(None if part is None else int((yield from self.value(part, env))))
                found.append(slice(*parts))
            else:
                found.append((yield from self.value(i, env)))
        return tuple(found)

    def error(self, expr: Error, env: Env) -> Run:
        raise raised(expr.type, "".join((yield from self.parts(expr.parts, env))))

    def print(self, expr: Print, env: Env) -> Run:
        print(*(yield from self.parts(expr.parts, env)))
        return ()

    def parts(self, parts: tuple[str | Expr, ...], env: Env) -> Generator[Any, Value, list[str]]:
        found = []
        for part in parts:
            text = part if isinstance(part, str) else shown(_outward((yield from self.value(part, env))))
            found.append(text)
        return found


HANDLERS: dict[type, Callable[[_Machine, Any, Env], Run]] = {
    Const: _Machine.const,
    While: _Machine.loop,
    Call: _Machine.call,
    Op: _Machine.operation,
    Item: _Machine.item,
    Get: _Machine.get,
    Update: _Machine.update,
    Error: _Machine.error,
    Print: _Machine.print,
}
