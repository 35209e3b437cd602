"""The adjoints of lists, tuples and dicts: they have the structure of the value.

A change of a list goes back as the opposite change of its adjoint: what was appended is popped, what
was popped is appended. The adjoint of a list that changes is made where its last change goes back.
"""

from __future__ import annotations

import gast

from lsp_ad.differentiate.adjoints import Adjoints, Form, State
from lsp_ad.differentiate.fresh import adjoint_name
from lsp_ad.differentiate.values import ForwardValues
from lsp_ad.rules import Bound
from lsp_ad.rules.resolve import Operation
from lsp_ad.semantics.changes import Change
from lsp_ad.semantics.shapes import element_kind
from lsp_ad.simplify.algebra import assign, call, constant, expression, name
from lsp_ad.source.trees import copied


class Structures:
    """Writes the adjoint statements of what lists and dicts do."""

    def __init__(self, values: ForwardValues, adjoints: Adjoints, active: set[str]):
        self.values = values
        self.adjoints = adjoints
        self.active = active

    def change(self, s: gast.Expr | gast.Assign, change: Change, state: State) -> list[gast.stmt]:
        """The adjoint statements of a change of an active list."""
        out: list[gast.stmt] = []
        popped = s.targets[0].id if isinstance(s, gast.Assign) and change.method == "pop" else None
        form = state.pop(popped) if popped in state else None
        self.adjoints.own(change.base, s, state, out)
        if change.method == "pop":
            self._pop(s, change, popped, form, state, out)
        elif change.method == "set":
            self._set(s, change, state, out)
        else:
            where = [] if change.method == "append" else [self._inserted_at(change, s)]
            self._hand_back(change.args[-1], _method(change.base, "pop", *where), change.base, state, out)
        return out

    def _hand_back(
        self, item: gast.expr, piece: gast.expr, base: str, state: State, out: list[gast.stmt]
    ) -> None:
        """What the adjoint of a list holds for an item goes to the item."""
        if isinstance(item, gast.Name) and item.id in self.active:
            owned = state[base].owned and self.values.kinds.of(item).shape != ()
            self.adjoints.contribute(item.id, piece, Form(True, False, owned), state, out)
        elif isinstance(item, (gast.Tuple, gast.List, gast.Dict)):
            kept = self.values.fresh.new("b", "d")
            out.append(assign(kept, piece))
            self.adjoints.items(item, name(kept), state, out)
        else:
            self.adjoints.passive(item)
            out.append(gast.Expr(piece))

    def _pop(self, s, change: Change, popped: str | None, form: Form | None, state: State, out) -> None:
        base = change.base
        if popped is None:
            raise AssertionError("what is popped has a name in normal form")
        if form is None:
            value: gast.expr = call(self.values.helper("zeros_of"), self.values.result(popped, s))
        else:
            value = self.adjoints.whole(popped, name(adjoint_name(popped)), form, s, out)
            state[base] = Form(True, False, state[base].owned and form.owned, True)
        if not change.args:
            out.append(gast.Expr(_method(base, "append", value)))
            return
        index = self.values.operand(change.args[0], s)
        if not (isinstance(index, gast.Constant) and index.value >= 0):
            length = gast.BinOp(call("len", name(adjoint_name(base))), gast.Add(), constant(1))
            index = gast.BinOp(index, gast.Mod(), length)
        out.append(gast.Expr(_method(base, "insert", index, value)))

    def _inserted_at(self, change: Change, s: gast.stmt) -> gast.expr:
        """Where `insert` has put its item: a position beyond the ends means the end."""
        index = self.values.operand(change.args[0], s)
        if isinstance(index, gast.Constant) and index.value == 0:
            return index
        length = gast.BinOp(call("len", name(adjoint_name(change.base))), gast.Sub(), constant(1))
        ends = expression("slice(i, None).indices(n)[0]")
        ends.value.func.value.args[0] = index
        ends.value.args[0] = length
        return ends

    def joins_list(self, operation: Operation) -> bool:
        """Whether an operation makes an array of the items of a list that has a name."""
        return (
            operation.rule.name in ("numpy.stack", "numpy.concatenate", "numpy.array", "numpy.asarray")
            and isinstance(operation.args[0], gast.Name)
            and self.values.kinds.of(operation.args[0]).type in ("list", "tuple")
        )

    def joined(
        self, operation: Operation, target: str, dy: gast.expr, form: Form, s: gast.stmt, state: State, out
    ) -> None:
        """The items of the adjoint of an array that was made of a list: `dhs = list(dy)`."""
        bound = operation.bind(self.values.kinds.of)
        items = operation.args[0]
        dy = self.adjoints.whole(target, dy, form, s, out)
        axis = bound.constant("axis") if "axis" in bound.rule.parameters else 0
        if operation.rule.name == "numpy.concatenate":
            value = call(self.values.helper("split_like"), dy, self.values.operand(items, s), *_axis(bound))
        elif operation.rule.name == "numpy.stack":
            if axis != 0:
                numpy = self.values.module("numpy")
                moved = gast.Attribute(numpy, "moveaxis", gast.Load())
                dy = gast.Call(moved, [dy, bound.given["axis"], constant(0)], [])
            value = call("list", dy)
        elif self._is_flat(items):
            value = call("list", dy)
        else:
            value = call(self.values.helper("like"), dy, self.values.operand(items, s))
        self.adjoints.contribute(items.id, value, Form(True, False, False, True), state, out)

    def _is_flat(self, items: gast.Name) -> bool:
        """Whether the items of a list are numbers or arrays for sure."""
        kind = element_kind(self.values.kinds.of(items))
        return kind.type in ("number", "array")

    def _set(self, s, change: Change, state: State, out: list[gast.stmt]) -> None:
        index, item = change.args
        where = self.values.operand(index, s)
        place = gast.Subscript(name(adjoint_name(change.base)), where, gast.Load())
        self._hand_back(item, place, change.base, state, out)
        state[change.base] = Form(True, False, False, True)
        raise NotImplementedError


def _axis(bound: Bound) -> list[gast.expr]:
    return [bound.given["axis"]] if "axis" in bound.given else []


def _method(base: str, method: str, *args: gast.expr) -> gast.Call:
    function = gast.Attribute(name(adjoint_name(base)), method, gast.Load())
    return gast.Call(function, [copied(a) for a in args], [])
