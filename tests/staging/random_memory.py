"""Random programs with arrays under several names, views, copies and lists of them, that write into some.

    python -m tests.staging.random_memory FIRST LAST

Each gives on Lantern what it gives in Python, or is refused. Prints those that do not, and how many are refused.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from functools import partial

import numpy as np

import lsp_ad
from lsp_ad.staging.backends import lantern
from lsp_ad.staging.lantern.interpreter import interpret
from tests import oracle

NAMES = ("a", "b", "c", "d")
START = ("a = x * 1.0", "b = x * 2.0", "c = np.zeros(4)", "d = a", "kept = [x * 3.0]")
END = """s = 0.0
for v in kept:
    s = s * 0.5 + v[0] + 2.0 * v[1] + 3.0 * v[2] + v[3]
return a, b, c, d, s"""
X = np.array([0.3, 0.9, 0.6, 0.1])
INPUTS = ((6, True), (2, False))  # how often loops run, staged and unrolled; a flag of Python


class Generator:
    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def program(self) -> str:
        body = [*START, *self._block(0, []), *self._block(0, []), *END.splitlines()]
        return "import numpy as np\n\n\ndef f(x, n, flag):\n" + "".join(f"    {line}\n" for line in body)

    def _name(self) -> str:
        return self.random.choice(NAMES)

    def _place(self, counters: list[str]) -> str:
        return self.random.choice(["0", "1", "2", *[f"{i} % 4" for i in counters * 2]])

    def _array(self) -> str:
        y, z = self._name(), self._name()
        forms = [y, f"{y}[::-1]", f"{y}[:]", f"{y}.reshape(2, 2).T.reshape(-1)", f"np.asarray({y})", f"+{y}"]
        forms += [f"{y}.copy()", f"{y} * 0.5", f"{y}[[3, 2, 1, 0]]", f"np.where({y} > 0.5, {y}, {z})"]
        return self.random.choice([*forms, f"{y} if flag else {z}", "kept[0]", "kept[-1]"])

    def _block(self, depth: int, counters: list[str]) -> list[str]:
        return [s for _ in range(self.random.randrange(2, 5)) for s in self._statement(depth, counters)]

    def _statement(self, depth: int, counters: list[str]) -> list[str]:
        y, z, kind = self._name(), self._name(), self.random.randrange(10)
        if kind == 8 and depth < 2:
            inside = self._block(depth + 1, [*counters, f"i{depth}"])
            return [f"for i{depth} in range({self.random.choice('n32')}):", *map("    {}".format, inside)]
        if kind > 7 and depth < 3:
            test = self.random.choice([f"{y}[0] > {z}[1]", f"{y}[2] > 0.7", "flag"])
            lines = [f"if {test}:", *map("    {}".format, self._block(depth + 1, counters))]
            if self.random.random() < 0.5:
                lines += ["else:", *map("    {}".format, self._block(depth + 1, counters))]
            return lines
        writes = [f"{y}[{self._place(counters)}] = {z}[3] + 0.25", f"{y}[1:3] = {z}[0:2] * 0.5"]
        writes += [f"{y} += {z}", f"{y} *= {z}", f"kept.append({self._array()})"]
        return [f"{y} = {self._array()}" if kind < 3 else self.random.choice(writes)]


def check(seed: int) -> list[str]:
    """For each input `equal` or `refused`. AssertionError where a result is another."""
    source, outcomes = Generator(seed).program(), []
    f = oracle.run(source)["f"]
    for inputs in INPUTS:
        with np.errstate(all="ignore"):
            expected = f(X.copy(), *inputs)
        try:
            found = lsp_ad.staged(f, backend="lantern")(X.copy(), *inputs)
        except lsp_ad.StagingError as error:
            assert "may share its memory" in str(error), f"{error}\n{source}"
            outcomes.append("refused")
            continue
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, err_msg=source)
        outcomes.append("equal")
    return outcomes


def main(first: int, last: int) -> None:
    lantern.BACKEND.enter = lambda program: partial(interpret, program)
    found: Counter[str] = Counter()
    for seed in range(first, last):
        try:
            found.update(check(seed))
        except Exception as error:
            found["wrong"] += 1
            print(f"--- {seed}: {type(error).__name__} {error}")
    print(dict(found))
    sys.exit(found["wrong"] > 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
