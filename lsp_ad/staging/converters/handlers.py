"""`except` clauses for what numbers may raise, which see nothing of staged values: these are computed later.

try:                            try:
    y = 1 / x                       y = 1 / x
                                    ag.no_errors("ZeroDivisionError", None, y)
except ZeroDivisionError:       except ZeroDivisionError:
    y = 0.0                         y = 0.0

Those for indices do see them where all indices are known when tracing; `ag.unseen()` tells if they are.
"""

from __future__ import annotations

import gast

from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.semantics import flow
from lsp_ad.source.printing import expression_text
from lsp_ad.staging.converters.building import at, constant, name, operator, store

_OF_INDICES = frozenset(["IndexError", "LookupError"])
_RAISED = _OF_INDICES | frozenset(
    [
        *("ArithmeticError", "BaseException", "Exception", "FloatingPointError"),
        *("OverflowError", "ValueError", "ZeroDivisionError"),
    ]
)


def convert(body: list[gast.stmt], local: set[str], fresh: Fresh) -> None:
    """Let `try` statements say so where what they compute is staged."""
    for s in flow.statements(body):
        if not isinstance(s, gast.Try):
            continue
        written = sorted(flow.writes(s.body) & local)
        stays = [h for h in s.handlers if not (h.body and isinstance(h.body[-1], gast.Raise))]
        catching = [h for h in stays if written and _names(h.type) & _RAISED]
        # a clause that is about other errors, too, is the one that may miss some
        for handler in sorted(catching, key=_is_of_indices)[:1]:
            caught = expression_text(handler.type) if handler.type is not None else "BaseException"
            before = constant(None)
            if _is_of_indices(handler):
                unseen = fresh.new("unseen")
                s.body.insert(0, at(gast.Assign([store(unseen)], operator("unseen"), None), handler))
                before = name(unseen)
            call = operator("no_errors", constant(caught), before, *map(name, written))
            s.body.append(at(gast.Expr(call), handler))


def _is_of_indices(handler: gast.ExceptHandler) -> bool:
    return _names(handler.type) & _RAISED <= _OF_INDICES


def _names(kind: gast.expr | None) -> set[str]:
    if kind is None:
        return {"BaseException"}
    return {n.id for n in gast.walk(kind) if isinstance(n, gast.Name)}
