"""The `else` of a loop as an `if` after it.

Before:                             After:
    for i in range(n):                  broke = False
        if x > 2:                       for i in range(n):
            break                           if x > 2:
        x = 2 * x                               broke = True
    else:                                       break
        x = 3 * x                           x = 2 * x
                                        if not broke:
                                            x = 3 * x
"""

from __future__ import annotations

import gast

from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.semantics import flow
from lsp_ad.simplify.algebra import assign, constant, name


def expand(function: gast.FunctionDef, fresh: Fresh) -> None:
    """Rewrite the loops of a function in place."""
    _block(function.body, fresh)


def _block(body: list[gast.stmt], fresh: Fresh) -> None:
    position = 0
    while position < len(body):
        s = body[position]
        for block in flow.blocks(s):
            _block(block, fresh)
        if isinstance(s, (gast.For, gast.While)) and s.orelse:
            after, s.orelse = s.orelse, []
            flag = fresh.new("broke")
            if _mark_breaks(s.body, flag):
                before, s.flag = [assign(flag, constant(False))], flag
                unless = gast.If(gast.UnaryOp(gast.Not(), name(flag)), after, [])
                unless.stands_for = unless.test.stands_for = ""  # for no construct of the user's
                after = [unless]
            else:
                before = []
            body[position : position + 1] = [*before, s, *after]
            position += len(before) + len(after)
        position += 1


def _mark_breaks(body: list[gast.stmt], flag: str) -> bool:
    """Set a flag before each `break` that leaves this loop; returns whether there is one."""
    found = False
    for s in list(body):
        if isinstance(s, gast.Break):
            body.insert(body.index(s), assign(flag, constant(True)))
            return True
        if not isinstance(s, (gast.For, gast.While)):
            for block in flow.blocks(s):
                found |= _mark_breaks(block, flag)
    return found
