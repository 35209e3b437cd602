"""The strategy: whole programs `f(x, a, y, z, m, n)` of up to a size, with a result of any kind."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from . import control, functions, straight, structures, writes
from .expressions import value
from .writer import NUMBER, SHAPES, Writer

HEAD = "import functools\nfrom dataclasses import dataclass\n\nimport numpy as np\n\n\n"


@dataclass(frozen=True)
class Program:
    source: str
    seed: int  # of its arguments

    def __str__(self) -> str:
        return f"# arguments drawn from seed {self.seed}\n{self.source}"


def body(w: Writer, count: int) -> None:
    """Statements of all groups; blocks only while they are not too deep."""
    for _ in range(count):
        group = w.pick(["straight", "straight", "control", "writes", "structures", "functions"])
        if group == "control" and w.depth <= 3:
            w.pick(control.BLOCKS)(w, body)
        elif group == "writes":
            w.pick(writes.STATEMENTS)(w)
        elif group == "structures":
            w.pick(structures.STATEMENTS)(w)
        elif group == "functions" and w.depth <= 3:
            if w.chance(25):
                functions.nested(w, body)
            else:
                w.pick(functions.STATEMENTS)(w)
        else:
            w.pick(straight.STATEMENTS)(w)


def result(w: Writer) -> str:
    """What the last line returns: a value, or where no other line returns, a structure."""
    returns = any(line.lstrip().startswith("return ") for line in w.lines)
    if returns or w.chance(70):
        return value(w, w.kind_of_result)
    texts = [value(w, NUMBER, 1), value(w, w.pick(SHAPES), 1)]
    return w.pick([", ".join(texts), f"[{', '.join(texts)}]", f'{{"a": {texts[0]}, "b": {texts[1]}}}'])


@st.composite
def programs(draw, size: int) -> Program:
    w = Writer(draw, size)
    w.scope.values = {"x": NUMBER, "a": NUMBER, "y": (4,), "z": (3,), "m": (3, 4)}
    w.scope.counters = ["n"]
    w.kind_of_result = w.pick([NUMBER, NUMBER, (4,), (3, 4)])
    body(w, 1 + w.below(size))
    w.line(f"return {result(w)}")
    blocks = [[structures.POINT.rstrip()]] * w.uses_objects + w.blocks
    heads = "".join("\n".join(block) + "\n\n\n" for block in blocks)
    source = HEAD + heads + "def f(x, a, y, z, m, n: int):\n" + "\n".join(w.lines) + "\n"
    return Program(source, draw(st.integers(0, 9)))
