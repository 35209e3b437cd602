"""From a tree back to text, keeping the user's own lines wherever the tree still says the same.

A statement whose location is that of a statement of the document, and whose tree equals that
one's, is printed as it stands there, with its comments; anything else is printed from the tree.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

import gast

from lsp_ad.problems import Span
from lsp_ad.source.parse import Comment, Parsed, span_of
from lsp_ad.source.trees import copied, same, walk
from lsp_ad.source.writing import written

INDENT = "    "
BACKWARD = "# backward"  # stands between the two sweeps of generated code, and only there
NOTHING: Mapping[Span, tuple[str, str]] = {}
_COMPOUND = (gast.If, gast.For, gast.While, gast.With, gast.Try, gast.Match, gast.FunctionDef)


class Printed(NamedTuple):
    """One line of printed text with the span that its statement came from, and that statement."""

    text: str
    origin: Span | None
    statement: gast.stmt | None


def expression_text(node: gast.AST) -> str:
    """The text of one expression or statement."""
    text = written(node)
    if text is None:
        text = ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(node)))
    return _double_quoted(text) if "'" in text else text


def _double_quoted(text: str) -> str:
    """The text with plain strings in double quotes."""
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        inner = token.string[1:-1]
        if token.type == tokenize.STRING and token.string[0] == "'" and not set(inner) & set("\\\"'\n"):
            (row, start), (_, end) = token.start, token.end
            line = lines[row - 1]
            lines[row - 1] = f'{line[:start]}"{inner}"{line[end:]}'
    return "".join(lines)


def bare_text(node: gast.expr) -> str:
    """The text of an expression, a tuple without its parentheses."""
    text = expression_text(node)
    return text[1:-1] if isinstance(node, gast.Tuple) and len(node.elts) > 1 else text


def key(node: gast.AST) -> str:
    """A text that is equal for equal trees, wherever they stand: what `gast.dump` gives."""
    kind = type(node)
    if kind is gast.Name and node.annotation is None and node.type_comment is None:
        context = type(node.ctx).__name__
        return f"Name(id={node.id!r}, ctx={context}(), annotation=None, type_comment=None)"
    parts = []
    content = node.__dict__
    for field in node._fields:
        if field in content:
            value = content[field]
            if isinstance(value, gast.AST):
                parts.append(f"{field}={key(value)}")
            elif not isinstance(value, list):
                parts.append(f"{field}={value!r}")
            elif value:
                inner = [key(item) if isinstance(item, gast.AST) else repr(item) for item in value]
                parts.append(f"{field}=[{', '.join(inner)}]")
    return f"{kind.__name__}({', '.join(parts)})"


def plain_assignment(statement: gast.stmt) -> gast.stmt:
    """`x += e` as `x = x + e`, and `x: T = e` as `x = e`; any other statement as it is.

    To the differentiator the two are one for names: it has seen to it that no array with another name is
    changed.
    """
    if isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name):
        left = gast.Name(statement.target.id, gast.Load(), None, None)
        value = gast.BinOp(gast.copy_location(left, statement.target), statement.op, statement.value)
        plain = gast.Assign([statement.target], gast.copy_location(value, statement), None)
        return gast.copy_location(plain, statement)
    if (
        isinstance(statement, gast.AnnAssign)
        and statement.value is not None
        and isinstance(statement.target, gast.Name)
    ):
        return gast.copy_location(gast.Assign([statement.target], statement.value, None), statement)
    return statement


def _means_same(original: gast.stmt, s: gast.stmt) -> bool:
    """Whether a statement is one of the text; `a[s] = a[s] + e` and `a[s] += e` are one to the compiler."""
    if same(plain_assignment(original), s):
        return True
    return isinstance(s, (gast.Assign, gast.AugAssign)) and same(plain_write(original), plain_write(s))


def plain_write(statement: gast.stmt) -> gast.stmt:
    """`a[s] += e` as `a[s] = a[s] + e`; any other statement as it is."""
    if isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Subscript):
        old = gast.Subscript(statement.target.value, statement.target.slice, gast.Load())
        return gast.Assign([statement.target], gast.BinOp(old, statement.op, statement.value), None)
    return statement


class Printer:
    """Prints statements, reusing the text of `originals` (statements of the parsed document) where it can.

    `rebound`: the places of augmented assignments that must not change an array, and are written `x = x + e`.
    `beside`: comments at the heads of loops, by the place of the loop, and those of loops over ranges of
    constants.
    """

    def __init__(
        self,
        parsed: Parsed,
        originals: Iterable[gast.stmt],
        rebound: Set[Span] = frozenset(),
        beside: Mapping[Span, tuple[str, str]] = NOTHING,
    ):
        self.rebound, self.beside = rebound, beside
        self.lines = parsed.document.lines
        self.comments = parsed.comments
        spans = ((span_of(s), s) for s in originals)
        # what has no extent is no statement of the text
        self.originals = {
            span: s for span, s in spans if (span.line, span.column) != (span.end_line, span.end_column)
        }
        self.ending = {s.end_lineno: s for s in self.originals.values() if not isinstance(s, _COMPOUND)}
        self.used: set[int] = set()

    def block(self, body: list[gast.stmt], depth: int) -> list[Printed]:
        """The lines of a block at an indentation depth; `pass` where it is empty."""
        found: list[Printed] = []
        for statement in body:
            found += self.statement(statement, depth)
        return found or [Printed(INDENT * depth + "pass", None, None)]

    def statement(self, s: gast.stmt, depth: int) -> list[Printed]:
        origin = span_of(s) if hasattr(s, "lineno") else None
        original = self.originals.get(origin) if origin else None
        lead = [Printed(INDENT * depth + c.text, origin, s) for c in self._leading(original)]
        if isinstance(s, gast.If):
            return lead + self._if(s, original, origin, depth)
        if isinstance(s, gast.Try):
            return lead + self._try(s, origin, depth)
        if isinstance(s, (gast.For, gast.While, gast.With)):
            header = self._header(s, original)
            if origin is not None and origin in self.beside:
                header += f"  {self.beside[origin][_is_counted(s)]}".rstrip()
            return [*lead, Printed(INDENT * depth + header, origin, s), *self.block(s.body, depth + 1)]
        if original is not None and origin not in self.rebound and _means_same(original, s):
            texts = self._source(original, depth)
        else:
            texts = [INDENT * depth + t for t in tidied_text(s).split("\n")]
        return lead + [Printed(t, origin, s) for t in texts]

    def _if(
        self, s: gast.If, original: gast.stmt | None, origin: Span | None, depth: int, word: str = "if"
    ) -> list[Printed]:
        found = [
            Printed(INDENT * depth + self._header(s, original, word), origin, s),
            *self.block(s.body, depth + 1),
        ]
        if len(s.orelse) == 1 and isinstance(s.orelse[0], gast.If):
            inner = s.orelse[0]
            at = span_of(inner) if hasattr(inner, "lineno") else None
            same = self.originals.get(at) if at else None
            return found + self._if(inner, same, at, depth, "elif")
        if s.orelse:
            found += [Printed(INDENT * depth + "else:", origin, s), *self.block(s.orelse, depth + 1)]
        return found

    def _try(self, s: gast.Try, origin: Span | None, depth: int) -> list[Printed]:
        def line(text: str) -> Printed:
            return Printed(INDENT * depth + text, origin, s)

        found = [line("try:"), *self.block(s.body, depth + 1)]
        for handler in s.handlers:
            caught = f" {expression_text(handler.type)}" if handler.type is not None else ""
            found.append(line(f"except{caught}{f' as {handler.name.id}' if handler.name else ''}:"))
            found += self.block(handler.body, depth + 1)
        for word, block in (("else", s.orelse), ("finally", s.finalbody)):
            if block:
                found += [line(f"{word}:"), *self.block(block, depth + 1)]
        return found

    def _header(self, s: gast.stmt, original: gast.stmt | None, word: str = "if") -> str:
        if isinstance(s, gast.For):
            over = self._kept(s.iter, original and getattr(original, "iter", None))
            return f"for {bare_text(s.target)} in {over}:"
        if isinstance(s, gast.With):
            return f"with {', '.join(expression_text(item) for item in s.items)}:"
        assert isinstance(s, (gast.If, gast.While))
        text = self._kept(s.test, original and getattr(original, "test", None))
        return f"{'while' if isinstance(s, gast.While) else word} {text}:"

    def _kept(self, node: gast.expr, original: gast.expr | None) -> str:
        """The user's own text of an expression where it is the same and stands on one line."""
        if original is not None and original.lineno == original.end_lineno and same(node, original):
            text = self.lines.line(original.lineno)[original.col_offset : original.end_col_offset]
            try:
                if ast.dump(ast.parse(text, mode="eval").body) == ast.dump(gast.gast_to_ast(original)):
                    return text
            except SyntaxError:
                pass
        return tidied_text(node)

    def _leading(self, original: gast.stmt | None) -> list[Comment]:
        """The comment lines above a statement, once; those above the statements of its paragraph that are not
        printed are its own."""
        if original is None or original.lineno in self.used:
            return []
        self.used.add(original.lineno)
        found = []
        line = original.lineno - 1
        while True:
            comment, above = self.comments.get(line), self.ending.get(line)
            if comment is not None and not comment.trailing:
                if comment.text != BACKWARD:
                    found.append(comment)
                line -= 1
            elif (
                above is not None
                and above.col_offset == original.col_offset
                and above.lineno not in self.used
            ):
                self.used.add(above.lineno)
                line = above.lineno - 1
            else:
                return found[::-1]

    def _source(self, original: gast.stmt, depth: int) -> list[str]:
        first, last = original.lineno, original.end_lineno
        texts = [self.lines.line(n) for n in range(first, last + 1)]
        before = texts[0][: original.col_offset]
        rest = texts[-1][original.end_col_offset :]
        texts[-1] = texts[-1][: original.end_col_offset]
        texts[0] = texts[0][original.col_offset :]
        if last in self.comments and not rest.split("#")[0].strip():
            texts[-1] += rest.rstrip()
        margin = before if not before.strip() else ""
        indent = INDENT * depth
        if len(texts) > 1 and margin != indent and _has_long_string(original):
            return [indent + t for t in expression_text(original).split("\n")]
        moved = [t[len(margin) :] if t.startswith(margin) else t for t in texts[1:]]
        return [indent + texts[0]] + [
            (indent if t.strip() and texts[i + 1].startswith(margin) else "") + t for i, t in enumerate(moved)
        ]


def _is_counted(s: gast.stmt) -> bool:
    """Whether a loop goes over a range of constants."""
    if not isinstance(s, gast.For) or not isinstance(s.iter, gast.Call):
        return False
    is_range = isinstance(s.iter.func, gast.Name) and s.iter.func.id == "range"
    return is_range and all(isinstance(a, gast.Constant) for a in s.iter.args)


def _has_long_string(node: gast.AST) -> bool:
    return any(
        isinstance(n, (gast.Constant, gast.JoinedStr)) and n.lineno != n.end_lineno
        for n in walk(node)
        if hasattr(n, "lineno")
    )


def tidied_text(node: gast.expr) -> str:
    """The text of an expression as one writes it: a minus before a parenthesis may be one to move."""
    text = expression_text(node)
    return expression_text(tidy(node)) if "-(" in text else text


class _Minus(gast.NodeTransformer):
    def visit_UnaryOp(self, node: gast.UnaryOp) -> gast.AST:
        self.generic_visit(node)
        inner = node.operand
        if isinstance(node.op, gast.USub) and _is_product(inner):
            leftmost = inner
            while _is_product(leftmost.left):
                leftmost = leftmost.left
            if not isinstance(leftmost.left, gast.Constant) or isinstance(leftmost.left.value, (int, float)):
                leftmost.left = gast.UnaryOp(gast.USub(), leftmost.left)
                return inner
        return node


def _is_product(node: gast.AST) -> bool:
    return isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Mult, gast.Div))


def tidy(node: gast.AST) -> gast.AST:
    """The tree for printing: a minus before a product goes to its first factor, as one writes it."""
    signs = [n for n in walk(node) if type(n) is gast.UnaryOp]
    if not any(isinstance(n.op, gast.USub) and isinstance(n.operand, gast.BinOp) for n in signs):
        return node
    return _Minus().visit(copied(node))
