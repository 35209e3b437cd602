"""Findings that need more than a refusal: what is silently not as it looks. One rule is one module."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial

from lsp_ad.checks.rules.branches import branches
from lsp_ad.checks.rules.concrete_values import concrete_values
from lsp_ad.checks.rules.effects import effects
from lsp_ad.checks.rules.frozen import frozen_state, frozen_values
from lsp_ad.checks.rules.hidden_changes import hidden_changes
from lsp_ad.checks.rules.identity import identity
from lsp_ad.checks.rules.iterators import iterators
from lsp_ad.checks.rules.jumps import jumps
from lsp_ad.checks.rules.keys import key_reuse
from lsp_ad.checks.rules.list_changes import list_changes
from lsp_ad.checks.rules.must_stage import must_stage
from lsp_ad.checks.rules.numpy_calls import numpy_calls
from lsp_ad.checks.rules.python_tests import python_tests
from lsp_ad.checks.rules.recursion import recursion
from lsp_ad.checks.rules.retracing import retracing
from lsp_ad.checks.rules.staging_bypass import staging_bypass
from lsp_ad.checks.rules.traced_builtins import traced_builtins, traced_iteration
from lsp_ad.checks.rules.traced_logic import traced_logic
from lsp_ad.checks.rules.traced_self import traced_self
from lsp_ad.checks.rules.traced_shapes import traced_shapes
from lsp_ad.checks.rules.type_tests import type_tests
from lsp_ad.checks.rules.unconverted import unconverted
from lsp_ad.checks.rules.unconvertible import unconvertible
from lsp_ad.checks.rules.unrolling import unrolling
from lsp_ad.checks.traces import Trace, Traces
from lsp_ad.problems import Problem, Span
from lsp_ad.semantics.names import Program

# Each is asked once for every function that runs while it is traced.
RULES: tuple[Callable[[Trace], Iterator[Problem]], ...] = (
    branches,
    concrete_values,
    effects,
    frozen_state,
    frozen_values,
    hidden_changes,
    identity,
    iterators,
    jumps,
    key_reuse,
    list_changes,
    must_stage,
    numpy_calls,
    python_tests,
    recursion,
    staging_bypass,
    traced_builtins,
    traced_iteration,
    traced_logic,
    traced_self,
    traced_shapes,
    type_tests,
    unconvertible,
    unconverted,
    unrolling,
)


# And these once for a file with such functions.
FILE_RULES: tuple[Callable[[Traces], Iterator[Problem]], ...] = (retracing,)


def check(program: Program) -> list[Problem]:
    """The findings of all rules in a file, in the order of the text; no code of the file is run."""
    if "findings" not in program.derived:
        program.derived["findings"] = _check(program)
    return program.derived["findings"]


def _check(program: Program) -> list[Problem]:
    found: dict[tuple[Span, str], Problem] = {}
    traces = traces_of(program)
    if not traces.functions.staged:
        return []
    asked = [partial(rule, trace) for trace in traces for rule in RULES]
    asked += [partial(rule, traces) for rule in FILE_RULES]
    for findings in asked:
        # Expressions nested deeper than Python recurses: what is known by then is told.
        with contextlib.suppress(RecursionError):
            found |= {(p.span, p.code): p for p in findings()}
    return [found[key] for key in sorted(found)]


def traces_of(program: Program) -> Traces:
    """The traced functions of a file, found once."""
    if "traces" not in program.derived:
        program.derived["traces"] = Traces(program)
    return program.derived["traces"]


__all__ = ["RULES", "check", "traces_of"]
