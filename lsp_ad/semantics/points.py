"""What the statements of a body mention, read, bind and change, found once for each, for many passes.

A sweep has one table, from where its statements are made to where they are shown. Who rewrites a statement
has it forgotten; where it stands, and what stands in its blocks, is no part of what is known of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from itertools import chain

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import METHODS, changed_by
from lsp_ad.semantics.memory import written_root
from lsp_ad.semantics.names import bound_names
from lsp_ad.source.trees import PARTS, walk

Names = set[str] | frozenset[str]

_NONE: frozenset[str] = frozenset()
_NAME, _CONSTANT, _OPERATION, _CALL, _ATTRIBUTE = (
    gast.Name,
    gast.Constant,
    gast.BinOp,
    gast.Call,
    gast.Attribute,
)
_ASSIGN, _AUGMENTED, _EXPRESSION, _STORE = gast.Assign, gast.AugAssign, gast.Expr, gast.Store
_WRITING = (_ASSIGN, _AUGMENTED, _EXPRESSION)
# What has names of its own, and what binds a name inside an expression.
_INNER = frozenset(
    (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.Lambda, gast.NamedExpr)
)


class Point:
    """A simple statement, or the header of a compound one.

    `names`: the names in it, each as often as it stands there, and of these `loads` as text, those that are
    not bound there; `reads`, `binds`: which names it reads and binds; `lists`: the lists and dicts that it
    changes; `array`: the array that it writes into. `inner`: it may have names of its own, as comprehensions
    have.
    """

    __slots__ = ("array", "binds", "inner", "lists", "loads", "names", "reads")

    def __init__(
        self,
        names: list[gast.Name],
        loads: list[str],
        reads: Names,
        binds: Names,
        lists: Names = _NONE,
        array: str | None = None,
        inner: bool = False,
    ):
        self.names = names
        self.loads = loads
        self.reads = reads
        self.binds = binds
        self.lists = lists
        self.array = array
        self.inner = inner

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and all(getattr(self, f) == getattr(other, f) for f in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def rename(self, names: dict[str, str]) -> None:
        """Take names that are read for others, after that was done in the statement."""
        self.loads = [names.get(n, n) for n in self.loads]
        self.reads = {names.get(n, n) for n in self.reads}
        self.lists = {names.get(n, n) for n in self.lists} if self.lists else _NONE
        self.array = None if self.array is None else names.get(self.array, self.array)


def point_of(s: gast.stmt) -> Point:
    """What there is to know of a point, in one walk."""
    kind = type(s)
    if kind is _ASSIGN or kind is _AUGMENTED or kind is _EXPRESSION or kind is gast.Return:
        names, lists, inner = _mentioned([s])
        if not inner:
            loads = [n.id for n in names if type(n.ctx) is not _STORE]
            stores = len(names) - len(loads)
            binds = {n.id for n in names if type(n.ctx) is _STORE} if stores else _NONE
            reads = set(loads)
            if kind is _AUGMENTED and type(s.target) is _NAME:
                reads.add(s.target.id)
            if kind is gast.Return:
                return Point(names, loads, reads, binds)
            if kind is _EXPRESSION:
                return Point(names, loads, reads, binds, lists, written_root(s))
            target = s.targets[0] if kind is _ASSIGN else s.target
            if type(target) is _NAME or type(target) is gast.Tuple:
                return Point(names, loads, reads, binds, lists)
    elif kind is gast.If or kind is gast.While or kind is gast.For:
        names, _, inner = _mentioned(flow.header(s))
        if not inner:
            loads = [n.id for n in names if type(n.ctx) is not _STORE]
            binds = {n.id for n in names if type(n.ctx) is _STORE} if kind is gast.For else _NONE
            return Point(names, loads, set(loads), binds)
    else:
        inner = True
    lists = changed_by(s) if kind in (_ASSIGN, _AUGMENTED, _EXPRESSION) else _NONE
    names = [n for part in _parts(s) for n in walk(part) if type(n) is _NAME]
    loads = [n.id for n in names if type(n.ctx) is not _STORE]
    return Point(names, loads, flow.header_reads(s), flow.header_writes(s), lists, written_root(s), inner)


def _parts(s: gast.stmt) -> list[gast.AST]:
    """The header of a statement, with all that stands in it but the blocks."""
    if isinstance(s, gast.Try):
        return [part for handler in s.handlers for part in flow.header(handler)]
    if isinstance(s, gast.Match):
        return [s.subject, *(part for c in s.cases for part in (c.pattern, c.guard) if part is not None)]
    return [s] if isinstance(s, gast.FunctionDef) else flow.header(s)


def _mentioned(pending: list[gast.AST]) -> tuple[list[gast.Name], Names, bool]:
    """The names in some trees, the lists that methods change there, and whether there are inner names, which
    ends the search."""
    names: list[gast.Name] = []
    lists: Names = _NONE
    for part in pending:  # which grows on the way
        kind = type(part)
        if kind is _NAME:
            names.append(part)
        elif kind is _CONSTANT:
            continue
        elif kind is _OPERATION:
            pending += (part.left, part.right)
        elif kind is _CALL:
            function = part.func
            if type(function) is _ATTRIBUTE and function.attr in METHODS and type(function.value) is _NAME:
                lists = lists | {function.value.id}
            pending.append(function)
            pending += part.args
            pending += part.keywords
        elif kind in _INNER:
            return names, lists, True
        else:
            content = part.__dict__
            for field in PARTS[kind]:
                value = content.get(field)
                if type(value) is list:
                    pending += value if None not in value else [item for item in value if item is not None]
                elif value is not None:
                    pending.append(value)
    return names, lists, False


class Points:
    """What is known of points. It is not to be changed; who rewrites a statement has it forgotten."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[gast.stmt, Point]] = {}

    def of(self, s: gast.stmt) -> Point:
        known = self._known.get(id(s))
        if known is None:
            known = self._known[id(s)] = (s, point_of(s))
        return known[1]

    def reads(self, s: gast.stmt) -> Names:
        """What a statement reads, with all that is inside it."""
        found = self.of(s).reads
        blocks = flow.blocks(s)
        return found.union(*(self.reads(x) for block in blocks for x in block)) if blocks else found

    def mentioned(self, body: list[gast.stmt]) -> set[str]:
        """The names in a body."""
        found: set[str] = set()
        for s in flow.statements(body):
            point = self.of(s)
            found.update(point.loads)
            found.update([n.id for n in point.names] if point.inner else point.binds)
        return found

    def counts(self, body: list[gast.stmt]) -> Counter[str]:
        """How often each name is read in a body."""
        return Counter(chain.from_iterable([self.of(s).loads for s in flow.statements(body)]))

    def bound(self, body: list[gast.stmt]) -> set[str]:
        """The names that a body binds in the scope that it stands in."""
        found: set[str] = set()
        for s in flow.statements(body):
            point = self.of(s)
            found |= bound_names([s]) if point.inner else point.binds
        return found

    def mutated(self, body: list[gast.stmt]) -> set[str]:
        """The names whose arrays the statements of a body write into."""
        found = set()
        for s in flow.statements(body):
            kind = type(s)
            if kind is _ASSIGN:
                plain = type(s.targets[0]) is _NAME
            else:
                plain = kind is _AUGMENTED and type(s.target) is _NAME
            if not plain and kind in _WRITING and (array := self.of(s).array) is not None:
                found.add(array)
        return found

    def forget(self, s: gast.stmt) -> None:
        """A statement, or what is inside it, is rewritten."""
        self.forget_header(s)
        for block in flow.blocks(s):
            for x in block:
                self.forget(x)

    def forget_header(self, s: gast.stmt) -> None:
        """A simple statement, or the header of a compound one, is rewritten."""
        self._known.pop(id(s), None)

    def mentioning(self, body: list[gast.stmt], names: Container[str]) -> list[gast.stmt]:
        """The statements of a block with one of some names in them."""
        return [s for s in body if any(n.id in names for x in flow.statements([s]) for n in self.of(x).names)]
