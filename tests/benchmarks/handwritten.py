"""Generated gradients against hand-written ones: error, length, time.

    python tests/benchmarks/handwritten.py [FOLDER]

FOLDER holds pairs: modules with a function `f`, its gradient by hand (`f_grad`, or `f_vjp` with the seed
last), `WRT`, and `inputs(rng)`. Without FOLDER: ../shared/handwritten beside the repository if it is there,
else the examples of the repository. Times are medians over rounds in which the two take turns.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import lsp_ad  # noqa: E402
from tests.differentiate.pairs import Pair, pairs, statements  # noqa: E402

ROUND = 5e-4  # seconds that one of the two runs for in a round, at least one call: less than a time slice


def main() -> int:
    arguments = parser().parse_args()
    pairs_found = folder_pairs(arguments.folder)
    print(f"{'':16} {'error':>8} {'statements':>17} {'time in us':>24}")
    refused = []
    for pair in pairs_found:
        try:
            derivative = lsp_ad.vjp if pair.is_vjp else lsp_ad.grad
            print(row(pair, derivative(pair.primal, pair.wrt), arguments.rounds))
        except lsp_ad.DifferentiationError as error:
            refused.append(f"{pair.name:16} refused: {error.problems[0]}")
    print("\n".join(refused))
    return 0


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("folder", nargs="?", type=Path, help="where the pairs are")
    options.add_argument("--rounds", type=int, default=200, help="of both, by turns (default: 200)")
    return options


def folder_pairs(folder: Path | None) -> list[Pair]:
    shared = ROOT.parent / "shared" / "handwritten"
    if folder is None and not shared.is_dir():
        return list(pairs(ROOT / "examples", ROOT / "tests" / "differentiate" / "handwritten"))
    folder = folder or shared
    if not folder.is_dir():
        raise SystemExit(f"{folder} is not a folder")
    return list(pairs(folder, folder))


def row(pair: Pair, generated: Callable, rounds: int) -> str:
    lengths = statements(generated), statements(pair.by_hand)
    times = medians(pair, [generated, pair.by_hand], rounds)
    length = f"{lengths[0]:5} / {lengths[1]:2} = {lengths[0] / lengths[1]:.2f}"
    duration = f"{times[0] * 1e6:7.1f} / {times[1] * 1e6:6.1f} = {times[0] / times[1]:.2f}"
    return f"{pair.name:16} {pair.error(generated):8.0e} {length} {duration}"


def medians(pair: Pair, functions: list[Callable], rounds: int) -> list[float]:
    """The median time of one call of each function, in seconds; they take turns in each round."""
    given = list(pair.arguments.values()) + ([pair.seed()] if pair.is_vjp else [])
    start = time.perf_counter()
    functions[1](*given)
    calls = max(1, int(ROUND / (time.perf_counter() - start)))
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for function, found in zip(functions, times, strict=True):
            start = time.perf_counter()
            for _ in range(calls):
                function(*given)
            found.append((time.perf_counter() - start) / calls)
    return [statistics.median(found) for found in times]


if __name__ == "__main__":
    sys.exit(main())
