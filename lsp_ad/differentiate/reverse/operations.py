"""One operation of the backward sweep: from the adjoint of its result to those of its operands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import gast

from lsp_ad.differentiate.quoting import place, quoted
from lsp_ad.differentiate.reverse import broadcasting
from lsp_ad.differentiate.reverse.adjoints import Adjoints
from lsp_ad.differentiate.reverse.calls import Callees
from lsp_ad.differentiate.reverse.forms import Form, State
from lsp_ad.differentiate.reverse.structures import Structures
from lsp_ad.differentiate.reverse.template import Values, instantiate, mentioned
from lsp_ad.differentiate.reverse.values import ForwardValues
from lsp_ad.differentiate.types.realness import is_conjugated
from lsp_ad.problems import Refusal, problem
from lsp_ad.rules import Adjoint, Bound, Unsupported
from lsp_ad.rules.partials import partials
from lsp_ad.rules.resolve import Operation
from lsp_ad.rules.selection import JOINS
from lsp_ad.semantics import flow
from lsp_ad.semantics.activity import Carries
from lsp_ad.semantics.memory import values_read
from lsp_ad.semantics.shapes import UNKNOWN, Kind
from lsp_ad.simplify.algebra import assign, call, constant, name, normalize
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import expression_text


@dataclass
class Operations:
    """Hands adjoints on through copies, indexing, containers, calls and the operations of the rule tables."""

    values: ForwardValues
    adjoints: Adjoints
    active: set[str]
    carries: Carries
    callees: Callees
    symmetric: frozenset[str]

    def __post_init__(self) -> None:
        self.structures = Structures(self.values, self.adjoints, self.active)

    def hand_on(
        self, s: gast.Assign, target: str, dy: gast.expr, form, state: State, out: list[gast.stmt]
    ) -> None:
        """Hand the adjoint of the target on to the operands."""
        value = s.value
        if form.wide and not self._takes_wide(value):
            dy, form = self._narrowed(dy, target, s, out), Form(True, False, False)
        if isinstance(value, gast.Name):
            self.adjoints.contribute(value.id, dy, form.alias(), state, out)
        elif isinstance(value, gast.Subscript):
            self.adjoints.element(value, target, dy, s, state, out)
        elif self.structures.made(value, target, dy, s, state, out):
            pass
        elif isinstance(value, (gast.Tuple, gast.List, gast.Dict)):
            self.adjoints.items(value, dy, state, out)
        elif self.values.scope.callee(value) is not None:
            self.callees.backward(value, target, dy, form, s, state, out, self.values, self.adjoints)
        else:
            operation = self.values.scope.operation(value)
            if operation is None:
                message = f"It cannot be told what `{expression_text(value)}` hands out."
                raise Refusal(problem("AD401", message, span_of(s)))
            if self.structures.joins_list(operation):
                self.structures.joined(operation, target, dy, form, s, state, out)
            elif operation.rule.name in JOINS:
                self._pieces(operation, target, dy, form, s, state, out)
            elif operation.rule.name in ("numpy.concatenate", "numpy.stack"):
                self.adjoints.pieces(operation, target, dy, form, s, state, out)
            elif operation.rule.name in ("numpy.array", "numpy.asarray") and isinstance(
                operation.args[0], (gast.Tuple, gast.List)
            ):
                self.adjoints.items(
                    operation.args[0], self.adjoints.whole(target, dy, form, s, out), state, out
                )
            else:
                bound = self._known(operation.bind(self.values.kinds.of))
                self.rule(bound, value, target, dy, form, s, state, out)

    def _known(self, bound: Bound) -> Bound:
        """A call with those of its arguments that are symmetric."""
        found = (p for p, a in bound.given.items() if isinstance(a, gast.Name) and a.id in self.symmetric)
        return bound._replace(symmetric=frozenset(found)) if self.symmetric else bound

    def _takes_wide(self, value: gast.expr) -> bool:
        """Whether an operation can hand on an adjoint that is larger than its result."""
        operation = self.values.scope.operation(value)
        if operation is None or self.values.kinds.of(value).is_structure:
            return False
        try:
            bound = operation.bind(self.values.kinds.of)
            adjoints = partials(bound)
        except Unsupported:
            return False
        wanted = [(a, adjoints[p]) for p, a in bound.given.items() if p in adjoints]
        wanted = [(a, adjoint) for a, adjoint in wanted if flow.reads(a) & self.active]
        if any(not isinstance(a, gast.Name) or self.values.kinds.of(a).is_structure for a, _ in wanted):
            return False  # an array of items: each takes its own part
        return all(adjoint.elementwise or adjoint.wide for _, adjoint in wanted)

    def _narrowed(self, dy: gast.expr, target: str, s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        """A wide adjoint, summed to the shape of its variable."""
        kept = self.values.fresh.new("b")
        like = self.values.result(target, s)
        out.append(assign(kept, call(self.values.helper("unbroadcast"), dy, like)))
        return name(kept)

    def _can_be_wide(self, argument: gast.expr, s: gast.stmt, state: State) -> bool:
        """Whether the adjoint of an operand may stay wide: its assignment is the next to read it."""
        return (
            isinstance(argument, gast.Name)
            and argument.id in self.adjoints.once
            and argument.id not in state
            and self.values.stability.is_beside(argument.id, s)
        )

    def _pieces(
        self, operation: Operation, target: str, dy: gast.expr, form: Form, s: gast.stmt, state: State, out
    ) -> None:
        """The adjoints of arrays that are joined: the pieces of the adjoint of the whole."""
        arrays = operation.args[0]
        whole = self.adjoints.whole(target, dy, form, s, out)
        axis = constant(JOINS[operation.rule.name])
        value = call(self.values.helper("unstacked"), whole, self.values.operand(arrays, s), axis)
        if isinstance(arrays, gast.Name):
            self.adjoints.contribute(arrays.id, value, Form(True, False, False, True), state, out)
            return
        kept = self.values.fresh.new("b", "d")
        out.append(assign(kept, value))
        self.adjoints.items(arrays, name(kept), state, out)

    def rule(
        self,
        bound: Bound,
        node: gast.expr,
        target: str,
        dy: gast.expr,
        form,
        s: gast.stmt,
        state: State,
        out: list[gast.stmt],
    ) -> None:
        def refused(code: str, message: str) -> Refusal:
            text = quoted(node, self.values.scope.program)
            return Refusal(problem(code, f"`{text}`{message}", place(node, s)))

        carrying = {p: a for p, a in bound.given.items() if p not in bound.rule.passive}
        wanted = [p for p, a in carrying.items() if isinstance(a, gast.Name) and a.id in self.active]
        extra = {p for p, a in carrying.items() if p not in wanted and self.carries(a) & self.active}
        if extra:
            raise refused("AD202", f": a derivative through `{min(extra)}` is not supported.")
        try:
            adjoints = partials(bound)
        except Unsupported as error:
            raise refused("AD202", f": {error} is not supported.") from None
        kind = self.values.kinds.of(node)
        conjugated = is_conjugated(bound, node, kind, s)
        if bound.rule.name == "*":  # of a power, the first factor has the derivative with respect to all
            wanted = [p for p in wanted if p in adjoints]
        for p in wanted:
            if p not in adjoints:
                message = f": there is no derivative of `{bound.rule.name}` with respect to `{p}`."
                raise refused("AD204", message)
        if (
            not form.exact
            and not form.wide
            and any(not self._takes_any_shape(adjoints[p], form) for p in wanted)
        ):
            full = self.values.full_result(dy, target, s)
            kept = self.values.fresh.new("b")
            out.append(assign(kept, full))
            dy, form = name(kept), form.made_exact()
        shared: dict[str, str] = {}
        for p in wanted:
            self._argument(
                p, adjoints[p], bound, node, kind, target, dy, form, s, state, out, shared, conjugated
            )

    def _takes_any_shape(self, adjoint: Adjoint, form) -> bool:
        if adjoint.elementwise:
            return form.typed or not adjoint.selects
        return adjoint.any_shape or (adjoint.spread and form.scalar)

    def _argument(
        self,
        p: str,
        adjoint: Adjoint,
        bound: Bound,
        node: gast.expr,
        kind,
        target: str,
        dy: gast.expr,
        form,
        s: gast.stmt,
        state: State,
        out: list[gast.stmt],
        shared: dict[str, str],
        conjugated: bool,
    ) -> None:
        argument = bound.given[p]
        text = adjoint.text
        if adjoint.spread and form.scalar:
            text = text.replace("np.expand_dims(dy, axis)", "dy")
        before, value = self._fill(text, bound, target, dy, s, shared, conjugated)
        out += before
        value = normalize(value)
        typed = form.typed or self._is_typed(adjoint.text, bound)
        if not adjoint.elementwise:
            exact = not adjoint.spread or self.values.kinds.of(argument).shape == ()
            scalar = adjoint.spread and form.scalar
            made = self.adjoints.form(exact, scalar, value, typed)
            self.adjoints.contribute(argument.id, value, made, state, out)
            return
        others = [
            bound.kind(q)
            for q, a in bound.given.items()
            if q != p
            and q in bound.rule.parameters
            and not (isinstance(a, gast.Name) and isinstance(argument, gast.Name) and a.id == argument.id)
        ]
        exact = form.exact or form.wide or self._is_full(adjoint.text, bound, kind)
        if form.wide or broadcasting.was_broadcast(bound.kind(p), others, kind):
            if not exact:
                value = self.values.full_result(value, target, s)
            larger = UNKNOWN if form.wide else kind
            if not broadcasting.is_known(bound.kind(p), larger) and self._can_be_wide(argument, s, state):
                self.adjoints.contribute(argument.id, value, Form(wide=True), state, out)
                return
            value = broadcasting.reduce_to(value, argument, larger, s, self.values)
            exact = True
        made = self.adjoints.form(exact, form.scalar and not exact, value, typed)
        self.adjoints.contribute(argument.id, value, made, state, out)

    def _is_typed(self, text: str, bound: Bound) -> bool:
        """Whether an adjoint is made of an array, whose type it has even if `dy` is a number of Python."""
        if bound.rule.name in ("@", "numpy.matmul"):
            return True
        return any(bound.kind(p).type == "array" for p in _values_in(text) & bound.given.keys())

    def _is_full(self, text: str, bound: Bound, kind: Kind) -> bool:
        """Whether an elementwise adjoint has the shape of the result even if `dy` has not."""
        names = mentioned(text)
        if "y" in names:
            return True
        params = [p for p in bound.given if p in names]
        if len(bound.given) == 1:
            return bool(params)
        return kind.shape is not None and any(bound.kind(p).shape == kind.shape for p in params)

    def _fill(
        self,
        text: str,
        bound: Bound,
        target: str,
        dy: gast.expr,
        s: gast.stmt,
        shared: dict[str, str],
        conjugated: bool,
    ) -> tuple[list[gast.stmt], gast.expr]:
        values = self.values
        given = bound.given

        def conj(value: gast.expr, kind: Kind) -> gast.expr:
            if not conjugated or _is_real(kind):
                return value
            if isinstance(value, gast.Constant) and isinstance(value.value, complex):
                return gast.UnaryOp(gast.USub(), value)  # a literal is a multiple of 1j
            if kind.is_scalar:
                # NumPy would make a double of a Python number
                return gast.Call(gast.Attribute(value, "conjugate", gast.Load()), [], [])
            return self.adjoints.numpy("conj", value)

        return instantiate(
            text,
            bound,
            Values(
                argument=lambda p: conj(values.operand(given[p], s), bound.kind(p)),
                result=lambda: conj(values.result(target, s), values.kinds.of(name(target))),
                derivatives={"dy": dy},
                module=values.module,
                helper=lambda h: name(values.helper(h)),
                local=lambda hint: values.fresh.new("b", hint),
                shape=lambda p: values.shape(given[p], s),
                size=lambda p: values.size(given[p], s),
                length=lambda p, axis: values.length(given[p], axis, s),
            ),
            shared,
        )


def _is_real(kind: Kind) -> bool:
    """Whether a value, and each item of a tuple, surely is no complex number."""
    if kind.items:
        return all(map(_is_real, kind.items))
    return kind.dtype in ("float", "int", "bool") or kind.type in ("none", "str")


@lru_cache(1024)
def _values_in(text: str) -> frozenset[str]:
    """The names in the text of an adjoint of which more than the shape is read."""
    return frozenset(n for s in gast.parse(text).body for n in values_read(s))
