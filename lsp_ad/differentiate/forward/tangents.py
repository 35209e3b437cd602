"""The tangent of one operation of a function in normal form, from the tangents of its operands.

A tangent has the shape of its value. Where an operation has operands with and without a tangent, the terms
of those without are not written.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

import gast

from lsp_ad.differentiate.fresh import adjoint_name
from lsp_ad.differentiate.quoting import place, quoted
from lsp_ad.differentiate.reverse.template import Values, instantiate, mentioned
from lsp_ad.differentiate.reverse.values import ForwardValues
from lsp_ad.differentiate.types.library import MAKERS
from lsp_ad.differentiate.types.realness import is_conjugated
from lsp_ad.problems import Refusal, problem
from lsp_ad.rules import EACH, LINEAR, Bound, Unsupported
from lsp_ad.rules.partials import partials
from lsp_ad.rules.resolve import Operation
from lsp_ad.semantics.activity import Carries
from lsp_ad.semantics.changes import is_access
from lsp_ad.semantics.shapes import Kind, broadcast
from lsp_ad.simplify.algebra import add, bare, call, constant, name, normalize, store, substitute
from lsp_ad.source.printing import expression_text
from lsp_ad.source.trees import copied, rebuilt

RESULT = "result of this statement"  # stands in a tangent for the value that its statement assigns


@dataclass
class Present:
    """What holds at a point: the names that have a tangent, and what kind of value others hold, where it is
    known. `bound` are the names that are bound for sure, `seen` those that are bound on some path."""

    tangents: set[str]
    bound: set[str]
    seen: set[str]
    constants: dict[str, Kind] = field(default_factory=dict)

    def copy(self) -> Present:
        return Present(set(self.tangents), set(self.bound), set(self.seen), dict(self.constants))

    def become(self, other: Present) -> None:
        self.tangents, self.bound, self.seen = other.tangents, other.bound, other.seen
        self.constants = other.constants

    def bind(self, names: set[str]) -> None:
        """Names get values that do not move."""
        self.tangents -= names
        self.bound |= names
        self.seen |= names
        for n in names:
            self.constants.pop(n, None)


class HeldValues(ForwardValues):
    """Values under the names that hold them: a tangent stands beside the statement that it belongs to."""

    def operand(self, node: gast.expr, s: gast.stmt) -> gast.expr:
        return bare(copied(node))

    def result(self, target: str, s: gast.stmt) -> gast.expr:
        return name(RESULT)

    def zeros(self, node: gast.Name, s: gast.stmt, after: bool = False) -> gast.expr:
        zeros = substitute(super().zeros(node, s, after=True), {RESULT: node})
        if self.kinds.of(node).type == "tuple":
            return call(self.helper("like"), zeros, copied(node))  # a tuple is added to tuples
        return zeros


@dataclass
class Tangents:
    """Writes tangents of expressions in normal form."""

    values: HeldValues
    carries: Carries

    def moves(self, node: gast.expr, present: Present) -> bool:
        """Whether an expression has a tangent."""
        return bool(self.carries(node) & present.tangents)

    def of(self, s: gast.Assign, target: str, present: Present) -> tuple[list[gast.stmt], gast.expr]:
        """The tangent of the value of an assignment, and statements that go before it; RESULT in it stands
        for the new value of the target."""
        value = s.value
        if isinstance(value, (gast.Name, gast.Subscript, gast.Tuple, gast.List, gast.Dict)):
            return [], self.operand(value, present, s)
        made = self._container(value, present, s)
        if made is not None:
            return [], made
        operation = self.values.scope.operation(value)
        assert operation is not None, expression_text(s)
        return self._operation(operation, value, target, present, s)

    def _container(self, node: gast.expr, present: Present, s: gast.stmt) -> gast.expr | None:
        """The tangent of a list, tuple or dict that is made of others: the same, made of their tangents."""
        if isinstance(node, gast.BinOp) and self.values.kinds.of(node).type in ("list", "tuple"):
            left, right = node.left, node.right
            if isinstance(node.op, gast.Add):
                left, right = self.operand(left, present, s), self.operand(right, present, s)
            elif self.values.kinds.of(left).is_structure:
                left = self.operand(left, present, s)
            else:
                right = self.operand(right, present, s)
            return gast.BinOp(left, node.op, right)
        if not isinstance(node, gast.Call) or self.values.scope.canonical(node.func) not in MAKERS:
            return None
        inner = node.args[0]
        if is_access(inner):
            key = self.values.fresh.new("t", "k")
            over = gast.comprehension(store(key), copied(inner.func.value), [], 0)
            item = gast.Subscript(self.operand(inner.func.value, present, s), name(key), gast.Load())
            return gast.ListComp(item, [over])
        return gast.Call(node.func, [self.operand(inner, present, s)], [])

    def operand(self, node: gast.expr, present: Present, s: gast.stmt) -> gast.expr:
        """The tangent of a name, a part of one, or a literal structure; zero where there is none."""
        if isinstance(node, gast.Name) and node.id in present.tangents:
            return name(adjoint_name(node.id))
        if not self.moves(node, present):
            return self.zero(node, present, s)
        if isinstance(node, gast.Subscript):
            where = self.values.operand(node.slice, s)
            return gast.Subscript(self.operand(node.value, present, s), where, gast.Load())
        if isinstance(node, (gast.Tuple, gast.List)):
            return type(node)([self.operand(e, present, s) for e in node.elts], gast.Load())
        if isinstance(node, gast.Dict):
            return gast.Dict(
                [k and copied(k) for k in node.keys], [self.operand(v, present, s) for v in node.values]
            )
        raise self._unnamed(node, s)

    def zero(self, node: gast.expr, present: Present, s: gast.stmt) -> gast.expr:
        """The tangent of a value that does not move: zeros of its form, None for what holds no number."""
        kind = self.values.kinds.of(node)
        if isinstance(node, gast.Name):
            kind = present.constants.get(node.id, kind)
        if kind.shape == ():
            return constant(0.0)
        if kind.type in ("none", "str", "other"):
            return constant(None)
        if isinstance(node, (gast.Tuple, gast.List)):
            return type(node)([self.zero(e, present, s) for e in node.elts], gast.Load())
        if isinstance(node, gast.Dict):
            return gast.Dict(
                [k and copied(k) for k in node.keys], [self.zero(v, present, s) for v in node.values]
            )
        if isinstance(node, gast.Call):
            return call(self.values.helper("zeros_of"), bare(copied(node)))
        if not isinstance(node, gast.Name):
            raise self._unnamed(node, s)
        return self.values.zeros(node, s)

    def _unnamed(self, node: gast.expr, s: gast.stmt) -> Refusal:
        return Refusal(
            problem(
                "AD102",
                f"`{quoted(node, self.values.scope.program)}` cannot be differentiated here.",
                place(node, s),
                "Give it a name of its own first.",
            )
        )

    # --- operations --------------------------------------------------------------------------

    def _operation(
        self, operation: Operation, node: gast.expr, target: str, present: Present, s: gast.stmt
    ) -> tuple[list[gast.stmt], gast.expr]:
        bound = operation.bind(self.values.kinds.of)
        carrying = {p: a for p, a in bound.given.items() if p not in bound.rule.passive}
        moved = {p: a for p, a in carrying.items() if self.moves(a, present)}
        text, where = quoted(node, self.values.scope.program), place(node, s)
        for p, a in moved.items():
            if not isinstance(a, (gast.Name, gast.Tuple, gast.List, gast.Dict)):
                message = f"`{text}`: a derivative through `{p}` is not supported."
                raise Refusal(problem("AD202", message, where))
            if p not in bound.rule.differentiable:
                message = f"`{text}`: there is no derivative of `{bound.rule.name}` with respect to `{p}`."
                raise Refusal(problem("AD204", message, where))
        kind = self.values.kinds.of(node)
        is_conjugated(bound, node, kind, s)  # refuses what is not known for complex numbers
        if kind.is_structure:  # two lists made one: also what does not move has its place in the tangent
            moved = carrying
        tangents = {p: self.operand(a, present, s) for p, a in moved.items()}
        try:
            before, value, inside = self._by_rule(operation, bound, node, tangents, target, s)
        except Unsupported as error:
            raise Refusal(problem("AD202", f"`{text}`: {error} is not supported.", where)) from None
        if inside is not None and not self._is_full(bound, inside, kind):
            value = self.values.full_result(value, target, s)
        return before, normalize(value)

    def _by_rule(
        self,
        operation: Operation,
        bound: Bound,
        node: gast.expr,
        tangents: dict[str, gast.expr],
        target: str,
        s: gast.stmt,
    ) -> tuple[list[gast.stmt], gast.expr, Set[str] | None]:
        """Statements, the tangent, and for an elementwise operation the parameters that are in it."""
        rule = bound.rule
        if rule.tangent == LINEAR:
            return [], self._replaced(operation, node, bound, tangents, s), self._mentioned(bound, tangents)
        if rule.tangent == EACH:
            terms = [self._replaced(operation, node, bound, {p: t}, s) for p, t in tangents.items()]
            return [], _sum(terms), None
        if rule.tangent is not None and not isinstance(rule.tangent, str):
            text = rule.tangent(bound, tangents.keys())
            derivatives = {f"d{p}": t for p, t in tangents.items()}
            before, value = self._fill(text, bound, target, derivatives, s)
            return before, value, _names(text, tangents.keys()) if rule.elementwise is not None else None
        terms, before = [], []
        inside: set[str] = set(tangents)
        adjoints = partials(bound)
        for p, tangent in tangents.items():
            if p not in adjoints:
                continue  # the first factor of a power stands for all
            if not adjoints[p].elementwise:
                raise Unsupported("forward mode, for a function with a custom_vjp and no custom_jvp,")
            more, value = self._fill(adjoints[p].text, bound, target, {"dy": tangent}, s)
            before += more
            terms.append(value)
            inside |= _names(adjoints[p].text, set())
        return before, _sum(terms), inside

    def _fill(
        self, text: str, bound: Bound, target: str, derivatives: dict[str, gast.expr], s: gast.stmt
    ) -> tuple[list[gast.stmt], gast.expr]:
        values, given = self.values, bound.given
        known = Values(
            argument=lambda p: values.operand(given[p], s),
            result=lambda: values.result(target, s),
            derivatives=derivatives,
            module=values.module,
            helper=lambda h: name(values.helper(h)),
            local=lambda hint: values.fresh.new("b", hint),
            shape=lambda p: values.shape(given[p], s),
            size=lambda p: values.size(given[p], s),
            length=lambda p, axis: values.length(given[p], axis, s),
        )
        return instantiate(text, bound, known, {})

    def _replaced(
        self,
        operation: Operation,
        node: gast.expr,
        bound: Bound,
        tangents: dict[str, gast.expr],
        s: gast.stmt,
    ) -> gast.expr:
        """The same operation on tangents, spelled as the user did; a method only of a sure array."""
        given = {id(a): tangents[p] for p, a in bound.given.items() if p in tangents}
        if bound.rule.tangent == LINEAR:
            still = [p for p in bound.rule.differentiable if p in bound.given and p not in tangents]
            given |= {id(bound.given[p]): constant(0.0) for p in still}
        owner = operation.args[0] if operation.args else None
        of_owner = isinstance(node, gast.Attribute) or (
            isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.value is owner
        )
        if of_owner and id(owner) in given and self.values.kinds.of(owner).type != "array":
            function = gast.Attribute(
                self.values.module("numpy"), bound.rule.name.removeprefix("numpy."), gast.Load()
            )
            node = gast.Call(function, operation.args, operation.keywords)
        return bare(_with(node, given))

    def _mentioned(self, bound: Bound, tangents: dict[str, gast.expr]) -> set[str] | None:
        """The parameters in a linear tangent, where the operation is elementwise and some may be missing."""
        if bound.rule.elementwise is None:
            return None
        return set(tangents) | (set(bound.given) - set(bound.rule.differentiable))

    def _is_full(self, bound: Bound, inside: Set[str], result: Kind) -> bool:
        """Whether an expression in some of the parameters has the shape of the result of the operation."""
        if "y" in inside or result.shape == ():
            return True
        shapes = [bound.kind(p).shape for p in bound.given if p in inside]
        outside = [p for p in bound.given if p not in inside and bound.kind(p).shape != ()]
        outside = [p for p in outside if bound.constant(p) is not None]
        return not outside or (result.shape is not None and broadcast(*shapes) == result.shape)


def _with(node: gast.AST, given: dict[int, gast.expr]) -> gast.AST:
    """A copy of a tree in which some nodes are replaced."""
    if id(node) in given:
        return copied(given[id(node)])
    return rebuilt(node, lambda part: _with(part, given))


def _sum(terms: list[gast.expr]) -> gast.expr:
    total = terms[0]
    for term in terms[1:]:
        total = add(total, term)
    return total


def _names(text: str, wrt: Set[str]) -> Set[str]:
    """The parameters that a rule's text mentions, themselves or by their tangents, and `y`."""
    found = mentioned(text)
    return found | {p for p in wrt if f"d{p}" in found}
