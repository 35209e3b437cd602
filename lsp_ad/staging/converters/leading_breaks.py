"""A `break` where the body of a `while` loop begins is part of its test.

while i < n:                    def loop_test():
    if x < 1:                       return ag.and_(i < n, lambda: ag.no_break(x < 1))
        break                   def loop_body():
    x = x / 2                       x = x / 2

So it needs no flag, and nothing in the body depends on one. That is so where the condition does nothing but
look at values: a staged test has no effects.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

import gast

from lsp_ad.semantics import flow
from lsp_ad.source.trees import walk
from lsp_ad.staging.converters.building import at, is_of_operators, operator

_PARTS = (
    gast.Name,
    gast.Constant,
    gast.Attribute,
    gast.Subscript,
    gast.Slice,
    gast.Tuple,
    gast.Call,
    gast.Compare,
    gast.BoolOp,
    gast.BinOp,
    gast.UnaryOp,
    gast.expr_context,
    gast.operator,
    gast.unaryop,
    gast.cmpop,
    gast.boolop,
)
_LIBRARIES = ("numpy.", "jax.numpy.", "tensorflow.", "math.", "builtins.")
_NAMES = """
abs absolute all allclose any bool dot exp fabs float fmax fmin int isclose isfinite isinf isnan len log
logical_and logical_not logical_or max maximum mean min minimum norm reduce_all reduce_any reduce_max
reduce_mean reduce_min reduce_sum round sign sqrt square sum vdot
"""
_FUNCTIONS = frozenset(_NAMES.split())


def convert(function: gast.FunctionDef, dotted: Callable[[gast.expr], str | None]) -> None:
    """Let the tests of loops have the conditions of the breaks; `dotted`: the full name of what is called."""
    for s in flow.statements(function.body):
        first = leading(s, s.body, dotted) if isinstance(s, gast.While) else []
        if not first:
            continue
        del s.body[: len(first)]
        s.body = s.body or [gast.copy_location(gast.Pass(), first[-1])]
        tests = [at(operator("no_break", b.test), b.test) for b in first]
        tests = tests if flow.is_endless(s) else [s.test, *tests]
        made = gast.BoolOp(gast.And(), tests) if len(tests) > 1 else tests[0]
        s.test = gast.copy_location(made, s.test)
        s.test.stands_for = ""  # for no construct of the user's


def leading(s: gast.While, body: list[gast.stmt], dotted: Callable[[gast.expr], str | None]) -> list[gast.If]:
    """The statements `if condition: break` that a loop may have in its test; directives are not in `body`."""

    def is_break(part: gast.stmt) -> bool:
        alone = isinstance(part, gast.If) and len(part.body) == 1 and isinstance(part.body[0], gast.Break)
        return alone and not part.orelse and _only_looks(part.test, dotted)

    assigned = any(isinstance(n, gast.NamedExpr) for n in walk(s.test))
    return [] if s.orelse or assigned else list(takewhile(is_break, body))


def _only_looks(test: gast.expr, dotted: Callable[[gast.expr], str | None]) -> bool:
    """Whether a condition is made of values, operators, and functions that do nothing but compute."""
    return all(
        isinstance(n, _PARTS) and (not isinstance(n, gast.Call) or _computes(n, dotted)) for n in walk(test)
    )


def _computes(node: gast.Call, dotted: Callable[[gast.expr], str | None]) -> bool:
    if is_of_operators(node.func):  # a directive
        return True
    name = dotted(node.func) or ""
    if name.replace("lsp_ad.markers.", "lsp_ad.") == "lsp_ad.must_stage":
        return True
    writes = any(k.arg in (None, "out") for k in node.keywords)
    return name.startswith(_LIBRARIES) and name.rpartition(".")[2] in _FUNCTIONS and not writes
