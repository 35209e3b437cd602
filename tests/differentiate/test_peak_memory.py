"""What the tapes of loops take: bytes an iteration, and values that are kept by reference."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad
from tests.benchmarks import memory

pytestmark = pytest.mark.row("T26")


def test_a_loop_of_cheap_iterations():
    """The bounds of the benchmark, for a fiftieth of its iterations."""
    n = memory.ITERATIONS // 50
    assert memory.peak(lsp_ad.grad(memory.loop, "x"), 0.3, n) < memory.MOST * n
    assert memory.peak(lsp_ad.grad(memory.checkpointed, "x"), 0.3, n) < memory.MOST_WITH_CHECKPOINTS / 5


def waves(x: np.ndarray, n: int):
    for _ in range(n):
        x = np.sin(x) * 1.1
    return np.sum(x)


def one_array(x: np.ndarray, w: np.ndarray, n: int):
    for _ in range(n):
        x = np.sin(x @ w) + x
    return np.sum(x)


def linear(x: float, w: float, n: int):
    for _ in range(n):
        x = 0.5 * x + w
    return x


def sizes(gradient, *arguments) -> float:
    """The peak in arrays of a thousand numbers."""
    return memory.peak(gradient, *arguments) / 8000


def test_an_iteration_keeps_its_arrays_once():
    """Two arrays an iteration are made, and one is needed: no copies are."""
    x = np.linspace(0.0, 1.0, 1000)
    assert sizes(lsp_ad.grad(waves, "x"), x, 100) < 100 + 10


def test_what_does_not_change_is_kept_by_reference():
    """The matrix that every iteration reads is on no tape: a thousand arrays each time, if it were."""
    x, w = np.ones(1000), np.eye(1000)
    assert sizes(lsp_ad.grad(one_array, "x"), x, w, 20) < 1000 + 60


def test_a_linear_loop_keeps_nothing():
    assert memory.peak(lsp_ad.grad(linear, ("x", "w")), 0.3, 0.7, 20_000) < 10_000
