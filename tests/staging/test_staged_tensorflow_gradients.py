"""Generated gradients of the oracle's programs on TensorFlow: equal, or an error of staging. A part of
`tests/staging/gradient_sweep.py --backend tensorflow`, which goes over all."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import lsp_ad
from tests.staging import gradient_sweep

pytest.importorskip("tensorflow")
pytestmark = pytest.mark.row("A17")
FILES = (
    "for_loops",
    "branches",
    "complex_numbers",
    "containers",
    "in_place",
    "indexing",
    "jumps",
    "while_loops",
)
CASES = gradient_sweep.sample(FILES, part=8)


def test_equal_or_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {case.name: gradient_sweep.outcome(case, "tensorflow") for case in CASES}
    kinds = [kind for kind, _ in found.values()]
    assert set(kinds) <= {
        "equal",
        "not differentiated",
        "StagingError",
        "ConversionError",
        "MismatchError",
    }, found
    assert kinds.count("equal") > 0.85 * len(kinds), found


def test_complex_values():
    def function(z, x):
        return z.conjugate() * 2.0, np.asarray(x, dtype=complex) * 1j, np.asarray(x, dtype=float) / 3

    arguments = np.array([1.0 + 2.0j, 3.0]), np.array([1.0, 2.0], np.float32)
    for found, expected in zip(
        lsp_ad.staged(function, backend="tensorflow")(*arguments), function(*arguments), strict=True
    ):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def growing(x):
    ys = x[:1]
    while np.sum(ys) < 10.0:
        ys = np.concatenate([ys, ys[-1:] * 1.5])
    return np.sum(ys * ys)


def kept_while_growing(x):
    xs = [x[:1]]
    xs.append(x)
    while np.sum(x) < 10.0:
        x = np.concatenate([x, x[-1:] * 1.5])
        xs.append(x)
    s = 0.0
    for v in xs:
        s = s + np.sum(v)
    return s


@pytest.mark.parametrize("program", [growing, kept_while_growing])
def test_tapes_of_arrays_that_grow(program):
    gradient = lsp_ad.grad(program, "x")
    for x in (np.array([1.0, 2.0]), np.array([11.0, 2.0])):
        np.testing.assert_allclose(lsp_ad.staged(gradient, backend="tensorflow")(x), gradient(x), rtol=1e-10)
