"""Random programs of branches, loops, jumps and logic on staged and Python values."""

from __future__ import annotations

import random
import re

# x and y are staged floats, n and m Python ints, flag a bool; a and b are locals that change.


class Generator:
    """One program of a seed. Types stay the same, so that it can be staged."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.loops = 0
        self.counters = 0

    def program(self) -> str:
        body = ["a = x", "b = 1.0", "k = 0", *self.block(3), "return a + b + k"]
        return "def f(x, y, n, m, flag):\n" + "".join(f"    {line}\n" for line in body)

    def block(self, depth: int) -> list[str]:
        return [line for _ in range(self.random.randint(1, 3)) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        kinds = ["assign"] * 4 + ["count", "choose"]
        if depth:
            kinds += ["if", "if", "else", "for", "while"]
        if self.loops:
            kinds += ["jump"]
        kind = self.random.choice(kinds)
        if kind in ("assign", "count", "choose"):
            return [self.assignment(kind)]
        if kind == "jump":
            return [f"if {self.test()}:", f"    {self.random.choice(['break', 'continue'])}"]
        if kind in ("if", "else"):
            other = ["else:", *indented(self.block(depth - 1))] if kind == "else" else []
            return [f"if {self.test()}:", *indented(self.block(depth - 1)), *other]
        return self.loop(kind, depth)

    def loop(self, kind: str, depth: int) -> list[str]:
        self.loops += 1
        self.counters += 1
        name = f"i{self.counters}"
        body = indented(self.block(depth - 1))
        self.loops -= 1
        if kind == "for":
            return [f"for {name} in range({self.random.choice(['2', '3', 'n', 'm'])}):", *body]
        bound = self.random.choice(["n", "2", f"n and {self.staged()}", f"3 and ({self.staged()} or flag)"])
        return [f"{name} = 0", f"while {name} < {bound}:", f"    {name} += 1", *body]

    def assignment(self, kind: str) -> str:
        if kind == "count":
            return self.random.choice(["k += 1", "k = k + m", "k = 2"])
        if kind == "choose":
            return f"b = a if {self.test()} else b * 0.5"
        name = self.random.choice("ab")
        return (
            f"{name} = {self.random.choice(['a + 0.5', 'b * 0.5', 'a - b', 'x * 0.25 + b', 'y + k', '1.5'])}"
        )

    def staged(self) -> str:
        return self.random.choice(["a > b", "x < y", "a < 2.0", "b > 0.0"])

    def python(self) -> str:
        return self.random.choice(["flag", "n > 2", "m == 1", "k > 1", "k < n"])

    def test(self) -> str:
        kind = self.random.randint(0, 5)
        if kind < 2:
            return self.staged()
        if kind < 4:
            return self.python()
        word = self.random.choice(["and", "or"])
        one, other = (
            self.random.choice([self.staged, self.python]),
            self.random.choice([self.staged, self.python]),
        )
        return f"{'not ' if kind == 5 else ''}({one()} {word} {other()})"


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


_CONDITIONS = ("a > 3.0", "b < x", "k > 1", "flag", "not flag", "n == m", "a > b and k > 0", "0 < k < 2")


def with_breaks(program: str, seed: int) -> str:
    """The program with one or two breaks where the body of each `while` loop begins."""
    chance = random.Random(seed)
    lines = []
    for line in program.splitlines():
        lines.append(line)
        if line.strip().startswith("while"):
            indent = " " * (len(line) - len(line.lstrip()) + 4)
            for _ in range(chance.randint(1, 2)):
                lines += [f"{indent}if {chance.choice(_CONDITIONS)}:", f"{indent}    break"]
    return "\n".join(lines) + "\n"


def with_an_object(program: str, seed: int) -> str:
    """A program of the generator with its variables as attributes of an object, in one of three ways."""
    head, *body = program.rstrip().splitlines()
    parameters = head.removeprefix("def f(").removesuffix("):")
    body = [re.sub(r"\b([abk])\b", r"s.\1", line) for line in body]
    if seed % 3 == 0:  # a dataclass
        fields = ["    a: float = 0.0", "    b: float = 0.0", "    k: int = 0"]
        made = [
            "from dataclasses import dataclass",
            "",
            "@dataclass",
            "class Box:",
            *fields,
            "",
            head,
            "    s = Box()",
            *body,
        ]
    elif seed % 3 == 1:  # with a property and an operator
        body = [line.replace("s.a < 2.0", "s < 2.0").replace("s.k < n", "s.big") for line in body]
        members = ["    @property", "    def big(s):", "        return s.a > 1.0 or s.k > 2", ""]
        members += ["    def __lt__(s, other):", "        return s.a < other", ""]
        made = ["class Box:", *members, head, "    s = Box()", *body]
    else:  # in a method
        members = [
            "    def __init__(self):",
            "        self.a = 0.0",
            "        self.b = 0.0",
            "        self.k = 0",
            "",
        ]
        members += [f"    def run(s, {parameters}):", *(f"    {line}" for line in body), ""]
        made = ["class Box:", *members, head, f"    return Box().run({parameters})"]
    return "\n".join(made) + "\n"
