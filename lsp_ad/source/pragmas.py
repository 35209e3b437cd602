"""What a comment at the head of a loop says of it: `while x > 1.0:  # lsp-ad: maximum_iterations=50`.

Generated code, which depends on NumPy only, has there what `lsp_ad.loop_options` says in the user's code.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import gast

from lsp_ad.problems import Refusal, problem
from lsp_ad.source.conversion import ast_to_gast
from lsp_ad.source.document import Document
from lsp_ad.source.parse import Comment, parse, span_of
from lsp_ad.source.printing import expression_text
from lsp_ad.source.trees import walk

_START = "# lsp-ad: "
_OPTION = "maximum_iterations"


def bound_comment(most: gast.expr) -> str:
    """The comment that says how often a loop runs at most."""
    return f"{_START}{_OPTION}={expression_text(most)}"


def bound_of(loop: gast.For | gast.While, comments: Mapping[int, Comment]) -> gast.expr | None:
    """How often a loop of the text runs at most, as the comment at its head says. Raises Refusal."""
    for line in range(loop.lineno, loop.body[0].lineno):
        comment = comments.get(line)
        if comment is not None and comment.trailing and comment.text.startswith(_START):
            return _bound(comment.text.removeprefix(_START), loop)
    return None


def parsed_with_bounds(text: str) -> list[gast.stmt]:
    """The statements of a generated text; a loop keeps as `most` what the comment at its head says."""
    parsed = parse(Document(text))
    for s in parsed.module.body:
        for loop in walk(s):
            if isinstance(loop, (gast.For, gast.While)):
                loop.most = bound_of(loop, parsed.comments)
    return parsed.module.body


def _bound(text: str, loop: gast.stmt) -> gast.expr:
    option, _, value = text.partition("=")
    try:
        if option.strip() != _OPTION:
            raise SyntaxError
        made = ast_to_gast(ast.parse(value.strip(), mode="eval").body)
    except SyntaxError:
        way_out = f"Write `{_START}{_OPTION}=n`."
        raise Refusal(
            problem("AD101", f"`{_START}{text}` says nothing of a loop.", span_of(loop), way_out)
        ) from None
    for part in gast.walk(made):
        for field in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            part.__dict__.pop(field, None)
    return made
