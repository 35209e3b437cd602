"""What functions of Python and of libraries, and methods, give, as far as it matters to staging."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast

from lsp_ad.checks.prediction.values import (
    FALSE,
    NONE,
    STAGED,
    STAGED_LIST,
    TRUE,
    UNCLEAR,
    Items,
    Known,
    Library,
    Python,
    Staged,
    Table,
    Unclear,
    Value,
    combined,
    has_staged,
    is_none,
    is_unclear,
    may_be_none,
)

_LARGEST = 10**6  # of numbers that are computed here, and of the length of texts
_FORM = {"shape", "ndim", "size", "dtype", "itemsize", "nbytes"}
_COMPUTED: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (abs, min, max, sum, int, float, bool, str, round, len, divmod, sorted, any, all)
}
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul, gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv, gast.Mod: operator.mod, gast.Pow: operator.pow,
    gast.BitAnd: operator.and_, gast.BitOr: operator.or_, gast.BitXor: operator.xor,
}  # fmt: skip
_COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    gast.Eq: operator.eq, gast.NotEq: operator.ne, gast.Lt: operator.lt, gast.LtE: operator.le,
    gast.Gt: operator.gt, gast.GtE: operator.ge,
}  # fmt: skip
_ALWAYS_STAGED = ("jax.numpy.", "jax.nn.", "jax.random.", "jax.scipy.", "jax.lax.", "tensorflow.")


def binary(op: gast.AST, left: Value, right: Value) -> Value:
    """`left op right`."""
    if isinstance(left, Known) and isinstance(right, Known):
        return _computed(_OPERATORS.get(type(op)), left.value, right.value)
    if isinstance(op, gast.Add) and isinstance(left, Items) and isinstance(right, Items):
        return Items([*left.items, *right.items], left.is_list)
    if isinstance(op, gast.Mult) and isinstance(left, Known) and isinstance(right, Items):
        left, right = right, left
    if isinstance(op, gast.Mult) and isinstance(left, Items) and isinstance(right, Known):
        times = right.value
        if isinstance(times, int) and len(left.items) * times <= _LARGEST:
            return Items(left.items * times, left.is_list)
    return combined(left, right)


def unary(op: gast.AST, value: Value) -> Value:
    if isinstance(value, Known) and isinstance(op, (gast.USub, gast.UAdd)):
        return _computed(lambda v: -v if isinstance(op, gast.USub) else +v, value.value)
    return combined(value)


def comparison(op: gast.AST, left: Value, right: Value) -> Value:
    if isinstance(op, (gast.Is, gast.IsNot)):
        return _identity(isinstance(op, gast.Is), left, right)
    if isinstance(op, (gast.In, gast.NotIn)):
        return _membership(isinstance(op, gast.In), left, right)
    if isinstance(left, Known) and isinstance(right, Known):
        return _computed(_COMPARISONS.get(type(op)), left.value, right.value)
    return combined(left, right)


def _identity(positive: bool, left: Value, right: Value) -> Value:
    for one, other in ((left, right), (right, left)):
        if is_none(one) and may_be_none(other):
            return STAGED
        if is_none(one) and not isinstance(other, (Python, Unclear)):
            return Known(is_none(other) == positive)
    return Python()


def _membership(positive: bool, left: Value, right: Value) -> Value:
    if isinstance(left, Known):
        if isinstance(right, Table):
            return Known((left.value in right.entries) == positive)
        if isinstance(right, Items) and all(isinstance(i, Known) for i in right.items):
            return Known(any(i.value == left.value for i in right.items if isinstance(i, Known)) == positive)
        if isinstance(right, Known) and isinstance(right.value, (str, range)):
            return _computed(lambda a, b: (a in b) == positive, left.value, right.value)
    return combined(left, right)


def _computed(function: Callable[..., Any] | None, *values: object) -> Value:
    """The result of a plain function of plain values, where that is quickly computed."""
    powers = function is operator.pow
    if function is None or any(_is_large(v, 64 if powers else _LARGEST) for v in values):
        return Python()
    try:
        return Known(function(*values))
    except Exception:  # what the program would raise here
        return UNCLEAR


def _is_large(value: object, limit: int) -> bool:
    return (isinstance(value, int) and abs(value) > limit) or (isinstance(value, str) and len(value) > limit)


def attribute(value: Value, name: str, sizes: bool) -> Value | None:
    """An attribute of a value; None where it is a method. `sizes`: those of arrays are staged."""
    if isinstance(value, Library):
        return Library(f"{value.name}.{name}")
    if isinstance(value, Staged) and sizes and name in ("shape", "size"):
        return UNCLEAR if name == "shape" else STAGED  # a tuple of staged sizes
    if isinstance(value, Staged):
        return Python() if name in _FORM else STAGED if name in ("T", "real", "imag") else None
    if isinstance(value, (Python, Unclear)):
        return None
    return None


def subscript(value: Value, index: Value) -> Value:
    if isinstance(value, Staged):
        return STAGED
    if isinstance(index, Known):
        try:
            if isinstance(value, Items) and isinstance(index.value, slice):
                return Items(value.items[index.value], value.is_list)
            if isinstance(value, Items) and isinstance(index.value, int):
                return value.items[index.value]
            if isinstance(value, Table):
                return value.entries[index.value]
            if isinstance(value, Known):
                return Known(value.value[index.value])  # type: ignore[index]
        except Exception:
            return UNCLEAR
    return combined(value, index)


def call(name: str, arguments: list[Value], named: dict[str, Value], sizes: bool) -> Value:
    """What a function of a library gives. `sizes`: those of arrays are staged."""
    short = name.removeprefix("builtins.")
    of_an_array = bool(arguments) and isinstance(arguments[0], Staged)
    if sizes and of_an_array and short in ("len", "numpy.size", "numpy.shape"):
        return UNCLEAR if short == "numpy.shape" else STAGED
    if short != name:
        return _builtin(short, arguments)
    values = [*arguments, *named.values()]
    if name.startswith("lsp_ad."):
        return _directive(name.rpartition(".")[2], arguments)
    if name in ("numpy.shape", "numpy.ndim", "numpy.size"):
        return Python()
    if name.startswith(_ALWAYS_STAGED):
        return STAGED
    if name.startswith(("numpy.", "math.")):
        return combined(*values)
    return UNCLEAR if has_staged(*values) else combined(*values)


def _directive(name: str, arguments: list[Value]) -> Value:
    if name == "must_stage" and arguments:
        return STAGED if isinstance(arguments[0], (Items, Known, Python)) else arguments[0]
    if name == "element_type":
        return STAGED_LIST
    return NONE if name == "loop_options" else UNCLEAR


def _builtin(name: str, arguments: list[Value]) -> Value:
    if name in ("print", "setattr"):
        return NONE
    if name in ("isinstance", "issubclass", "callable", "hasattr", "type"):
        return Python() if not is_unclear(*arguments) else UNCLEAR
    if name == "range":
        if all(isinstance(a, Known) for a in arguments):
            return _computed(range, *(a.value for a in arguments if isinstance(a, Known)))
        return combined(*arguments)
    first = arguments[0] if arguments else NONE
    if name == "len":
        if isinstance(first, (Items, Table)):
            return Known(len(first.items if isinstance(first, Items) else first.entries))
        if isinstance(first, Staged):
            return STAGED if first.is_list else Python()
    if name in ("list", "tuple"):
        items = elements(first) if arguments else []
        return Items(list(items), name == "list") if items is not None else combined(first)
    if name == "dict" and not arguments:
        return Table({})
    if name in ("enumerate", "zip", "reversed"):
        return _iteration(name, arguments)
    if name in _COMPUTED:
        plain = [_plain(a) for a in arguments]
        if all(p is not None for p in plain):
            return _computed(_COMPUTED[name], *(p[0] for p in plain if p is not None))
        return combined(*arguments)
    return UNCLEAR if has_staged(*arguments) else combined(*arguments)


def _plain(value: Value) -> tuple[object] | None:
    """A value as Python has it, if it is known."""
    if isinstance(value, Known):
        return (value.value,)
    if isinstance(value, Items) and all(isinstance(i, Known) for i in value.items):
        return ([i.value for i in value.items if isinstance(i, Known)],)
    return None


def _iteration(name: str, arguments: list[Value]) -> Value:
    several = [elements(a) for a in arguments]
    known = [items for items in several if items is not None]
    if len(known) < len(several):
        return combined(*arguments)
    if name == "zip":
        return Items([Items(list(row), False) for row in zip(*known, strict=False)])
    if name == "reversed" and isinstance(arguments[0], Known) and isinstance(arguments[0].value, range):
        return Known(arguments[0].value[::-1])
    if name == "reversed":
        return Items(known[0][::-1])
    return Items([Items([Known(i), item], False) for i, item in enumerate(known[0])])


def elements(value: Value) -> list[Value] | None:
    """What a loop over a value goes over, if that is known."""
    if isinstance(value, Items):
        return list(value.items)
    if isinstance(value, Table):
        return [Known(key) for key in value.entries]
    if isinstance(value, Known) and isinstance(value.value, (range, str, tuple)):
        return [Known(v) for v in value.value] if len(value.value) <= _LARGEST else None
    return None


def method(owner: Value, name: str, arguments: list[Value]) -> Value:
    """What a method gives, and what it does to a list or dict."""
    if isinstance(owner, Items) and owner.is_list:
        return _of_list(owner, name, arguments)
    if isinstance(owner, Table):
        return _of_dict(owner, name, arguments)
    if isinstance(owner, Staged):
        return NONE if owner.is_list and name in ("append", "extend") else STAGED
    if isinstance(owner, Known):
        known = [a.value for a in arguments if isinstance(a, Known)]
        if len(known) == len(arguments):
            return _computed(getattr(owner.value, name, None), *known)
    return combined(owner, *arguments)


def _of_list(owner: Items, name: str, arguments: list[Value]) -> Value:
    first = arguments[0] if arguments else NONE
    index = first.value if isinstance(first, Known) else None
    if name == "append":
        owner.items.append(first)
    elif name == "extend" and elements(first) is not None:
        owner.items += elements(first) or []
    elif name == "insert" and isinstance(index, int):
        owner.items.insert(index, arguments[1])
    elif name == "pop" and owner.items and (not arguments or isinstance(index, int)):
        return owner.items.pop(index if isinstance(index, int) else -1)
    elif name == "reverse":
        owner.items.reverse()
    elif name == "clear":
        owner.items.clear()
    elif name == "copy":
        return Items(list(owner.items))
    else:
        result = combined(owner, *arguments)
        owner.items[:] = [UNCLEAR for _ in owner.items]
        return result
    return NONE


def _of_dict(owner: Table, name: str, arguments: list[Value]) -> Value:
    if name == "items":
        return Items([Items([Known(k), v], False) for k, v in owner.entries.items()])
    if name == "keys":
        return Items([Known(k) for k in owner.entries])
    if name == "values":
        return Items(list(owner.entries.values()))
    if name == "copy":
        return Table(dict(owner.entries))
    if name == "get" and arguments and isinstance(arguments[0], Known):
        return owner.entries.get(arguments[0].value, arguments[1] if len(arguments) > 1 else NONE)
    return UNCLEAR


__all__ = [
    "FALSE",
    "TRUE",
    "attribute",
    "binary",
    "call",
    "comparison",
    "elements",
    "method",
    "subscript",
    "unary",
]
