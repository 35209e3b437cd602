"""Which names are bound wherever a block has come to its end."""

from __future__ import annotations

import gast

from lsp_ad.semantics import flow


def definitely_bound(body: list[gast.stmt], bound: set[str]) -> set[str]:
    """The names bound on every path that reaches the end of a block (all names, where none does)."""
    return _bound(body, set(bound))[0]


def _bound(body: list[gast.stmt], bound: set[str]) -> tuple[set[str], bool]:
    """`bound` is used up; also says whether no path reaches the end."""
    for s in body:
        if isinstance(s, (gast.Return, gast.Raise, gast.Break, gast.Continue)):
            return bound, True
        if isinstance(s, gast.If):
            (yes, yes_left), (no, no_left) = _bound(s.body, set(bound)), _bound(s.orelse, set(bound))
            if yes_left and no_left:
                return yes & no, True
            bound = no if yes_left else yes if no_left else yes & no
        elif isinstance(s, gast.With):
            bound, left = _bound(s.body, bound | flow.header_writes(s))
            if left:
                return bound, True
        elif isinstance(s, gast.Try):
            paths = [_bound([*s.body, *s.orelse], set(bound))]
            paths += [_bound(h.body, bound | flow.header_writes(h)) for h in s.handlers]
            staying = [names for names, left in paths if not left]
            if not staying:
                return set.intersection(*(names for names, _ in paths)), True
            bound = set.intersection(*staying)
            bound, left = _bound(s.finalbody, bound)
            if left:
                return bound, True
        elif not isinstance(s, (gast.For, gast.While)):
            bound |= flow.header_writes(s)
    return bound, False
