"""How long a transformation takes, and how that grows: `python tests/benchmarks/transformation_time.py`.

Prints, for functions of several flavours and of 10 to 2,000 statements, the time from text to the text of the
gradient (parse, `differentiate`, lines), and first the very first call of the process. Times are process CPU
time, the best of several runs.

Goals: 50 statements under 50 ms, 1,000 under 1 s, and no more time a statement at 2,000 than 1.5 times that
at 200. Exit status 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from lsp_ad.differentiate import differentiate  # noqa: E402
from lsp_ad.semantics.names import Program  # noqa: E402
from lsp_ad.source.document import Document  # noqa: E402
from lsp_ad.source.parse import parse  # noqa: E402

SIZES = (10, 50, 100, 200, 500, 1000, 2000)
GOALS = {50: 0.050, 1000: 1.0}
GROWTH = 1.5  # the time a statement at 2,000 statements, as a multiple of that at 200
AT_LEAST = 0.5  # seconds that the runs of one size take together, at least two runs


def scalar(count: int) -> Iterator[str]:
    """A straight line of numbers, each with a name of its own."""
    forms = (
        "math.sin(v{m}) * v{k}",
        "v{m} * x + {c}.0 / (1.0 + v{k} ** 2)",
        "v{m} - 0.5 * v{k}",
        "math.exp(-v{m} * y)",
        "v{m} + v{k}",
    )
    yield "def f(x: float, y: float):"
    yield "    v0 = x"
    yield "    v1 = y"
    for n in range(2, count - 1):
        yield f"    v{n} = " + forms[n % 5].format(m=n - 1, k=n - 2, c=n % 7)
    yield f"    return v{count - 2} * x"


def arrays(count: int) -> Iterator[str]:
    """Layers of arrays with weights, broadcast biases and means."""
    forms = (
        "z{n} = h{m} @ w + b",
        "h{n} = np.tanh(z{m}) * s + h{k}",
        "c{n} = h{m} - np.mean(h{m}, axis=1, keepdims=True)",
        "h{n} = c{m} / np.sqrt(1.0 + np.sum(c{m} * c{m}) * s)",
    )
    yield "def f(w, b, x, s):"
    yield '    """A deep network.'
    yield ""
    yield "    Parameters"
    yield "    ----------"
    yield "    w : ndarray, shape (d, d)"
    yield "    b : ndarray, shape (d,)"
    yield "    x : ndarray, shape (n, d)"
    yield "    s : float"
    yield '    """'
    yield "    h0 = x"
    yield "    h1 = x * s"
    for n in range(2, count - 1):
        form = forms[(n - 2) % 4]
        yield "    " + form.format(n=n, m=n - 1, k=n - 2 if n > 3 else 0)
    end = ("h{}", "z{}", "h{}", "c{}")[(count - 2 - 1) % 4].format(count - 2)
    yield f"    return np.mean({end} * {end})"


def loops(count: int) -> Iterator[str]:
    """Loops, branches in them, and values that they carry."""
    yield "def f(x: float, y: float, k: int):"
    yield "    a = x"
    yield "    b = y"
    for n in range((count - 3) // 7):
        yield f"    for i{n} in range(k):"
        yield f"        t{n} = a * b + {n}.0"
        yield f"        if t{n} > 0.0:"
        yield f"            a = a + math.sin(t{n})"
        yield "        else:"
        yield f"            a = a * 0.5 - t{n}"
        yield f"        b = b * 0.9 + a * t{n}"
        yield f"    c{n} = a * b"
    yield "    return a * b"


def rebound(count: int) -> Iterator[str]:
    """A few names that are bound again and again."""
    forms = (
        "x = np.exp(-x) + y * z",
        "y = x * y - z",
        "z = np.sin(z * x)",
        "x, y = y, x * z",
        "z = z + np.log(1.0 + y * y)",
    )
    yield "def f(x, y, z):"
    for n in range(count - 1):
        yield "    " + forms[n % 5]
    yield "    return np.sum(x * y + z)"


FLAVOURS: dict[str, Callable[[int], Iterator[str]]] = {
    "scalar": scalar,
    "arrays": arrays,
    "loops": loops,
    "rebound": rebound,
}


def source(flavour: str, count: int) -> str:
    return "\n".join(["import math", "", "import numpy as np", "", "", *FLAVOURS[flavour](count), ""])


def transform(text: str) -> str:
    """The way of the data, from text to text."""
    program = Program(parse(Document(text, "benchmark.py")))
    derivative, problems = differentiate(program, "f")
    if derivative is None:
        raise SystemExit(f"refused: {problems[0]}")
    return "\n".join(line.text for line in derivative.lines)


def seconds(text: str) -> float:
    """The least process CPU time of a run."""
    found: list[float] = []
    while len(found) < 2 or sum(found) < AT_LEAST:
        gc.collect()
        start = time.process_time()
        transform(text)
        found.append(time.process_time() - start)
    return min(found)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--flavours", nargs="+", choices=FLAVOURS, default=list(FLAVOURS))
    options.add_argument("--most", type=int, default=max(SIZES), help="statements of the longest function")
    given = options.parse_args()
    start = time.process_time()
    transform(source("scalar", 10))
    print(f"first call of the process, 10 statements: {(time.process_time() - start) * 1e3:.1f} ms\n")
    missed = False
    print(f"{'':10} {'statements':>10} {'ms':>9} {'ms a statement':>15}")
    for flavour in given.flavours:
        each: dict[int, float] = {}
        for count in [size for size in SIZES if size <= given.most]:
            total = seconds(source(flavour, count))
            each[count] = total / count
            late = total > GOALS.get(count, total)
            missed |= late
            goal = f"  (goal: {GOALS[count] * 1e3:.0f} ms{', missed' if late else ''})" if count in GOALS else ""
            print(f"{flavour:10} {count:10} {total * 1e3:9.1f} {each[count] * 1e3:15.3f}{goal}", flush=True)
        if 2000 in each:
            growth = each[2000] / each[200]
            missed |= growth > GROWTH
            print(f"{flavour:10} from 200 to 2,000: {growth:.2f} times a statement (goal: {GROWTH})")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
