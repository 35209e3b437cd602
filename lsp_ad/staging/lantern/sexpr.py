"""S-expressions: reading text into trees that know their places, and laying trees out as text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from lsp_ad.staging.lantern.errors import LanternSyntaxError

WIDTH = 100
CLOSING = {"(": ")", "[": "]"}
_TOKEN = re.compile(r"""\s+ | ;[^\n]* | [()\[\]] | "(?:[^"\\\n]|\\.)*" | [^\s()\[\];"]+""", re.VERBOSE)


@dataclass(frozen=True)
class Position:
    line: int
    column: int

    def error(self, message: str) -> LanternSyntaxError:
        return LanternSyntaxError(message, self.line, self.column)


@dataclass(frozen=True)
class Symbol:
    text: str
    at: Position


@dataclass(frozen=True)
class Quoted:
    text: str
    at: Position


@dataclass(frozen=True)
class Group:
    """What stands between brackets."""

    bracket: str
    items: tuple[Tree, ...]
    at: Position


Tree = Symbol | Quoted | Group


def read(text: str) -> Tree:
    """The one tree that a text consists of."""
    open_groups: list[tuple[str, list[Tree], Position]] = [("", [], Position(1, 1))]
    offset, line, start = 0, 1, 0
    while offset < len(text):
        here = Position(line, offset - start + 1)
        match = _TOKEN.match(text, offset)
        if match is None:
            raise here.error("a string does not end on its line")
        token, offset = match.group(), match.end()
        if "\n" in token:
            line += token.count("\n")
            start = match.start() + token.rindex("\n") + 1
        if token.isspace() or token[0] == ";":
            continue
        if token in CLOSING:
            open_groups.append((token, [], here))
        elif token in CLOSING.values():
            bracket, items, begun = open_groups.pop()
            if CLOSING.get(bracket) != token:
                raise here.error(f"{token} where {bracket} is open" if bracket else f"{token} closes nothing")
            open_groups[-1][1].append(Group(bracket, tuple(items), begun))
        elif token[0] == '"':
            open_groups[-1][1].append(Quoted(_unquoted(token, here), here))
        else:
            open_groups[-1][1].append(Symbol(token, here))
    bracket, items, begun = open_groups[-1]
    if bracket:
        raise begun.error(f"{bracket} is never closed")
    if len(items) != 1:
        raise (items[1].at if items else begun).error("one expression is expected")
    return items[0]


def _unquoted(token: str, at: Position) -> str:
    try:
        return json.loads(token)
    except ValueError:
        raise at.error("a string has an escape that JSON does not know") from None


def quoted(text: str) -> str:
    return json.dumps(text)


# ---------------------------------------------------------------------------------------------------------
# layout


class Block:
    """A bracketed list to lay out; where it does not fit on a line, `head` items stay on the first one."""

    def __init__(self, items: list[Doc], head: int = 1, bracket: str = "(") -> None:
        self.items, self.head, self.bracket = items, head, bracket
        self.width = 2 + sum(width(i) for i in items) + max(len(items) - 1, 0)


Doc = str | Block


def width(doc: Doc) -> int:
    return len(doc) if isinstance(doc, str) else doc.width


def laid_out(doc: Doc) -> str:
    parts: list[str] = []
    _lay_out(doc, 0, 0, parts)
    return "".join(parts)


def _lay_out(doc: Doc, column: int, after: int, parts: list[str]) -> None:
    """Write a tree from a column on, with room for `after` characters behind it on its last line."""
    if isinstance(doc, str):
        parts.append(doc)
        return
    if column + doc.width + after <= WIDTH:
        _flat(doc, parts)
        return
    parts.append(doc.bracket)
    # An item that is laid out on the first line moves what stands in it to its own column.
    here, broken = column + 1, False
    for i, item in enumerate(doc.items):
        last = after + 1 if i == len(doc.items) - 1 else 0
        if 0 < i < doc.head and not broken:
            parts.append(" ")
            here += 1
        elif i:
            here = column + (4 if i < doc.head else 2 if doc.head else 1)
            parts.append("\n" + " " * here)
        _lay_out(item, here, last, parts)
        broken = here + width(item) + last > WIDTH
        here += width(item)
    parts.append(CLOSING[doc.bracket])


def _flat(doc: Doc, parts: list[str]) -> None:
    if isinstance(doc, str):
        parts.append(doc)
        return
    parts.append(doc.bracket)
    for i, item in enumerate(doc.items):
        if i:
            parts.append(" ")
        _flat(item, parts)
    parts.append(CLOSING[doc.bracket])
