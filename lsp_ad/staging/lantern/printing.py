"""Programs as text. `parsing.py` says what the text is, and reads it back."""

from __future__ import annotations

import re

from lsp_ad.staging.lantern.ir import (
    FLOAT64,
    INT64,
    Array,
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
    List,
    NewAxis,
    Op,
    Parameter,
    Print,
    Program,
    Scalar,
    Slice,
    Tuple,
    Type,
    Update,
    Var,
    While,
)
from lsp_ad.staging.lantern.sexpr import Block, Doc, laid_out, quoted

RESERVED = frozenset({"inf", "nan", "true", "false", "newaxis", "_"})
_NAME = re.compile(r"[^\W\d][\w.]*'*")


def is_name(text: str) -> bool:
    """Whether a text can be a name of a variable or function."""
    return bool(_NAME.fullmatch(text)) and text not in RESERVED


def program_text(program: Program) -> str:
    return laid_out(Block(["program", program.entry, *map(_function, program.functions)], 2)) + "\n"


def expression_text(expr: Expr) -> str:
    return laid_out(_doc(expr))


def type_text(t: Type) -> str:
    return laid_out(_type(t))


def _function(f: Function) -> Doc:
    params = Block([Block([_name(name), _type(t)]) for name, t in f.params], 0)
    return Block(["def", _name(f.name), params, _type(f.result), _doc(f.body)], 4)


def _type(t: Type) -> Doc:
    match t:
        case Scalar(dtype):
            return dtype
        case Array(dtype, rank):
            return Block(["array", dtype, str(rank)])
        case Tuple(items):
            return Block(["tuple", *map(_type, items)])
        case List(item):
            return Block(["list", _type(item)])
    return "never"


def _name(name: str) -> str:
    if not is_name(name):
        raise ValueError(f"{name!r} is not a name")
    return name


def _doc(expr: Expr) -> Doc:
    match expr:
        case Const():
            return _constant(expr)
        case Var(name):
            return _name(name)
        case Let(bindings, body):
            return Block(["let", Block([_binding(b) for b in bindings], 0), _doc(body)], 2)
        case If(test, then, orelse):
            return Block(["if", _doc(test), _doc(then), _doc(orelse)], 2)
        case While(bindings, test, body, limit):
            limits: list[Doc] = [] if limit is None else [f":limit {limit}"]
            head = [Block([_binding(b) for b in bindings], 0), *limits]
            return Block(["while", *head, _doc(test), _doc(body)], 2 + len(limits))
        case Call(function, args):
            return Block(["call", _name(function), *map(_doc, args)], 2)
        case Op(name, args, params):
            rest: list[Doc] = [f":{key} {_parameter(value)}" for key, value in params]
            return Block([name, *map(_doc, args), *rest])
        case Item(value, index):
            return Block(["item", _doc(value), str(index)])
        case Get(value, index):
            return Block(["get", _doc(value), _indices(index)], 2)
        case Update(kind, value, index, new):
            return Block([kind, _doc(value), _indices(index), _doc(new)], 2)
        case Error(name, parts):
            return Block(["error", quoted(name), *map(_part, parts)], 2)
        case Print(parts):
            return Block(["print", *map(_part, parts)])


def _binding(b: Binding) -> Doc:
    name = "_" if b.name == "_" else _name(b.name)
    return Block([name, _doc(b.value), *([] if b.place is None else [f":at {quoted(b.place)}"])])


def _part(part: str | Expr) -> Doc:
    return quoted(part) if isinstance(part, str) else _doc(part)


def _indices(index: tuple[Index, ...]) -> Doc:
    return Block([_index(i) for i in index], 0, "[")


def _index(i: Index) -> Doc:
    if isinstance(i, NewAxis):
        return "newaxis"
    if not isinstance(i, Slice):
        return _doc(i)
    parts = ["_" if part is None else _doc(part) for part in (i.start, i.stop, i.step)]
    while parts and parts[-1] == "_":
        parts.pop()
    return Block([":", *parts]) if parts else ":"


def _constant(c: Const) -> Doc:
    if isinstance(c.value, bool):
        return "true" if c.value else "false"
    if isinstance(c.value, complex):
        return Block(["complex", repr(c.value.real), repr(c.value.imag)])
    usual = INT64 if isinstance(c.value, int) else FLOAT64
    return repr(c.value) if c.type == usual else f"{c.value!r}:{c.type.dtype}"


def _parameter(value: Parameter) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"({' '.join(map(str, value))})"
    return str(value) if isinstance(value, int | str) else type_text(value)
