"""Conditions: how they are decided, and what they tell of parameters that may be None."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import gast

from lsp_ad.checks.origins import TRACED, UNKNOWN, Kind, Origin, join

T = TypeVar("T")


class Conditions:
    """The part of `Values` that looks at conditions; `predicates` has their operands, by construct."""

    def __init__(self) -> None:
        self.state: dict[str, Origin] = {}
        # What a call hands over for a parameter that is None by default: told from others by its identity.
        self.given = replace(TRACED)
        # What is traced elsewhere, where a test says that it is not.
        self.doubted = replace(UNKNOWN)
        self.predicates: dict[gast.AST, tuple[gast.AST, list[tuple[gast.expr, Origin]]]] = {}

    def origin(self, node: gast.AST | None) -> Origin:
        raise NotImplementedError

    def narrow(self, test: gast.expr, outcome: bool) -> None:
        """What a test that came out so tells: a parameter is no None, or no value that is traced."""
        if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            self.narrow(test.operand, not outcome)
        elif isinstance(test, gast.BoolOp) and isinstance(test.op, gast.And) == outcome:
            for value in test.values:
                self.narrow(value, outcome)
        elif isinstance(test, gast.Compare) and len(test.ops) == 1 and isinstance(test.left, gast.Name):
            op, other = test.ops[0], test.comparators[0]
            none = isinstance(other, gast.Constant) and other.value is None
            known = isinstance(op, (gast.Is, gast.IsNot)) and isinstance(op, gast.IsNot) == outcome
            before = self.state.get(test.left.id)
            if known and none and before is not None and before.kind is Kind.OPTIONAL:
                self.state[test.left.id] = self.given
        elif isinstance(test, gast.Call) and self.is_concrete(test, outcome):
            subject = test.args[0] if test.args else None
            asked = [subject.id] if isinstance(subject, gast.Name) else []
            # What is not so for one that is surely traced is so for none: the branch is for other calls.
            for_others = subject is None or any(self.state.get(n, UNKNOWN).sure for n in asked)
            for name in list(self.state) if for_others else asked:
                # A name from around has its place here for as long.
                if name not in self.state or self.state[name].kind is Kind.TRACED:
                    self.state[name] = self.doubted

    def is_concrete(self, test: gast.Call, outcome: bool) -> bool:
        """Does a test that came out so say that its argument, or all there is, is not traced?"""
        raise NotImplementedError

    # Predicates

    def predicate(self, construct: gast.AST, test: gast.expr) -> Origin:
        """Note a predicate by its parts; how it is decided as a whole."""
        parts = self.split(test)
        self.predicates[construct] = construct, parts
        return join(origin for _, origin in parts)

    def split(self, test: gast.expr) -> list[tuple[gast.expr, Origin]]:
        """The operands of `and`, `or` and `not`: each is decided by itself."""
        if isinstance(test, gast.BoolOp):
            parts = [part for split in self._in_turn(test, self.split) for part in split]
        elif isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            parts = self.split(test.operand)
        else:
            return [(test, self.origin(test))]
        if len(parts) == 1 or all(origin.kind.deliberate for _, origin in parts):
            return [(test, join(origin for _, origin in parts))]
        return parts

    def _in_turn(self, node: gast.BoolOp, look: Callable[[gast.expr], T]) -> list[T]:
        """Look at the operands of `and` and `or`, each where those before it are true, or false."""
        before = dict(self.state)
        found = []
        for value in node.values:
            found.append(look(value))
            self.narrow(value, isinstance(node.op, gast.And))
        for name in [n for n, o in self.state.items() if n not in before and o is self.doubted]:
            del self.state[name]
        for name, origin in before.items():
            if any(self.state.get(name) is told for told in (self.given, self.doubted)):
                self.state[name] = origin
        return found

    def widen(self, before: dict[str, Origin], ends: list[dict[str, Origin]]) -> None:
        """Where branches come together again, what they were told of a parameter counts no more."""
        for end in ends:
            for name in [n for n, o in end.items() if n not in before and o is self.doubted]:
                del end[name]
        for name, origin in before.items():
            kept = [end.get(name) for end in ends]
            told = (origin, self.given, self.doubted)
            unchanged = any(o is origin for o in kept)
            if unchanged and all(any(o is t for t in told) for o in kept):
                for end in ends:
                    end[name] = origin
