"""Generated gradients of the oracle's programs on JAX: equal, or an error of staging. A part of
`tests/staging/gradient_sweep.py`, which goes over all."""

from __future__ import annotations

import warnings

import pytest

from tests.staging import gradient_sweep

pytest.importorskip("jax")
pytestmark = pytest.mark.row("A17")
FILES = ("for_loops", "branches", "containers", "in_place", "indexing", "calls", "jumps", "while_loops")
CASES = gradient_sweep.sample(FILES, part=6)


def test_equal_or_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {case.name: gradient_sweep.outcome(case, "jax") for case in CASES}
    kinds = [kind for kind, _ in found.values()]
    assert set(kinds) <= {
        "equal",
        "equal by a bound",
        "equal as asked",
        "not differentiated",
        "StagingError",
        "ConversionError",
        "MismatchError",
    }, found
    assert sum(kind.startswith("equal") for kind in kinds) > 0.85 * len(kinds), found
