"""What is kept of one version of a document for the next: derivatives of functions that did not change.

The key of a function holds all that its derivative can depend on: its own text, that of every function
it mentions, directly or not, that of all top-level statements that are not functions, the names of the
others, and the other files, if it mentions a name from there. Where a function has only moved, the
places in the answer are moved with it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import gast

from lsp_ad.problems import Problem, Related, Span
from lsp_ad.semantics.modules import foreign_names

if TYPE_CHECKING:
    from lsp_ad.differentiate import Derivative
    from lsp_ad.semantics.names import Program

Answer: TypeAlias = "tuple[Derivative | None, tuple[Problem, ...]]"
_WORD = re.compile(r"[^\W\d]\w*")
# Words in a function that may change what names at the top level stand for.
_FAR_REACHING = frozenset({"global", "import"})


@dataclass(frozen=True)
class _Entry:
    first: int
    layout: tuple[int, ...]
    answer: Answer
    movable: bool


class Memo:
    """Answers of one document, the least recently used ones dropped. Used by the analysis thread only."""

    def __init__(self, most: int = 256):
        self._most = most
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()

    def get(self, keys: Keys, function: str, request: Hashable) -> Answer | None:
        """The answer for a function, if it is known and can be put where the function stands now."""
        key = keys.of(function)
        entry = self._entries.get((key, request)) if key is not None else None
        if entry is None:
            return None
        first, _ = keys.extents[function]
        if not entry.movable and entry.layout != keys.layout:
            return None
        self._entries.move_to_end((key, request))
        return moved(entry.answer, first - entry.first)

    def put(self, keys: Keys, function: str, request: Hashable, answer: Answer) -> None:
        key = keys.of(function)
        if key is None:
            return
        first, last = keys.extents[function]
        movable = all(first <= span.line and span.end_line <= last for span in _spans(answer))
        self._entries[key, request] = _Entry(first, keys.layout, answer, movable)
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)


class Keys:
    """The keys of the functions of one version."""

    def __init__(self, program: Program, consulted: Iterable[object] = ()):
        self.program = program
        self._consulted = consulted
        self.extents = {name: _extent(f) for name, f in program.functions.items()}
        self.layout = tuple(_extent(s)[0] for s in program.parsed.module.body)

    def of(self, function: str) -> bytes | None:
        """The key of a function; None where there can be none."""
        if function not in self._texts or not self._is_plain:
            return None
        found, pending = set(), [function]
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += self._words[name] & self._texts.keys()
        settings = self.program.settings
        parts = [function, settings.text if settings else "", self._rest]
        parts += [self._texts[name] for name in sorted(found)]
        if any(self._words[name] & self._foreign for name in found):
            parts.append(self._others)
        return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass")).digest()

    @cached_property
    def _is_plain(self) -> bool:
        # Python takes names that differ in Unicode form for the same one; words of the text do not show that.
        return unicodedata.is_normalized("NFKC", self.program.parsed.document.text)

    @cached_property
    def _foreign(self) -> set[str]:
        """The words by which functions get at other files: imported names, classes, imports of their own."""
        classes = {s.name for s in self.program.parsed.module.body if isinstance(s, gast.ClassDef)}
        return {*foreign_names(self.program), *classes, "import"}

    @cached_property
    def _others(self) -> str:
        return repr(sorted(map(repr, self._consulted)))

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {name: self._text(*extent) for name, extent in self.extents.items()}

    @cached_property
    def _words(self) -> dict[str, set[str]]:
        return {name: set(_WORD.findall(text)) for name, text in self._texts.items()}

    @cached_property
    def _rest(self) -> str:
        """The text of everything that any function may depend on, and the names of all functions."""
        functions = {id(f) for f in self.program.functions.values()}
        statements = [s for s in self.program.parsed.module.body if id(s) not in functions]
        parts = [self._text(*_extent(s)) for s in statements]
        parts += [text for name, text in self._texts.items() if self._words[name] & _FAR_REACHING]
        return "\0".join([*parts, *sorted(self._texts)])

    def _text(self, first: int, last: int) -> str:
        lines = self.program.parsed.document.lines
        return self.program.parsed.document.text[lines.starts[first - 1] : lines.offset(last + 1, 0)]


def moved(answer: Answer, lines: int) -> Answer:
    """An answer with all its places moved down by some lines."""
    if not lines:
        return answer

    def place(span: Span) -> Span:
        return Span(span.line + lines, span.column, span.end_line + lines, span.end_column)

    derivative, problems = answer
    if derivative is not None:
        code = tuple(c._replace(origin=place(c.origin)) if c.origin else c for c in derivative.lines)
        derivative = replace(derivative, lines=code)
    return derivative, tuple(
        replace(
            p,
            span=place(p.span),
            related=tuple(r if r.path else Related(r.message, place(r.span)) for r in p.related),
        )
        for p in problems
    )


def _spans(answer: Answer) -> Iterator[Span]:
    derivative, problems = answer
    if derivative is not None:
        yield from (line.origin for line in derivative.lines if line.origin)
    for found in problems:
        yield found.span
        yield from (r.span for r in found.related if not r.path)


def _extent(statement: gast.stmt) -> tuple[int, int]:
    """The first and the last line of a statement, decorators included."""
    decorators: Iterable[gast.expr] = getattr(statement, "decorator_list", ())
    return min([statement.lineno, *(d.lineno for d in decorators)]), statement.end_lineno
