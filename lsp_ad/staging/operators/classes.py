"""Classes of the user's, whose methods Python calls by itself: for operators, properties, `with` and `for`.

While a function is traced, the classes that it meets have converted methods in the place of their own. On
plain values these do what the user's do; afterwards the classes are as they were.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lsp_ad.staging.backends import owner
from lsp_ad.staging.errors import ConversionError
from lsp_ad.staging.libraries import is_library
from lsp_ad.staging.structures import flatten

_OPERATORS = [
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "xor", "or"),
]
_NAMES = frozenset(
    [f"__{side}{name}__" for name in _OPERATORS for side in ("", "r", "i")]
    + [f"__{name}__" for name in ("neg", "pos", "abs", "invert", "round", "trunc", "floor", "ceil")]
    + [f"__{name}__" for name in ("lt", "le", "eq", "ne", "gt", "ge", "bool", "len", "contains")]
    + [f"__{name}__" for name in ("getitem", "setitem", "delitem", "missing", "iter", "next", "reversed")]
    + [f"__{name}__" for name in ("enter", "exit", "call", "float", "int", "complex", "index")]
    + [f"__{name}__" for name in ("getattr", "setattr", "delattr", "get", "set", "post_init")]
)
_COMPARISONS = {"__eq__": "==", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
_lock = threading.RLock()
_own: dict[type, dict[str, Any]] = {}  # what the classes have of their own that is replaced now
_traces = 0  # that are going on


STANDS_IN = "__lsp_ad_stands_in_for__"
"""The attribute of a function that stands in for a method: the method converted."""


@contextmanager
def converted_methods() -> Iterator[None]:
    """Let the classes that are met in a block have converted methods."""
    global _traces
    with _lock:
        _traces += 1
    try:
        yield
    finally:
        with _lock:
            _traces -= 1
            while not _traces and _own:
                kind, replaced = _own.popitem()
                for name, value in replaced.items():
                    type.__setattr__(kind, name, value)


def meet(kind: type) -> None:
    """Give a class, where it is the user's, converted methods until the trace that is going on ends."""
    from lsp_ad.staging.callees import MARK

    with _lock:
        for one in kind.__mro__ if _traces else ():
            if one in _own or one.__flags__ & _IMMUTABLE or MARK in vars(one):
                continue
            _own[one] = {}
            for name, value in list(vars(one).items()):
                made = _converted(one, name, value)
                if made is not None:
                    _own[one][name] = value
                    type.__setattr__(one, name, made)


_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE


def _converted(kind: type, name: str, value: Any) -> Any:
    """What stands in for an attribute of a class; None where it stays."""
    if isinstance(value, types.FunctionType):
        if name in _COMPARISONS and "__dataclass_fields__" in vars(kind) and _is_made(value):
            return _by_fields(name, value)
        return _method(value) if name in _NAMES else None
    if type(value) is property:
        get, set_, delete = (_method(part) for part in (value.fget, value.fset, value.fdel))
        if get is None and set_ is None and delete is None:
            return None
        return property(get or value.fget, set_ or value.fset, delete or value.fdel, value.__doc__)
    if type(value) is functools.cached_property:
        getter = _method(value.func)
        if getter is None:
            return None
        cached = functools.cached_property(getter)
        cached.__set_name__(object, name)
        return cached
    if hasattr(type(value), "__get__"):  # a descriptor, perhaps of a class of the user's
        meet(type(value))
    return None


def _is_made(function: types.FunctionType) -> bool:
    """Whether Python has made a function, of no text of the user's."""
    return function.__code__.co_filename == "<string>"


def _method(value: Any) -> Callable[..., Any] | None:
    """A function that stands in for a method, or None: it is a library's, marked, or cannot be converted."""
    from lsp_ad.staging.callees import converted_callee
    from lsp_ad.staging.operators.calls import by_operator

    if not isinstance(value, types.FunctionType) or is_library(value.__code__.co_filename):
        return None
    try:
        made, why = converted_callee(value)
    except ConversionError:  # an error where it decides on a staged value
        return None
    if why or made is value:
        return None

    @functools.wraps(value)
    def stand_in(*args: Any, **named: Any) -> Any:
        return by_operator(made, args, named)

    stand_in.__dict__[STANDS_IN] = made
    return stand_in


def _by_fields(name: str, method: types.FunctionType) -> Callable[..., Any]:
    """A comparison that Python has made for a dataclass: of the fields, one after the other."""
    from lsp_ad.staging.operators import logical

    @functools.wraps(method)
    def stand_in(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        names = [f.name for f in dataclasses.fields(self) if f.compare]
        one, two = ([getattr(value, n) for n in names] for value in (self, other))
        if owner(*flatten((one, two))[0]) is None:
            return method(self, other)
        return logical.eq(one, two) if name == "__eq__" else logical.ordered(_COMPARISONS[name], one, two)

    stand_in.__dict__[STANDS_IN] = stand_in
    return stand_in


def own_method(value: Any, name: str) -> Callable[..., Any] | None:
    """The method of a name that is written in Python, of an object that is no array and nothing staged."""
    method = getattr(type(value), name, None)
    if not isinstance(method, types.FunctionType) or isinstance(value, (np.ndarray, np.generic)):
        return None
    return method if owner(value) is None else None


__all__ = ["STANDS_IN", "converted_methods", "meet", "own_method"]
