"""Copies that keep a value for the backward sweep: moved, merged and dropped wherever a name still holds it.

The reverse sweep asks for a copy, `s__x__1 = x`, at every read of a name that changes. Most are not
needed: x may not change any more in this iteration, or a copy of the same value is at hand.
Cheap temporaries are not kept either: the backward sweep computes `1.0 - y` again.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import gast

from lsp_ad.differentiate.fresh import is_temporary
from lsp_ad.differentiate.reverse.values import ForwardValues
from lsp_ad.rules import products
from lsp_ad.semantics import flow
from lsp_ad.semantics.binding import definitely_bound
from lsp_ad.semantics.memory import Sharing, written
from lsp_ad.semantics.points import Points
from lsp_ad.simplify.algebra import name, substitute


def fold(
    forward: list[gast.stmt], backward: list[gast.stmt], bound: set[str], points: Points
) -> None:
    """Reduce the copies in a forward body; `backward` is renamed accordingly.

    `bound`: names bound on entry.
    """
    if not any(is_save(s) for s in flow.statements(forward)):
        return
    _hoist(forward, set(bound))
    renamed: dict[str, str] = {}
    _merge(forward, {}, renamed)
    _drop(forward, set(), renamed)
    _apply([*forward, *backward], renamed, points)


def is_save(s: gast.stmt) -> bool:
    return (
        isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and s.targets[0].id.startswith("s__")
        and isinstance(s.value, gast.Name)
    )


def _hoist(body: list[gast.stmt], bound: set[str]) -> set[str]:
    """Move copies out of branches, to where all paths pass; returns the names bound after the block.

    `bound`, those bound before it, is used up.
    """
    position = 0
    while position < len(body):
        s = body[position]
        if isinstance(s, gast.If):
            for block in (s.body, s.orelse):
                _hoist(block, set(bound))
                lifted, written = [], set()
                for x in list(block):
                    if is_save(x) and x.value.id not in written and x.value.id in bound:
                        block.remove(x)
                        lifted.append(x)
                    written |= flow.writes([x])
                body[position:position] = lifted
                position += len(lifted)
            s.body = s.body or [gast.Pass()]
        elif isinstance(s, (gast.For, gast.While, gast.With)):
            _hoist(s.body, bound | flow.header_writes(s))
        elif isinstance(s, gast.Try):
            for block in flow.blocks(s):
                _hoist(block, set())
        if flow.blocks(s):
            bound = definitely_bound([s], bound)
        else:
            bound |= flow.header_writes(s)
        position += 1
    return bound


def _merge(body: list[gast.stmt], held: dict[str, str], renamed: dict[str, str]) -> dict[str, str]:
    """Drop a copy of a value that a copy holds already; `held`:
    name to the copy that holds its present value.
    """
    for s in list(body):
        if is_save(s):
            original, copy = s.value.id, s.targets[0].id
            if original in held:
                renamed[copy] = held[original]
                body.remove(s)
            else:
                held[original] = copy
            continue
        if isinstance(s, gast.If):
            yes, no = _merge(s.body, dict(held), renamed), _merge(s.orelse, dict(held), renamed)
            held = {n: c for n, c in held.items() if yes.get(n) == c and no.get(n) == c}
            continue
        if isinstance(s, (gast.For, gast.While)):
            written = flow.writes([s])
            _merge(s.body, {n: c for n, c in held.items() if n not in written}, renamed)
        elif isinstance(s, gast.With):
            held = _merge(s.body, held, renamed)
            continue
        elif isinstance(s, gast.Try):
            written = flow.writes([s])
            for block in flow.blocks(s):
                _merge(block, {n: c for n, c in held.items() if n not in written}, renamed)
        for n in flow.writes([s]):
            held.pop(n, None)
    return held


def _drop(body: list[gast.stmt], later: set[str], renamed: dict[str, str]) -> None:
    """Drop a copy of a name that keeps its value until the end of its iteration.

    `later`: names written after the block.
    """
    after = set(later)
    for s in reversed(list(body)):
        if is_save(s):
            original, copy = s.value.id, s.targets[0].id
            if original not in after:
                renamed[copy] = original
                body.remove(s)
        elif isinstance(s, gast.If):
            _drop(s.body, after, renamed)
            _drop(s.orelse, after, renamed)
        elif isinstance(s, gast.With):
            _drop(s.body, after, renamed)
        elif isinstance(s, gast.Try):
            # a copy made in the body is read only where no handler ran
            _drop(s.body, after | flow.writes(s.orelse), renamed)
            for block in flow.blocks(s)[1:]:
                _drop(block, after, renamed)
        elif isinstance(s, (gast.For, gast.While)):
            # what the loop itself writes comes back from its tape, iteration by iteration
            _drop(s.body, after - flow.writes([s]), renamed)
        after |= flow.writes([s])


def _apply(body: list[gast.stmt], renamed: dict[str, str], points: Points) -> None:
    def final(n: str) -> str:
        while n in renamed:
            n = renamed[n]
        return n

    for s in points.mentioning(body, renamed) if renamed else ():
        for n in flow.walk(s):
            if isinstance(n, gast.Name) and n.id in renamed:
                n.id = final(n.id)
        points.forget(s)


def compute_again(
    body: list[gast.stmt], backward: list[gast.stmt], values: ForwardValues, points: Points
) -> None:
    """Let the backward sweep compute cheap temporaries again instead of keeping them.

    A value that only some iterations of a loop compute counts as cheap if one elementwise function gives it:
    to save it would need a place for it in the iterations that do not.
    """
    reads = points.counts(backward)
    in_loops = {
        n for s in flow.statements(body) if isinstance(s, (gast.For, gast.While)) for n in flow.writes([s])
    }
    sometimes = _sometimes(body, in_loop=False)
    arrays = points.mutated(body)
    groups = Sharing(values.scope.makes_new, keeps=values.kinds.is_structure).groups(body) if arrays else {}
    changing = {n for array in arrays for n in groups.get(array, {array})}
    stable = values.stability.is_stable
    again: dict[str, gast.expr] = {}

    @cache
    def reread() -> set[str]:
        return {t for block in _blocks(body) for t in _read_at_once(block)}

    for s in reversed(list(flow.statements(body))):
        if not (isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)):
            continue
        t = s.targets[0].id
        count = reads.get(t, 0)
        if not is_temporary(t) or not count or not stable(t):
            continue
        if isinstance(s.value, gast.Subscript):
            if t not in reread():
                continue
        elif not (is_cheap(s.value) and count <= 2) and not (
            t in sometimes and values.is_elementwise(s.value)
        ):
            continue
        read = flow.reads(s.value)
        if read & changing and t not in reread():
            continue
        operands = {n for n in read if n in values.scope.local}
        moving = {n for n in operands if not stable(n)}
        if any(values.kinds.of(name(n)).is_structure for n in moving):
            continue
        if len(moving) > 1 or len([n for n in operands & in_loops if not reads.get(n)]) > (
            1 if t in in_loops else 0
        ):
            continue
        again[t] = values.operand(s.value, s)
        for n in flow.reads(again[t]):
            reads[n] = reads.get(n, 0) + count
        reads[t] = 0
    # a temporary is made of earlier ones, which come later here: theirs are ready first
    for t in reversed(again):
        again[t] = substitute(again[t], again)
    for b in points.mentioning(backward, again) if again else ():
        substitute(b, again)
        points.forget(b)


def _blocks(body: list[gast.stmt]) -> Iterator[list[gast.stmt]]:
    yield body
    for s in body:
        for block in flow.blocks(s):
            yield from _blocks(block)


def _read_at_once(block: list[gast.stmt]) -> set[str]:
    """The temporaries, `t = x[1:]` or `t = x > 0`, with no write into an array before their last use, and
    none that they are the index of: what they are made of can be read again."""
    made: dict[str, int] = {}
    last: dict[str, int] = {}
    barriers = [0]
    for position, s in enumerate(block):
        target = written(s)
        barriers.append(barriers[-1] + (target is not None or bool(flow.blocks(s))))
        for t in flow.reads(target.slice) if target is not None else ():
            made.pop(t, None)
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            made[s.targets[0].id] = position
        for t in flow.header_reads(s):
            last[t] = position
        for b in flow.blocks(s):
            for x in flow.statements(b):
                for t in flow.header_reads(x):
                    made.pop(t, None)
    return {t for t, at in made.items() if barriers[last.get(t, at)] == barriers[at + 1]}


def _sometimes(body: list[gast.stmt], in_loop: bool) -> set[str]:
    """The names that a branch inside a loop binds."""
    found: set[str] = set()
    for s in body:
        if isinstance(s, (gast.If, gast.Try)) and in_loop:
            found |= flow.writes([s])
        for block in flow.blocks(s):
            found |= _sometimes(block, in_loop or isinstance(s, (gast.For, gast.While)))
    return found


def is_cheap(node: gast.expr) -> bool:
    """At most one elementwise operation on names and constants, or a short product."""

    def atom(n: gast.expr) -> bool:
        return isinstance(n, (gast.Name, gast.Constant)) or (
            isinstance(n, gast.UnaryOp) and isinstance(n.operand, gast.Constant)
        )

    if (factors := products.factors(node)) is not None:
        return len(factors) <= 3
    if isinstance(node, gast.UnaryOp):
        return isinstance(node.op, gast.USub) and atom(node.operand)
    if isinstance(node, gast.BinOp):
        return isinstance(node.op, (gast.Add, gast.Sub, gast.Mult)) and atom(node.left) and atom(node.right)
    if isinstance(node, gast.Compare):
        return len(node.ops) == 1 and atom(node.left) and atom(node.comparators[0])
    if isinstance(node, gast.Attribute):
        return atom(node.value)
    return atom(node)
