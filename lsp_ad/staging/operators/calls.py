"""Calls: what is called is converted first; functions of Python and NumPy stand for those of a back end."""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from lsp_ad.staging import decisions
from lsp_ad.staging.arguments import check_caller, check_operator
from lsp_ad.staging.backends import all_plain, owner
from lsp_ad.staging.backends.base import Backend
from lsp_ad.staging.context import active, writing
from lsp_ad.staging.decisions import decide
from lsp_ad.staging.errors import MADE, staging_error
from lsp_ad.staging.helpers import helper_name
from lsp_ad.staging.operators import views
from lsp_ad.staging.operators.adjoints import is_kept, of_lists, opened
from lsp_ad.staging.operators.arrays import in_trace
from lsp_ad.staging.operators.bounds import note_unseen
from lsp_ad.staging.operators.builtins import TABLE
from lsp_ad.staging.operators.lists import StagedList
from lsp_ad.staging.operators.optional import certain
from lsp_ad.staging.operators.picked import Picked, by_numpy
from lsp_ad.staging.structures import flatten


def call(function: Any) -> Any:
    """What to call in place of a function: `call(f)(x)` for `f(x)`."""
    if not decisions.are_recorded():
        kind = type(function)
        plain = function.__func__ if kind is types.MethodType else function
        if type(plain) is types.FunctionType:
            before = plain.__dict__.get(MADE)
            if before is not None and before[0] is plain and before[1] is plain.__code__:
                made = before[2]
                return _within(made if plain is function else types.MethodType(made, function.__self__))
    try:
        known = TABLE.get(function)
    except TypeError:  # an object that cannot be hashed
        known = None
    if known is not None:
        return known
    _noticed(function)
    _check_in_place(function)
    name = numpy_name(function)
    if name is not None:
        made = _NumPy(function, name)
        if isinstance(function, (np.ufunc, types.FunctionType)) and "." not in name:  # there for good
            TABLE[function] = made
        return made
    from lsp_ad.staging.callees import converted_callee

    made, why = converted_callee(function)
    outcome = decisions.LEFT_ALONE if why else decisions.CONVERTED
    decide(decisions.CALL, outcome, why, subject=_name(function))
    return views.method(function, made) if why else _within(made)


_IN_PLACE = ("sort", "fill", "partition", "put", "itemset", "resize")


def _check_in_place(function: Any) -> None:
    """Refuse methods that change an array, of one that is staged or, in a trace, of NumPy."""
    array = getattr(function, "__self__", None)
    if array is None or isinstance(array, (list, StagedList, type, types.ModuleType)):
        return
    if not in_trace(array) and owner(array) is None:
        return
    # the methods of a library's arrays may all have one name
    name = next((n for n in _IN_PLACE if getattr(array, n, None) == function), None)
    if name is not None:
        raise staging_error(
            f"`{name}` changes an array, which staged code cannot do.",
            f"Write an assignment, as `x = np.{name}(x)` or `x[...] = value`.",
        )


def _noticed(function: Any) -> None:
    """Record a call of random numbers or of a clock, whose result becomes a constant of the trace."""
    if not decisions.are_recorded():
        return
    own = getattr(function, "__self__", None)
    if isinstance(own, types.ModuleType):
        module = own.__name__
    else:
        kind = own if isinstance(own, type) else type(own)
        module = kind.__module__ if own is not None else getattr(function, "__module__", None) or ""
    module = "random" if module.startswith("numpy.random") else module.split(".")[0].lstrip("_")
    if module in ("random", "time", "datetime", "uuid", "secrets"):
        why = "it is called when this is traced, not when it runs"
        decide(decisions.EFFECT, decisions.PYTHON, why, subject=module)


def call_alone(function: Any) -> Any:
    """What to call where only one function is converted, not those that it calls."""
    known = TABLE.get(function) if isinstance(function, Hashable) else None
    name = numpy_name(function) if known is None else None
    if known is None and name is None:
        decide(
            decisions.CALL, decisions.LEFT_ALONE, "what it calls is not converted", subject=_name(function)
        )
    return _NumPy(function, name) if name is not None else known or function


def _name(function: Any) -> str:
    """The name of a function, of a converted one without those around it that are not the user's."""
    return getattr(function, "__qualname__", type(function).__name__).rsplit("._lsp_ad_ag.<locals>.", 1)[-1]


def _within(function: Callable[..., Any]) -> Callable[..., Any]:
    """A converted function, with what is to be done before and after a call of it."""
    return _Within(active(), function)


def by_operator(method: Callable[..., Any], args: tuple, named: dict[str, Any]) -> Any:
    """What a converted method gives that Python calls for an operator, a property, `with` or `for`."""
    backend = active()
    with writing() as arrays:
        value = method(*args, **named) if backend is None else backend.call(method, args, named)
    if arrays:
        check_operator(method, arrays)
    return value


def numpy_name(function: Any) -> str | None:
    """The canonical name of a function of NumPy, without `numpy.`; None of anything else."""
    module = getattr(function, "__module__", None)
    if isinstance(function, np.ufunc):
        return function.__name__
    ufunc = getattr(function, "__self__", None)
    if isinstance(ufunc, np.ufunc):
        return f"{ufunc.__name__}.{function.__name__}"
    if not isinstance(module, str) or not (module == "numpy" or module.startswith("numpy.")):
        return None
    if isinstance(function, (types.FunctionType, types.BuiltinFunctionType)) or callable(function):
        name = getattr(function, "__name__", None)
        prefix = module.removeprefix("numpy").lstrip(".")
        if name is None or (
            getattr(function, "__self__", None) is not None
            and not isinstance(function.__self__, types.ModuleType)
        ):
            return None
        return f"{prefix}.{name}" if prefix in ("linalg", "fft", "random") else name
    return None


_REDUCTIONS = {
    "add.reduce": "sum",
    "multiply.reduce": "prod",
    "maximum.reduce": "max",
    "minimum.reduce": "min",
    "logical_and.reduce": "all",
    "logical_or.reduce": "any",
}


_INDEXING = frozenset(  # raise IndexError for what they are given
    [
        "choose",
        "compress",
        "delete",
        "insert",
        "put_along_axis",
        "ravel_multi_index",
        "take",
        "take_along_axis",
    ]
)


class _Within:
    """A converted function as the back end calls it that is being compiled for, if there is one."""

    def __init__(self, backend: Backend | None, function: Callable[..., Any]):
        self.backend, self.function = backend, function

    def __call__(self, *args: Any, **named: Any) -> Any:
        if any(map(is_kept, args)) and helper_name(self.function) is not None:  # type: ignore[arg-type]
            args = tuple(map(opened, args))
        helper = of_lists(self.function, args)
        if helper is not None:
            return helper(*args)
        with writing() as arrays:
            if self.backend is None:
                value = self.function(*args, **named)
            else:
                value = self.backend.call(self.function, args, named)
        if arrays:
            check_caller(self.function, args, named, arrays)
        return value


class _NumPy:
    """A function of NumPy that becomes that of a back end where one owns an argument."""

    def __init__(self, function: Callable[..., Any], name: str):
        self.function, self.name = function, name

    def __call__(self, *args: Any, **options: Any) -> Any:
        if all_plain(args) and all_plain(options.values()):
            return self.function(*args, **options)
        args = tuple(map(opened, args))
        if any(isinstance(value, StagedList) for value in args):
            args = tuple(v.array() if isinstance(v, StagedList) else v for v in args)
            if self.name == "stack" and options.get("axis", 0) == 0 and len(args) == 1:
                return args[0]
        backend = owner(*flatten((args, options))[0])
        if backend is None:
            return self.function(*args, **options)
        if self.name in _INDEXING:
            note_unseen()
        if backend.optional:
            args = certain(args)
        if any(isinstance(value, Picked) for value in args):
            return by_numpy(self.function, self.name, args, options)
        if self.name in _REDUCTIONS:
            return backend.function(_REDUCTIONS[self.name])(args[0], *(args[1:2] or (0,)), **options)
        options = {key: _counted(value) for key, value in options.items()}
        made = backend.function(self.name)(*map(_counted, args), **options)
        return views.own(self.name, made, args)


def _counted(value: Any) -> Any:
    """An argument, ranges in it as tuples of numbers."""
    if isinstance(value, range):
        return tuple(value)
    return tuple(map(_counted, value)) if type(value) is tuple else value


__all__ = ["call", "numpy_name"]
