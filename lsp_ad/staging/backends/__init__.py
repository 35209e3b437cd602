"""The back ends, by name and by the values that they own.

A back end is loaded when it is asked for by name, or when the library whose values it owns is there already:
nothing here imports JAX or TensorFlow.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from lsp_ad.staging.backends.base import Backend, Owned

_known: dict[str, tuple[str, str]] = {  # name: the library whose values it owns, module
    "jax": ("jax", "lsp_ad.staging.backends.jax"),
    "tensorflow": ("tensorflow", "lsp_ad.staging.backends.tensorflow"),
    "lantern": ("lsp_ad.staging.backends.lantern", "lsp_ad.staging.backends.lantern"),
}
_loaded: dict[str, Backend] = {}
_PLAIN = frozenset(
    [bool, int, float, complex, str, type(None), tuple, list, dict, np.ndarray, *np.sctypeDict.values()]
)


_SINGLE = _PLAIN - {tuple, list, dict}


def all_plain(values: Iterable[Any]) -> bool:
    """Whether all values are numbers, texts and arrays that no back end owns; what has parts is not."""
    for value in values:  # noqa: SIM110 - a generator would cost more than all else here
        if type(value) not in _SINGLE:
            return False
    return True


def register(backend: Backend) -> None:
    """Make a back end known under its name, besides those that come with lsp-ad."""
    _loaded[backend.name] = backend


def backend_named(name: str) -> Backend:
    """A back end by name. Raises ValueError for an unknown one, ImportError where its library is missing."""
    if name not in _loaded:
        if name not in _known:
            raise ValueError(
                f"no back end is called {name!r}; there are {', '.join(sorted({*_known, *_loaded}))}"
            )
        _loaded[name] = importlib.import_module(_known[name][1]).BACKEND
    return _loaded[name]


def loaded() -> list[Backend]:
    """The back ends whose libraries are there."""
    for name, (library, _) in _known.items():
        if name not in _loaded and library in sys.modules:
            backend_named(name)
    return list(_loaded.values())


def owner(*values: Any) -> Backend | None:
    """The back end that owns one of the values, the first that does; None where all are plain Python."""
    for value in values:
        if type(value) in _PLAIN:
            continue
        if isinstance(value, Owned):
            return value.backend
        for backend in loaded():
            if backend.owns(value):
                return backend
    return None
