"""Cheap values that tangents compute again, so that the user's expressions stay whole.

Before: `t__1 = x * x; y = t__1 * w; dy = dt * w + t__1 * dw`.  After: `...; dy = dt * w + x * x * dw`, and
the one read of t__1 that is left goes back into the line that it came from.
"""

from __future__ import annotations

from collections import Counter

import gast

from lsp_ad.differentiate.fresh import is_adjoint, is_temporary
from lsp_ad.differentiate.reverse.saves import is_cheap
from lsp_ad.semantics import flow
from lsp_ad.semantics.memory import written_root
from lsp_ad.semantics.points import Points
from lsp_ad.simplify.algebra import bare, substitute
from lsp_ad.simplify.copies import Shared, changes
from lsp_ad.source.trees import copied

MOST = 2  # how often a value is computed again


def compute_again(body: list[gast.stmt], shared: Shared) -> None:
    """Put cheap temporaries into the tangent statements of their block that read them, in place.

    `shared`: for each name those that it may share memory with.
    """
    writes: Counter[str] = Counter()
    for s in flow.statements(body):
        writes.update(flow.header_writes(s))
    _block(body, {n for n, count in writes.items() if count == 1}, shared)


def is_tangent(s: gast.stmt) -> bool:
    """Whether a statement assigns tangents, and nothing else."""
    if not isinstance(s, (gast.Assign, gast.AugAssign)):
        return False
    array = written_root(s)
    return all(map(is_adjoint, flow.header_writes(s) if array is None else {array}))


def _block(body: list[gast.stmt], once: set[str], shared: Shared) -> None:
    reads: Counter[str] = Counter()
    for s in body:
        for inner in flow.blocks(s):
            _block(inner, once, shared)
        if is_tangent(s):
            reads.update(_read(s.value))
    for position in range(len(body) - 1, -1, -1):
        s = body[position]
        if not (isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)):
            continue
        t = s.targets[0].id
        if t in once and is_temporary(t) and not is_adjoint(t) and 0 < reads[t] <= MOST and is_cheap(s.value):
            _put(body, position, t, reads, shared)


def _put(body: list[gast.stmt], position: int, t: str, reads: Counter[str], shared: Shared) -> None:
    """Put the value of `t` in place of its reads, as long as what it is computed from is the same."""
    value = bare(copied(body[position].value))
    operands = flow.reads(value)
    for s in body[position + 1 :]:
        if is_tangent(s) and (count := _read(s.value).count(t)):
            s.value = substitute(s.value, {t: value})
            reads[t] -= count
            for n in operands:
                reads[n] += count
        if not reads[t] or changes(s, shared, Points()) & operands:
            return


def _read(node: gast.expr) -> list[str]:
    return [n.id for n in flow.walk(node) if isinstance(n, gast.Name)]
