"""The memory of the gradient of a loop of a million cheap scalar iterations, without and with checkpoints.

    python tests/benchmarks/memory.py

Prints the peak of what Python allocates while the gradient runs (tracemalloc), and its time without that.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import lsp_ad

ITERATIONS = 1_000_000
# bytes an iteration without checkpoints, and in all with one every thousand iterations
MOST, MOST_WITH_CHECKPOINTS = 200, 2_000_000


def loop(x: float, n: int):
    """The logistic map."""
    for _ in range(n):
        x = 3.2 * x * (1.0 - x)
    return x


def checkpointed(x: float, n: int):
    """The same, with the state kept every thousand iterations."""
    with lsp_ad.checkpoint(every=1000):
        for _ in range(n):
            x = 3.2 * x * (1.0 - x)
    return x


def peak(function: Callable[..., object], *arguments: object) -> int:
    """The most that Python has allocated at a time while a function ran, in bytes."""
    tracemalloc.start()
    function(*arguments)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def main() -> int:
    gradients = [lsp_ad.grad(f, "x") for f in (loop, checkpointed)]
    assert np.array_equal(gradients[0](0.3, 5000), gradients[1](0.3, 5000))
    found = []
    for name, gradient in zip(("without checkpoints", "one every 1000"), gradients, strict=True):
        begin = time.perf_counter()
        gradient(0.3, ITERATIONS)
        seconds = time.perf_counter() - begin
        found.append(peak(gradient, 0.3, ITERATIONS))
        each = found[-1] / ITERATIONS
        print(f"{name:20s} {found[-1] / 1e6:8.2f} MB, {each:7.2f} bytes an iteration, {seconds:.2f} s")
    return int(found[0] > MOST * ITERATIONS or found[1] > MOST_WITH_CHECKPOINTS)


if __name__ == "__main__":
    sys.exit(main())
