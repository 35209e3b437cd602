"""The adjoints of lists, tuples and dicts: they have the structure of the value.

A change of a list goes back as the opposite change of its adjoint: what was appended is popped, what
was popped is appended. The adjoint of a list that changes is made where its last change goes back.
"""

from __future__ import annotations

import gast

from lsp_ad.differentiate.fresh import adjoint_name, plain
from lsp_ad.differentiate.reverse.adjoints import Adjoints
from lsp_ad.differentiate.reverse.forms import Form, State
from lsp_ad.differentiate.reverse.values import ForwardValues
from lsp_ad.differentiate.types.library import MAKERS
from lsp_ad.problems import Refusal, problem
from lsp_ad.rules import Bound
from lsp_ad.rules.resolve import Operation
from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import Change
from lsp_ad.semantics.shapes import element_kind
from lsp_ad.simplify.algebra import assign, call, constant, expression, name
from lsp_ad.source.parse import span_of
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
        self.adjoints.in_place.add(change.base)
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
        if self.adjoints.kind(base).type == "dict":
            place = gast.Subscript(name(adjoint_name(base)), index, gast.Store())
            out.append(gast.Assign([place], value, None))
            return
        if self.adjoints.kind(base).type != "list":
            message = f"It cannot be told whether `{plain(base)}` is a list or a dict."
            raise Refusal(problem("AD401", message, span_of(s)))
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
        """What was written takes its adjoint; what it took the place of has none, or was not there."""
        index, item = change.args
        base, where = change.base, self.values.operand(index, s)
        place = gast.Subscript(name(adjoint_name(base)), where, gast.Store())
        read = gast.Subscript(name(adjoint_name(base)), where, gast.Load())
        is_dict = self.adjoints.kind(base).type == "dict"
        piece = _method(base, "pop", where) if is_dict else read
        if is_dict or flow.reads(item) & self.active:
            self._hand_back(item, piece, base, state, out)
        before: gast.expr = gast.Subscript(name(base), copied(index), gast.Load())
        if is_dict:
            before = gast.Call(gast.Attribute(name(base), "get", gast.Load()), [copied(index)], [])
        old = self.values.keep(before, s, "replaced")
        zero = gast.Assign([place], call(self.values.helper("zeros_of"), name(old)), None)
        if is_dict:
            present = gast.Compare(name(old), [gast.IsNot()], [constant(None)])
            out.append(gast.If(present, [zero], []))
        else:
            out.append(zero)
        state[base] = Form(True, False, False, True)

    # --- lists, tuples and dicts made of others ----------------------------------------------

    def made(self, node: gast.expr, target: str, dy: gast.expr, s: gast.stmt, state: State, out) -> bool:
        """The adjoint of what was put together of other lists and dicts; False for any other operation."""
        function = self.values.scope.canonical(node.func) if isinstance(node, gast.Call) else None
        if function in MAKERS:
            self._copied(node, dy, s, state, out)
        elif isinstance(node, gast.BinOp) and self.values.kinds.of(node).type in ("list", "tuple"):
            self._joined_lists(node, dy, s, state, out)
        elif isinstance(node, gast.Dict) and any(k is None for k in node.keys):
            self._merged(node, dy, s, state, out)
        else:
            return False
        return True

    def _copied(self, node: gast.Call, dy: gast.expr, s: gast.stmt, state: State, out) -> None:
        """`list(x)`, `dict(x)`: the same items; x may be an array, too."""
        inner = node.args[0]
        if isinstance(inner, gast.Call):
            x = inner.func.value
            value: gast.expr = call("dict", call("zip", self.values.operand(x, s), dy))
        else:
            x, value = inner, dy
            if not self.values.kinds.of(x).is_structure:
                value = call(self.values.helper("joined_like"), dy, self.values.operand(x, s))
        self.adjoints.contribute(x.id, value, Form(True, False, False, False), state, out)

    def _joined_lists(self, node: gast.BinOp, dy: gast.expr, s: gast.stmt, state: State, out) -> None:
        """`xs + ys` and `xs * n`: the adjoints of the parts, or their sum."""
        if isinstance(node.op, gast.Mult):
            xs = node.left if self.values.kinds.of(node.left).is_structure else node.right
            self.adjoints.passive(node.right if xs is node.left else node.left)
            value = call(self.values.helper("repeat_adjoint"), dy, self.values.operand(xs, s))
            self.adjoints.contribute(xs.id, value, Form(True, False, False, True), state, out)
            return
        length = call("len", self.values.operand(node.left, s))
        for part, where in (
            (node.left, gast.Slice(None, length, None)),
            (node.right, gast.Slice(copied(length), None, None)),
        ):
            if isinstance(part, gast.Name) and part.id in self.active:
                piece = gast.Subscript(copied(dy), where, gast.Load())
                self.adjoints.contribute(part.id, piece, Form(True, False, False, True), state, out)
            else:
                self.adjoints.passive(part)

    def _merged(self, node: gast.Dict, dy: gast.expr, s: gast.stmt, state: State, out) -> None:
        """`{**a, "k": x}`: a later item takes the place of an earlier one with its key."""
        later: list[gast.expr] = []
        for key, value in reversed(list(zip(node.keys, node.values, strict=True))):
            if isinstance(value, gast.Name) and value.id in self.active:
                if key is None:
                    piece = call(self.values.helper("part_of"), dy, self.values.operand(value, s), *later)
                else:
                    piece = gast.Subscript(copied(dy), copied(key), gast.Load())
                self.adjoints.contribute(value.id, piece, Form(True, False, False, key is None), state, out)
            else:
                self.adjoints.passive(value)
            later.append(gast.Set([key]) if key is not None else self.values.operand(value, s))


def _axis(bound: Bound) -> list[gast.expr]:
    return [bound.given["axis"]] if "axis" in bound.given else []


def _method(base: str, method: str, *args: gast.expr) -> gast.Call:
    function = gast.Attribute(name(adjoint_name(base)), method, gast.Load())
    return gast.Call(function, [copied(a) for a in args], [])
