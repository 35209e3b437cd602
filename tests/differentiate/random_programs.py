"""Random programs of the accepted subset, for the oracle. Run as a script for many: `random_programs.py COUNT [SEED]`."""

from __future__ import annotations

import random
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import oracle

HEAD = "import numpy as np\n\n\n"


class Generator:
    """Writes one program `f(x, y, a, n)`: x and a are numbers, y an array of four, n an int; every name is always bound."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.numbers = ["x", "a"]
        self.arrays = ["y"]
        self.counters = ["n"]
        self.lines: list[str] = []
        self.depth = 1
        self.fresh = 0
        self.in_loop = 0
        self.returned = False

    def program(self) -> str:
        helpers = self.helpers()
        for _ in range(self.random.randint(2, 7)):
            self.statement()
        self.line(f"return {self.result()}")
        return HEAD + helpers + "def f(x, y, a, n: int):\n" + "\n".join(self.lines) + "\n"

    def helpers(self) -> str:
        self.functions = []
        text = ""
        if self.random.random() < 0.5:
            text += "def small(u, v):\n    w = u * v\n    return w + np.sin(u)\n\n\n"
            self.functions.append("small")
        if self.random.random() < 0.4:
            text += (
                "def large(u, v):\n    if np.sum(u) > 0.5:\n        return u * v\n    for k in range(2):\n"
                "        u = u * 0.5 + np.cos(v)\n    return u\n\n\n"
            )
            self.functions.append("large")
        if self.random.random() < 0.2:
            text += "def deep(u, k):\n    if k <= 0:\n        return u\n    return deep(np.sin(u) + 0.1 * u, k - 1) * 0.9\n\n\n"
            self.functions.append("deep")
        return text

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def pick(self, items):
        return self.random.choice(items)

    # --- expressions -------------------------------------------------------------------------

    def number(self, level: int = 0) -> str:
        r = self.random.random()
        if level > 2 or r < 0.25:
            return self.pick([*self.numbers, *self.numbers, repr(round(self.random.uniform(-1.5, 1.5), 2))])
        if r < 0.55:
            return f"({self.number(level + 1)} {self.pick('+-*')} {self.number(level + 1)})"
        if r < 0.62:
            return f"({self.number(level + 1)} / (1.5 + {self.number(level + 1)} ** 2))"
        if r < 0.74:
            return f"np.{self.pick(['sin', 'cos', 'tanh', 'arctan'])}({self.number(level + 1)})"
        if r < 0.82:
            return f"np.{self.pick(['sum', 'mean', 'max', 'min'])}({self.array(level + 1)})"
        if r < 0.88:
            return f"{self.pick(self.arrays)}[{self.pick(['0', '1', '-1', '2'])}]"
        if r < 0.92:
            return f"({self.number(level + 1)} if {self.test()} else {self.number(level + 1)})"
        if r < 0.95:
            return f"{self.pick(['max', 'min'])}({self.number(level + 1)}, {self.number(level + 1)})"
        if self.functions:
            return self.call(self.number(level + 1), self.number(level + 1))
        return f"{self.array(level + 1)} @ {self.array(level + 1)}" if level < 2 else "a"

    def call(self, first: str, second: str) -> str:
        function = self.pick(self.functions)
        return f"{function}({first}, {self.pick(['1', '2', 'n'])})" if function == "deep" else f"{function}({first}, {second})"

    def array(self, level: int = 0) -> str:
        r = self.random.random()
        if level > 2 or r < 0.3:
            return self.pick(self.arrays)
        if r < 0.55:
            return f"({self.array(level + 1)} {self.pick('+-*')} {self.array(level + 1)})"
        if r < 0.7:
            return f"({self.number(level + 1)} {self.pick('+-*')} {self.array(level + 1)})"
        if r < 0.82:
            return f"np.{self.pick(['sin', 'cos', 'tanh', 'exp'])}(0.5 * {self.pick(self.arrays)})"
        if r < 0.88:
            return f"{self.pick(self.arrays)}[{self.pick(['::-1', '[3, 0, 0, 1]'])}]"
        if r < 0.92:
            return f"np.where({self.pick(self.arrays)} > 0.1, {self.array(level + 1)}, {self.array(level + 1)})"
        if r < 0.95:
            return f"np.concatenate([{self.pick(self.arrays)}[:2], {self.pick(self.arrays)}[1:3]])"
        if self.functions:
            return self.call(self.array(level + 1), self.array(level + 1))
        return f"np.maximum({self.pick(self.arrays)}, {self.number(level + 1)})"

    def test(self) -> str:
        r = self.random.random()
        if r < 0.5:
            return f"{self.pick(self.numbers)} {self.pick(['<', '>'])} {round(self.random.uniform(-1, 1), 2)}"
        if r < 0.7:
            return f"{self.pick(self.counters)} % 2 == {self.pick('01')}"
        if r < 0.85:
            return f"np.sum({self.pick(self.arrays)}) > {round(self.random.uniform(-1, 1), 2)}"
        return f"not {self.pick(self.numbers)} > 0.3 {self.pick(['and', 'or'])} {self.pick(self.counters)} > 1"

    def result(self) -> str:
        r = self.random.random()
        if r < 0.6:
            return self.number()
        if r < 0.85:
            return self.array()
        return self.number() if self.returned else f"{self.number()}, {self.array()}"

    # --- statements --------------------------------------------------------------------------

    def name(self, pool: list[str]) -> str:
        if self.random.random() < 0.55:
            return self.pick(pool)
        self.fresh += 1
        return f"v{self.fresh}"

    def statement(self) -> None:
        r = self.random.random()
        if self.depth > 3 or r < 0.4:
            self.assignment()
        elif r < 0.5:
            self.augmented()
        elif r < 0.7:
            self.branch()
        else:
            self.loop()

    def assignment(self) -> None:
        if self.random.random() < 0.6:
            if self.random.random() < 0.12 and len(self.numbers) > 1:
                u, v = self.random.sample(self.numbers, 2)
                self.line(f"{u}, {v} = {v}, {self.number(1)}")
                return
            value = self.number()
            target = self.name(self.numbers)
            self.line(f"{target} = {value}")
            if target not in self.numbers:
                self.numbers.append(target)
        else:
            value = self.array()
            target = self.name(self.arrays)
            self.line(f"{target} = {value}")
            if target not in self.arrays:
                self.arrays.append(target)

    def augmented(self) -> None:
        self.fresh += 1
        target = f"s{self.fresh}"
        self.line(f"{target} = {self.pick(['0.0', '1.0', '0'])}")
        self.line(f"for i{self.fresh} in range({self.pick(['n', '3'])}):")
        self.line(f"    {target} {self.pick(['+=', '-='])} {self.number(1)} * {self.pick([f'i{self.fresh}', '0.5'])}")
        if self.random.random() < 0.5:
            self.line(f"    {target} *= 0.7")
        self.numbers.append(target)

    def block(self, count: int) -> None:
        """Statements in which new names stay inside."""
        numbers, arrays, counters = list(self.numbers), list(self.arrays), list(self.counters)
        self.depth += 1
        for _ in range(count):
            self.statement()
        if self.in_loop and self.random.random() < 0.25:
            self.line(f"if {self.test()}:")
            jump = self.pick(["break", "continue", "return " + self.pick(numbers)])
            self.returned |= jump.startswith("return")
            self.line(f"    {jump}")
            self.line(f"{self.pick(numbers)} = {self.number(1)}")
        self.depth -= 1
        self.numbers, self.arrays, self.counters = numbers, arrays, counters

    def branch(self) -> None:
        self.line(f"if {self.test()}:")
        self.block(self.random.randint(1, 2))
        if self.random.random() < 0.6:
            self.line("else:")
            self.block(self.random.randint(1, 2))

    def loop(self) -> None:
        self.fresh += 1
        i = f"i{self.fresh}"
        r = self.random.random()
        self.in_loop += 1
        before = list(self.numbers), list(self.counters)
        if r < 0.45:
            self.line(f"for {i} in range({self.pick(['n', '2', '3', '0'])}):")
            self.counters.append(i)
        elif r < 0.65:
            self.line(f"for e{i} in {self.pick(self.arrays)}:")
            self.numbers.append(f"e{i}")
        elif r < 0.8:
            arrays = self.pick(self.arrays), self.pick(self.arrays)
            self.line(f"for {i}, (e{i}, g{i}) in enumerate(zip({arrays[0]}, {arrays[1]}{self.pick(['', '[::-1]'])})):")
            self.numbers += [f"e{i}", f"g{i}"]
            self.counters.append(i)
        else:
            self.line(f"{i} = 0")
            self.line(f"while {i} < 3 and {self.pick(self.numbers)} < 5.0:")
            self.line(f"    {i} += 1")
            self.counters.append(i)
        self.block(self.random.randint(1, 3))
        self.numbers, self.counters = before
        self.in_loop -= 1


def arguments(seed: int):
    rng = np.random.default_rng(seed)
    return float(rng.normal()), rng.normal(size=4), float(rng.normal()), int(rng.integers(0, 4))


def is_smooth(source: str, args) -> bool:
    """Whether the program runs, with moderate values, and its value does not jump under tiny moves (no branch flips)."""
    namespace = oracle.run(source)
    f = namespace["f"]
    value = f(*args)
    if not all(np.all(np.isfinite(leaf)) and np.all(np.abs(leaf) < 1e3) for leaf in oracle.leaves(value)):
        return False
    for eps in (1e-6, -1e-6):
        moved = f(args[0] + eps, args[1] + eps, args[2] - eps, args[3])
        if oracle.shapes(moved) != oracle.shapes(value):
            return False
        for u, v in zip(oracle.leaves(moved), oracle.leaves(value), strict=True):
            if np.max(np.abs(u - v), initial=0.0) > 1e-3:
                return False
    return True


def check(seed: int) -> str:
    """"right", "refused" or "skipped" (not smooth, or refused for being independent of wrt); raises on a fault."""
    source, args = Generator(seed).program(), arguments(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # a zero adjoint times an infinite slope is not a number, in every tool: no overflow on the way
            with np.errstate(all="raise", under="ignore"):
                if not is_smooth(source, args):
                    return "skipped"
        except (TypeError, ValueError, IndexError, ArithmeticError):
            return "skipped"
        try:
            oracle.assert_gradient(source, *args, wrt=None, tolerance=1e-4, directions=1, seed=seed)
            oracle.assert_jvp(source, *args, wrt=None, tolerance=1e-4, seed=seed)
        except oracle.Refused as refused:
            if all(p.code == "AD503" for p in refused.args):
                return "skipped"
            return "refused " + "; ".join(f"{p.code} {p.message}" for p in refused.args)
    return "right"


def main() -> int:
    count, start = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    totals: dict[str, int] = {}
    for seed in range(start, start + count):
        try:
            outcome = check(seed)
        except Exception as error:
            outcome = "FAULT"
            print(f"--- seed {seed}: {type(error).__name__}: {str(error)[:200]}")
        if outcome.startswith("refused"):
            print(f"seed {seed}: {outcome[:160]}")
            outcome = "refused"
        totals[outcome] = totals.get(outcome, 0) + 1
    decided = totals.get("right", 0) + totals.get("refused", 0)
    print(totals, f"accepted {totals.get('right', 0) / max(decided, 1):.1%} of {decided}")
    return 1 if totals.get("FAULT") else 0


if __name__ == "__main__":
    sys.exit(main())
