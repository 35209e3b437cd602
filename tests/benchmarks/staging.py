"""Speed of the paper's programs: staged on each back end, in NumPy, and eager on JAX, interleaved.

    python tests/benchmarks/staging.py [NAME ...] [--rounds N] [--backends jax,lantern,tensorflow]

Prints the median time of a call, and how many times faster than NumPy that is; compile time is not in it. `eager`
is the staged program on JAX with every operation run by itself, which is what the paper compares with.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import time
from pathlib import Path

import lsp_ad

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "staging"
# program: function, the sizes that are measured
PROGRAMS = {
    "dynamic_rnn": ("dynamic_rnn", [{"time": 64, "batch": 32, "feature": 50, "hidden": 256}]),
    "training_loop": (
        "train",
        [{"samples": 2000, "features": 100, "classes": 10, "steps": 200, "batch": 200}],
    ),
    "beam_search": (
        "beam_search",
        [{"vocabulary": 1000, "hidden": 32, "beams": 5, "longest": longest} for longest in (10, 40)],
    ),
    "lbfgs": ("minimize", [{"samples": 100, "features": 100, "memory": 20, "iterations": 20}]),
    "maml": ("meta_train", [{"tasks": 25, "points": 10, "hidden": 40, "steps": steps} for steps in (1, 10)]),
    "tree_lstm": (
        "step",
        [{"leaves": 20, "words": 1000, "features": 300, "hidden": 150, "classes": 5}],
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
    ),
}


def loaded(name: str):
    """The module of an example."""
    spec = importlib.util.spec_from_file_location(f"staging_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(contenders: dict, arguments: tuple, rounds: int) -> dict[str, float]:
    """The median time of a call of each, in turn, in seconds."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for function in contenders.values():
        function(*arguments)  # compiles
    for _ in range(rounds):
        for name, function in contenders.items():
            start = time.perf_counter()
            function(*arguments)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def eager(function):
    """The program on JAX without staging."""
    import jax

    made = lsp_ad.staged(function, backend="jax")

    def run(*arguments):
        with jax.disable_jit():
            return made(*arguments)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *PROGRAMS], default=[])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--backends", default="eager,jax,lantern")
    chosen = parser.parse_args()
    print(
        f"{'program':44} {'python':>10}"
        + "".join(f"{b:>10} {'ratio':>6}" for b in chosen.backends.split(","))
    )
    for name in chosen.names or PROGRAMS:
        module = loaded(name)
        function = getattr(module, PROGRAMS[name][0])
        for sizes in PROGRAMS[name][1]:
            arguments = module.data(**sizes)
            contenders = {"python": function}
            backends = chosen.backends.split(",")
            for backend in backends:
                try:
                    made = eager(function) if backend == "eager" else lsp_ad.staged(function, backend=backend)
                    made(*arguments)
                    contenders[backend] = made
                except Exception as error:
                    print(f"{name} on {backend}: {type(error).__name__}: {str(error)[:150]}", file=sys.stderr)
            found = measured(contenders, arguments, chosen.rounds)
            label = f"{name} {' '.join(f'{k}={v}' for k, v in sizes.items())}"[:44]
            line = f"{label:44} {1e3 * found['python']:8.2f}ms"
            for backend in backends:
                if backend in found:
                    line += f"{1e3 * found[backend]:8.2f}ms {found['python'] / found[backend]:6.2f}"
                else:
                    line += f"{'-':>10} {'-':>6}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
