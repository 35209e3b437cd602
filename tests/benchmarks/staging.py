"""Speed of the paper's programs: in NumPy, eager and staged on each library, interleaved in one process.

    python tests/benchmarks/staging.py [NAME ...] [--rounds N] [--backends jax,tensorflow,lantern] [--small]

Prints the median time of a call, and how many times faster the staged program is than the same program run by the
library operation by operation (`eager.py`), which is what the paper compares, and than NumPy. Compile time is not
in it. `--small`: small sizes, where the cost of an operation counts and not that of its arithmetic.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from eager import eager

import lsp_ad

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "staging"
EAGER = ("jax", "tensorflow")
# program: function, the sizes that are measured, small ones
PROGRAMS = {
    "dynamic_rnn": (
        "dynamic_rnn",
        [{"time": 64, "batch": 32, "feature": 50, "hidden": 256}],
        {"time": 20, "batch": 4, "feature": 8, "hidden": 16},
    ),
    "training_loop": (
        "train",
        [{"samples": 2000, "features": 100, "classes": 10, "steps": 200, "batch": 200}],
        {"samples": 60, "features": 4, "classes": 3, "steps": 100, "batch": 20},
    ),
    "beam_search": (
        "beam_search",
        [{"vocabulary": 1000, "hidden": 32, "beams": 5, "longest": longest} for longest in (10, 40)],
        {"vocabulary": 30, "hidden": 16, "beams": 3, "longest": 20},
    ),
    "lbfgs": (
        "minimize",
        [{"samples": 100, "features": 100, "memory": 20, "iterations": 20}],
        {"samples": 20, "features": 5, "memory": 5, "iterations": 20},
    ),
    "maml": (
        "meta_train",
        [{"tasks": 25, "points": 10, "hidden": 40, "steps": steps} for steps in (1, 10)],
        {"tasks": 5, "points": 5, "hidden": 8, "steps": 2},
    ),
    "tree_lstm": (
        "step",
        [
            {"leaves": 20, "words": 1000, "features": 300, "hidden": 150, "classes": 5},
            {"leaves": 20, "words": 100, "features": 128, "hidden": 128, "classes": 5},
        ],
        {"leaves": 20, "words": 7, "features": 3, "hidden": 4, "classes": 3},
    ),
    "seq2seq": (
        "seq2seq",
        [
            {
                "time": 32,
                "steps": 32,
                "batch": 32,
                "vocabulary": 1000,
                "features": 50,
                "hidden": 256,
                "teacher_forcing": force,
            }
            for force in (True, False)
        ],
        {"time": 10, "steps": 10, "batch": 4, "vocabulary": 30, "features": 8, "hidden": 16},
    ),
}


def loaded(name: str):
    """The module of an example."""
    spec = importlib.util.spec_from_file_location(f"staging_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(contenders: dict, arguments: tuple, rounds: int) -> dict[str, float]:
    """The median time of a call of each, in turn, in seconds; no one always comes after the same other."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    order = random.Random(0)
    for _ in range(rounds):
        for name in order.sample(list(contenders), len(contenders)):
            function = contenders[name]
            start = time.perf_counter()
            function(*arguments)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def leaves(value) -> list:
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    return [np.asarray(value)]


def ready(name: str, function, arguments: tuple, backends: list[str]) -> dict:
    """What can be measured, compiled and with its result checked."""
    expected = leaves(function(*arguments))
    found = {"numpy": function}
    for backend in backends:
        made = {backend: lsp_ad.staged(function, backend=backend)}
        if backend in EAGER:
            made = {f"{backend} eager": eager(function, backend), **made}
        for title, contender in made.items():
            try:
                value = leaves(contender(*arguments))
            except Exception as error:
                print(f"{name}, {title}: {type(error).__name__}: {str(error)[:150]}", file=sys.stderr)
                continue
            for a, b in zip(expected, value, strict=True):
                np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-7, err_msg=f"{name}, {title}")
            found[title] = contender
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *PROGRAMS], default=[])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--backends", default="jax,tensorflow,lantern")
    parser.add_argument("--small", action="store_true")
    chosen = parser.parse_args()
    backends = chosen.backends.split(",")
    print(f"{'ms; staged: times eager, times NumPy':44}{'numpy':>9}", end="")
    print("".join((f"{b + ' eager':>17}" if b in EAGER else "") + f"{b:>26}" for b in backends))
    for name in chosen.names or PROGRAMS:
        module = loaded(name)
        function = getattr(module, PROGRAMS[name][0])
        for sizes in PROGRAMS[name][1] if not chosen.small else [PROGRAMS[name][2]]:
            arguments = module.data(**sizes)
            contenders = ready(name, function, arguments, backends)
            found = {k: 1e3 * v for k, v in measured(contenders, arguments, chosen.rounds).items()}
            line = f"{name + ' ' + ' '.join(map(str, sizes.values())):44}{found['numpy']:9.2f}"
            for backend in backends:
                slow, fast = found.get(f"{backend} eager"), found.get(backend)
                if backend in EAGER:
                    line += f"{slow:17.2f}" if slow else f"{'-':>17}"
                times = f"{slow / fast if slow else 0:7.2f}{found['numpy'] / fast:8.2f}" if fast else ""
                line += f"{fast:11.2f}{times}" if fast else f"{'-':>26}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
