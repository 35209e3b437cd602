"""A `break`, the last statement of its path, becomes a flag; the loop goes on while it is not set.

while x > 0:                    broke = False
    if x < 3:                   while ag.unless(broke, lambda: x > 0):
        break                       if x < 3:
                                        broke = True

The test of an endless loop is the flag; in others, and in `for` loops, the operator asks for it.
"""

from __future__ import annotations

import gast

from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.semantics import flow
from lsp_ad.simplify.algebra import assign, constant
from lsp_ad.staging.converters.building import at, name, operator


def convert(body: list[gast.stmt], fresh: Fresh) -> list[gast.stmt]:
    """The block with flags for breaks; a loop that has one keeps its name as `stopped_by`."""
    done: list[gast.stmt] = []
    for s in body:
        if isinstance(s, (gast.For, gast.While)):
            flag = fresh.new("broke")
            s.stopped_by = flag if _mark(s.body, flag) else None
            if s.stopped_by:
                done.append(at(assign(flag, constant(False)), s))
                if flow.is_endless(s):
                    s.test, s.stopped_by = at(operator("negated", name(flag)), s), None
        for block in flow.blocks(s):
            block[:] = convert(block, fresh)
        done.append(s)
    return done


def _mark(body: list[gast.stmt], flag: str) -> bool:
    found = False
    for position, s in enumerate(body):
        if isinstance(s, gast.Break):
            body[position] = at(assign(flag, constant(True)), s)
            found = True
        elif not isinstance(s, (gast.For, gast.While)):
            for block in flow.blocks(s):
                found |= _mark(block, flag)
    return found
