"""Control flow of one function, and the two data-flow questions the compiler asks of it.

Points are simple statements and the headers of compound ones (the test of an `if` or `while`,
the iteration of a `for`). Sets are bit masks, so that a long function costs little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import gast

from lsp_ad.source.trees import PARTS, children, walk

if TYPE_CHECKING:
    from lsp_ad.semantics.points import Points

_NAME, _CONSTANT, _OPERATION, _CALL, _STORE = gast.Name, gast.Constant, gast.BinOp, gast.Call, gast.Store
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_SCOPED = frozenset((*_COMPREHENSIONS, gast.Lambda, gast.AugAssign))
_SIMPLE = frozenset((gast.Assign, gast.AugAssign, gast.Expr))
_COMPOUND = frozenset(
    (gast.If, gast.For, gast.While, gast.With, gast.Try, gast.Match, gast.FunctionDef, gast.ExceptHandler)
)


def reads(node: gast.AST | None) -> set[str]:
    """The names that evaluating an expression (or running a simple statement) may read."""
    found: set[str] = set()
    pending = [] if node is None else [node]
    for part in pending:  # which grows on the way
        kind = type(part)
        if kind is _NAME:
            if type(part.ctx) is not _STORE:
                found.add(part.id)
        elif kind is _CONSTANT:
            continue
        elif kind is _OPERATION:
            pending += (part.left, part.right)
        elif kind is _CALL:
            pending += (part.func, *part.args, *part.keywords)
        elif kind in _SCOPED:
            found |= _scoped_reads(part)
        else:
            content = part.__dict__
            for field_name in PARTS[kind]:
                value = content.get(field_name)
                if type(value) is list:
                    pending += value if None not in value else [item for item in value if item is not None]
                elif value is not None:
                    pending.append(value)
    return found


def _scoped_reads(node: gast.AST) -> set[str]:
    if isinstance(node, gast.Lambda):
        return reads(node.body) - {a.id for a in node.args.args}
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
        return {node.target.id} | reads(node.value)
    if isinstance(node, _COMPREHENSIONS):
        bound = {n.id for g in node.generators for n in walk(g.target) if isinstance(n, gast.Name)}
        inner: set[str] = set()
        for child in children(node):
            inner |= reads(child)
        return (inner - bound) | reads(node.generators[0].iter)
    found: set[str] = set()
    for child in children(node):
        found |= reads(child)
    return found


def stored(target: gast.AST) -> set[str]:
    """The names that an assignment, or its target, binds."""
    if type(target) is gast.Assign:
        if len(target.targets) > 1:
            return {n for t in target.targets for n in stored(t)}
        target = target.targets[0]
    if type(target) is _NAME:
        return {target.id} if type(target.ctx) is _STORE else set()
    return {n.id for n in walk(target) if type(n) is gast.Name and type(n.ctx) is gast.Store}


def header(statement: gast.stmt) -> list[gast.AST]:
    """What a point consists of: a simple statement, or the parts of a compound one outside its blocks."""
    if isinstance(statement, (gast.If, gast.While)):
        return [statement.test]
    if isinstance(statement, gast.For):
        return [statement.iter, statement.target]
    if isinstance(statement, gast.With):
        return list(statement.items)
    if isinstance(statement, gast.Match):
        return [statement.subject]
    if isinstance(statement, gast.ExceptHandler):
        return [part for part in (statement.type, statement.name) if part is not None]
    return [] if isinstance(statement, (gast.FunctionDef, gast.Try)) else [statement]


def header_reads(statement: gast.stmt) -> set[str]:
    """What a point reads."""
    if type(statement) not in _COMPOUND:
        return reads(statement)
    parts = header(statement)
    return reads(parts[0]) if len(parts) == 1 else {n for part in parts for n in reads(part)}


def header_writes(statement: gast.stmt) -> set[str]:
    """What a point binds."""
    if type(statement) not in _COMPOUND:
        return stored(statement)
    if isinstance(statement, gast.FunctionDef):
        return {statement.name}
    if isinstance(statement, gast.Try):
        return {n for handler in statement.handlers for n in header_writes(handler)}
    if isinstance(statement, gast.Match):
        return stored(statement.subject) | {n for case in statement.cases for n in captured(case.pattern)}
    return {n for part in header(statement) for n in stored(part)}


def captured(pattern: gast.pattern) -> list[str]:
    """The names that a match of a pattern binds."""
    found = [getattr(p, field, None) for p in walk(pattern) for field in ("name", "rest")]
    return [n for n in found if isinstance(n, str)]


def writes(statements: Iterable[gast.stmt]) -> set[str]:
    """Every name that statements bind, those inside them included."""
    found: set[str] = set()
    for statement in statements:
        found |= header_writes(statement)
        for block in blocks(statement):
            found |= writes(block)
    return found


def blocks(statement: gast.stmt) -> list[list[gast.stmt]]:
    """The statement lists inside a compound statement."""
    if type(statement) not in _COMPOUND:
        return []
    if isinstance(statement, (gast.If, gast.For, gast.While)):
        return [statement.body, statement.orelse]
    if isinstance(statement, gast.With):
        return [statement.body]
    if isinstance(statement, gast.Try):
        handlers = [handler.body for handler in statement.handlers]
        return [statement.body, *handlers, statement.orelse, statement.finalbody]
    if isinstance(statement, gast.Match):
        return [case.body for case in statement.cases]
    return []


def statements(body: list[gast.stmt]) -> list[gast.stmt]:
    """Every statement of a block, outer before inner, in the order of the text."""
    found: list[gast.stmt] = []
    for statement in body:
        found.append(statement)
        if type(statement) in _COMPOUND:
            for block in blocks(statement):
                found += statements(block)
    return found


def is_endless(s: gast.stmt) -> bool:
    """Whether a loop ends by `break`, `return` or `raise` only."""
    return isinstance(s, gast.While) and isinstance(s.test, gast.Constant) and bool(s.test.value)


class Point(NamedTuple):
    """A step of a run: a simple statement, the header of a compound one, or a `for` binding its target."""

    statement: gast.stmt
    reads: Set[str]
    writes: Set[str]


@dataclass
class Flow:
    """The control-flow graph of a body. Point 0 is the entry, the last one the exit; these are None.

    `index` gives the point of a statement: of a `for`, where it asks for the next element.
    """

    points: list[Point | None] = field(default_factory=lambda: [None])
    successors: list[list[int]] = field(default_factory=lambda: [[]])
    index: dict[int, int] = field(default_factory=dict)
    known: Points | None = None

    @staticmethod
    def of(body: list[gast.stmt], known: Points | None = None) -> Flow:
        """The graph of a body; `known`: what is known of its statements."""
        flow = Flow(known=known)
        exits: list[int] = []
        ends = flow._block(body, [0], [], [], exits)
        last = flow._add(None)
        for end in [*ends, *exits]:
            flow.successors[end].append(last)
        return flow

    def _add(self, point: Point | None) -> int:
        self.points.append(point)
        self.successors.append([])
        return len(self.points) - 1

    def _header(self, s: gast.stmt) -> int:
        read: Set[str]
        written: Set[str]
        if self.known is None or type(s) is gast.ExceptHandler:
            read, written = header_reads(s), header_writes(s)
        else:
            point = self.known.of(s)
            read, written = point.reads, point.binds
        if isinstance(s, (gast.For, gast.Try)):  # these bind at a point of its own
            written = set()
        self.index[id(s)] = here = self._add(Point(s, read, written))
        return here

    def _block(
        self,
        body: list[gast.stmt],
        ends: list[int],
        breaks: list[int],
        continues: list[int],
        exits: list[int],
    ) -> list[int]:
        for statement in body:
            here = self._header(statement)
            for end in ends:
                self.successors[end].append(here)
            if type(statement) in _SIMPLE:
                ends = [here]
            else:
                ends = self._after(statement, here, breaks, continues, exits)
        return ends

    def _after(
        self, s: gast.stmt, here: int, breaks: list[int], continues: list[int], exits: list[int]
    ) -> list[int]:
        if isinstance(s, gast.If):
            yes = self._block(s.body, [here], breaks, continues, exits)
            return yes + self._block(s.orelse, [here], breaks, continues, exits)
        if isinstance(s, (gast.For, gast.While)):
            mine: list[int] = []
            again: list[int] = []
            start = here
            if isinstance(s, gast.For):
                start = self._add(Point(s, frozenset(), stored(s.target)))
                self.successors[here].append(start)
            for end in self._block(s.body, [start], mine, again, exits) + again:
                self.successors[end].append(here)
            return self._block(s.orelse, [] if is_endless(s) else [here], breaks, continues, exits) + mine
        if isinstance(s, gast.With):
            return self._block(s.body, [here], breaks, continues, exits)
        if isinstance(s, gast.Match):
            cases = [self._block(case.body, [here], breaks, continues, exits) for case in s.cases]
            return [here, *(end for ends in cases for end in ends)]
        if isinstance(s, gast.Try):
            return self._try(s, here, breaks, continues, exits)
        if isinstance(s, (gast.Return, gast.Raise)):
            exits.append(here)
            return []
        if isinstance(s, gast.Break):
            breaks.append(here)
            return []
        if isinstance(s, gast.Continue):
            continues.append(here)
            return []
        return [here]

    def _try(
        self, s: gast.Try, here: int, breaks: list[int], continues: list[int], exits: list[int]
    ) -> list[int]:
        """Each step of the body may raise before it has done what it does."""
        first = len(self.points)
        ends = self._block(s.body, [here], breaks, continues, exits)
        inside = range(first, len(self.points))
        raising = [here, *(p for p in inside if any(q in inside for q in self.successors[p]))]
        ends = self._block(s.orelse, ends, breaks, continues, exits)
        for handler in s.handlers:
            start = self._header(handler)
            for p in raising:
                self.successors[p].append(start)
            ends = ends + self._block(handler.body, [start], breaks, continues, exits)
        if s.finalbody:
            ends = self._block(s.finalbody, [*ends, *raising], breaks, continues, exits)
        return ends

    def predecessors(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.points]
        for start, ends in enumerate(self.successors):
            for end in ends:
                found[end].append(start)
        return found


def solve(
    count: int, order: Iterable[int], sources: list[list[int]], gen: list[int], kill: list[int]
) -> list[int]:
    """The masks that flow *into* each point: in = union of (gen | in & ~kill) over its sources."""
    into = [0] * count
    order = list(order)
    changed = True
    while changed:
        changed = False
        for point in order:
            mask = 0
            for source in sources[point]:
                mask |= gen[source] | (into[source] & ~kill[source])
            if mask != into[point]:
                into[point] = mask
                changed = True
    return into


class Live:
    """The names alive before each point; `live[p]` is a set, made when it is asked for."""

    def __init__(self, masks: list[int], names: dict[str, int]):
        self.masks = masks
        self.bits = names
        self.names = list(names)
        self._sets: dict[int, set[str]] = {}

    def __getitem__(self, point: int) -> set[str]:
        if point not in self._sets:
            self._sets[point] = self.unmask(self.masks[point])
        return self._sets[point]

    def unmask(self, mask: int) -> set[str]:
        found = set()
        while mask:
            low = mask & -mask
            found.add(self.names[low.bit_length() - 1])
            mask ^= low
        return found

    def mask(self, names: Iterable[str]) -> int:
        """The mask of some names."""
        return sum(1 << self.bits[n] for n in names if n in self.bits)

    def any_of(self, points: Iterable[int], names: Iterable[str]) -> bool:
        """Whether one of the names is alive before one of the points."""
        mask = self.mask(names)
        return any(self.masks[point] & mask for point in points)

    def after(self, flow: Flow, point: int) -> int:
        """The mask of the names alive after a point."""
        mask = 0
        for successor in flow.successors[point]:
            mask |= self.masks[successor]
        return mask

    def holds(self, mask: int, name: str) -> bool:
        bit = self.bits.get(name)
        return bit is not None and bool(mask >> bit & 1)


def live_before(
    flow: Flow, at_exit: Iterable[str] = (), reads: Callable[[gast.stmt], set[str]] | None = None
) -> Live:
    """The names that may be read at or after each point before they are bound again.

    `reads`: what counts as read at a point, if not all that it reads.
    """
    names: dict[str, int] = {}

    def mask(found: Iterable[str]) -> int:
        total = 0
        for name in found:
            total |= 1 << names.setdefault(name, len(names))
        return total

    size = len(flow.points)
    gen = [
        mask(reads(p.statement) if reads is not None and p.reads else p.reads) if p is not None else 0
        for p in flow.points
    ]
    kill = [mask(p.writes) if p is not None else 0 for p in flow.points]
    gen[-1] |= mask(at_exit)
    out = solve(size, reversed(range(size)), flow.successors, gen, kill)
    return Live([gen[p] | (out[p] & ~kill[p]) for p in range(size)], names)
