"""Writes into arrays as a person would have written them.

Before: `da[0] = 0.0; da[0] += e`, `dx += da[1:].copy()`.  After: `da[0] = e`, `dx += da[1:]`.
"""

from __future__ import annotations

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.memory import written_root
from lsp_ad.simplify.algebra import uncopied
from lsp_ad.source.printing import key


def tidy_writes(body: list[gast.stmt]) -> None:
    """Shorten the writes of generated code, in place."""
    position = 0
    while position < len(body):
        s = body[position]
        for block in flow.blocks(s):
            tidy_writes(block)
        if isinstance(s, gast.AugAssign) and not hasattr(s.target, "lineno"):
            s.value = uncopied(s.value)
            if position and _is_zeroed(body[position - 1], s):
                body[position - 1 : position + 1] = [gast.Assign([s.target], s.value, None)]
                if hasattr(s, "lineno"):
                    gast.copy_location(body[position - 1], s)
                continue
        position += 1


def _is_zeroed(before: gast.stmt, s: gast.AugAssign) -> bool:
    """Whether the statement before sets to zero the part that `s` adds to, and `s` does not read the
    array."""
    return (
        isinstance(s.op, gast.Add)
        and isinstance(s.target, gast.Subscript)
        and isinstance(before, gast.Assign)
        and isinstance(before.targets[0], gast.Subscript)
        and isinstance(before.value, gast.Constant)
        and before.value.value == 0.0
        and not hasattr(before.value, "lineno")
        and key(before.targets[0]) == key(s.target)
        and written_root(s) not in flow.reads(s.value)
    )
