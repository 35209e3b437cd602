"""Put values that are read once back into the expressions that read them, and merge sums.

Before: `t = x @ w; z = t + b`, `dp = a; dp = dp + b`.  After: `z = x @ w + b`, `dp = a + b`.
Only names that the compiler made are moved; nothing moves past a change of what it reads, into a
loop, or out of one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Set

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.points import Names, Points
from lsp_ad.simplify.algebra import name, normalize, store, substitute
from lsp_ad.simplify.copies import Counts, Shared, changes, forget_copies
from lsp_ad.source.trees import located

LARGEST = 24  # nodes of a backward expression that a reader still takes in


def tidy_up(
    body: list[gast.stmt],
    movable: Callable[[str], bool],
    summable: Callable[[str], bool],
    parameters: set[str],
    shared: Shared | None = None,
    points: Points | None = None,
) -> None:
    """Merge sums and move single-use values, in place, until nothing changes.

    `parameters` are bound on entry. `shared`: for each name those that it may share memory with, which a
    write in place changes as well. `points`: what is known of the statements.
    """
    shared, points = shared or {}, points or Points()
    block: _Block | None = None
    changed = True
    while changed:
        counts = Counts(body, points)
        changed = forget_copies(body, counts, movable, parameters, shared, points)
        if block is None or changed:
            block = _Block(body, counts, movable, summable, shared, points)
        block.counts = counts
        changed |= block.run()


class _Block:
    """A block with the places where each name is read and changed, so that nothing is searched for.

    A statement keeps its place while the block is worked on: one that is taken out leaves a gap.
    """

    def __init__(
        self,
        body: list[gast.stmt],
        counts: Counts,
        movable: Callable[[str], bool],
        summable: Callable[[str], bool],
        shared: Shared,
        points: Points,
    ):
        self.whole = body
        self.body: list[gast.stmt | None] = list(body)
        self.counts = counts
        self.movable = movable
        self.summable = summable
        self.shared = shared
        self.points = points
        self.reads: list[Names] = []
        self.changes: list[Names] = []
        self.mentioned: dict[str, list[int]] = {}
        self.changed: dict[str, list[int]] = {}
        self.compound: list[int] = []
        self.not_simple: list[int] = []
        for at, s in enumerate(body):
            reads, changed = points.reads(s), changes(s, shared, points)
            self.reads.append(reads)
            self.changes.append(changed)
            for n in changed:
                self.changed.setdefault(n, []).append(at)
                self.mentioned.setdefault(n, []).append(at)
            for n in reads:
                if n not in changed:
                    self.mentioned.setdefault(n, []).append(at)
            if not isinstance(s, (gast.Assign, gast.AugAssign, gast.Expr)):
                self.not_simple.append(at)
                if flow.blocks(s):
                    self.compound.append(at)

    def put(self, at: int, s: gast.stmt) -> None:
        """Put what has become of a statement in its place."""
        self.points.forget(s)
        self.know(at, s)

    def know(self, at: int, s: gast.stmt) -> None:
        reads, changed = self.points.reads(s), changes(s, self.shared, self.points)
        before_read, before_changed = self.reads[at], self.changes[at]
        for n in reads:
            if n not in before_read and n not in before_changed:
                insort(self.mentioned.setdefault(n, []), at)
        if changed != before_changed:
            for n in changed - before_changed:
                if n not in reads and n not in before_read:
                    insort(self.mentioned.setdefault(n, []), at)
                insort(self.changed.setdefault(n, []), at)
        self.body[at], self.reads[at], self.changes[at] = s, reads, changed

    def take_out(self, at: int) -> None:
        self.body[at], self.reads[at], self.changes[at] = None, set(), set()

    def mentions(self, n: str, start: int) -> Iterator[tuple[int, gast.stmt]]:
        """The statements after a place that read or change a name, with their places."""
        places = self.mentioned.get(n, [])
        for at in places[bisect_right(places, start) :]:
            s = self.body[at]
            if s is not None and (n in self.reads[at] or n in self.changes[at]):
                yield at, s

    def is_changed(self, names: Set[str], start: int, stop: int) -> bool:
        """Whether a statement between two places changes one of the names."""
        for n in names:
            places = self.changed.get(n, [])
            for at in places[bisect_right(places, start) : bisect_left(places, stop)]:
                if n in self.changes[at]:
                    return True
        return False

    def is_read(self, names: Set[str], start: int, stop: int) -> bool:
        """Whether a statement between two places reads one of the names."""
        return any(n in self.reads[at] for n in names for at, _ in self.mentions(n, start) if at < stop)

    # --- the rewrites ------------------------------------------------------------------------

    def run(self) -> bool:
        """Rewrite what can be; returns whether anything was."""
        rewritten = False
        for position, s in enumerate(self.body):
            if s is None:
                continue
            if blocks := flow.blocks(s):
                inner = [self.inner(b) for b in blocks]
                if any(inner):
                    self.put(position, s)
                    rewritten = True
            elif isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name):
                rewritten |= self.assignment(position, s, s.targets[0].id)
        self.whole[:] = [s for s in self.body if s is not None]
        return rewritten

    def inner(self, body: list[gast.stmt]) -> bool:
        return _Block(body, self.counts, self.movable, self.summable, self.shared, self.points).run()

    def assignment(self, position: int, assignment: gast.Assign, t: str) -> bool:
        """Take an assignment to `t` out, if its value can stand elsewhere."""
        reads, writes = self.counts.reads, self.counts.writes
        value = assignment.value
        if self.summable(t) and self.merge(position, assignment, t):
            return True
        if not self.movable(t) or writes.get(t) != 1:
            return False
        if isinstance(value, gast.Name) and self.forget_copy(position, t, value.id, reads.get(t, 0)):
            return True
        if reads.get(t) == 1 and self.move(position, assignment, t):
            reads[t] = 0
            return True
        return False

    def forget_copy(self, position: int, t: str, original: str, reads: int) -> bool:
        """Read the original instead of its copy `t`, if all reads come before the original changes."""
        readers: list[tuple[int, gast.stmt]] = []
        seen = 0
        for at, s in self.mentions(t, position):
            seen += sum(1 for x in flow.statements([s]) for n in self.points.of(x).names if n.id == t)
            readers.append((at, s))
            if seen >= reads:
                break
        if seen != reads or not readers:
            return False
        at, last = readers[-1]
        if _between(self.compound, position, at + 1) or self.is_changed({original}, position, at):
            return False
        if isinstance(last, gast.AugAssign) and original in self.changes[at]:
            return False
        for at, s in readers:
            substitute(s, {t: name(original)})
            self.put(at, s)
        self.take_out(position)
        return True

    def move(self, position: int, assignment: gast.Assign, t: str) -> bool:
        """Move the value of `t` to its one read, if it is in this block, or in a branch of it."""
        value = assignment.value
        point = self.points.of(assignment)
        used, popped = point.reads, point.lists
        at, s = next(self.mentions(t, position), (position, None))
        if s is None or self.is_changed(used, position, at):
            return False
        reader = _reader([s], t, used, self.shared, self.points)
        if reader is None or _too_large(reader, value):
            return False
        if popped and (reader is not s or self.is_read(popped, position, at + 1)):
            return False
        _replace(reader, t, value)
        self.put(at, s)
        self.take_out(position)
        return True

    def merge(self, position: int, assignment: gast.Assign, t: str) -> bool:
        """Put the value of `t` into the next assignment to it."""
        at, s = next(self.mentions(t, position), (position, None))
        if isinstance(s, gast.AugAssign):
            return self.merge_sum(position, assignment, t, at, s)
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and s.targets[0].id == t:
            if isinstance(s.value, gast.Call):
                return self.merge_step(position, t, assignment.value, at, s)
            return self.merge_sum(position, assignment, t, at, s)
        return False

    def merge_sum(
        self, position: int, assignment: gast.Assign, t: str, at: int, s: gast.Assign | gast.AugAssign
    ) -> bool:
        """`t = a; ...; t = t + b` as `t = a + b`, where t is not read between,
        and what a reads does not change.
        """
        point = self.points.of(assignment)
        used, popped = point.reads, point.lists
        if t in used or _between(self.not_simple, position, at):
            return False
        if self.is_changed(used, position, at) or self.is_read(popped, position, at + 1):
            return False
        if (total := _sum_with(s, t, assignment.value)) is None:
            return False
        self.put(at, total)
        self.take_out(position)
        return True

    def merge_step(self, position: int, t: str, value: gast.expr, at: int, s: gast.Assign) -> bool:
        """`t = a; ...; t = g(t)` as `t = g(a)`, where t is read nowhere else, and a does not change."""
        if (
            not isinstance(value, gast.Name)
            or _between(self.compound, position, at)
            or self.is_changed({value.id}, position, at)
        ):
            return False
        substitute(s.value, {t: value})
        self.put(at, s)
        self.take_out(position)
        return True


def _between(places: list[int], start: int, stop: int) -> bool:
    """Whether one of the places, which are in order, lies between two others."""
    return bisect_right(places, start) < bisect_left(places, stop)


def _reader(
    block: list[gast.stmt], t: str, used: Set[str], shared: Shared, points: Points
) -> gast.stmt | None:
    """The first statement that reads `t`, if a value that reads the names in `used` can stand there."""
    for s in block:
        if t in points.of(s).reads:
            return None if isinstance(s, gast.While) else s
        if isinstance(s, gast.If):
            for branch in (s.body, s.orelse):
                if any(t in points.reads(x) for x in branch):
                    return _reader(branch, t, used, shared, points)
        if changes(s, shared, points) & (used | {t}) or t in points.reads(s):
            return None
    return None


def _sum_with(s: gast.stmt, t: str, first: gast.expr) -> gast.stmt | None:
    """`t = t + b` or `t += b` as `t = first + b`; None for other statements, and where it gets long."""
    if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and s.targets[0].id == t:
        value = s.value
        if not (
            isinstance(value, gast.BinOp)
            and isinstance(value.op, (gast.Add, gast.Sub))
            and isinstance(value.left, gast.Name)
            and value.left.id == t
        ):
            return None
        op, rest = value.op, value.right
    elif isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name) and s.target.id == t:
        op, rest = s.op, s.value
    else:
        return None
    if t in flow.reads(rest) or _size(first) + _size(s.value) > LARGEST:
        return None
    total = gast.Assign([store(t)], normalize(gast.BinOp(first, op, rest)), None)
    return located(total, s) if hasattr(s, "lineno") else total


def _size(node: gast.AST) -> int:
    return sum(1 for n in flow.walk(node) if isinstance(n, (gast.Name, gast.Constant, gast.BinOp, gast.Call)))


def _too_large(s: gast.stmt, value: gast.expr) -> bool:
    # the user's own expressions come back whole; what is added stays readable
    if hasattr(value, "lineno") and hasattr(s, "lineno"):
        return False
    whole = s.value if isinstance(s, (gast.Assign, gast.AugAssign, gast.Expr, gast.Return)) else s
    size = _size(value)
    return size > 3 and size + _size(whole) > LARGEST + 3


def _replace(s: gast.stmt, t: str, value: gast.expr) -> None:
    if isinstance(s, gast.If):
        s.test = substitute(s.test, {t: value})
    elif isinstance(s, gast.For):
        s.iter = substitute(s.iter, {t: value})
    else:
        substitute(s, {t: value})
        if isinstance(s, (gast.Assign, gast.AugAssign)) and not hasattr(s.value, "lineno"):
            s.value = normalize(s.value)
            _minus(s)


def _minus(s: gast.stmt) -> None:
    """`dx += -e` is `dx -= e`."""
    if (
        isinstance(s, gast.AugAssign)
        and isinstance(s.value, gast.UnaryOp)
        and isinstance(s.value.op, gast.USub)
    ):
        flipped = {gast.Add: gast.Sub, gast.Sub: gast.Add}.get(type(s.op))
        if flipped and not isinstance(s.value.operand, gast.Constant):
            s.op, s.value = flipped(), s.value.operand
