"""What is to be called in place of a callable: it converted, or itself, and why it is left alone."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from lsp_ad.staging.backends import loaded, owner
from lsp_ad.staging.conversion import converted, has_control_flow, place
from lsp_ad.staging.entries import ENTRY
from lsp_ad.staging.errors import CONVERTED, staging_error
from lsp_ad.staging.libraries import is_library
from lsp_ad.staging.operators.classes import STANDS_IN, meet
from lsp_ad.staging.operators.texts import text
from lsp_ad.staging.structures import flatten

MARK = "__lsp_ad_do_not_convert__"
# They look at functions, or keep them, and do not call them.
_LOOKING = frozenset(["abc", "copy", "dataclasses", "inspect", "pickle", "types", "typing", "weakref"])
_CALLING = frozenset([functools.reduce, functools.partial, functools.cmp_to_key])


def converted_callee(function: Any) -> tuple[Any, str]:
    """What is to be called in place of a callable, and why it is left alone, if it is.

    Raises ConversionError for a function of the user's that cannot be converted and is not marked.
    """
    mark = getattr(function, MARK, None)
    if mark is not None and mark in (function, getattr(function, "__func__", None), type(function)):
        return function, "it is marked do_not_convert"
    if isinstance(function, types.FunctionType):
        return _function(function)
    if isinstance(function, types.MethodType):
        inner, why = converted_callee(function.__func__)
        if inner is function.__func__:
            return function, why
        return (functools.partial if why else types.MethodType)(inner, function.__self__), why
    if isinstance(function, functools.partial):
        inner, why = converted_callee(function.func)
        return functools.partial(inner, *function.args, **function.keywords), why
    if isinstance(function, type):
        return _constructor(function)
    if isinstance(function, types.BuiltinFunctionType):
        if isinstance(function.__self__, types.ModuleType) or function.__name__ == "sort":
            return _library(function)
        if isinstance(function.__self__, str) and function.__name__ == "format":
            return functools.partial(text, function.__self__), "it is built in"
        return function, "it is built in"
    if isinstance(function, (types.MethodWrapperType, types.WrapperDescriptorType)):
        return function, "it is built in"
    for backend in loaded():
        inner = backend.underlying(function)
        if isinstance(inner, types.FunctionType) and not is_library(inner.__code__.co_filename):
            return converted_callee(inner)
    method = getattr(type(function), "__call__", None)  # noqa: B004
    if isinstance(method, types.FunctionType) and not is_library(method.__code__.co_filename):
        return types.MethodType(converted(method), function), ""
    return _library(function)


def _function(function: types.FunctionType) -> tuple[Any, str]:
    if function.__code__ in CONVERTED:
        return function, ""
    if STANDS_IN in function.__dict__:
        return function.__dict__[STANDS_IN], ""
    entry = function.__dict__.get(ENTRY)
    if entry is not None and entry.function is function:  # a wrapper may have taken over the attribute
        return entry.callee(), ""
    if is_library(function.__code__.co_filename):
        return _library(function)
    return converted(function), ""


def _constructor(kind: type) -> tuple[Any, str]:
    """A class of the user's: its `__init__` converted."""
    meet(kind)
    init = kind.__init__  # type: ignore[misc]
    if not isinstance(init, types.FunctionType) or is_library(init.__code__.co_filename):
        return _library(kind, "it is a class without an `__init__` of the user's")
    if type(kind).__call__ is not type.__call__ or init.__code__.co_filename.startswith("<"):
        return kind, "its objects are made by Python"
    if issubclass(kind, BaseException):
        return kind, "it is an exception"
    made_init = converted_callee(init)[0]

    def construct(*args: Any, **named: Any) -> Any:
        made = kind.__new__(kind) if kind.__new__ is object.__new__ else kind.__new__(kind, *args, **named)
        if type(made) is kind:
            made_init(made, *args, **named)
        elif isinstance(made, kind):
            type(made).__init__(made, *args, **named)
        return made

    return construct, ""


def _library(function: Any, why: str = "it is a library's") -> tuple[Any, str]:
    """A function of a library, that is given converted functions for those of the user's."""
    inside = _wrapped(function)
    if inside is not None:
        return _guarded(function, inside), why
    module = (getattr(function, "__module__", None) or "").split(".")[0]
    if module == "lsp_ad" and isinstance(function, types.FunctionType):  # it reads the text of functions
        return function, "it is lsp-ad's"
    if module in _LOOKING or (module == "functools" and function not in _CALLING):
        return function, why

    def call(*args: Any, **named: Any) -> Any:
        return function(*map(argument, args), **{k: argument(v) for k, v in named.items()})

    return call, why


def argument(value: Any) -> Any:
    """A function of the user's converted, also in a tuple or a list; anything else as it is."""
    kind = type(value)
    if kind is tuple or kind is list:
        return kind(map(argument, value)) if any(map(callable, value)) else value
    if kind is types.FunctionType or kind is types.MethodType or kind is functools.partial:
        return converted_callee(value)[0]
    return value


def _wrapped(function: Any) -> types.FunctionType | None:
    """A function of the user's, with control flow, that a callable of a library calls, if there is one."""
    inside = getattr(function, "__wrapped__", None)
    while inside is not None:
        if isinstance(inside, types.FunctionType) and not is_library(inside.__code__.co_filename):
            told = inside.__code__ in CONVERTED or ENTRY in inside.__dict__ or hasattr(inside, MARK)
            return inside if not told and has_control_flow(inside) else None
        inside = getattr(inside, "__wrapped__", None)
    return None


def _guarded(function: Callable[..., Any], inside: types.FunctionType) -> Callable[..., Any]:
    """A callable of a library with a function of the user's in it: not for staged values."""

    def call(*args: Any, **named: Any) -> Any:
        backend = owner(*flatten((args, named))[0])
        if backend is not None:
            raise staging_error(
                f"{inside.__qualname__} ({place(inside)}) is wrapped by a library, which calls it"
                f" unconverted, with values of {backend.name}.",
                f"Wrap a converted function, `lsp_ad.staged({inside.__name__})`,"
                " or mark it by `lsp_ad.do_not_convert`.",
            )
        return function(*args, **named)

    return call
