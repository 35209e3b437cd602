"""The variables that a loop carries from iteration to iteration."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lsp_ad.staging.lantern.compiler import lists
from lsp_ad.staging.lantern.compiler.operands import (
    NOTHING,
    Computed,
    Group,
    Listed,
    Number,
    Operand,
    Roots,
    Stored,
    code_of,
    leaf_types,
    leaves,
    rebuilt,
    stored,
    type_of,
)
from lsp_ad.staging.lantern.compiler.writer import Writer, identifiers
from lsp_ad.staging.lantern.ir import Array, Binding, Scalar


class Slots:
    """The variables that a loop carries from iteration to iteration, tuples taken apart.

    A slot that the loop may write into owns its memory: what goes into it is copied unless nothing else reads
    it. What goes into the others is shared.
    """

    def __init__(self, w: Writer, bindings: Sequence[Binding], entry: list[Operand]) -> None:
        self.w, self.bindings = w, bindings
        self.types = [type_of(o) for o in entry]
        pairs = [(b.name, leaf) for b, o in zip(bindings, entry, strict=True) for leaf in leaves(o)]
        self.updated = [name in w.updated for name, _ in pairs]
        self.names: list[str] = []
        self.shared: Roots = frozenset({w.new_root(False)})
        for (name, leaf), updated in zip(pairs, self.updated, strict=True):
            self.names.append(w.assign(name, code_of(self._taken(leaf, updated))))

    def _taken(self, leaf: Operand, updated: bool) -> Operand:
        """A value as it goes into a slot."""
        w = self.w
        if isinstance(leaf, Number):
            return leaf
        if isinstance(leaf, Listed):
            self.shared |= leaf.roots - {leaf.own}
            found = lists.owned(w, leaf) if updated else leaf
            self.shared |= NOTHING if updated else found.roots
            return found
        assert isinstance(leaf, Stored | Computed)
        with w.released(leaf):
            if updated:
                return w.own_array(leaf)
            stored_leaf = w.contiguous(leaf)
        self.shared |= stored_leaf.roots
        return stored_leaf

    def _operands(self) -> list[Operand]:
        """What the names of the loop stand for, at the beginning of an iteration or after the last one."""
        w = self.w
        parts: list[Operand] = []
        flat = [leaf for t in self.types for leaf in leaf_types(t)]
        for name, t, updated in zip(self.names, flat, self.updated, strict=True):
            if isinstance(t, Scalar):
                parts.append(Number(name, t.dtype))
            elif isinstance(t, Array):
                roots = frozenset({w.new_root(True)}) if updated else self.shared
                parts.append(stored(name, t, roots))
            else:
                own = w.new_root(updated)
                parts.append(Listed(name, t, own, self.shared | {own}))
        following = iter(parts)
        return [rebuilt(t, following) for t in self.types]

    def bind(self) -> None:
        for b, operand in zip(self.bindings, self._operands(), strict=True):
            self.w.bind(b.name, operand)

    def next(self, value: Group) -> None:
        """The end of an iteration: the slots take their next values, all at once."""
        w = self.w
        flat = list(leaves(value))
        with w.holding(*flat):
            taken = [self._taken(leaf, u) for leaf, u in zip(flat, self.updated, strict=True)]
        self._assign([(n, code_of(o)) for n, o in zip(self.names, taken, strict=True) if code_of(o) != n])

    def _assign(self, pending: list[tuple[str, str]]) -> None:
        """Assignments that all read what was there before any of them."""
        while pending:
            for pair in pending:
                if not any(pair[0] in identifiers(other[1]) for other in pending if other is not pair):
                    self.w.line(f"{pair[0]} = {pair[1]}")
                    pending.remove(pair)
                    break
            else:
                # Others read each of them: the first one's old value is kept for them.
                name = pending[0][0]
                old = self.w.assign(f"old_{name}", name)
                pending = [(n, re.sub(rf"(?<![\w.]){name}\b", old, code)) for n, code in pending]

    def result(self) -> Operand:
        return Group(tuple(self._operands()))
