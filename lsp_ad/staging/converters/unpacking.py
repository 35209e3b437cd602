"""Assignments of several targets with elements among them, one after the other.

x[i], x[j] = x[j], x[i]         t, t_2 = x[j], x[i]
                                x[i] = t
                                x[j] = t_2
y = x[i] = e                    t = e
                                y = t
                                x[i] = t
"""

from __future__ import annotations

import gast

from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.semantics import flow
from lsp_ad.source.trees import walk
from lsp_ad.staging.converters.building import at, name, store


def convert(body: list[gast.stmt], fresh: Fresh) -> None:
    """Rewrite the assignments of a block, and those in the blocks in it."""
    position = 0
    while position < len(body):
        s = body[position]
        for block in flow.blocks(s):
            convert(block, fresh)
        if isinstance(s, gast.Assign) and any(map(_has_element, s.targets)):
            made = [at(part, s) for part in _one_by_one(s, fresh)]
            body[position : position + 1] = made
            position += len(made) - 1
        position += 1


def _has_element(target: gast.expr) -> bool:
    return any(isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store) for n in walk(target))


def _one_by_one(s: gast.Assign, fresh: Fresh) -> list[gast.stmt]:
    """The assignments that do what one does, in the order in which Python does it."""
    if len(s.targets) == 1:
        target = s.targets[0]
        if isinstance(target, gast.Subscript):
            return [s]
        later: list[gast.stmt] = []
        whole = _taken(target, fresh, later)
        return [gast.Assign([whole], s.value, None), *later]
    kept = fresh.new("t")
    made: list[gast.stmt] = [gast.Assign([store(kept)], s.value, None)]
    for target in s.targets:
        made += _one_by_one(gast.Assign([target], name(kept), None), fresh)
    return made


def _taken(target: gast.expr, fresh: Fresh, later: list[gast.stmt]) -> gast.expr:
    """The target with every part of it a name, if there are elements; `later`: what gives the parts."""
    if isinstance(target, (gast.Tuple, gast.List)):
        return gast.Tuple([_taken(part, fresh, later) for part in target.elts], gast.Store())
    if isinstance(target, gast.Starred):
        return gast.Starred(_taken(target.value, fresh, later), gast.Store())
    kept = fresh.new("t")
    later.append(gast.Assign([target], name(kept), None))
    return store(kept)
