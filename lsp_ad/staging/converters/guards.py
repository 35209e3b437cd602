"""Variables that are read only where they have been bound, because both stand under the same conditions.

    if x > 0:
        y = f(x)
    ...
    if x > 0:
        use(y)

After the first statement `y` may be without a value, and nobody asks for it then: in a trace, a placeholder
may stand for it. Gradients that lsp-ad writes are full of such pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from lsp_ad.semantics import flow
from lsp_ad.source.printing import key
from lsp_ad.source.trees import walk
from lsp_ad.staging.converters.building import AG
from lsp_ad.staging.converters.scopes import Scopes, mutated

# the operators of names and numbers that a condition may call: what a name holds may change out of sight
_PURE = frozenset(
    {
        "and_",
        "or_",
        "both",
        "either",
        "add",
        "subtract",
        "not_",
        "negated",
        "compare",
        "in_",
        "is_",
        "eq",
        "ne",
    }
)


@dataclass(frozen=True)
class _Site:
    """Where a name is bound or read: for each block around it, from the outside in, the block, the place of
    the statement in it, and the condition under which that block runs ("" where it is no branch)."""

    blocks: tuple[tuple[int, int, str], ...]


def guarded(scopes: Scopes, suspects: set[str]) -> set[str]:
    """Those of the names that may be unbound that are never read then."""
    if not suspects:
        return set()
    bindings: dict[str, list[_Site]] = {n: [] for n in suspects}
    reads: dict[str, list[_Site]] = {n: [] for n in suspects}
    bodies: dict[int, list[gast.stmt]] = {}
    _collect(scopes, scopes.function.body, (), "", bindings, reads, bodies)
    return {
        n
        for n in suspects - scopes.captured
        if bindings[n] and all(any(_covers(b, r, bodies) for b in bindings[n]) for r in reads[n])
    }


def _collect(
    scopes: Scopes,
    body: list[gast.stmt],
    around: tuple[tuple[int, int, str], ...],
    condition: str,
    bindings: dict[str, list[_Site]],
    reads: dict[str, list[_Site]],
    bodies: dict[int, list[gast.stmt]],
) -> None:
    bodies[id(body)] = body
    for place, s in enumerate(body):
        site = (*around, (id(body), place, condition))
        for n in flow.header_reads(s):
            if n in reads and scopes.maybe_unbound(n, s):
                reads[n].append(_Site(site))
        for n in flow.header_writes(s):
            if n in bindings and not isinstance(s, gast.For):
                bindings[n].append(_Site(site))
        if isinstance(s, gast.If):
            text = key(s.test) if _is_pure(s.test) else f"only here {id(s)}"
            _collect(scopes, s.body, site, text, bindings, reads, bodies)
            _collect(scopes, s.orelse, site, f"not {text}", bindings, reads, bodies)
        else:
            for block in flow.blocks(s):
                _collect(scopes, block, site, f"inside {id(s)}", bindings, reads, bodies)


def _is_pure(test: gast.expr) -> bool:
    """Whether a condition is one of names, numbers and operators."""
    called = [n.func for n in walk(test) if isinstance(n, gast.Call)]
    looked_into = [n for n in walk(test) if isinstance(n, (gast.Attribute, gast.Subscript))]
    return all(map(_is_operator, [*called, *looked_into]))


def _is_operator(node: gast.AST) -> bool:
    return (
        isinstance(node, gast.Attribute)
        and isinstance(node.value, gast.Name)
        and node.value.id == AG
        and node.attr in _PURE
    )


def _covers(binding: _Site, read: _Site, bodies: dict[int, list[gast.stmt]]) -> bool:
    """Whether a name is bound at one site whenever it is read at the other."""
    common = 0
    for mine, other in zip(binding.blocks, read.blocks, strict=False):
        if mine[0] != other[0]:
            break
        common += 1
    if not common:
        return False
    (block, first, _), (_, last, _) = binding.blocks[common - 1], read.blocks[common - 1]
    if first >= last:
        return False
    needed = [condition for *_, condition in binding.blocks[common:]]
    given = {condition for *_, condition in read.blocks[common:]}
    if any(c.startswith(("inside", "only", "not only")) or c not in given for c in needed):
        return False
    between = bodies[block][first : last + 1]
    changed = flow.writes(between) | mutated(between)
    tested = {
        n
        for depth, (inner, place, _) in enumerate(binding.blocks[common - 1 : -1])
        if binding.blocks[common + depth][2]
        for s in [bodies[inner][place]]
        if isinstance(s, gast.If)
        for n in flow.reads(s.test)
    }
    return not tested & changed
