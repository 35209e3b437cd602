"""The intermediate language: types, expressions, functions and programs, all immutable.

A program is a set of functions and the name of the one to enter. Everything is a value: arrays and lists
never change, `set` and `list-append` give new ones (the compiler writes into the old one where nobody reads
it again). Only `error` and `print` have effects; they happen in the order of evaluation, which is strict and
from left to right. Bindings are lexical, and an inner one hides an outer one of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

DTYPES = ("bool", "int32", "int64", "float32", "float64", "complex128")


# ---------------------------------------------------------------------------------------------------------
# types


@dataclass(frozen=True)
class Scalar:
    """One number of a NumPy dtype. There are no arrays of rank 0: they are scalars."""

    dtype: str


@dataclass(frozen=True)
class Array:
    """A NumPy array: its dtype and rank are known, its sizes are not."""

    dtype: str
    rank: int

    def __post_init__(self) -> None:
        if self.rank < 1:
            raise ValueError("an array has a rank of 1 or more: a value of rank 0 is a scalar")


@dataclass(frozen=True)
class Tuple:
    items: tuple[Type, ...] = ()


@dataclass(frozen=True)
class List:
    """A list that grows at its end, of items of one type."""

    item: Type


@dataclass(frozen=True)
class Never:
    """The type of an expression that has no value, because it raises an error."""


Type = Scalar | Array | Tuple | List | Never

BOOL, INT32, INT64, FLOAT32, FLOAT64, COMPLEX128 = (Scalar(dtype) for dtype in DTYPES)
UNIT = Tuple()
NEVER = Never()


def ranked(dtype: str, rank: int) -> Scalar | Array:
    """The type of values of this dtype and rank."""
    return Array(dtype, rank) if rank else Scalar(dtype)


# ---------------------------------------------------------------------------------------------------------
# expressions


@dataclass(frozen=True, eq=False)
class Const:
    """A number: equal to another if type and digits are, so that nan is itself and -0.0 is not 0.0."""

    value: bool | int | float | complex
    type: Scalar

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple:
        return (repr(self.value), self.type)


@dataclass(frozen=True)
class Var:
    name: str


@dataclass(frozen=True)
class Binding:
    """A name for a value, and the place in the user's text (`file.py:12`) that the value comes from."""

    name: str
    value: Expr
    place: str | None = None


@dataclass(frozen=True)
class Let:
    """Names for values, each known to those after it, and then a result."""

    bindings: tuple[Binding, ...]
    body: Expr


@dataclass(frozen=True)
class If:
    test: Expr
    then: Expr
    orelse: Expr


@dataclass(frozen=True)
class While:
    """A loop that carries values from iteration to iteration.

    The initial values know nothing of one another. `test` and `body` know the names; `body` is a tuple of as
    many values. The result is the tuple of the last values. To go on after `limit` iterations is an error.
    """

    bindings: tuple[Binding, ...]
    test: Expr
    body: Expr
    limit: int | None = None


@dataclass(frozen=True)
class Call:
    function: str
    args: tuple[Expr, ...]


Parameter = bool | int | str | tuple[int, ...] | Scalar | Array | Tuple | List | Never


@dataclass(frozen=True)
class Op:
    """A primitive of `operations.py`, with operands, and parameters that are known to the compiler."""

    name: str
    args: tuple[Expr, ...]
    params: tuple[tuple[str, Parameter], ...] = ()

    def param(self, key: str, default: Parameter | None = None) -> Parameter | None:
        return next((value for name, value in self.params if name == key), default)


@dataclass(frozen=True)
class Item:
    """One item of a tuple."""

    value: Expr
    index: int


@dataclass(frozen=True)
class Slice:
    start: Expr | None = None
    stop: Expr | None = None
    step: Expr | None = None


@dataclass(frozen=True)
class NewAxis:
    """A new axis of size 1 in an index."""


@dataclass(frozen=True)
class Get:
    """Part of an array, as NumPy indexes: by integers, slices, integer arrays and masks."""

    value: Expr
    index: tuple[Index, ...]


@dataclass(frozen=True)
class Update:
    """An array with new values in one part: `set` puts them there, `add-at` adds one for each index."""

    kind: str
    value: Expr
    index: tuple[Index, ...]
    new: Expr


@dataclass(frozen=True)
class Error:
    """Raises an exception of a type, by its name, with a message of texts and values."""

    type: str
    parts: tuple[str | Expr, ...]


@dataclass(frozen=True)
class Print:
    """Prints texts and values with a blank between; its value is the empty tuple."""

    parts: tuple[str | Expr, ...]


Expr = Const | Var | Let | If | While | Call | Op | Item | Get | Update | Error | Print
Index = Const | Var | Let | If | While | Call | Op | Item | Get | Update | Error | Print | Slice | NewAxis


# ---------------------------------------------------------------------------------------------------------
# programs


@dataclass(frozen=True)
class Function:
    name: str
    params: tuple[tuple[str, Type], ...]
    result: Type
    body: Expr


@dataclass(frozen=True)
class Program:
    functions: tuple[Function, ...]
    entry: str
    table: dict[str, Function] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", {f.name: f for f in self.functions})


def boolean(value: bool) -> Const:
    return Const(value, BOOL)


def integer(value: int) -> Const:
    return Const(value, INT64)


def real(value: float) -> Const:
    return Const(value, FLOAT64)


def children(expr: Expr) -> Iterator[Expr]:
    """The expressions directly in an expression, in the order in which they are evaluated."""
    match expr:
        case Let(bindings, body):
            yield from (b.value for b in bindings)
            yield body
        case If(test, then, orelse):
            yield from (test, then, orelse)
        case While(bindings, test, body):
            yield from (b.value for b in bindings)
            yield from (test, body)
        case Call(_, args) | Op(_, args):
            yield from args
        case Item(value):
            yield value
        case Get(value, index):
            yield value
            yield from index_children(index)
        case Update(_, value, index, new):
            yield value
            yield from index_children(index)
            yield new
        case Error(_, parts) | Print(parts):
            yield from (p for p in parts if not isinstance(p, str))


def index_children(index: tuple[Index, ...]) -> Iterator[Expr]:
    for i in index:
        if isinstance(i, Slice):
            yield from (part for part in (i.start, i.stop, i.step) if part is not None)
        elif not isinstance(i, NewAxis):
            yield i


def mapped(expr: Expr, function: Callable[[Expr], Expr]) -> Expr:
    """The expression with a function applied to each expression directly in it."""
    match expr:
        case Const() | Var():
            return expr
        case Let(bindings, body):
            return Let(tuple(replace(b, value=function(b.value)) for b in bindings), function(body))
        case If(test, then, orelse):
            return If(function(test), function(then), function(orelse))
        case While(bindings, test, body, limit):
            entry = tuple(replace(b, value=function(b.value)) for b in bindings)
            return While(entry, function(test), function(body), limit)
        case Call() | Op():
            return replace(expr, args=tuple(map(function, expr.args)))
        case Item(value, number):
            return Item(function(value), number)
        case Get(value, index):
            return Get(function(value), _mapped_index(index, function))
        case Update(kind, value, index, new):
            return Update(kind, function(value), _mapped_index(index, function), function(new))
        case Error() | Print():
            parts = tuple(p if isinstance(p, str) else function(p) for p in expr.parts)
            return replace(expr, parts=parts)


def _mapped_index(index: tuple[Index, ...], function: Callable[[Expr], Expr]) -> tuple[Index, ...]:
    found: list[Index] = []
    for i in index:
        if isinstance(i, Slice):
            parts = (i.start, i.stop, i.step)
            found.append(Slice(*(None if p is None else function(p) for p in parts)))
        else:
            found.append(i if isinstance(i, NewAxis) else function(i))
    return tuple(found)


def walk(expr: Expr) -> Iterator[Expr]:
    """An expression and all expressions in it."""
    pending = [expr]
    while pending:
        here = pending.pop()
        yield here
        pending += children(here)
