"""The programs of all constructs."""

from __future__ import annotations

from tests.differentiate.programs import (
    arrays,
    augmented,
    branches,
    callables,
    calls,
    containers,
    for_loops,
    indexing,
    jumps,
    straight,
    while_loops,
)

CASES = [
    c
    for module in (
        straight,
        branches,
        for_loops,
        while_loops,
        jumps,
        callables,
        calls,
        containers,
        indexing,
        arrays,
        augmented,
    )
    for c in module.CASES
]
