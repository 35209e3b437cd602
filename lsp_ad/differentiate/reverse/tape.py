"""One tape for each loop: what an iteration of the backward loop reads, saved by the forward loop.

Forward, an iteration ends with `tape.append((x, h))`; backward, `for x, h in reversed(tape):`
brings the values back, whatever way the loop was left. Where nothing needs saving and the
number of iterations is known, the backward loop is `for i in reversed(range(n)):` without a tape.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

import gast

from lsp_ad.differentiate.desugar.checkpoints import Reruns, is_segment, necessary
from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.differentiate.normal.stable import Stability
from lsp_ad.differentiate.reverse.statements import LoopPair
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.binding import definitely_bound
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.semantics.shapes import UNKNOWN
from lsp_ad.simplify.algebra import assign, call, constant, name, store
from lsp_ad.source.trees import copied


@dataclass
class Tapes:
    """Adds tapes to a forward body, and headers to the backward loops."""

    scope: Scope
    kinds: Kinds
    stability: Stability
    fresh: Fresh
    body: list[gast.stmt]
    bound: set[str]
    reruns: Reruns
    names: set[str] = field(default_factory=set)

    def add(self, loops: list[LoopPair]) -> None:
        """Give every backward loop its header:
        inner loops first, whose tapes are values to the outer ones.
        """
        self.block_of = _blocks(self.body)
        loops = [pair for pair in loops if id(pair.forward) in self.block_of]
        for pair in sorted(loops, key=lambda p: -len(self.stability.path_of[id(p.forward)])):
            if any(map(is_segment, pair.forward.body)):
                self.segment(pair)
            self.loop(pair)

    def segment(self, pair: LoopPair) -> None:
        """Let the backward loop over the segments of a checkpointed loop run the forward loop again.

        Of the state at the start of a segment it needs what that loop reads before it binds it.
        """
        s, node = pair.forward, pair.node
        first = next(i for i, x in enumerate(s.body) if is_segment(x))
        last = next(i for i in range(first, len(s.body)) if isinstance(s.body[i], (gast.For, gast.While)))
        again = s.body[first + 1 : last + 1]
        needed = _free_reads(node.body) & flow.writes(again)
        if not needed:
            return
        loop = again[-1]
        again = necessary(again, needed)
        graph = flow.Flow.of(again)
        state = flow.live_before(graph, needed)[0]
        inside = flow.writes(s.body)
        block = self.block_of[id(s)]
        position = block.index(s)
        starts: list[gast.stmt] = []
        for n in sorted(state - flow.header_writes(s)):
            if n in inside or (n in self.scope.local and not self.stability.is_stable(n)):
                kept = self.fresh.new("s__" + n)
                starts.append(assign(n, name(kept)))
                if n in inside:
                    s.body.insert(first, assign(kept, name(n)))
                    first, last = first + 1, last + 1
                else:
                    block.insert(position, assign(kept, name(n)))
        s.body[first + 1 : last + 1] = [self.reruns.plain[id(loop)]]
        node.body[:0] = [*starts, *again]

    def loop(self, pair: LoopPair) -> None:
        s, node = pair.forward, pair.node
        inside = flow.writes(s.body)
        targets = flow.header_writes(s)
        self._take_views(s, node, inside | targets)
        needed = _free_reads(node.body)
        recorded = sorted(needed & inside)
        wanted = sorted(needed & targets - set(recorded))
        if not recorded and self._without_tape(s, node, wanted):
            return
        self._with_tape(s, node, [*wanted, *recorded])

    def _take_views(self, s: gast.For | gast.While, node: gast.For, bound: Set[str]) -> None:
        """Take views of arrays again in the backward loop, where it first reads them: `mid = u[1:-1]`.

        The array has the content there that it had for the forward loop, as the view of it on a tape would.
        """
        needed = _free_reads(node.body)
        views: dict[str, gast.expr] = {}
        for made in s.body:
            if not (isinstance(made, gast.Assign) and isinstance(made.targets[0], gast.Name)):
                continue
            n, view = made.targets[0].id, made.value
            if isinstance(view, gast.Name):  # another name for one
                view = views.get(view.id)
            if not _is_written_out_view(view) or not self.stability.is_stable(n):
                continue
            array = view.value.id
            is_array = self.kinds.names.get(array, UNKNOWN).type == "array"
            if is_array and array not in bound and self.stability.is_stable(array):
                views[n] = view
                if n in needed:
                    at = next(i for i, x in enumerate(node.body) if n in _free_reads([x]))
                    node.body.insert(at, assign(n, copied(view)))

    # --- without a tape ----------------------------------------------------------------------

    def _without_tape(self, s: gast.For | gast.While, node: gast.For, wanted: list[str]) -> bool:
        """A backward loop that counts, or reads again what the forward loop went over;
        False where it cannot.
        """
        if not isinstance(s, gast.For) or _has_break(s.body) or not self._unchanged(s):
            return False
        function = self.scope.canonical(s.iter.func) if isinstance(s.iter, gast.Call) else None
        if function == "builtins.reversed" and _is_range(s.iter.args[0], self.scope):
            node.target = copied(s.target) if wanted else store("_")
            node.iter = copied(s.iter.args[0])
            return True
        if function == "builtins.range":
            node.target = copied(s.target) if wanted else store("_")
            node.iter = call("reversed", copied(s.iter))
            return True
        over = s.iter.args[0] if function == "builtins.enumerate" and len(s.iter.args) == 1 else None
        if over is None or not isinstance(s.target, gast.Tuple):
            return False
        position, element = s.target.elts
        if isinstance(over, gast.Name):
            length = call("len", copied(over))
        elif (
            isinstance(over, gast.Call)
            and self.scope.canonical(over.func) == "builtins.zip"
            and all(isinstance(a, gast.Name) for a in over.args)
        ):
            length = call("min", *(call("len", copied(a)) for a in over.args))
        else:
            return False
        reread = self._reread(element, over, position, set(wanted))
        if reread is None:
            return False
        node.target = copied(position)
        node.iter = call("reversed", call("range", length))
        node.body = reread + node.body
        return True

    def _unchanged(self, s: gast.For) -> bool:
        """Whether what a loop goes over can be read again: it is assigned once, and not changed since."""
        return all(n not in self.scope.local or self.stability.keeps(n, s) for n in flow.reads(s.iter))

    def _reread(
        self, element: gast.expr, over: gast.expr, position: gast.Name, wanted: set[str]
    ) -> list[gast.stmt] | None:
        """`x = xs[i]` for each name that the backward loop reads."""
        pairs = [(element, over)]
        if isinstance(over, gast.Call) and isinstance(element, gast.Tuple):
            pairs = list(zip(element.elts, over.args, strict=False))
        elif isinstance(over, gast.Call):
            return None
        found: list[gast.stmt] = []
        for target, source in pairs:
            if flow.stored(target) & wanted:
                item = gast.Subscript(copied(source), name(position.id), gast.Load())
                found.append(gast.Assign([copied(target)], item, None))
        return found

    # --- with a tape -------------------------------------------------------------------------

    def _with_tape(self, s: gast.For | gast.While, node: gast.For, names: list[str]) -> None:
        tape = self.fresh.new("t", "tape")
        self.names.add(tape)
        at, shown = self._one_place(s, names)
        entry = _entry([name(n) for n in shown])
        if at is not None:
            s.body.insert(at, _append(tape, entry))
        else:
            entry = _entry([name(n) for n in names])
            self._bind_before(s, names)
            _append_at_ends(s.body, tape, entry)
        block = self.block_of[id(s)]
        block.insert(block.index(s), assign(tape, gast.List([], gast.Load())))
        node.target = _entry([store(n) for n in names], gast.Store()) if names else store("_")
        node.iter = call("reversed", name(tape))

    def _one_place(self, s: gast.For | gast.While, names: list[str]) -> tuple[int | None, list[str]]:
        """A place in the loop's body, before any jump, where all values are at hand; and their names there.

        A copy `old = x` that is only there to be saved is saved as `x` while x still holds the value.
        """
        stop = next((i for i, x in enumerate(s.body) if _jumps(x)), len(s.body))
        copies = {t.targets[0].id: (i, t.value.id) for i, t in enumerate(s.body) if _is_save(t)}
        written = [flow.writes([x]) for x in s.body]
        defined = {n: next((i for i, w in enumerate(written) if n in w), None) for n in names}
        # the latest place first among those that need no copy, so that the append ends the iteration
        for place in range(stop, -1, -1):
            shown = []
            for n in names:
                first = defined[n]
                if n in copies:
                    made, original = copies[n]
                    moved = written[min(made, place) if place <= made else made + 1 : max(made, place)]
                    if not any(original in w for w in moved):
                        shown.append(original)
                        continue
                if any(n in w for w in written[place:]):
                    break  # what is wanted is the value at the end of the iteration
                if first is None and n not in flow.header_writes(s):
                    break
                if first is not None and (first >= place or not _surely_binds(s.body[first], n)):
                    break
                shown.append(n)
            else:
                if all(n not in copies or x != n for n, x in zip(names, shown, strict=True)):
                    return place, shown
        for place in range(stop, -1, -1):
            if any(n in w for w in written[place:] for n in names):
                continue
            if all(
                n in flow.header_writes(s)
                or ((first := defined[n]) is not None and first < place and _surely_binds(s.body[first], n))
                for n in names
            ):
                return place, names
        return None, names

    def _bind_before(self, s: gast.stmt, names: list[str]) -> None:
        """Names that may be unbound where they are saved have a value from the start, that nothing reads: 0.0
        for a number or an array, so that what is saved has one type where it is staged, else None."""
        outer = next(x for x in self.body if x is s or any(y is s for y in flow.statements([x])))
        sure = definitely_bound(self.body[: self.body.index(outer)], self.bound)
        sure = sure | (definitely_bound(s.body, set()) if not _has_jump(s.body) else set())
        for n in names:
            if n not in sure and n not in flow.header_writes(s):
                is_number = self.kinds.names.get(n, UNKNOWN).type in ("number", "numeric", "array")
                self.body.insert(0, assign(n, constant(0.0 if is_number else None)))


_WRITTEN_OUT = (gast.Slice, gast.Constant, gast.UnaryOp, gast.USub)


def _is_written_out_view(node: gast.expr | None) -> bool:
    """Whether an expression is a view of what a name stands for, by slices and numbers of the text."""
    if not (isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name)):
        return False
    parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    known = all(isinstance(n, _WRITTEN_OUT) for part in parts for n in gast.walk(part))
    return known and any(isinstance(part, gast.Slice) for part in parts)


def _is_range(node: gast.expr, scope: Scope) -> bool:
    return isinstance(node, gast.Call) and scope.canonical(node.func) == "builtins.range"


def _free_reads(body: list[gast.stmt], bound: Set[str] = frozenset()) -> set[str]:
    """Names that a block of the backward sweep reads and does not bind before; `bound` are bound already."""
    found: set[str] = set()
    for s in body:
        inside = bound
        if isinstance(s, gast.For):
            found |= flow.reads(s.iter) - bound
            inside = bound | flow.stored(s.target)
        else:
            found |= flow.header_reads(s) - bound
        for block in flow.blocks(s):
            found |= _free_reads(block, inside)
        if isinstance(s, gast.Assign):
            bound = bound | flow.stored(s)
    return found


def _entry(values: list[gast.expr], context: gast.expr_context | None = None) -> gast.expr:
    if not values:
        return constant(None)
    return values[0] if len(values) == 1 else gast.Tuple(values, context or gast.Load())


def _append(tape: str, entry: gast.expr) -> gast.stmt:
    append = gast.Attribute(name(tape), "append", gast.Load())
    return gast.Expr(gast.Call(append, [copied(entry)], []))


def _append_at_ends(body: list[gast.stmt], tape: str, entry: gast.expr) -> None:
    """Append before every `break`, and at the end of every path that goes on."""
    if body and isinstance(body[-1], gast.Break):
        body.insert(len(body) - 1, _append(tape, entry))
    elif body and isinstance(body[-1], gast.If) and _jumps(body[-1]):
        _append_at_ends(body[-1].body, tape, entry)
        _append_at_ends(body[-1].orelse, tape, entry)
    elif not (body and isinstance(body[-1], gast.Raise)):
        body.append(_append(tape, entry))


def _jumps(s: gast.stmt) -> bool:
    if isinstance(s, (gast.Break, gast.Raise)):
        return True
    return isinstance(s, gast.If) and any(_jumps(x) for b in flow.blocks(s) for x in b)


def _has_jump(body: list[gast.stmt]) -> bool:
    return any(_jumps(x) for x in body)


def _has_break(body: list[gast.stmt]) -> bool:
    return any(
        isinstance(x, gast.Break) or (isinstance(x, gast.If) and (_has_break(x.body) or _has_break(x.orelse)))
        for x in body
    )


def _is_save(s: gast.stmt) -> bool:
    return (
        isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and s.targets[0].id.startswith("s__")
        and isinstance(s.value, gast.Name)
    )


def _surely_binds(s: gast.stmt, n: str) -> bool:
    return n in definitely_bound([s], set())


def _blocks(body: list[gast.stmt]) -> dict[int, list[gast.stmt]]:
    """For each statement, by its id, the block that it stands in."""
    found = dict.fromkeys(map(id, body), body)
    for s in body:
        for block in flow.blocks(s):
            found.update(_blocks(block))
    return found
