"""Writes into arrays, backwards.

The backward sweep undoes every write first, so that an array read again there holds what it held in the
forward sweep; where nothing reads it, `simplify/dead.py` drops the copy and the undoing. Then the adjoint:

    a[s] = e        de = da[s]; da[s] = 0
    a[s] += e       de = da[s]
    a[s] *= e       de = da[s] * a[s]; da[s] *= e
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from lsp_ad.differentiate.fresh import adjoint_name
from lsp_ad.differentiate.reverse import broadcasting
from lsp_ad.differentiate.reverse.adjoints import Adjoints
from lsp_ad.differentiate.reverse.forms import Form, State
from lsp_ad.differentiate.reverse.values import ForwardValues
from lsp_ad.semantics import indexing
from lsp_ad.semantics.memory import root, stored_value, written, written_root
from lsp_ad.simplify.algebra import assign, call, constant, name
from lsp_ad.source.trees import copied


@dataclass
class Overwrites:
    """Writes the adjoint statements of writes into arrays."""

    values: ForwardValues
    adjoints: Adjoints
    active: set[str]

    def backward(self, s: gast.stmt, state: State) -> list[gast.stmt]:
        target = written(s)
        assert target is not None
        out: list[gast.stmt] = []
        self._undo(target, s, out)
        array = written_root(s)
        assert array is not None
        if array in state and array in self.active:
            self.adjoints.in_place.add(array)
            if not state[array].owned:
                self.adjoints.own(array, s, state, out)
            self._adjoint(target, array, s, state, out)
        return out

    # --- values ------------------------------------------------------------------------------

    def _undo(self, target: gast.Subscript, s: gast.stmt, out: list[gast.stmt]) -> None:
        kept = self.values.keep_part(s, self._own(copied(_load(target)), target, written_root(s)))
        out.append(gast.Assign([self._place(target, s)], name(kept), None))

    def _own(self, part: gast.expr, target: gast.Subscript, array: str | None) -> gast.expr:
        """The value of a part in memory of its own."""
        if self._is_new(target):
            return part
        if array in self.adjoints.lists:
            return call(self.values.helper("copy_of"), part)
        return _method(part, "copy")

    def _place(self, target: gast.Subscript, s: gast.stmt) -> gast.Subscript:
        """The part as the backward sweep names it, to be written."""
        place = self.values.operand(_load(target), s)
        place.ctx = gast.Store()
        return place

    def _is_new(self, target: gast.Subscript) -> bool:
        """Whether reading a part gives memory of its own: a number, or elements picked by arrays."""
        return self.values.kinds.of(_load(target)).shape == () or indexing.picks(
            target.slice, self.values.kinds.of
        )

    # --- adjoints ----------------------------------------------------------------------------

    def _shadow(self, target: gast.Subscript, array: str, s: gast.stmt) -> gast.Subscript:
        """The same part of the adjoint of the array."""
        part = self._place(target, s)
        part.ctx = gast.Load()
        base = root(part)
        assert base is not None
        base.id = adjoint_name(array)
        return part

    def _adjoint(
        self, target: gast.Subscript, array: str, s: gast.stmt, state: State, out: list[gast.stmt]
    ) -> None:
        value = stored_value(s)
        varies = isinstance(value, gast.Name) and value.id in self.active
        if not varies:
            self.adjoints.passive(value)
        if isinstance(s, gast.Assign):
            self._assigned(target, array, s, value if varies else None, state, out)
        elif isinstance(s, gast.AugAssign) and isinstance(s.op, (gast.Mult, gast.Div)):
            self._scaled(target, array, s, value if varies else None, state, out)
        elif varies:
            part = self._part(target, array, s)
            minus = isinstance(s.op, gast.Sub) if isinstance(s, gast.AugAssign) else _subtracts(s)
            self._give(value, gast.UnaryOp(gast.USub(), part) if minus else part, target, s, state, out)

    def _part(self, target: gast.Subscript, array: str, s: gast.stmt) -> gast.expr:
        """The adjoint of a part, in memory of its own."""
        return self._own(self._shadow(target, array, s), target, array)

    def _assigned(
        self,
        target: gast.Subscript,
        array: str,
        s: gast.Assign,
        value: gast.Name | None,
        state: State,
        out: list[gast.stmt],
    ) -> None:
        nothing: gast.expr = constant(0.0)
        if array in self.adjoints.lists:
            nothing = call(self.values.helper("zeros_of"), self._shadow(target, array, s))
        zero = gast.Assign([_store(self._shadow(target, array, s))], nothing, None)
        if value is None:
            out.append(zero)
            return
        part = self._part(target, array, s)
        if not self.adjoints.is_basic(target.slice) and not indexing.is_mask(
            target.slice, self.values.kinds.of
        ):
            won = gast.Call(
                name(self.values.helper("written_last")),
                [name(adjoint_name(array)), _tuple_of_slices(self.values.operand(target.slice, s))],
                [],
            )
            if not isinstance(target.value, gast.Name):
                won.args[0] = self._shadow(target, array, s).value
            part = gast.BinOp(part, gast.Mult(), won)
        self._give_around(zero, value, part, target, array, s, state, out)

    def _scaled(
        self,
        target: gast.Subscript,
        array: str,
        s: gast.AugAssign,
        value: gast.Name | None,
        state: State,
        out: list[gast.stmt],
    ) -> None:
        factor = self.values.operand(s.value, s)
        scale = gast.AugAssign(_store(self._shadow(target, array, s)), s.op, factor)
        if value is None:
            out.append(scale)
            return
        old = self.values.operand(_load(target), s)
        change = gast.BinOp(self._shadow(target, array, s), gast.Mult(), old)
        if isinstance(s.op, gast.Div):
            square = gast.BinOp(copied(factor), gast.Mult(), copied(factor))
            change = gast.UnaryOp(gast.USub(), gast.BinOp(change, gast.Div(), square))
        self._give_around(scale, value, change, target, array, s, state, out)

    def _give_around(
        self,
        change: gast.stmt,
        value: gast.Name,
        part: gast.expr,
        target: gast.Subscript,
        array: str,
        s: gast.stmt,
        state: State,
        out: list[gast.stmt],
    ) -> None:
        """Give, and change the adjoint of the part: change it first, where the value is the array itself."""
        if value.id == array:
            kept = self.values.fresh.new("b")
            out += [assign(kept, part), change]
            self._give(value, name(kept), target, s, state, out)
            return
        self._give(value, part, target, s, state, out)
        out.append(change)

    def _give(
        self,
        value: gast.Name,
        part: gast.expr,
        target: gast.Subscript,
        s: gast.stmt,
        state: State,
        out: list[gast.stmt],
    ) -> None:
        """Add the adjoint of a part to that of the value that was written there, which may be smaller."""
        kinds = self.values.kinds
        mine, whole = kinds.of(value), kinds.of(_load(target))
        fresh = True
        if value.id in self.adjoints.lists:
            part = call(self.values.helper("part_of_sum"), part, self.values.operand(value, s))
            fresh = False
        elif mine.shape is None or mine.shape != whole.shape:
            part = broadcasting.reduce_to(part, value, whole, s, self.values)
            fresh = False
        number = mine.shape == ()
        self.adjoints.contribute(value.id, part, Form(True, number, fresh and not number), state, out)


def _subtracts(s: gast.stmt) -> bool:
    return isinstance(s, gast.Expr) and s.value.func.value.attr == "subtract"


def _load(target: gast.Subscript) -> gast.Subscript:
    """A written part as an expression that reads it."""
    return gast.Subscript(target.value, target.slice, gast.Load())


def _store(part: gast.Subscript) -> gast.Subscript:
    part.ctx = gast.Store()
    return part


def _method(node: gast.expr, method: str) -> gast.Call:
    return gast.Call(gast.Attribute(node, method, gast.Load()), [], [])


def _tuple_of_slices(index: gast.expr) -> gast.expr:
    """An index as a value that can be handed to a function."""
    if isinstance(index, gast.Tuple):
        return gast.Tuple([_tuple_of_slices(e) for e in index.elts], gast.Load())
    if isinstance(index, gast.Slice):
        parts = [p if p is not None else constant(None) for p in (index.lower, index.upper, index.step)]
        return gast.Call(name("slice"), parts, [])
    return index
