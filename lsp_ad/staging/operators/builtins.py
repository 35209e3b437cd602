"""Python's own functions on staged values: each by the function that it stands for."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from lsp_ad.staging.backends import owner
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.operators import scalars
from lsp_ad.staging.operators.folds import (
    all_,
    any_,
    iter_,
    list_,
    max_,
    min_,
    next_,
    set_,
    sorted_,
    sum_,
    tuple_,
)
from lsp_ad.staging.operators.iteration import (
    enumerate_,
    filter_,
    map_,
    range_,
    reversed_,
    staged,
    zip_,
)
from lsp_ad.staging.operators.lists import StagedList
from lsp_ad.staging.operators.optional import Maybe, is_none
from lsp_ad.staging.operators.texts import print_, repr_, str_
from lsp_ad.staging.operators.truth import length


def len_(value: Any) -> Any:
    """`len(value)`; staged where it is not known when tracing."""
    over = staged(value)
    return length(value) if over is None else over.count


def isinstance_(value: Any, kinds: Any) -> Any:
    """`isinstance(value, kinds)`: of a staged value what it is of the value that it stands for."""
    if isinstance(value, Maybe):
        there, alone = isinstance_(value.value, kinds), isinstance(None, kinds)
        if there == alone:
            return there
        return value.is_there() if there else is_none(value)
    backend = owner(value)
    if backend is None or isinstance(value, kinds):
        return isinstance(value, kinds)
    found = _flat(kinds)
    if isinstance(value, StagedList):
        return list in found
    spec = backend.spec(value)
    if spec.shape is None or any(issubclass(kind, (int, bool)) for kind in found):
        raise staging_error(
            "Whether a staged value is of this type is not known: it may come of Python or of NumPy.",
            "Ask for its `dtype` or `ndim`.",
        )
    as_array, as_number = np.ndarray, spec.dtype.type
    if spec.dtype == np.float32:  # also where a library makes this of a Python float
        return any(issubclass(as_array if spec.shape else float, kind) for kind in found) or (
            not spec.shape and any(issubclass(as_number, kind) for kind in found)
        )
    return any(issubclass(as_array if spec.shape else as_number, kind) for kind in found)


def _flat(kinds: Any) -> list[type]:
    if isinstance(kinds, tuple):
        return [kind for part in kinds for kind in _flat(part)]
    return [kinds] if isinstance(kinds, type) else _flat(getattr(kinds, "__args__", ()))


def type_(value: Any, *more: Any) -> Any:
    """`type(value)`."""
    if not more and owner(value) is not None:
        raise staging_error(
            "The type of a staged value is one of its library.", "Ask for its `dtype` or `ndim`."
        )
    return type(value, *more)


BY_NAME: dict[str, Callable[..., Any]] = {
    "abs": scalars.abs_,
    "all": all_,
    "any": any_,
    "bool": scalars.bool_,
    "complex": scalars.complex_,
    "divmod": scalars.divmod_,
    "enumerate": enumerate_,
    "filter": filter_,
    "float": scalars.float_,
    "int": scalars.int_,
    "isinstance": isinstance_,
    "iter": iter_,
    "len": len_,
    "list": list_,
    "map": map_,
    "max": max_,
    "min": min_,
    "next": next_,
    "pow": scalars.pow_,
    "print": print_,
    "range": range_,
    "repr": repr_,
    "reversed": reversed_,
    "round": scalars.round_,
    "set": set_,
    "sorted": sorted_,
    "str": str_,
    "sum": sum_,
    "tuple": tuple_,
    "type": type_,
    "zip": zip_,
}
TABLE: dict[Any, Callable[..., Any]] = scalars.MATH | {
    getattr(builtins, name): function for name, function in BY_NAME.items()
}
