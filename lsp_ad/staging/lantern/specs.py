"""Types of staging as types of the language."""

from __future__ import annotations

import numpy as np

from lsp_ad.staging.backends.base import Spec
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.lantern.dtypes import dtype_of, rank_of
from lsp_ad.staging.lantern.ir import DTYPES, List, Type, ranked

_AS_INT64 = ("int8", "int16", "uint8", "uint16", "uint32")


def dtype_name(dtype: np.dtype) -> str:
    """The dtype of the language that stands for one of NumPy."""
    name = np.dtype(dtype).name
    if name in _AS_INT64:
        return "int64"
    if name not in DTYPES:
        raise staging_error(f"The dtype {name} is not one of the Lantern back end.")
    return name


def type_from(spec: Spec) -> Type:
    """The type in the language of a type of staging."""
    made: Type = ranked(dtype_name(spec.dtype), len(spec.shape or ()) - spec.listed)
    for _ in range(spec.listed):
        made = List(made)
    return made


def spec_from(t: Type) -> Spec:
    """The type in staging of numbers, arrays, and lists of these."""
    if isinstance(t, List):
        item = spec_from(t.item)
        return Spec(item.dtype, (None, *(item.shape or ())), listed=item.listed + 1)
    return Spec(np.dtype(dtype_of(t)), (None,) * rank_of(t))
