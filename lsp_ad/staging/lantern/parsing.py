"""The text of programs: `parse` is the inverse of `printing.program_text`.

    (program main
      (def power ((x float64) (n int64)) float64
        (if (== n 0)
          1.0
          (* x (call power x (- n 1)))))
      ...)

Constants are `1` (int64), `1.0`, `inf`, `nan` (float64), `true`, `3:int32`, `0.1:float32` and
`(complex 1.0 2.0)`. Comments run from a semicolon to the end of the line.
"""

from __future__ import annotations

import re

from lsp_ad.staging.lantern.ir import (
    BOOL,
    COMPLEX128,
    DTYPES,
    NEVER,
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
from lsp_ad.staging.lantern.operations import OPERATIONS
from lsp_ad.staging.lantern.printing import is_name
from lsp_ad.staging.lantern.sexpr import Group, Quoted, Symbol, Tree, read

_INTEGER = re.compile(r"[+-]?\d+")


def parse(text: str) -> Program:
    """The program that a text is, or a LanternSyntaxError with line and column."""
    tree = read(text)
    head, rest = _form(tree)
    if head != "program" or not rest:
        raise tree.at.error("a program is (program entry (def ...) ...)")
    try:
        return Program(tuple(_parse_function(t) for t in rest[1:]), _parse_name(rest[0]))
    except RecursionError:
        raise tree.at.error("the program is nested too deeply to read") from None


def parse_expression(text: str) -> Expr:
    return _expr(read(text))


def parse_type(text: str) -> Type:
    return _parse_type(read(text))


def _form(tree: Tree) -> tuple[str, tuple[Tree, ...]]:
    """The head of a form and what follows it."""
    if isinstance(tree, Group) and tree.bracket == "(" and tree.items and isinstance(tree.items[0], Symbol):
        return tree.items[0].text, tree.items[1:]
    raise tree.at.error("a form with a word at its head is expected")


def _sized(tree: Tree, rest: tuple[Tree, ...], count: int, shape: str) -> tuple[Tree, ...]:
    if len(rest) != count:
        raise tree.at.error(f"the form is {shape}")
    return rest


def _list(tree: Tree, bracket: str = "(") -> tuple[Tree, ...]:
    if not isinstance(tree, Group) or tree.bracket != bracket:
        raise tree.at.error(f"a list that opens with {bracket} is expected")
    return tree.items


def _parse_name(tree: Tree) -> str:
    if not isinstance(tree, Symbol) or not is_name(tree.text):
        raise tree.at.error("a name is expected")
    return tree.text


def _parse_integer(tree: Tree) -> int:
    if not isinstance(tree, Symbol) or not _INTEGER.fullmatch(tree.text):
        raise tree.at.error("an integer is expected")
    return int(tree.text)


def _parse_string(tree: Tree) -> str:
    if not isinstance(tree, Quoted):
        raise tree.at.error("a string is expected")
    return tree.text


def _parse_function(tree: Tree) -> Function:
    head, rest = _form(tree)
    if head != "def":
        raise tree.at.error("a definition (def name ((parameter type) ...) result body) is expected")
    name, params, result, body = _sized(tree, rest, 4, "(def name ((parameter type) ...) result body)")
    pairs = [_sized(p, _list(p), 2, "(parameter type)") for p in _list(params)]
    typed = tuple((_parse_name(p), _parse_type(t)) for p, t in pairs)
    return Function(_parse_name(name), typed, _parse_type(result), _expr(body))


def _parse_type(tree: Tree) -> Type:
    if isinstance(tree, Symbol):
        if tree.text in DTYPES:
            return Scalar(tree.text)
        if tree.text == "never":
            return NEVER
        raise tree.at.error(f"{tree.text} is not a type")
    head, rest = _form(tree)
    if head == "array":
        dtype, rank = _sized(tree, rest, 2, "(array dtype rank)")
        if _parse_integer(rank) < 1:
            raise rank.at.error("an array has a rank of 1 or more: a value of rank 0 is a scalar")
        return Array(_dtype(dtype), _parse_integer(rank))
    if head == "tuple":
        return Tuple(tuple(map(_parse_type, rest)))
    if head == "list":
        return List(_parse_type(*_sized(tree, rest, 1, "(list type)")))
    raise tree.at.error(f"{head} is not a type")


def _dtype(tree: Tree) -> str:
    if not isinstance(tree, Symbol) or tree.text not in DTYPES:
        raise tree.at.error("a dtype is expected")
    return tree.text


def _expr(tree: Tree) -> Expr:
    if isinstance(tree, Symbol):
        return _atom(tree)
    if isinstance(tree, Quoted):
        raise tree.at.error("a string stands only in error and print")
    head, rest = _form(tree)
    if head in FORMS:
        return FORMS[head](tree, rest)
    if head not in OPERATIONS:
        raise tree.at.error(f"there is no operation {head}; a function is called by (call {head} ...)")
    operands, params = _operands(rest)
    return Op(head, tuple(map(_expr, operands)), params)


def _operands(rest: tuple[Tree, ...]) -> tuple[tuple[Tree, ...], tuple[tuple[str, Parameter], ...]]:
    """What stands before the first :keyword, and the pairs from there on."""
    count = next((i for i, t in enumerate(rest) if isinstance(t, Symbol) and t.text[0] == ":"), len(rest))
    params, pairs = [], rest[count:]
    for key, value in zip(pairs[::2], pairs[1::2], strict=False):
        if not isinstance(key, Symbol) or key.text[0] != ":":
            raise key.at.error("a :keyword is expected")
        params.append((key.text[1:], _parse_parameter(key.text[1:], value)))
    if len(pairs) % 2:
        raise pairs[-1].at.error("a :keyword needs a value")
    return rest[:count], tuple(params)


def _parse_parameter(key: str, tree: Tree) -> Parameter:
    if key == "item":
        return _parse_type(tree)
    if key == "dtype":
        return _dtype(tree)
    if isinstance(tree, Group):
        return tuple(map(_parse_integer, _list(tree)))
    if isinstance(tree, Symbol) and tree.text in ("true", "false"):
        return tree.text == "true"
    return _parse_integer(tree)


def _atom(tree: Symbol) -> Expr:
    text = tree.text
    if is_name(text):
        return Var(text)
    if text in ("true", "false"):
        return Const(text == "true", BOOL)
    digits, _, dtype = text.partition(":")
    if dtype not in ("", "int32", "int64", "float32", "float64"):
        raise tree.at.error(f"{text} is neither a name nor a number")
    if _INTEGER.fullmatch(digits) and not dtype.startswith("float"):
        return Const(int(digits), Scalar(dtype or "int64"))
    if dtype.startswith("int"):
        raise tree.at.error(f"{digits} is not an integer")
    return Const(_parse_float(tree, digits), Scalar(dtype or "float64"))


def _parse_float(tree: Tree, digits: str | None = None) -> float:
    digits = digits or (tree.text if isinstance(tree, Symbol) else "")
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|-?inf|nan", digits):
        raise tree.at.error("neither a name nor a number")
    return float(digits)


def _parse_let(tree: Tree, rest: tuple[Tree, ...]) -> Expr:
    bindings, body = _sized(tree, rest, 2, "(let ((name value) ...) body)")
    return Let(tuple(map(_parse_binding, _list(bindings))), _expr(body))


def _parse_binding(tree: Tree) -> Binding:
    items = _list(tree)
    place = None
    if len(items) == 4 and isinstance(items[2], Symbol) and items[2].text == ":at":
        place, items = _parse_string(items[3]), items[:2]
    name, value = _sized(tree, items, 2, '(name value) or (name value :at "place")')
    unused = isinstance(name, Symbol) and name.text == "_"
    return Binding("_" if unused else _parse_name(name), _expr(value), place)


def _parse_if(tree: Tree, rest: tuple[Tree, ...]) -> Expr:
    return If(*map(_expr, _sized(tree, rest, 3, "(if condition then else)")))


def _parse_while(tree: Tree, rest: tuple[Tree, ...]) -> Expr:
    limit = None
    if len(rest) > 2 and isinstance(rest[1], Symbol) and rest[1].text == ":limit":
        limit, rest = _parse_integer(rest[2]), (rest[0], *rest[3:])
    bindings, test, body = _sized(tree, rest, 3, "(while ((name value) ...) condition body)")
    return While(tuple(map(_parse_binding, _list(bindings))), _expr(test), _expr(body), limit)


def _parse_call(tree: Tree, rest: tuple[Tree, ...]) -> Expr:
    if not rest:
        raise tree.at.error("the form is (call function argument ...)")
    return Call(_parse_name(rest[0]), tuple(map(_expr, rest[1:])))


def _parse_item(tree: Tree, rest: tuple[Tree, ...]) -> Expr:
    value, index = _sized(tree, rest, 2, "(item tuple number)")
    return Item(_expr(value), _parse_integer(index))


def _parse_get(tree: Tree, rest: tuple[Tree, ...]) -> Expr:
    value, index = _sized(tree, rest, 2, "(get array [index ...])")
    return Get(_expr(value), _parse_indices(index))


def _parse_update(tree: Tree, rest: tuple[Tree, ...]) -> Expr:
    kind = _form(tree)[0]
    value, index, new = _sized(tree, rest, 3, f"({kind} array [index ...] value)")
    return Update(kind, _expr(value), _parse_indices(index), _expr(new))


def _parse_indices(tree: Tree) -> tuple[Index, ...]:
    return tuple(map(_parse_index, _list(tree, "[")))


def _parse_index(tree: Tree) -> Index:
    if isinstance(tree, Symbol) and tree.text in (":", "newaxis"):
        return Slice() if tree.text == ":" else NewAxis()
    if isinstance(tree, Group) and tree.bracket == "(" and tree.items and _is_colon(tree.items[0]):
        if not 2 <= len(tree.items) <= 4:
            raise tree.at.error("a slice is (: start stop step), with _ for what is left out")
        return Slice(*[None if isinstance(t, Symbol) and t.text == "_" else _expr(t) for t in tree.items[1:]])
    return _expr(tree)


def _is_colon(tree: Tree) -> bool:
    return isinstance(tree, Symbol) and tree.text == ":"


def _parse_error(tree: Tree, rest: tuple[Tree, ...]) -> Expr:
    if not rest:
        raise tree.at.error('the form is (error "Type" part ...)')
    return Error(_parse_string(rest[0]), tuple(map(_parse_part, rest[1:])))


def _parse_print(tree: Tree, rest: tuple[Tree, ...]) -> Expr:
    return Print(tuple(map(_parse_part, rest)))


def _parse_part(tree: Tree) -> str | Expr:
    return tree.text if isinstance(tree, Quoted) else _expr(tree)


def _parse_complex(tree: Tree, rest: tuple[Tree, ...]) -> Expr:
    real, imaginary = _sized(tree, rest, 2, "(complex real imaginary)")
    return Const(complex(_parse_float(real), _parse_float(imaginary)), COMPLEX128)


FORMS = {
    "let": _parse_let,
    "if": _parse_if,
    "while": _parse_while,
    "call": _parse_call,
    "item": _parse_item,
    "get": _parse_get,
    "set": _parse_update,
    "add-at": _parse_update,
    "error": _parse_error,
    "print": _parse_print,
    "complex": _parse_complex,
}
