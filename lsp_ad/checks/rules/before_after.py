"""What the text says of names before and after a statement."""

from __future__ import annotations

import gast

from lsp_ad.checks.traces import Trace
from lsp_ad.semantics.names import bound_names
from lsp_ad.source.trees import walk


def assigned(body: list[gast.stmt]) -> set[str]:
    """The names that a block may bind."""
    return bound_names(body)


def surely_assigned(body: list[gast.stmt]) -> set[str]:
    """The names that have a value at the end of a block, whichever way it is gone through."""
    found: set[str] = set()
    for s in body:
        if isinstance(s, gast.If):
            one, other = surely_assigned(s.body), surely_assigned(s.orelse)
            found |= other if leaves(s.body) else one if leaves(s.orelse) else one & other
        elif isinstance(s, gast.With):
            found |= surely_assigned(s.body)
        elif isinstance(s, gast.Try):
            found |= surely_assigned(s.finalbody) if s.handlers else surely_assigned([*s.body, *s.finalbody])
        elif not isinstance(s, (gast.For, gast.While)):
            found |= bound_names([s])
    return found


def place_of(name: str, body: list[gast.stmt]) -> gast.AST:
    """Where a block binds a name first, the block where it is not said by a plain name."""
    for node in (n for s in body for n in walk(s)):
        if isinstance(node, gast.Name) and node.id == name and isinstance(node.ctx, gast.Store):
            return node
    return body[0]


def last_values(body: list[gast.stmt]) -> dict[str, list[gast.expr]]:
    """What a name may be given last by a block, where that is by plain assignments, on all paths."""
    found: dict[str, list[gast.expr]] = {}
    for s in body:
        if isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name):
            found[s.targets[0].id] = [s.value]
        elif isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            old = gast.Name(s.target.id, gast.Load(), None, None)
            value = gast.BinOp(old, s.op, s.value)
            found[s.target.id] = [gast.copy_location(value, s) if s.target.id not in found else s.value]
        elif isinstance(s, gast.If) and not leaves(s.body) and not leaves(s.orelse):
            one, other = last_values(s.body), last_values(s.orelse)
            for name in bound_names([s]):
                if name in one and name in other:
                    found[name] = [*one[name], *other[name]]
                else:
                    found.pop(name, None)
        else:
            for name in bound_names([s]):
                found.pop(name, None)
    return found


def _block(trace: Trace, node: gast.AST) -> list[gast.stmt]:
    parent = trace.parents.get(node, trace.place.node)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and node in block:
            return block
    return []


def value_before(trace: Trace, name: str, node: gast.AST) -> gast.expr | None:
    """What a name is given in the same block before a statement, by an assignment that surely counts."""
    block = _block(trace, node)
    found = None
    for s in block[: block.index(node)] if node in block else []:
        if name in bound_names([s]):
            plain = isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name)
            found = s.value if plain else None
    return found


def bound_before(trace: Trace, name: str, node: gast.AST) -> bool:
    if name in trace.place.parameters or name not in trace.place.locals:
        return True
    return any(
        isinstance(n, (gast.Name, gast.FunctionDef, gast.alias, gast.ClassDef))
        and name in (getattr(n, "id", None), getattr(n, "name", None), getattr(n, "asname", None))
        and not isinstance(getattr(n, "ctx", None), gast.Load)
        and (n.lineno, n.col_offset) < (node.lineno, node.col_offset)
        for n in trace.nodes
    ) or any(
        isinstance(a, (gast.For, gast.While)) and name in bound_names([a])
        for a in trace.around(node)
        if not _only_in(a, name, node)
    )


def _only_in(loop: gast.AST, name: str, node: gast.AST) -> bool:
    """Does a loop bind a name only in that conditional?"""
    inside = set(walk(node))
    return all(
        n in inside
        for n in walk(loop)
        if isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Store)
    )


def read_after(trace: Trace, name: str, node: gast.AST) -> bool:
    """Is it read before it is bound again? Only what follows in the same block, and then anywhere, counts."""
    block = _block(trace, node)
    for s in block[block.index(node) + 1 :] if node in block else []:
        if any(isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Load) for n in walk(s)):
            return True
        if name in bound_names([s]):
            return False
    end = (node.end_lineno, node.end_col_offset)
    return any(
        isinstance(n, gast.Name)
        and n.id == name
        and isinstance(n.ctx, gast.Load)
        and (n.lineno, n.col_offset) > end
        for n in trace.nodes
    )


def leaves(body: list[gast.stmt]) -> bool:
    """Does every path through a block end in a jump?"""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, gast.If):
        return leaves(last.body) and leaves(last.orelse)
    if isinstance(last, (gast.With, gast.Try)):
        return leaves(last.body)
    if isinstance(last, gast.While) and isinstance(last.test, gast.Constant):
        return not any(isinstance(n, gast.Break) for n in walk(last))
    return isinstance(last, (gast.Return, gast.Raise, gast.Continue, gast.Break))
