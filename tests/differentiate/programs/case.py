"""How a program of the oracle sweep is written down: a name, a function `f`, and arguments to try it on."""

from __future__ import annotations

import textwrap
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

HEAD = "import math\n\nimport numpy as np\n\n\n"


@dataclass(frozen=True)
class Drawn:
    """An array to be drawn when the program runs: normal numbers, or uniform ones between two bounds."""

    shape: tuple[int, ...]
    between: tuple[float, float] | None = None


@dataclass(frozen=True)
class Case:
    """A program with one of its argument lists, the first or another; `wrt` as for `differentiate`."""

    name: str
    source: str
    drawn: tuple[Any, ...]
    wrt: tuple[str, ...] | None = None
    is_first: bool = True

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments: the same in every run, whatever other cases there are."""
        return _draw(self.drawn, np.random.default_rng(zlib.crc32(self.name.encode())))


def normal(*shape: int) -> Drawn:
    return Drawn(shape)


def positive(*shape: int) -> Drawn:
    return Drawn(shape, (0.3, 1.7))


def case(name: str, source: str, *inputs: tuple[Any, ...], wrt: tuple[str, ...] | None = None) -> list[Case]:
    """One case for each argument list; NumPy is `np` in the source, and `math` is there."""
    text = HEAD + textwrap.dedent(source).strip() + "\n"
    names = [name] if len(inputs) == 1 else [f"{name}, input {number + 1}" for number in range(len(inputs))]
    return [Case(n, text, drawn, wrt, drawn is inputs[0]) for n, drawn in zip(names, inputs, strict=True)]


def _draw(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, Drawn):
        between, shape = value.between, value.shape
        return rng.uniform(*between, size=shape) if between else rng.normal(size=shape)
    if isinstance(value, dict):
        return {key: _draw(item, rng) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_draw(item, rng) for item in value)
    return value
