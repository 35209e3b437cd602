"""Making programs step by step, as a tracer does.

    b = Builder()
    x, n = b.begin("power", [("x", FLOAT64), ("n", INT64)], result=FLOAT64)
    b.end(b.branch(
        b.op("==", n, 0),
        lambda: 1.0,
        lambda: b.op("*", x, b.call("power", x, b.op("-", n, 1))),
    ))
    program = b.program("power")

Every value is bound to a fresh name in the innermost open block, and is known from there on as a `Var`
(numbers stay constants). Types are inferred on the way; a wrong operation is a LanternTypeError at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lsp_ad.staging.lantern.errors import LanternTypeError
from lsp_ad.staging.lantern.infer import Types
from lsp_ad.staging.lantern.ir import (
    BOOL,
    COMPLEX128,
    FLOAT64,
    INT64,
    NEVER,
    UNIT,
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
    Parameter,
    Print,
    Program,
    Slice,
    Type,
    Update,
    Var,
    While,
)
from lsp_ad.staging.lantern.printing import is_name, type_text

Value = Var | Const
# operations that are used often, and cost nothing the second time
_ONCE = ("size", "not")
Operand = Var | Const | bool | int | float | complex
IndexItem = Var | Const | bool | int | float | complex | Slice | NewAxis


def const(value: Operand) -> Value:
    """A Python number as a constant: int64, float64, bool or complex128. Expressions stay what they are."""
    if isinstance(value, Var | Const):
        return value
    if isinstance(value, bool):
        return Const(value, BOOL)
    if isinstance(value, int):
        return Const(int(value), INT64)
    if isinstance(value, float):
        return Const(float(value), FLOAT64)
    return Const(complex(value), COMPLEX128)


@dataclass
class _Block:
    """A block that is being built; `ends` when something in it raises whenever it runs.

    `facts`: conditions that hold from here on, since the program has checked them. `made`: values by a key
    under which they need to be made only once.
    """

    bindings: list[Binding] = field(default_factory=list)
    ends: bool = False
    facts: set[Value] = field(default_factory=set)
    made: dict[Any, Value] = field(default_factory=dict)


class _Frame:
    """A function that is being built: its parameters, what is in scope, its open blocks, its names so far."""

    def __init__(self, name: str, params: Iterable[tuple[str, Type]], functions: dict[str, Function]) -> None:
        self.types = Types(functions, name)
        self.names: dict[str, int] = {}
        self.params = tuple((fresh(wanted, self.names), t) for wanted, t in params)
        self.scope: dict[str, Type] = dict(self.params)
        self.blocks = [_Block()]


class Builder:
    """Builds functions, one inside the other if need be: a callee may be met while its caller is built.

    `place` is where in the user's text the values come from that are bound from now on.
    """

    def __init__(self) -> None:
        self.functions: dict[str, Function] = {}
        self.place: str | None = None
        self.effects = 0  # how many calls, errors and prints there are
        self._frames: list[_Frame] = []
        self._names: dict[str, int] = {}

    # programs and functions

    def program(self, entry: str) -> Program:
        return Program(tuple(self.functions.values()), entry)

    def function_name(self, wanted: str) -> str:
        """A name for a function that no other has."""
        return fresh(wanted, self._names)

    def declare(self, name: str, params: Iterable[tuple[str, Type]], result: Type) -> None:
        """Say what a function takes and gives before its body is known, so that it can be called."""
        self.functions[name] = Function(name, tuple(params), result, Error("NotImplementedError", (name,)))

    def begin(
        self, name: str, params: Iterable[tuple[str, Type]], result: Type | None = None
    ) -> tuple[Var, ...]:
        """Begin a function, and give its parameters. Only with a `result` type can its body call it."""
        frame = _Frame(name, params, self.functions)
        if result is not None:
            self.declare(name, frame.params, result)
        self._frames.append(frame)
        return tuple(Var(n) for n, _ in frame.params)

    def end(self, value: Operand) -> Function:
        """End the innermost function, with its result."""
        frame = self._frames[-1]
        if len(frame.blocks) != 1:
            raise ValueError("a block is still open")
        name = frame.types.function
        body, found = self.close(value)
        self._frames.pop()
        declared = self.functions.get(name)
        if declared is not None and found == NEVER:
            found = declared.result
        if declared is not None and declared.result != found:
            raise LanternTypeError(
                f"in {name}: the result is {type_text(found)}, and {type_text(declared.result)} is declared"
            )
        self.functions[name] = Function(name, frame.params, found, body)
        return self.functions[name]

    @property
    def function(self) -> str:
        """The name of the innermost function."""
        return self._frames[-1].types.function

    # blocks

    def open(self) -> None:
        """Open a block: what is bound from here on belongs to it, and is out of scope when it is closed."""
        self._frames[-1].blocks.append(_Block())

    def close(self, value: Operand) -> tuple[Expr, Type]:
        """Close the innermost block: what it is as one expression, and the type of that."""
        frame = self._frames[-1]
        found = self.type_of(value)
        block = frame.blocks.pop()
        for binding in block.bindings:
            frame.scope.pop(binding.name, None)
        body = const(value)
        return (Let(tuple(block.bindings), body) if block.bindings else body), NEVER if block.ends else found

    def branch(
        self, test: Operand, then: Callable[[], Operand], orelse: Callable[[], Operand], name: str = "t"
    ) -> Value:
        """An `if`, whose branches the functions build."""
        parts = []
        for build in (then, orelse):
            self.open()
            parts.append(self.close(build()))
        (first, first_type), (second, second_type) = parts
        expr = If(const(test), first, second)
        found = self._frames[-1].types.joined(expr, self.type_of(test), first_type, second_type)
        return self._bound(expr, found, name)

    def require(self, condition: Operand, error: str, message: str) -> None:
        """Raise an error where a condition does not hold, unless that has been checked."""
        test = const(condition)
        if not self.holds(test):
            self.branch(test, lambda: self.op("tuple"), lambda: self.error(error, message))
            self._frames[-1].blocks[-1].facts.add(test)

    def holds(self, condition: Operand) -> bool:
        """Whether the program has checked a condition."""
        return any(const(condition) in block.facts for block in self._frames[-1].blocks)

    def loop(
        self,
        carried: Sequence[tuple[str, Operand]],
        test: Callable[..., Operand],
        body: Callable[..., Sequence[Operand]],
        limit: int | None = None,
    ) -> list[Value]:
        """A `while` over named values: their last values. `test` and `body` take the current ones."""
        frame = self._frames[-1]
        entry = [self.type_of(value) for _, value in carried]
        names = [fresh(wanted, frame.names) for wanted, _ in carried]
        frame.scope.update(zip(names, entry, strict=True))
        current = [Var(n) for n in names]
        self.open()
        condition, condition_type = self.close(test(*current))
        self.open()
        step, step_type = self.close(self.op("tuple", *body(*current)))
        for n in names:
            del frame.scope[n]
        bindings = [
            Binding(n, const(value), self.place) for n, (_, value) in zip(names, carried, strict=True)
        ]
        expr = While(tuple(bindings), condition, step, limit)
        found = frame.types.carried(expr, entry, condition_type, step_type)
        result = self._bound(expr, found, "loop")
        return [self.item(result, i, wanted) for i, (wanted, _) in enumerate(carried)]

    # values

    def type_of(self, value: Operand) -> Type:
        frame = self._frames[-1]
        return frame.types.of(const(value), frame.scope)

    def bind(self, expr: Expr, name: str = "t") -> Value:
        """Bind an expression to a fresh name."""
        frame = self._frames[-1]
        return self._bound(expr, frame.types.of(expr, frame.scope), name)

    def _bound(self, expr: Expr, found: Type, name: str) -> Value:
        frame = self._frames[-1]
        name = "_" if found == UNIT and isinstance(expr, Print) else fresh(name, frame.names)
        block = frame.blocks[-1]
        self.effects += isinstance(expr, Call | Error | Print)
        block.bindings.append(Binding(name, expr, self.place))
        block.ends = block.ends or found == NEVER
        frame.scope[name] = found
        return Var(name)

    def op(self, operation: str, *args: Operand, name: str = "t", **params: Parameter) -> Value:
        expr = Op(operation, tuple(map(const, args)), tuple(params.items()))
        if operation in _ONCE:
            return self.once(expr, lambda: self.bind(expr, name))
        return self.bind(expr, name)

    def once(self, key: Any, make: Callable[[], Value]) -> Value:
        """What has been made under a key and is in scope, or else is made now."""
        blocks = self._frames[-1].blocks
        found = next((block.made[key] for block in blocks if key in block.made), None)
        if found is None:
            found = blocks[-1].made[key] = make()
        return found

    def call(self, function: str, *args: Operand, name: str = "t") -> Value:
        return self.bind(Call(function, tuple(map(const, args))), name)

    def item(self, value: Value, index: int, name: str = "t") -> Value:
        return self.bind(Item(value, index), name)

    def get(self, value: Value, *index: IndexItem, name: str = "t") -> Value:
        return self.bind(Get(value, tuple(map(_index, index))), name)

    def set(self, value: Value, index: Sequence[IndexItem], new: Operand, name: str = "t") -> Value:
        return self.bind(Update("set", value, tuple(map(_index, index)), const(new)), name)

    def add_at(self, value: Value, index: Sequence[IndexItem], new: Operand, name: str = "t") -> Value:
        return self.bind(Update("add-at", value, tuple(map(_index, index)), const(new)), name)

    def error(self, type_: str, *parts: str | Operand) -> Value:
        """Raise an exception; what is built after it in the block never runs."""
        return self.bind(Error(type_, tuple(p if isinstance(p, str) else const(p) for p in parts)))

    def print(self, *parts: str | Operand) -> None:
        self.bind(Print(tuple(p if isinstance(p, str) else const(p) for p in parts)))


def slice_(start: Operand | None = None, stop: Operand | None = None, step: Operand | None = None) -> Slice:
    """A slice in an index."""
    return Slice(*(None if part is None else const(part) for part in (start, stop, step)))


def _index(item: IndexItem) -> Index:
    return item if isinstance(item, Slice | NewAxis) else const(item)


def fresh(wanted: str, names: dict[str, int]) -> str:
    """`x`, or `x_2`, `x_3` where it is taken; characters that no name has become underscores."""
    base = re.sub(r"\W", "_", wanted).strip("_") or "t"
    if not is_name(base):
        base = f"v_{base}"
    number = names.get(base, 0)
    while True:
        number += 1
        name = base if number == 1 else f"{base}_{number}"
        if number == 1 or name not in names:
            break
    names[base] = number
    names.setdefault(name, 1)
    return name
