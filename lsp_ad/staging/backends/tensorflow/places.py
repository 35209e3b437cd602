"""Indices of the diagonal and of triangles, which only the shape of a matrix decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from lsp_ad.staging.backends.tensorflow.arrays import tensor_of
from lsp_ad.staging.backends.tensorflow.elementwise import named
from lsp_ad.staging.errors import staging_error


def _shape(a: Any) -> tuple[int, ...]:
    shape = tensor_of(a).shape
    if not shape.is_fully_defined():
        raise staging_error("The shape of this array is not known when it is traced.")
    return tuple(shape.as_list())


@named("diag_indices_from")
def _diagonal(arr: Any) -> tuple[np.ndarray, ...]:
    return np.diag_indices_from(np.empty(_shape(arr), bool))


@named("tril_indices_from")
def _lower(arr: Any, k: int = 0) -> tuple[np.ndarray, ...]:
    return np.tril_indices_from(np.empty(_shape(arr), bool), k)


@named("triu_indices_from")
def _upper(arr: Any, k: int = 0) -> tuple[np.ndarray, ...]:
    return np.triu_indices_from(np.empty(_shape(arr), bool), k)
