"""Python's own functions on staged values: each by the function that it stands for."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from lsp_ad.staging.backends import owner
from lsp_ad.staging.operators.iteration import (
    enumerate_,
    filter_,
    map_,
    range_,
    reversed_,
    staged,
    zip_,
)
from lsp_ad.staging.structures import flatten


def _by_numpy(name: str) -> Callable[[Callable], Callable]:
    def made(plain: Callable) -> Callable:
        def function(*args: Any, **options: Any) -> Any:
            backend = owner(*flatten(args)[0])
            return plain(*args, **options) if backend is None else backend.function(name)(*args, **options)

        return function

    return made


def len_(value: Any) -> Any:
    over = staged(value)
    return len(value) if over is None else over.count


def print_(*values: Any, **options: Any) -> None:
    backend = owner(*flatten(values)[0])
    if backend is None:
        print(*values, **options)
    else:
        backend.print_(*values, **options)


def _extreme(plain: Callable, pairwise: str, whole: str) -> Callable:
    def function(*args: Any, **options: Any) -> Any:
        backend = owner(*flatten(args)[0])
        if backend is None or options:
            return plain(*args, **options)
        if len(args) == 1 and owner(args[0]) is not None:
            return backend.function(whole)(args[0])
        first, *others = args if len(args) > 1 else args[0]
        for other in others:
            first = backend.function(pairwise)(first, other)
        return first

    return function


TABLE: dict[Any, Callable[..., Any]] = {
    builtins.range: range_,
    builtins.enumerate: enumerate_,
    builtins.reversed: reversed_,
    builtins.zip: zip_,
    builtins.map: map_,
    builtins.filter: filter_,
    builtins.len: len_,
    builtins.print: print_,
    builtins.abs: _by_numpy("abs")(abs),
    builtins.min: _extreme(min, "minimum", "min"),
    builtins.max: _extreme(max, "maximum", "max"),
}
