"""Adjoint variables: how contributions to them are written, and what form each is in.

The first contribution is an assignment, later ones are sums. `x += ...` works in place, so it is
written only for arrays that this function made itself and that no other name can share.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from lsp_ad.differentiate.fresh import adjoint_name, primal_name
from lsp_ad.differentiate.quoting import place, quoted
from lsp_ad.differentiate.reverse.forms import Form, State
from lsp_ad.differentiate.reverse.values import ForwardValues
from lsp_ad.problems import Refusal, Span, problem
from lsp_ad.rules.resolve import Operation
from lsp_ad.rules.rule import literal
from lsp_ad.semantics import flow
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.semantics.shapes import UNKNOWN, Kind, is_complex
from lsp_ad.simplify.algebra import add, assign, call, constant, expression, name, store
from lsp_ad.source.parse import span_of
from lsp_ad.source.trees import copied


@dataclass
class Adjoints:
    """Writes contributions to adjoint variables.

    `in_place`: those that were written element by element; `deep`: those of them written in items of
    items. `lists`: names of unknown kind that are only indexed with integers and iterated, so that they may
    hold lists as well as arrays. `of_callee`: the derivative is for a call in generated code.
    """

    values: ForwardValues
    kinds: Kinds
    active: set[str]
    lists: set[str] = field(default_factory=set)
    in_place: set[str] = field(default_factory=set)
    deep: set[str] = field(default_factory=set)
    once: set[str] = field(default_factory=set)
    factors: set[str] = field(default_factory=set)
    of_callee: bool = False
    best: Form = field(default=Form(True, True, True, True))

    def kind(self, v: str) -> Kind:
        return self.kinds.names.get(v, UNKNOWN)

    def is_own(self, v: str, form: Form) -> bool:
        """Whether the adjoint of `v` can be changed in place as it has to be."""
        return form.outer if self.kind(v).is_structure and v not in self.deep else form.owned

    def __post_init__(self) -> None:
        self.complex = any(is_complex(kind) for kind in self.kinds.names.values())

    def form(self, exact: bool, scalar: bool, value: gast.expr, typed: bool) -> Form:
        return Form(exact, scalar, exact and not scalar and isinstance(value, gast.BinOp), typed=typed)

    def numpy(self, function: str, *args: gast.expr) -> gast.expr:
        return gast.Call(gast.Attribute(self.values.module("numpy"), function, gast.Load()), list(args), [])

    def real(self, v: str, value: gast.expr, out: list[gast.stmt]) -> gast.expr:
        """What a value adds to the adjoint of `v`: its real part, if it may be complex and `v` is not."""
        kind = self.kind(v)
        if not self.complex or is_complex(kind) or kind.is_structure:
            return value
        if not self._may_be_complex(value, out):
            return value
        return self.numpy("real", value)

    def _may_be_complex(self, value: gast.expr, out: list[gast.stmt]) -> bool:
        """Whether an expression reads a complex value; `out`: the statements before it."""
        if isinstance(value, gast.Call) and getattr(value.func, "attr", "") == "real":
            return False
        for n in flow.walk(value):
            if isinstance(n, gast.Constant) and isinstance(n.value, complex):
                return True
            if not isinstance(n, gast.Name):
                continue
            if is_complex(self.kind(primal_name(n.id))):
                return True
            made = next((s for s in out if isinstance(s, gast.Assign) and n.id in flow.stored(s)), None)
            if n.id.startswith("b__") and made is not None and self._may_be_complex(made.value, out):
                return True
        return False

    def contribute(self, v: str, value: gast.expr, form: Form, state: State, out: list[gast.stmt]) -> None:
        """Add a value to the adjoint of `v`."""
        target = adjoint_name(v)
        value = self.real(v, value, out)
        # a part of the adjoint of a complex array may be an array of real numbers
        kind = self.kind(v)
        owned = not (self.complex and is_complex(kind))
        if form.owned and not owned:
            form = form._replace(owned=False)
        if kind.shape == ():
            form = Form(True, True, False)
        old = state.get(v)
        if old is None:
            out.append(assign(target, value))
            state[v] = form
        elif kind.is_structure or v in self.lists:
            out.append(assign(target, call(self.values.helper("sum_of"), name(target), value)))
            exact = old.exact or form.exact
            state[v] = Form(exact, old.scalar and form.scalar, False, exact)
        elif old.owned:
            negative = isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub)
            op, amount = (gast.Sub(), value.operand) if negative else (gast.Add(), value)
            out.append(gast.AugAssign(store(target), op, amount))
        else:
            total = add(name(target), value)
            out.append(assign(target, total))
            exact = old.exact or form.exact
            scalar = old.scalar and form.scalar
            typed = old.typed or form.typed
            state[v] = Form(exact, scalar, exact and not scalar and owned, typed=typed)

    def zero(self, v: str, s: gast.stmt, out: list[gast.stmt], whole: bool = False) -> Form:
        """Set an adjoint to nothing: a zero that broadcasts to any shape, or a structure of zeros.

        `whole`: an array of zeros, if the variable is one.
        """
        if self.kind(v).is_structure or whole:
            out.append(assign(adjoint_name(v), self.values.zeros(name(v), s)))
            return Form(True, False, True, True)
        out.append(assign(adjoint_name(v), constant(0.0)))
        return Form(self.kind(v).shape == (), True, False)

    def enter_loop(self, v: str, written: bool, state: State, out: list[gast.stmt], s: gast.stmt) -> None:
        """Bring an adjoint that a loop changes into a form in which the loop can change it."""
        kind = self.kind(v)
        is_array = kind.type == "array" or v in self.factors
        whole = (not written and (v in self.in_place or is_array)) or kind.is_structure
        if v not in state:
            if whole:
                out.append(assign(adjoint_name(v), self.values.zeros(name(v), s, after=True)))
                state[v] = Form(True, False, True, True)
            else:
                state[v] = self.zero(v, s, out)
        elif whole and v in self.in_place:
            self.own(v, s, state, out)

    def own(self, v: str, s: gast.stmt, state: State, out: list[gast.stmt]) -> None:
        """Make an adjoint an array of the full shape, or a structure, that may be changed in place."""
        form = state.get(v)
        if form is not None and self.is_own(v, form):
            return
        target = adjoint_name(v)
        if form is None:
            out.append(assign(target, self.values.zeros(name(v), s)))
        elif not form.exact:
            out.append(assign(target, self.values.full(name(target), name(v), s)))
        elif self.kind(v).is_structure and v not in self.deep:
            made = "dict" if self.kind(v).type == "dict" else "list"
            out.append(assign(target, call(made, name(target))))
            state[v] = Form(True, False, False, True)
            return
        elif self.kind(v).is_structure or v in self.lists:
            out.append(assign(target, call(self.values.helper("copy_of"), name(target))))
        elif is_complex(self.kind(v)):
            total = gast.BinOp(name(target), gast.Add(), self.values.zeros(name(v), s))
            out.append(assign(target, total))
        else:
            out.append(assign(target, self.numpy("array", name(target))))
        state[v] = Form(True, False, True, True)

    def element(
        self,
        node: gast.Subscript,
        target: str,
        dy: gast.expr,
        s: gast.stmt,
        state: State,
        out: list[gast.stmt],
    ) -> None:
        """The adjoint of reading an element or slice into `target`: `dx[i] += dy`."""
        base, depth = node, 0
        while isinstance(base, gast.Subscript):
            index = base.slice
            base, depth = base.value, depth + 1
        if not isinstance(base, gast.Name):
            raise Refusal(
                problem("AD102", f"`{self.quoted(node)}` cannot be differentiated.", place(node, s))
            )
        v = base.id
        kind = self.kinds.of(name(v))
        sliced = isinstance(index, gast.Slice) and depth == 1
        if kind.type in ("list", "tuple") and not self.may_be_number(index) and not sliced:
            message = f"`{self.quoted(node)}` indexes a list with what may be no integer."
            where = place(node, s)
            raise Refusal(problem("AD102", message, where, "Use an array, or an index that is an int."))
        self.in_place.add(v)
        if depth > 1:
            self.deep.add(v)
        self.own(v, s, state, out)
        dy = self.real(v, dy, out)
        where = self.values.operand(node.slice, s)
        inner = self.values.operand(node.value, s)
        for n in flow.walk(inner):
            if isinstance(n, gast.Name) and (n.id == v or n.id.startswith(f"s__{v}__")):
                n.id = adjoint_name(v)
        if self.kinds.of(node.value).is_structure or self.is_basic(node.slice):
            place_of = gast.Subscript(inner, where, gast.Store())
            out.append(self._added(v, place_of, target, dy, state, self._is_unclear(node)))
        else:
            at = gast.Attribute(
                gast.Attribute(self.values.module("numpy"), "add", gast.Load()), "at", gast.Load()
            )
            if isinstance(where, gast.Tuple):
                where = gast.Tuple([_slice_object(e) for e in where.elts], gast.Load())
            out.append(gast.Expr(gast.Call(at, [inner, _slice_object(where), dy], [])))

    def _is_unclear(self, node: gast.Subscript) -> bool:
        """Whether a known structure has an item of which nothing is known: `+=` would make a list longer."""
        items, position = self.kinds.of(node.value).items, literal(node.slice)
        return (
            items is not None
            and isinstance(position, int)
            and -len(items) <= position < len(items)
            and items[position] == UNKNOWN
        )

    def _added(
        self, v: str, element: gast.Subscript, target: str, dy: gast.expr, state: State, unclear: bool
    ) -> gast.stmt:
        """`dv[i] += dy`, or without a change in place of what an item of the list may share."""
        read = copied(element)
        read.ctx = gast.Load()
        sliced = isinstance(element.slice, gast.Slice) and v in self.lists
        handed_on = v in self.lists and self.of_callee  # its items may be lists, or None
        unclear = unclear or handed_on
        if self.kind(target).is_structure or target in self.lists or sliced or unclear:
            return gast.Assign([element], call(self.values.helper("sum_of"), read, dy), None)
        if state[v].owned or self.kind(target).shape == ():
            return gast.AugAssign(element, gast.Add(), dy)
        return gast.Assign([element], gast.BinOp(read, gast.Add(), dy), None)

    def may_be_number(self, index: gast.expr) -> bool:
        """Whether an index may be an integer: if it is none, a list cannot be indexed with it."""
        kind = self.kinds.of(index)
        return kind.type in ("number", "numeric") and kind.dtype in (None, "int", "bool")

    def is_number(self, index: gast.expr) -> bool:
        kind = self.kinds.of(index)
        return kind.type == "number" and kind.dtype == "int"

    def is_basic(self, index: gast.expr) -> bool:
        """Whether an index selects each element at most once, and gives a view."""
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        return all(
            isinstance(p, gast.Slice)
            or literal(p) in (None, Ellipsis)
            or self.is_number(p)
            or self.kinds.of(p).type == "str"
            for p in parts
        )

    def whole(self, target: str, dy: gast.expr, form: Form, s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        """The adjoint of a target in the target's own shape."""
        if form.exact:
            return dy
        kept = self.values.fresh.new("b")
        out.append(assign(kept, self.values.full_result(dy, target, s)))
        return name(kept)

    def items(
        self, node: gast.Tuple | gast.List | gast.Dict, dy: gast.expr, state: State, out: list[gast.stmt]
    ) -> None:
        """The adjoint of each item of a literal tuple, list, dict or array: `da = dy[0]`."""
        pairs = (
            zip(node.keys, node.values, strict=True)
            if isinstance(node, gast.Dict)
            else ((constant(position), item) for position, item in enumerate(node.elts))
        )
        for where, item in pairs:
            piece = gast.Subscript(copied(dy), copied(where), gast.Load())
            if isinstance(item, (gast.Tuple, gast.List, gast.Dict)):
                self.items(item, piece, state, out)
            elif isinstance(item, gast.Name):
                if item.id in self.active:
                    self.contribute(item.id, piece, Form(True, False, False), state, out)
            else:
                self.passive(item)

    def pieces(
        self,
        operation: Operation,
        target: str,
        dy: gast.expr,
        form: Form,
        s: gast.stmt,
        state: State,
        out: list[gast.stmt],
    ) -> None:
        """The adjoints of joined arrays are the pieces of the adjoint of the whole."""
        bound = operation.bind(self.kinds.of)
        arrays = bound.given["arrays"]
        axis = bound.constant("axis")
        if (
            not isinstance(arrays, (gast.Tuple, gast.List))
            or not isinstance(axis, int)
            or isinstance(axis, bool)
        ):
            raise Refusal(
                problem(
                    "AD202",
                    f"`{self.quoted(s.value)}`: only a literal list of arrays and a constant axis "
                    "are supported.",
                    place(s.value, s),
                )
            )
        dy = self.whole(target, dy, form, s, out)
        start: gast.expr | None = None
        for number, part in enumerate(arrays.elts):
            last = number == len(arrays.elts) - 1
            if operation.rule.name == "numpy.stack":
                piece = _along(axis, constant(number), dy, self.values)
            else:
                length = self.values.length(part, axis, s)
                stop = length if start is None else gast.BinOp(start, gast.Add(), length)
                piece = _along(
                    axis,
                    gast.Slice(start and copied(start), None if last else copied(stop), None),
                    dy,
                    self.values,
                )
                start = stop
            if not isinstance(part, gast.Name):
                self.passive(part)
            elif part.id in self.active:
                self.contribute(part.id, piece, Form(True, False, False), state, out)

    def quoted(self, node: gast.expr) -> str:
        return quoted(node, self.values.scope.program)

    def passive(self, node: gast.expr) -> None:
        """Make sure that an operand that is not handled carries no derivative."""
        if flow.reads(node) & self.active:
            raise Refusal(
                problem(
                    "AD102",
                    f"`{self.quoted(node)}` cannot be differentiated here.",
                    _place(node),
                    "Give it a name of its own first.",
                )
            )


def _along(axis: int, index: gast.expr, dy: gast.expr, values: ForwardValues) -> gast.expr:
    """`dy[..., index, ...]` with the index at one axis."""
    if axis >= 0:
        full = [gast.Slice(None, None, None) for _ in range(axis)]
        where = gast.Tuple([*full, index], gast.Load()) if full else index
    else:
        after = [gast.Slice(None, None, None) for _ in range(-axis - 1)]
        where = gast.Tuple([constant(Ellipsis), index, *after], gast.Load())
    return gast.Subscript(copied(dy), where, gast.Load())


def _slice_object(node: gast.expr) -> gast.expr:
    """A slice as a value: `slice(1, None)`."""
    if not isinstance(node, gast.Slice):
        return node
    parts = [part if part is not None else constant(None) for part in (node.lower, node.upper, node.step)]
    return gast.Call(expression("slice"), parts, [])


def _place(node: gast.AST) -> Span:
    return span_of(node) if hasattr(node, "lineno") else Span(1, 0, 1, 1)
