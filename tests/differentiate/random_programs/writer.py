"""What the parts of the generator share: the text of one program as it grows, and the kinds of its names."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")
Shape = tuple[int, ...]
NUMBER: Shape = ()
SHAPES: list[Shape] = [(), (4,), (3,), (3, 4), (4, 3)]


@dataclass
class Scope:
    """The names that are bound wherever the program goes next."""

    values: dict[str, Shape] = field(default_factory=dict)
    counters: list[str] = field(default_factory=list)
    lists: dict[str, tuple[Shape, int]] = field(
        default_factory=dict
    )  # the shape of the items, the least length
    dicts: dict[str, dict[str, Shape]] = field(default_factory=dict)
    functions: dict[str, tuple[list[Shape], Shape]] = field(default_factory=dict)
    objects: list[str] = field(default_factory=list)

    def copy(self) -> Scope:
        return Scope(
            dict(self.values),
            list(self.counters),
            dict(self.lists),
            dict(self.dicts),
            dict(self.functions),
            list(self.objects),
        )


class Writer:
    """Writes the lines of one function; every choice is drawn from hypothesis, the first of a list being the simplest."""

    def __init__(self, draw: Callable[[Any], Any], size: int):
        self.draw, self.size = draw, size
        self.scope = Scope()
        self.lines: list[str] = []
        self.depth = 1
        self.made = 0
        self.in_loop = 0
        self.fixed: set[str] = (
            set()
        )  # names that are not assigned here: loop variables, lists that a loop goes over
        self.kind_of_result: Shape = NUMBER
        self.uses_objects = False
        self.blocks: list[list[str]] = []  # whole functions for the head of the file

    # --- choices

    def below(self, bound: int) -> int:
        return self.draw(st.integers(0, bound - 1))

    def pick(self, items: list[T]) -> T:
        return items[self.below(len(items))]

    def chance(self, percent: int) -> bool:
        return self.below(100) >= 100 - percent

    def constant(self) -> str:
        return self.pick(["0.5", "1.5", "-0.7", "0.3", "2.0", "1.1", "-1.2"])

    # --- names

    def fresh(self, letter: str) -> str:
        self.made += 1
        return f"{letter}{self.made}"

    def names(self, shape: Shape) -> list[str]:
        return [n for n, s in self.scope.values.items() if s == shape]

    def assignable(self, shape: Shape) -> list[str]:
        return [n for n in self.names(shape) if n not in self.fixed]

    def target(self, shape: Shape) -> str:
        """A name to assign a value of a shape to: one that is there already, or a new one."""
        old = self.assignable(shape)
        return self.pick(old) if old and self.chance(55) else self.fresh("v" if shape else "s")

    # --- text

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, header: str, loop: bool = False):
        """A block of which no new name is read afterwards; nothing in it changes the least length of a list."""
        self.line(header)
        before, fixed = self.scope, set(self.fixed)
        self.scope = before.copy()
        self.depth += 1
        self.in_loop += loop
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line("pass")
        self.in_loop -= loop
        self.depth -= 1
        self.scope, self.fixed = before, fixed
