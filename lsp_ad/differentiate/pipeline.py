"""The passes of differentiation, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from lsp_ad.differentiate.derivative import Derivative
from lsp_ad.problems import Problem
from lsp_ad.semantics.names import Program


def differentiable_parameters(program: Program, name: str) -> tuple[str, ...]:
    """The parameters of a function that are not known to be something other than float: what wrt=None means.

    Raises KeyError where the file has no such function.
    """
    raise NotImplementedError


def differentiate(program: Program, name: str, wrt: Sequence[str | int] | None = None,
                  mode: str = "grad") -> tuple[Derivative | None, tuple[Problem, ...]]:
    """The derivative of function `name` of a file, or None and the problems that forbid it.

    `wrt` names or counts parameters (None: every float one). Nothing is raised at bad input: an
    unknown function or parameter is a problem too (AD504, AD501), with the span of the function or of the file's start.
    """
    raise NotImplementedError
