"""Findings that need more than a refusal: what is silently not as it looks. One rule is one module."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from lsp_ad.checks.rules.concrete_values import concrete_values
from lsp_ad.checks.rules.identity import identity
from lsp_ad.checks.rules.numpy_calls import numpy_calls
from lsp_ad.checks.rules.python_tests import python_tests
from lsp_ad.checks.rules.staging_bypass import staging_bypass
from lsp_ad.checks.rules.traced_builtins import traced_builtins, traced_iteration
from lsp_ad.checks.rules.traced_logic import traced_logic
from lsp_ad.checks.rules.traced_shapes import traced_shapes
from lsp_ad.checks.rules.unrolling import unrolling
from lsp_ad.checks.traces import Trace, Traces
from lsp_ad.problems import Problem, Span
from lsp_ad.semantics.names import Program

# Each is asked once for every function that runs while it is traced.
RULES: tuple[Callable[[Trace], Iterator[Problem]], ...] = (
    concrete_values,
    identity,
    numpy_calls,
    python_tests,
    staging_bypass,
    traced_builtins,
    traced_iteration,
    traced_logic,
    traced_shapes,
    unrolling,
)


def check(program: Program) -> list[Problem]:
    """The findings of all rules in a file, in the order of the text; no code of the file is run."""
    if "findings" not in program.derived:
        program.derived["findings"] = _check(program)
    return program.derived["findings"]


def _check(program: Program) -> list[Problem]:
    found: dict[tuple[Span, str], Problem] = {}
    for trace in traces_of(program):
        for rule in RULES:
            with contextlib.suppress(RecursionError):
                for problem in rule(trace):
                    found[problem.span, problem.code] = problem
    return [found[key] for key in sorted(found)]


def traces_of(program: Program) -> Traces:
    """The traced functions of a file, found once."""
    if "traces" not in program.derived:
        program.derived["traces"] = Traces(program)
    return program.derived["traces"]


__all__ = ["RULES", "check", "traces_of"]
