"""The simplification of a generated body: both sweeps, or the one of forward mode, as a whole."""

from __future__ import annotations

from collections.abc import Set

import gast

from lsp_ad.differentiate.fresh import is_adjoint, is_temporary
from lsp_ad.differentiate.reverse.values import ForwardValues
from lsp_ad.differentiate.unit import Unit
from lsp_ad.semantics import flow
from lsp_ad.semantics.memory import Sharing
from lsp_ad.semantics.points import Points
from lsp_ad.simplify.algebra import name, substitute
from lsp_ad.simplify.dead import drop_dead
from lsp_ad.simplify.substitute import tidy_up
from lsp_ad.simplify.writes import tidy_writes


def _forget_result_copy(joint: list[gast.stmt], points: Points) -> None:
    """Return the result under the name that it was assigned to, if only a copy of it would be returned."""
    copies = {
        s.targets[0].id: s
        for s in joint
        if isinstance(s, gast.Assign)
        and isinstance(s.value, gast.Name)
        and isinstance(s.targets[0], gast.Name)
        and s.targets[0].id.startswith("result__")
    }
    for s in copies.values():
        first = copies.get(s.value.id)
        if first is not None and first is not s:
            joint.remove(first)
            s.value = first.value
            points.forget(s)
            for later in joint[joint.index(s) + 1 :]:
                substitute(later, {first.targets[0].id: name(s.targets[0].id)})
                points.forget(later)


def shared_memory(
    body: list[gast.stmt], unit: Unit, values: ForwardValues, points: Points, tapes: Set[str] = frozenset()
) -> dict[str, frozenset[str]]:
    """For each name of a generated body, the names that it may share memory with; nothing where no statement
    writes into an array."""
    if not points.mutated(body):
        return {}

    def makes_own(node: gast.Call) -> bool:
        if isinstance(node.func, gast.Name) and node.func.id in values.helpers:
            return True
        return unit.scope.makes_new(node)

    return Sharing(makes_own, keeps=unit.kinds.is_structure).groups(body, tapes)


def simplify(
    joint: list[gast.stmt],
    parameters: set[str],
    points: Points,
    shared: dict[str, frozenset[str]] | None = None,
) -> list[gast.stmt]:
    """A generated body without dead statements and needless names; `shared` as `shared_memory` gives it."""

    def movable(n: str) -> bool:
        return is_temporary(n) or n.startswith("s__")

    _forget_result_copy(joint, points)
    joint = drop_dead(joint, shared, points)
    tidy_up(joint, movable, is_adjoint, parameters, shared, points)
    tidy_writes(joint)
    if not points.mutated(joint) and not any(map(flow.blocks, joint)):
        return joint  # what is put elsewhere in a straight line leaves nothing dead behind
    return drop_dead(joint, shared, points)
