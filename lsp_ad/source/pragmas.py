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

OPTIONS = ("maximum_iterations", "unroll", "parallel_iterations")
_START = "# lsp-ad: "


def options_comment(options: list[gast.keyword]) -> str:
    """The comment that says something of a loop; nothing for no options."""
    if not options:
        return ""
    return _START + ", ".join(f"{k.arg}={expression_text(k.value)}" for k in options)


def options_of(loop: gast.For | gast.While, comments: Mapping[int, Comment]) -> list[gast.keyword]:
    """What the comment at the head of a loop of the text says of it. Raises Refusal."""
    for line in range(loop.lineno, loop.body[0].lineno):
        comment = comments.get(line)
        if comment is not None and comment.trailing and comment.text.startswith(_START):
            return _options(comment.text.removeprefix(_START), loop)
    return []


def parsed_with_options(text: str) -> list[gast.stmt]:
    """The statements of a generated text; a loop keeps as `options` what the comment at its head says."""
    parsed = parse(Document(text))
    for s in parsed.module.body:
        for loop in walk(s):
            if isinstance(loop, (gast.For, gast.While)):
                loop.options = options_of(loop, parsed.comments)
    return parsed.module.body


def _options(text: str, loop: gast.stmt) -> list[gast.keyword]:
    try:
        made = ast_to_gast(ast.parse(f"options({text})", mode="eval").body)
        if not isinstance(made, gast.Call) or made.args or any(k.arg not in OPTIONS for k in made.keywords):
            raise SyntaxError
    except SyntaxError:
        way_out = f"Write `{_START}{OPTIONS[0]}=n`, or {' or '.join(f'`{o}`' for o in OPTIONS[1:])} there."
        raise Refusal(
            problem("AD101", f"`{_START}{text}` says nothing of a loop.", span_of(loop), way_out)
        ) from None
    for part in gast.walk(made):
        for field in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            part.__dict__.pop(field, None)
    return made.keywords
