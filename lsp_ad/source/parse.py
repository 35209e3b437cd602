"""From text to a gast tree with code-point columns, its comments, or a syntax problem."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from dataclasses import dataclass
from functools import cached_property

import gast

from lsp_ad.problems import Problem, Span, problem
from lsp_ad.source.conversion import ast_to_gast
from lsp_ad.source.document import Document
from lsp_ad.source.trees import no_collection


@dataclass(frozen=True)
class Comment:
    """A comment: `text` with its `#`; `trailing` where code stands before it on the line."""

    line: int
    column: int
    text: str
    trailing: bool


@dataclass(frozen=True)
class Parsed:
    """A document with its tree (an empty module where it does not parse), and problems."""

    document: Document
    module: gast.Module
    known: dict[int, Comment] | None = None
    problems: tuple[Problem, ...] = ()

    @cached_property
    def comments(self) -> dict[int, Comment]:
        """The comments by line, `known` or looked for when they are first asked for."""
        return self.known if self.known is not None else _comments(self.document.text)


def parse(document: Document) -> Parsed:
    """Parse a document. Never raises on bad text: the result then holds a problem and an empty tree."""
    try:
        with no_collection():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(document.text)
            _columns_to_code_points(tree, document)
            return Parsed(document, ast_to_gast(tree))
    except SyntaxError as error:
        return Parsed(document, _empty(), {}, (_syntax_problem(document, error),))
    except (ValueError, RecursionError, MemoryError) as error:
        found = problem("SRC001", f"The text cannot be parsed: {error}.", Span(1, 0, 1, 1))
        return Parsed(document, _empty(), {}, (found,))


def _empty() -> gast.Module:
    return gast.Module(body=[], type_ignores=[])


def _syntax_problem(document: Document, error: SyntaxError) -> Problem:
    line = min(max(error.lineno or 1, 1), len(document.lines))
    length = len(document.lines.line(line))
    column = min(max((error.offset or 1) - 1, 0), max(length - 1, 0))
    end = max(length, column + 1)
    return problem("SRC001", f"Syntax error: {error.msg}.", Span(line, column, line, end))


def _columns_to_code_points(tree: ast.AST, document: Document) -> None:
    if document.text.isascii():
        return
    lines = document.lines
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.col_offset = lines.from_bytes(node.lineno, node.col_offset)  # type: ignore[attr-defined]
            end = lines.from_bytes(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
            node.end_col_offset = end  # type: ignore[attr-defined]


def _comments(text: str) -> dict[int, Comment]:
    found: dict[int, Comment] = {}
    if "#" not in text:
        return found
    # The tokenizer wants one kind of line end; columns are not moved by that.
    source = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                trailing = bool(token.line[:column].strip())
                found[line] = Comment(line, column, token.string, trailing)
    except (tokenize.TokenError, SyntaxError):
        pass
    return found


def span_of(node: gast.AST) -> Span:
    """The span of a node that came from the text, or was given the location of one that did; of one that was
    made, the span of the first part of it that came from there, if any."""
    if not hasattr(node, "lineno"):
        found = next((n for n in gast.walk(node) if hasattr(n, "lineno")), None)
        if found is None:
            return Span(1, 0, 1, 0)
        node = found
    return Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
