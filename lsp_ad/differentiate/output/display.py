"""The names that people see.

Inside the compiler each value has a name of its own; here names that never hold values at the same
time come together again, so that the user's lines stand as they were, and every adjoint gets one
pattern: `dw`, or where the function has such a name already, `d_w`, then `w_bar`.
"""

from __future__ import annotations

import re

import gast

from lsp_ad.differentiate.fresh import ADJOINT
from lsp_ad.semantics import flow
from lsp_ad.semantics.points import Points

PATTERNS = ("d{}", "d_{}", "{}_bar", "adjoint_of_{}")
PRODUCT_PATTERNS = ("v{}", "v_{}", "{}_dot", "tangent_of_{}")  # in a Hessian-vector product
_ADDED = re.compile(r"__\d+$")


def saved_name(n: str) -> str:
    """The name whose value `s__x__1` keeps."""
    return _ADDED.sub("", n[len("s__") :])


class Display:
    """Chooses shown names for the names of one function."""

    def __init__(
        self,
        body: list[gast.stmt],
        parameters: list[str],
        webs: dict[str, str],
        hints: dict[str, str],
        reserved: set[str],
        seeds: dict[str, str],
        function: str,
        points: Points,
        patterns: tuple[str, ...] = PATTERNS,
    ):
        self.points = points
        self.patterns = patterns
        self.webs = webs
        self.hints = hints
        self.order = _in_order(body, parameters, points)
        self.bits, self.alive = _alive_where_bound(body, parameters, self._could_share(), points)
        self.user = {webs.get(n, n) for n in self.order if not self._is_added(n)}
        self.reserved = reserved | self.user
        self.shown: dict[str, str] = {p: p for p in parameters}
        self.pattern = self._pattern(seeds)
        self.shown.update({seed: self.pattern.format(base) for seed, base in seeds.items()})
        self.kin_of: dict[str, tuple[bool, str]] = {}
        self.users: dict[str, int] = {}
        self.around: dict[str, int] = {}
        self.taken: dict[str, int] = {}
        for n, shown in list(self.shown.items()):
            self._show(n, shown)
        for n in self.order:
            if n not in self.shown:
                self._show(n, self._choose(n))

    def _show(self, n: str, shown: str) -> None:
        self.shown[n] = shown
        self.kin_of.setdefault(shown, self._kin(n))
        self.users[shown] = self.users.get(shown, 0) | self.bits.get(n, 0)
        self.around[shown] = self.around.get(shown, 0) | self.alive.get(n, 0)

    def _is_added(self, n: str) -> bool:
        return "__" in n and (n not in self.webs or n.startswith(("d__", "t__", "b__", "s__")))

    def _pattern(self, seeds: dict[str, str]) -> str:
        bases = {self._base(n[len(ADJOINT) :]) for n in self.order if n.startswith(ADJOINT)}
        bases |= set(seeds.values())
        for pattern in self.patterns:
            if not {pattern.format(b) for b in bases} & self.reserved:
                return pattern
        return "lsp_ad_{}"

    def _base(self, n: str) -> str:
        """What a name is called before collisions are looked at."""
        if n.startswith("result__"):
            return "value"
        if n in self.webs and not n.startswith(("t__", "b__", "s__")):
            return _ADDED.sub("", self.webs[n])
        if n.startswith("s__"):
            return self._base(saved_name(n))
        if n in self.hints:
            hint = self.hints[n]
            return f"{hint}_value" if hint in self.reserved else hint
        return {"t": "t", "b": "g"}.get(n.split("__")[0], n.split("__")[0])

    def _choose(self, n: str) -> str:
        if n == "_" and n not in self.webs.values():
            return n  # nothing reads it
        own = (n in self.webs and not self._is_added(n) and not n.startswith("result__")) or n.startswith(
            "s__"
        )
        if n.startswith(ADJOINT):
            base = self.pattern.format(self._base(n[len(ADJOINT) :]))
        else:
            base = self._base(n)
        shares = own or n.startswith(ADJOINT)
        kin = self._kin(n)
        # what is taken stays taken for a name that shares with no other
        number = 1 if shares else self.taken.get(base, 1)
        candidate = base if number == 1 else f"{base}{number}"
        while not self._free(candidate, n, kin, own, shares):
            number += 1
            candidate = (
                f"{base}{number}"
                if not n.startswith("s__")
                else f"{base}_old{number - 1 if number > 2 else ''}"
            )
        if not shares:
            self.taken[base] = number
        return candidate

    def _free(self, candidate: str, n: str, kin: tuple[bool, str], own: bool, shares: bool) -> bool:
        if candidate in self.reserved and not (own and candidate == kin[1]):
            return False
        if candidate not in self.kin_of:
            return True
        return (
            shares
            and self.kin_of[candidate] == kin
            and not self.users[candidate] & self.alive.get(n, 0)
            and not self.around[candidate] & self.bits.get(n, 0)
        )

    def _kin(self, n: str) -> tuple[bool, str]:
        """Names may be shown alike only if they stand for the same name of the user's."""
        adjoint = n.startswith(ADJOINT)
        inner = n[len(ADJOINT) :] if adjoint else n
        inner = saved_name(inner) if inner.startswith("s__") else inner
        return adjoint, self.webs.get(inner, inner)

    def _could_share(self) -> set[str]:
        """The names that stand for the same name of the user's as another one does."""
        groups: dict[tuple[bool, str], list[str]] = {}
        for n in self.order:
            groups.setdefault(self._kin(n), []).append(n)
        return {n for group in groups.values() if len(group) > 1 for n in group}

    def rename(self, body: list[gast.stmt]) -> list[gast.stmt]:
        """Show the chosen names, in place, and drop assignments of a name to itself."""
        for s in flow.statements(body):
            for node in self.points.of(s).names:
                if (shown := self.shown.get(node.id)) is not None:
                    node.id = shown
        return _without_self(body)


def _without_self(body: list[gast.stmt]) -> list[gast.stmt]:
    kept = []
    for s in body:
        if (
            isinstance(s, gast.Assign)
            and isinstance(s.targets[0], gast.Name)
            and isinstance(s.value, gast.Name)
            and s.targets[0].id == s.value.id
        ):
            continue
        if isinstance(s, (gast.If, gast.For, gast.While)):
            s.body, s.orelse = _without_self(s.body), _without_self(s.orelse)
            if isinstance(s, gast.If) and not s.body and s.orelse:
                s.test, s.body, s.orelse = gast.UnaryOp(gast.Not(), s.test), s.orelse, []
            elif isinstance(s, gast.If) and not s.body:
                continue
            s.body = s.body or [gast.Pass()]
        elif isinstance(s, (gast.With, gast.Try)):
            for block in flow.blocks(s):
                block[:] = _without_self(block) or [gast.Pass()] * bool(block)
        if not isinstance(s, gast.Pass):
            kept.append(s)
    return kept


def _in_order(body: list[gast.stmt], parameters: list[str], points: Points) -> list[str]:
    """All names that the body binds, by their first appearance."""
    found = dict.fromkeys(parameters)
    for s in flow.statements(body):
        binds = points.of(s).binds
        for n in binds if len(binds) == 1 else sorted(binds):
            found.setdefault(n)
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            found.setdefault(s.target.id)
    return list(found)


def _alive_where_bound(
    body: list[gast.stmt], parameters: list[str], wanted: set[str], points: Points
) -> tuple[dict[str, int], dict[str, int]]:
    """A bit for each name, and for each wanted name the wanted names that are alive where it is bound,
    as bits: they cannot share a name with it.
    """
    graph = flow.Flow.of(body, points)
    before = flow.live_before(graph)
    among = before.mask(wanted)
    found = dict.fromkeys(parameters, (before.masks[0] & among) | before.mask(parameters))
    for point, step in enumerate(graph.points):
        if step is None or step.writes.isdisjoint(wanted):
            continue
        s = step.statement
        alive = before.after(graph, point) & among
        if isinstance(s, gast.Assign) and isinstance(s.value, gast.Name):
            # after `y = x` both hold the same value: no conflict between them
            alive &= ~before.mask([s.value.id])
        for n in step.writes & wanted:
            found[n] = found.get(n, 0) | alive & ~before.mask([n])
    return {n: 1 << bit for n, bit in before.bits.items()}, found
