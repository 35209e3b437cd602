"""How often loops run at most, as the user says it for staging: handed on to the loops of a derivative.

while x > 1.0:                                             while x > 1.0:  # lsp-ad: maximum_iterations=50
    lsp_ad.loop_options(maximum_iterations=50)  becomes        tape.append(x)
    x = x * 0.7                                                x = x * 0.7

A derivative computes nothing with it: the directive is taken out before all other passes, and printed at the
loops that have the place of the user's loop. Other options of a loop are about its staging alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import gast

from lsp_ad.problems import Problem, Span, problem
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.uses import LOOP_OPTIONS
from lsp_ad.source.parse import span_of
from lsp_ad.source.pragmas import bound_comment, bound_of
from lsp_ad.source.printing import key

_LOOPS = (gast.For, gast.While)
_PARTS = (
    gast.Name,
    gast.Constant,
    gast.BinOp,
    gast.UnaryOp,
    gast.Subscript,
    gast.expr_context,
    gast.operator,
    gast.unaryop,
)
_FUNCTIONS = ("builtins.len", "builtins.min", "builtins.max", "builtins.int")


def is_directive(s: gast.stmt, scope: Scope) -> bool:
    return (
        isinstance(s, gast.Expr)
        and isinstance(s.value, gast.Call)
        and scope.canonical(s.value.func) in LOOP_OPTIONS
    )


def check(function: gast.FunctionDef, scope: Scope) -> Iterator[Problem]:
    """What is wrong with the directives of a function."""
    written = flow.writes(function.body)
    first = {id(loop.body[0]) for loop in flow.statements(function.body) if isinstance(loop, _LOOPS)}
    for s in flow.statements(function.body):
        if not is_directive(s, scope):
            continue
        if id(s) not in first:
            way_out = "Make it the first statement of the loop."
            yield problem("AD101", "`loop_options` below other statements of its loop.", span_of(s), way_out)
        most = _given(s)
        if most is not None and not _is_known(most, written, scope):
            message = "How often this loop runs at most is not known on entry to the function."
            way_out = "Give a number, a parameter that is not assigned, or a length or shape of one."
            yield problem("AD101", message, span_of(most), way_out)


def _given(s: gast.Expr) -> gast.expr | None:
    found = next((k.value for k in s.value.keywords if k.arg == "maximum_iterations"), None)
    return None if isinstance(found, gast.Constant) and found.value is None else found


def _is_known(node: gast.AST, written: set[str], scope: Scope) -> bool:
    """Whether an expression has one value, which is that on entry, all through the function."""
    if isinstance(node, gast.Call):
        known = scope.canonical(node.func) in _FUNCTIONS and not node.keywords
        return known and all(_is_known(a, written, scope) for a in node.args)
    if isinstance(node, gast.Attribute):
        return node.attr in ("shape", "size") and _is_known(node.value, written, scope)
    if isinstance(node, gast.Name) and node.id in written:
        return False
    return isinstance(node, _PARTS) and all(
        _is_known(part, written, scope) for part in gast.iter_child_nodes(node)
    )


def taken_out(function: gast.FunctionDef, scope: Scope) -> dict[Span, gast.expr]:
    """Take the directives out of a function, in place; what they say, by the place of the loop.

    What generated code says by a comment is handed on, too. Raises Refusal.
    """
    found: dict[Span, list[gast.expr | None]] = {}
    for s in flow.statements(function.body):
        if isinstance(s, _LOOPS):
            found.setdefault(span_of(s), []).append(_bound(s, scope))
    # loops of a function that is not in the text may all have one place
    return {span: most[0] for span, most in found.items() if most[0] is not None and _are_same(most)}


def _are_same(found: list[gast.expr | None]) -> bool:
    return len({key(most) if most is not None else "" for most in found}) == 1


def comments(most: Mapping[Span, gast.expr], apart: bool = False) -> dict[Span, str]:
    """The comments at the heads of loops; `apart`: in a function without the user's parameters."""
    return {
        span: bound_comment(bound)
        for span, bound in most.items()
        if not apart or not any(isinstance(n, gast.Name) for n in gast.walk(bound))
    }


def _bound(loop: gast.For | gast.While, scope: Scope) -> gast.expr | None:
    first = loop.body[0]
    if is_directive(first, scope):
        loop.body[:1] = [] if len(loop.body) > 1 else [gast.copy_location(gast.Pass(), first)]
        return _given(first)
    line = scope.program.parsed.document.lines.line(loop.lineno)
    in_text = line[loop.col_offset :].startswith(("for ", "while "))
    kept = getattr(loop, "most", None)
    return bound_of(loop, scope.program.parsed.comments) if in_text and kept is None else kept
