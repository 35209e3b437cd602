"""Random programs that write into arrays under several names, and in functions that they call.

    python -m tests.differentiate.random_writes SEED COUNT

Prints the programs whose gradient is wrong, and how many are right and how many refused.
"""

from __future__ import annotations

import copy
import random
import sys
import warnings

import numpy as np

from tests import oracle

HEAD = "import numpy as np\n\nC = np.array([[0.3, -1.1, 0.7], [1.3, 0.4, -0.6], [0.9, -0.2, 0.5]])\n\n\n"
LARGEST = 1e3  # of values: finite differences of larger ones tell nothing
# What says at run time that a name was taken for a number or an array, and is not.
GUARDS = ("must be a number", "must be an array")


class Generator:
    """Writes one program of `f(x, m, u, n)`: a number, a matrix, a vector, and how often its loops run."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.vectors = ["u"]
        self.matrices = ["m"]
        self.callees: list[tuple[str, int, bool]] = []  # name, how many arrays, whether it returns something
        self.lines: list[str] = []
        self.count = 0

    def program(self) -> str:
        for _ in range(self.random.randrange(3)):
            self.callee()
        self.lines.append(self.random.choice(["def f(x: float, m, u, n: int):", "def f(x, m, u, n):"]))
        if self.chance(0.6):
            self.bind("w", "np.cos(u)", self.vectors)
        if self.chance(0.4):
            self.bind("A", "m * 1.0", self.matrices)
        for _ in range(self.random.randrange(3, 9)):
            self.statement("    ")
        terms = [f"np.sum({v} * C[{k}])" for k, v in enumerate(self.some(self.vectors))]
        self.lines.append(f"    return {' + '.join([*terms, f'np.sum({self.pick(self.matrices)} * C)'])}")
        return HEAD + "\n".join(self.lines) + "\n"

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def pick(self, choices: list[str]) -> str:
        return self.random.choice(choices)

    def some(self, choices: list[str]) -> list[str]:
        return self.random.sample(choices, min(len(choices), 2))

    def bind(self, word: str, value: str, names: list[str]) -> None:
        self.count += 1
        name = f"{word}{self.count}"
        self.lines.append(f"    {name} = {value}")
        names.append(name)

    def callee(self) -> None:
        name, arrays = f"g{len(self.callees)}", ["p", "q"][: self.random.randrange(1, 3)]
        self.lines.append(f"def {name}({', '.join(arrays)}, s):")
        for _ in range(self.random.randrange(1, 4)):
            block = self.pick(["", "", "", "if s > 0.5:", "for k in range(2):"])
            self.lines += [f"    {block}"] if block else []
            self.lines.append(f"    {'    ' * bool(block)}{self.write(arrays, 's')}")
        result = self.pick(["", "np.sum(p)", "p * s", "s * 2.0"])
        self.lines += [f"    return {result}"] if result else []
        self.lines += ["", ""]
        self.callees.append((name, len(arrays), bool(result)))

    def number(self, arrays: list[str], x: str) -> str:
        v = self.pick(arrays)
        return self.pick([x, "0.7", f"{v}[1]", f"{v}[0] * {x}", f"np.sum({v})"])

    def write(self, arrays: list[str], x: str) -> str:
        """A statement that changes one of some vectors, or two of them."""
        v, w = self.pick(arrays), self.pick(arrays)
        at, other, e = self.pick(["0", "1", "-1"]), self.pick(["0", "2"]), self.number(arrays, x)
        return self.pick(
            [
                f"{v}[{at}] = {e}",
                f"{v}[{at}] {self.pick(['*=', '+=', '-=', '/='])} 1.5 + {x} ** 2",
                f"{v} {self.pick(['*=', '+=', '-='])} {self.pick([x, w, '2.0'])}",
                f"{v} /= 1.5 + {w} ** 2",
                f"{v}[{at}], {w}[{other}] = {e}, {w}[{at}]",
                f"{v}[{at}] = {w}[{other}] = {e}",
                f"{v}[:2] **= 2",
                f"{v}[[0, 1]] += {e}",
                f"{v}[:] = {w} * {x}",
                f"{v}[::-1] *= {w}",
                f"{v}[{v} > 0.2] *= {x}",
                f"{v}[1:][0] += {x}",
                f"{v}.fill({e})",
                f"np.copyto({v}, {w}[::-1])",
                f"np.sin({w}, out={v})",
                f"np.add.at({v}, [0, 0], {e})",
            ]
        )

    def statement(self, indent: str) -> None:
        """One statement of f; what is new is bound outside of loops and branches only."""
        inner = len(indent) > 4
        form = self.random.randrange(4 if inner else 9)
        v, m = self.pick(self.vectors), self.pick(self.matrices)
        if form == 0 and self.callees:
            self.call(indent)
        elif form < 4:
            self.lines.append(indent + self.write(self.vectors, "x"))
        elif form < 6:
            views = [f"{m}[1]", f"{m}[:, 0]", f"{m}.T[1]", f"{m}[1:][0]", v, f"{v}[::-1]", f"{v}[:]", f"{v} * x"]
            self.bind("v", self.pick(views), self.vectors)
        elif form == 6:
            self.bind("B", self.pick([m, f"{m}.T", f"{m}[::-1]"]), self.matrices)
        elif form == 7:
            self.lines.append(f"{indent}for r in {m}:")
            self.lines += [f"{indent}    {self.write(['r'], 'x')}" for _ in range(self.random.randrange(1, 3))]
        else:
            self.lines.append(indent + self.pick(["if n > 1:", "if x > 0.5:", "for i in range(n):"]))
            for _ in range(self.random.randrange(1, 3)):
                self.statement(indent + "    ")

    def call(self, indent: str) -> None:
        name, arrays, returns = self.random.choice(self.callees)
        given = self.random.sample([*self.vectors, "m[1]", "m[2]"], arrays)
        call = f"{name}({', '.join(given)}, {self.pick(['x', '0.6', 'x * 2.0'])})"
        self.lines.append(f"{indent}c = {call}" if returns else indent + call)
        if returns:
            self.lines.append(f"{indent}u[0] += np.sum(c)")


def check(seed: int) -> str:
    """`right`, `refused`, or `broken`, a program that fails by itself; AssertionError where a gradient is wrong."""
    source, rng = Generator(seed).program(), np.random.default_rng(seed)
    args = (rng.uniform(0.2, 1.2), rng.normal(size=(3, 3)), rng.normal(size=3), int(rng.integers(0, 4)))
    try:
        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("error")
            if not abs(oracle.run(source)["f"](*copy.deepcopy(args))) < LARGEST:
                return "broken"
    except (ArithmeticError, ValueError, Warning):
        return "broken"
    try:
        oracle.assert_gradient(source, *args, wrt=("x", "m", "u"), tolerance=5e-5)
    except oracle.Refused:
        return "refused"
    except ValueError as error:
        if not any(guard in str(error) for guard in GUARDS):
            raise
        return "refused"
    return "right"


def main(start: int, count: int) -> None:
    found = {"right": 0, "refused": 0, "broken": 0, "wrong": 0}
    for seed in range(start, start + count):
        try:
            found[check(seed)] += 1
        except Exception as error:
            found["wrong"] += 1
            print(f"--- {seed}: {type(error).__name__} {str(error)[:200]}\n{Generator(seed).program()}")
    print(found)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
