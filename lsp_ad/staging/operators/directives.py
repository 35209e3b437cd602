"""What the user says of lists and of decisions."""

from __future__ import annotations

from typing import Any

import numpy as np

from lsp_ad.staging.backends import loaded, owner
from lsp_ad.staging.backends.base import Spec
from lsp_ad.staging.context import active
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.operators.iteration import staged_by
from lsp_ad.staging.operators.lists import Item, Meta, StagedList
from lsp_ad.staging.operators.plans import listed
from lsp_ad.staging.operators.truth import truth
from lsp_ad.staging.operators.types import unified
from lsp_ad.staging.structures import LEAF


def element_type(items: Any, dtype: Any, shape: Any = ()) -> Any:
    """The list, its items of the type that the user gives, where a function is being compiled."""
    backend = active()
    if backend is None:
        return items
    spec = Spec(np.dtype(dtype), tuple(shape))
    if type(items) is list and not items:
        meta = Meta(backend, Item(LEAF, (None,)), 0)
        return StagedList(meta, 0, [backend.list_new(spec, 0)])
    made = listed(backend, items) if type(items) is list else items
    if not isinstance(made, StagedList):
        raise staging_error(f"`element_type` of a {type(items).__name__}, which is no list.")
    found = [backend.list_item(backend.spec(store)) for store in made.stores]
    if len(found) != 1 or unified(found[0], spec, same_shapes=True) is None:
        raise staging_error(
            f"The items of this list are {', '.join(map(str, found)) or made.meta.item}, not {spec}."
        )
    return StagedList(made.meta, made.base, [backend.list_cast(made.stores[0], spec)])


def must_stage(value: Any) -> Any:
    """The condition or the iterable. Raises StagingError where it would be decided in Python by a trace."""
    value = truth(value)
    if owner(value) is not None:
        return value
    backend = active() or next((b for b in loaded() if b.tracing()), None)
    if backend is None:
        return value
    over = staged_by(backend, value)
    if over is not None:
        return over
    raise staging_error(
        f"`must_stage` of a Python {type(value).__name__}: it is decided when the function is traced.",
        "Give a staged value: a float or an array that depends on one.",
    )
