"""What the user says of loops for staging, handed on to the loops of a derivative.

while x > 1.0:                                             while x > 1.0:  # lsp-ad: maximum_iterations=50
    lsp_ad.loop_options(maximum_iterations=50)  becomes        tape.append(x)
    x = x * 0.7                                                x = x * 0.7

A derivative computes nothing with it: the directive is taken out before all other passes, and printed at the
loops that have the place of the user's loop. `shape_invariants` is about the variables of the user's loop
alone; in a derivative, staging finds the shapes that change by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import gast

from lsp_ad.problems import Problem, Span, problem
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.uses import LOOP_OPTIONS
from lsp_ad.source.parse import span_of
from lsp_ad.source.pragmas import OPTIONS, options_comment, options_of

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
        for option in _given(s):
            if not _is_known(option.value, written, scope):
                what = f"`{option.arg}` of this loop"
                if option.arg == "maximum_iterations":
                    what = "How often this loop runs at most"
                message = f"{what} is not known on entry to the function."
                way_out = "Give a number, a parameter that is not assigned, or a length or shape of one."
                yield problem("AD101", message, span_of(option.value), way_out)


def _given(s: gast.Expr) -> list[gast.keyword]:
    given = [k for k in s.value.keywords if k.arg in OPTIONS]
    return [k for k in given if not (isinstance(k.value, gast.Constant) and k.value.value is None)]


def _is_staged(option: gast.keyword) -> bool:
    """Whether an option is `unroll=False`, which says nothing of a `while` loop: its condition decides."""
    return option.arg == "unroll" and isinstance(option.value, gast.Constant) and not option.value.value


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


def taken_out(function: gast.FunctionDef, scope: Scope) -> dict[Span, list[gast.keyword]]:
    """Take the directives out of a function, in place; what they say, by the place of the loop.

    What generated code says by a comment is handed on, too. Raises Refusal.
    """
    found: dict[Span, list[list[gast.keyword]]] = {}
    for s in flow.statements(function.body):
        if isinstance(s, _LOOPS):
            found.setdefault(span_of(s), []).append(_options(s, scope))
    # loops of a function that is not in the text may all have one place
    return {span: given[0] for span, given in found.items() if given[0] and _are_same(given)}


def _are_same(found: list[list[gast.keyword]]) -> bool:
    return len({options_comment(given) for given in found}) == 1


def comments(
    options: Mapping[Span, list[gast.keyword]], apart: bool = False
) -> dict[Span, tuple[str, str]]:
    """The comments at the heads of loops, and what they are where a loop goes over a range of constants.

    `apart`: in a function without the user's parameters.
    """
    found = {}
    for span, given in options.items():
        kept = [k for k in given if not apart or not flow.reads(k.value)]
        unbounded = [k for k in kept if k.arg != "maximum_iterations"]
        found[span] = (options_comment(kept), options_comment(unbounded))
    return found


def _options(loop: gast.For | gast.While, scope: Scope) -> list[gast.keyword]:
    first = loop.body[0]
    if is_directive(first, scope):
        loop.body[:1] = [] if len(loop.body) > 1 else [gast.copy_location(gast.Pass(), first)]
        return [k for k in _given(first) if isinstance(loop, gast.For) or not _is_staged(k)]
    line = scope.program.parsed.document.lines.line(loop.lineno)
    in_text = line[loop.col_offset :].startswith(("for ", "while "))
    kept = getattr(loop, "options", None)
    return options_of(loop, scope.program.parsed.comments) if in_text and kept is None else kept or []
