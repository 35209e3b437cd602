"""Augmented assignments to names, `x += e`: where generated code keeps them as the user wrote them."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.unit import Unit
from lsp_ad.problems import Span
from lsp_ad.semantics import flow
from lsp_ad.source.parse import span_of


def rebound(unit: Unit) -> set[Span]:
    """The places of those that are written `x = x + e`: those that must not change an array that has another
    name, and those to what may be an array, which may be saved by reference.
    """
    number: dict[str, bool] = {}
    for n, kind in unit.kinds.names.items():
        shown = unit.webs.get(n, n)
        number[shown] = number.get(shown, True) and kind.type == "number"
    functions = [unit.program.text_of(n) for n in (unit.original.name, *sorted(unit.inlined))]
    return set(unit.rebound) | {
        span_of(s)
        for f in functions
        for s in (flow.statements(f.body) if isinstance(f, gast.FunctionDef) else ())
        if isinstance(s, gast.AugAssign)
        and isinstance(s.target, gast.Name)
        and not number.get(s.target.id, False)
    }
