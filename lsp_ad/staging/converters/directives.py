"""What the user says of loops, lists and decisions (`markers.py`).

for x in xs:                                            ag.for_(xs, loop_body, ag.State(...),
    lsp_ad.loop_options(maximum_iterations=n)  becomes      options=ag.Options(maximum_iterations=n))
for x in xs:  # lsp-ad: maximum_iterations=n            the same, in generated code
lsp_ad.element_type(ys, dtype, shape)                   ys = ag.element_type(ys, dtype, shape)
if lsp_ad.must_stage(x > 0):                            if ag.must_stage(x > 0):
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import gast

from lsp_ad.problems import Refusal, problem
from lsp_ad.semantics import flow
from lsp_ad.source.parse import Comment, span_of
from lsp_ad.source.pragmas import options_of
from lsp_ad.source.trees import walk
from lsp_ad.staging.converters.building import at, operator, store

Canonical = Callable[[gast.AST], "str | None"]
MUST_STAGE = "lsp_ad.must_stage"


def convert(function: gast.FunctionDef, canonical: Canonical, comments: Mapping[int, Comment]) -> None:
    """Convert the directives of a function; a loop keeps its options as `options`."""
    whole = any(_named(d, canonical) == MUST_STAGE for d in function.decorator_list)
    for s in flow.statements(function.body):
        if isinstance(s, (gast.For, gast.While)):
            s.options = _options(s.body, canonical) or _in_comment(s, comments)
        if whole and isinstance(s, (gast.If, gast.While)):
            s.test = at(operator("must_stage", s.test), s.test)
        elif whole and isinstance(s, gast.For):
            s.iter = at(operator("must_stage", s.iter), s.iter)
    _element_types(function.body, canonical)
    for node in [n for s in function.body for n in walk(s)]:
        if isinstance(node, gast.Call) and _named(node.func, canonical) == MUST_STAGE:
            node.func = at(operator("must_stage").func, node.func)


def _named(node: gast.AST, canonical: Canonical) -> str:
    """The dotted name of what a decorator or a call calls, as lsp-ad exports it."""
    found = canonical(node.func if isinstance(node, gast.Call) else node) or ""
    return found.replace("lsp_ad.markers.", "lsp_ad.")


def _options(body: list[gast.stmt], canonical: Canonical) -> gast.Call | None:
    """The options of a loop, which its body loses."""
    found = None
    for position, s in enumerate(body):
        if (
            isinstance(s, gast.Expr)
            and isinstance(s.value, gast.Call)
            and _named(s.value, canonical) == "lsp_ad.loop_options"
        ):
            if position:
                raise Refusal(
                    problem(
                        "AD101",
                        "`loop_options` below other statements of its loop.",
                        span_of(s),
                        "Make it the first statement of the loop.",
                    )
                )
            found = s.value
    if found is not None:
        body[:1] = [] if len(body) > 1 else [at(gast.Pass(), body[0])]
        found.func = operator("Options").func
    return found


def _in_comment(loop: gast.For | gast.While, comments: Mapping[int, Comment]) -> gast.Call | None:
    """The options of a loop of generated code, which has them in a comment."""
    given = options_of(loop, comments)
    if not given:
        return None
    made = operator("Options")
    made.keywords = given
    at(made, loop)
    return made


def _element_types(body: list[gast.stmt], canonical: Canonical) -> None:
    for position, s in enumerate(body):
        for block in flow.blocks(s):
            _element_types(block, canonical)
        if (
            isinstance(s, gast.Expr)
            and isinstance(s.value, gast.Call)
            and _named(s.value, canonical) == "lsp_ad.element_type"
            and s.value.args
            and isinstance(s.value.args[0], gast.Name)
        ):
            s.value.func = operator("element_type").func
            body[position] = at(gast.Assign([store(s.value.args[0].id)], s.value, None), s)
