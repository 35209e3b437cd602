"""A `break`, the last statement of its path, becomes a flag; the loop goes on while it is not set.

while x > 0:                    broke = False
    if x < 3:                   while ag.unless(broke, lambda: x > 0):
        break                       if x < 3:
                                        broke = True

The test of an endless loop is the flag; in others, and in `for` loops, the operator asks for it. A loop that
has a flag already, for its `else` or for a `return`, needs no other.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.semantics import flow
from lsp_ad.simplify.algebra import assign, constant
from lsp_ad.staging.converters.building import at, name, operator

_LOOPS = (gast.For, gast.While)


def convert(body: list[gast.stmt], fresh: Fresh) -> list[gast.stmt]:
    """The block with flags for breaks; a loop that has one keeps its name as `stopped_by`."""
    return _Breaks(fresh).block(body)


class _Breaks:
    """`set`: the flags of returns that a loop before has set, or one around it that goes by another flag."""

    def __init__(self, fresh: Fresh):
        self.fresh = fresh
        self.set: set[str] = set()

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        done: list[gast.stmt] = []
        for s in body:
            if isinstance(s, _LOOPS):
                done += self._loop(s)
            else:
                for block in flow.blocks(s):
                    block[:] = self.block(block)
                done.append(s)
        return done

    def _loop(self, s: gast.For | gast.While) -> list[gast.stmt]:
        """The loop, after what its flag is to begin with if it has none so far."""
        ends = list(_ending_in_break(s.body))
        returns = {flag for block in ends for flag in [_flag_of(block[-1])] if flag is not None}
        before: list[gast.stmt] = []
        s.stopped_by = None
        if ends:
            all_return = all(_flag_of(block[-1]) is not None for block in ends)
            flag = _flag_of(s)
            if flag is None and all_return and not returns & self.set:
                (flag,) = returns
            elif flag is None:
                flag = self.fresh.new("broke")
                before.append(at(assign(flag, constant(False)), s))
            for block in ends:
                _set(block, flag)
            self.set |= returns - {flag}
            if flow.is_endless(s):
                s.test = at(operator("negated", name(flag)), s)
            else:
                s.stopped_by = flag
        s.body = self.block(s.body)
        self.set |= returns
        return [*before, s]


def _flag_of(s: gast.stmt) -> str | None:
    """The flag that a loop has for its `else`, or that is set where a `break` of a `return` is reached."""
    return getattr(s, "flag", None)


def _ending_in_break(body: list[gast.stmt]) -> Iterator[list[gast.stmt]]:
    """The blocks that a `break` of a loop ends."""
    if isinstance(body[-1], gast.Break):
        yield body
    for s in body:
        if not isinstance(s, _LOOPS):
            for block in filter(None, flow.blocks(s)):
                yield from _ending_in_break(block)


def _set(block: list[gast.stmt], flag: str) -> None:
    """Let a block set a flag where it ends in a `break`, unless the flag is set there already."""
    leave = block.pop()
    last = block[-1] if block else None
    is_set = isinstance(last, gast.Assign) and getattr(last.targets[0], "id", None) == flag
    if _flag_of(leave) != flag and not is_set:
        block.append(at(assign(flag, constant(True)), leave))
    elif not block:
        block.append(at(gast.Pass(), leave))
