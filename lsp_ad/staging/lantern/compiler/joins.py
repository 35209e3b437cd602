"""Joins the values of two branches in variables that both assign."""

from __future__ import annotations

from collections.abc import Sequence

from lsp_ad.staging.lantern.compiler import lists
from lsp_ad.staging.lantern.compiler.operands import (
    Listed,
    Number,
    Operand,
    code_of,
    leaves,
    rebuilt,
    roots_of,
    stored,
    type_of,
)
from lsp_ad.staging.lantern.compiler.scalars import part
from lsp_ad.staging.lantern.compiler.writer import Writer
from lsp_ad.staging.lantern.ir import Array


class Joins(Writer):
    def joined(
        self, test: str, first: tuple[list[str], Operand], second: tuple[list[str], Operand]
    ) -> Operand:
        """The value of whichever branch runs, in variables that both assign."""
        if not first[0] and not second[0] and isinstance(first[1], Number):
            assert isinstance(second[1], Number)
            return Number(f"{part(first[1].code)} if {test} else {part(second[1].code)}", first[1].dtype)
        names = [self.fresh("r") for _ in leaves(first[1])]
        parts: list[list[Operand]] = []
        free: list[list[bool]] = []
        blocks = []
        for lines, value in (first, second):
            with self.captured() as block:
                self.splice(lines)
                flat = list(leaves(value))
                with self.holding(*flat):
                    parts.append([self._assigned(n, leaf) for n, leaf in zip(names, flat, strict=True)])
                with self.holding(*parts[-1]):
                    free.append([self._is_free(leaf) for leaf in parts[-1]])
            blocks.append(block)
        with self.nested(f"if {test}:"):
            self.splice(blocks[0])
        if blocks[1]:
            with self.nested("else:"):
                self.splice(blocks[1])
        owned = [all(both) for both in zip(*free, strict=True)]
        merged = (self._merged(n, a, b, own) for n, a, b, own in zip(names, *parts, owned, strict=True))
        return rebuilt(type_of(first[1]), merged)

    def _assigned(self, name: str, leaf: Operand) -> Operand:
        kept = lists.kept_leaf(self, leaf)
        self.line(f"{name} = {code_of(kept)}")
        return kept

    def _is_free(self, leaf: Operand) -> bool:
        """Whether a list that a branch gives is its own, so that it may be written into afterwards."""
        with self.released(leaf):
            return isinstance(leaf, Listed) and self.claimable(leaf)

    def _merged(self, name: str, a: Operand, b: Operand, owned: bool) -> Operand:
        if isinstance(a, Number):
            return Number(name, a.dtype)
        roots = roots_of(a) | roots_of(b)
        if isinstance(a, Listed) and isinstance(b, Listed):
            own = a.own if a.own == b.own else self.new_root(owned)
            return Listed(name, a.type, own, roots | {own})
        t = type_of(a)
        assert isinstance(t, Array)
        return stored(name, t, roots)

    def splice(self, lines: Sequence[str]) -> None:
        """Lines that were written at another depth."""
        if lines:
            depth = len(lines[0]) - len(lines[0].lstrip())
            self.lines += ["    " * self.indent + line[depth:] for line in lines]
