"""Random programs with lists and dictionaries that grow, shrink and change.

    python -m tests.differentiate.random_lists SEED COUNT

Prints the programs whose gradient is wrong, and how many are right and how many refused.
"""

from __future__ import annotations

import random
import sys

import numpy as np

from tests import oracle


class Generator:
    """Writes one program; it knows how long each list is at least, and the keys of each dictionary."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lengths: dict[str, int] = {}
        self.keys: dict[str, set[str]] = {}
        self.numbers = ["x", "y"]
        self.count = 0

    def program(self, annotation: str) -> str:
        body = self.block(self.random.randrange(3, 9), "    ", False)
        result = f"{self.expression()} + {self.expression()}"
        if self.random.random() < 0.25 and self.lengths:
            result = f"({result}, {self.random.choice(list(self.lengths))})"
        head = f"import numpy as np\n\n\ndef f(x{annotation}, y{annotation}):\n"
        return head + "\n".join(body) + f"\n    return {result}\n"

    def new(self, word: str) -> str:
        self.count += 1
        return f"{word}{self.count}"

    def item(self, xs: str) -> str:
        return f"{xs}[{self.random.choice([0, -1, self.random.randrange(self.lengths[xs])])}]"

    def filled(self) -> list[str]:
        return [n for n, length in self.lengths.items() if length > 0]

    def expression(self, depth: int = 0) -> str:
        choose, chance = self.random.choice, self.random.random()
        if depth > 1 or chance < 0.35:
            return choose(self.numbers)
        if chance < 0.5 and self.filled():
            return self.item(choose(self.filled()))
        if chance < 0.55 and self.keys:
            d = choose(list(self.keys))
            return f'{d}["{choose(sorted(self.keys[d]))}"]'
        if chance < 0.62:
            return f"np.sin({self.expression(depth + 1)})"
        if chance < 0.67 and self.filled():
            xs = choose(self.filled())
            sums = ["sum({})", "sum(v * v for v in {})", "np.sum(np.stack({}), axis=0)", "sum({}[::-1])"]
            return choose(sums).format(xs)
        return f"({self.expression(depth + 1)} {choose('+-*')} {self.expression(depth + 1)})"

    def block(self, count: int, indent: str, inner: bool) -> list[str]:
        lines = [indent + line for _ in range(count) for line in self.statement(inner)]
        return lines or [indent + "pass"]

    def statement(self, inner: bool) -> list[str]:
        """The lines of one statement; `inner`: in a loop or a branch, where nothing new is bound."""
        choose, chance = self.random.choice, self.random.random()
        if not self.lengths or (chance < 0.1 and not inner):
            count = self.random.randrange(3)
            items = ", ".join(self.expression() for _ in range(count))
            xs = self.new("xs")
            self.lengths[xs] = count
            return [f"{xs} = [{items}]"]
        xs, value = choose(list(self.lengths)), self.expression()
        if chance < 0.25:
            self.lengths[xs] += not inner
            forms = ["{}.append({})", "{}.insert(0, {})", "{}.extend([{}])", "{} += [{}]"]
            return [choose(forms).format(xs, value)]
        if chance < 0.33 and not inner and self.lengths[xs] > 1:
            self.lengths[xs] -= 1
            return [f"{self.number()} = {xs}.pop({choose(['', '0', '-1', '1'])})"]
        if chance < 0.45 and self.lengths[xs] > 0:
            item = self.item(xs)
            return [choose([f"{item} = {value}", f"{item} = {item} * 0.5 + {value}", f"{item} += {value}"])]
        if chance < 0.55:
            return [f"{choose(self.numbers)} = 0.5 * {value}" if inner else f"{self.number()} = {value}"]
        if chance < 0.62 and self.lengths[xs] > 1:
            forms = ["{0}[::-1]", "[v * 0.5 + x for v in {0}]", "list({0})", "{0}[1:] + {0}[:1]"]
            return [f"{xs} = {choose(forms).format(xs)}"]
        if chance < 0.68 and not inner:
            ys = self.new("xs")
            self.lengths[ys] = self.lengths[xs]
            return [f"{ys} = {choose(['list({})', '{} + []', '{}[:]', '{}']).format(xs)}"]
        if chance < 0.74 and not inner:
            keys = ["a", "b"][: self.random.randrange(1, 3)]
            items = ", ".join(f'"{k}": {self.expression()}' for k in keys)
            d = self.new("d")
            self.keys[d] = set(keys)
            return [f"{d} = {{{items}}}"]
        if chance < 0.8 and self.keys:
            d = choose(list(self.keys))
            key = choose(sorted(self.keys[d]) if inner else ["a", "b", "c"])
            self.keys[d].add(key)
            return [f'{d}["{key}"] = {value}']
        if chance < 0.9:
            return self.loop(xs, inner)
        yes, no = self.block(self.random.randrange(1, 3), "    ", True), self.block(1, "    ", True)
        return [f"if np.sum(x) > {choose(['-9.0', '9.0'])}:", *yes, "else:", *no]

    def number(self) -> str:
        self.numbers.append(self.new("s"))
        return self.numbers[-1]

    def loop(self, xs: str, inner: bool) -> list[str]:
        if self.random.random() < 0.5:
            body = self.block(self.random.randrange(1, 3), "    ", True)
            return [f"for i in range({self.random.randrange(4)}):", *body]
        value = self.expression()
        total = self.random.choice(self.numbers[:2]) if inner else self.number()
        start = [] if inner else [f"{total} = {value}"]
        factor = self.random.choice(["v", *self.numbers])
        return [*start, f"for v in {xs}:", f"    {total} = 0.5 * {total} + v * {factor}"]


def check(seed: int) -> str:
    """`right` or `refused`; AssertionError where a gradient is wrong."""
    source = Generator(seed).program(": float" if seed % 2 else "")
    rng = np.random.default_rng(seed)
    size = None if seed % 2 else 2
    try:
        oracle.assert_gradient(
            source,
            rng.normal(size=size),
            rng.normal(size=size),
            all_modes=False,
            tolerance=1e-5,
            directions=2,
        )
    except oracle.Refused:
        return "refused"
    return "right"


def main(start: int, count: int) -> None:
    found = {"right": 0, "refused": 0, "wrong": 0}
    for seed in range(start, start + count):
        try:
            found[check(seed)] += 1
        except Exception as error:
            found["wrong"] += 1
            print(seed, type(error).__name__, str(error)[:100])
    print(found)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
