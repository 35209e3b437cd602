"""What differentiation hands on: generated code, line by line, with its origins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import gast

from lsp_ad.problems import Span

MODES = ("grad", "value_and_grad", "vjp", "jvp", "hvp", "hessian", "jacobian", "split")


class Line(NamedTuple):
    """One line of generated code, with the piece of the user's text that it comes from, if it comes from one.

    `sweep` is "head" (signature, docstring, checks, return), "forward", "backward" or "tangent".
    """

    text: str
    origin: Span | None
    sweep: str


@dataclass(frozen=True)
class Derivative:
    """Generated code: the derivative `name` of `primal`, and the functions it needs before it.

    `wrt` are the parameters in the order of the results; `helpers` the functions of
    `lsp_ad.runtime` that the code calls by their plain names; `imports` the lines that import
    what the file does not import yet (`import numpy as np`); `seed` the name of the last parameter,
    or in forward mode `tangents` those of the last parameters, one for each of `wrt`. `written_out` are the
    functions whose statements stand in it, with the user's text of each. In split motion `name` is the
    forward function, `backward` the other. `scalar`, in reverse mode: the result is surely a number.
    """

    primal: str
    name: str
    mode: str
    wrt: tuple[str, ...]
    seed: str
    lines: tuple[Line, ...]
    helpers: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    tangents: tuple[str, ...] = ()
    written_out: Mapping[str, gast.AST] = field(default_factory=dict, compare=False, repr=False)
    backward: str = ""
    scalar: bool = False

    @property
    def text(self) -> str:
        return "".join(line.text + "\n" for line in self.lines)
