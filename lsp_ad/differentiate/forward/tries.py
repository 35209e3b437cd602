"""`try` in forward mode: tangents stand in its `else`, where nothing that they raise is caught.

Before:                         After:
    try:                            try:
        y = y / x                       y_new = y / x
    except ZeroDivisionError:       except ZeroDivisionError:
        y = 2.0 * x                     y = 2.0 * x
                                        dy = 2.0 * dx
                                    else:
                                        dy = (dy - y_new * dx) / x
                                        y = y_new
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

import gast

from lsp_ad.differentiate.forward.tangents import Present
from lsp_ad.differentiate.fresh import plain
from lsp_ad.semantics import flow
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.simplify.algebra import assign, name, store, substitute

if TYPE_CHECKING:
    from lsp_ad.differentiate.forward.statements import Forward


def attempt(forward: Forward, s: gast.Try, present: Present, after: Set[str]) -> list[gast.stmt]:
    """The statement with tangents; raises Refusal where its body is more than assignments that move."""
    if not s.handlers:
        s.body = forward.block(s.body, present, after)
        return [s]
    entry = present.copy()
    if _moves(forward, s.body, entry):
        _apart(forward, s, present, after)
    else:
        for x in flow.statements(s.body):
            present.bind(flow.header_writes(x))
        s.orelse = forward.block(s.orelse, present, after)
    paths = [(present, s.orelse)]
    for handler in s.handlers:
        inside = entry.copy()
        inside.bind(flow.header_writes(handler))
        handler.body = forward.block(handler.body, inside, after)
        if not isinstance(handler.body[-1], gast.Raise):
            paths.append((inside, handler.body))
    moved = set().union(*(p.tangents for p, _ in paths)) & after
    for v in sorted(moved):
        for inside, block in paths:
            if v not in inside.tangents:
                forward.give(v, inside, block, s)
    present.tangents = moved
    present.bound = set.intersection(*(p.bound for p, _ in paths))
    present.seen = set().union(*(p.seen for p, _ in paths))
    present.constants = {}
    return [s]


def _moves(forward: Forward, body: list[gast.stmt], present: Present) -> bool:
    """Whether a block gives a name a tangent, or takes one away."""
    return any(
        (
            flow.header_writes(x) & forward.active
            and ((isinstance(x, gast.Assign) and forward.tangents.moves(x.value, present)) or flow.blocks(x))
        )
        or flow.header_writes(x) & present.tangents
        for x in flow.statements(body)
    ) or any(flow.blocks(x) and flow.writes([x]) & forward.active for x in body)


def _apart(forward: Forward, s: gast.Try, present: Present, after: Set[str]) -> None:
    """Values under new names in the body; tangents, and the names as they were, in `else`."""
    kinds: Kinds = forward.values.kinds
    renamed: dict[str, gast.expr] = {}
    body: list[gast.stmt] = []
    tangents: list[gast.stmt] = []
    for x in _one_path(s.body):
        if isinstance(x, gast.Assign) and isinstance(x.targets[0], gast.Name) and len(x.targets) == 1:
            target = x.targets[0].id
            new = forward.values.fresh.new("t", f"{plain(target)}_new")
            kinds.names[new] = kinds.names[target]
            if target in forward.active:
                forward.active.add(new)
            x.value = substitute(x.value, renamed)
            forward.carries.forget()
            x.targets = [store(new)]
            renamed[target] = name(new)
            if forward.scope.callee(x.value) is not None:
                raise forward.unknown(x)
            for made in forward.block([x], present, set()):
                (body if made is x else tangents).append(made)
        elif isinstance(x, (gast.Expr, gast.Assert, gast.Pass)):
            body.append(substitute(x, renamed))
        elif isinstance(x, gast.If) and not flow.writes([x]) & (forward.active | renamed.keys()):
            present.bind(flow.writes([x]))
            body.append(substitute(x, renamed))
        else:
            raise forward.unknown(x)
    for n, new in renamed.items():
        tangents += forward.block([gast.copy_location(assign(n, new), s)], present, set())
    s.body, s.orelse = body, [*tangents, *forward.block(s.orelse, present, after)]


def _one_path(body: list[gast.stmt]) -> list[gast.stmt]:
    """A block in which what follows an `if` that raises stands behind it, not in its `else`."""
    found: list[gast.stmt] = []
    for x in body:
        if isinstance(x, gast.If) and x.orelse and isinstance(x.body[-1], gast.Raise):
            rest, x.orelse = x.orelse, []
            found += [x, *_one_path(rest)]
        else:
            found.append(x)
    return found
