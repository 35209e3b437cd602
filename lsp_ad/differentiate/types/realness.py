"""Complex numbers stay between real input and real output: what is refused, and what is checked on entry.

A value whose type nothing tells is taken for real. Where the derivative would be wrong if it were not (a real
number is made of it, or the derivative comes through complex numbers), the parameters that it comes from are
checked when the code runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import gast

from lsp_ad.differentiate.fresh import plain
from lsp_ad.problems import Refusal, Span, problem
from lsp_ad.rules import RULES, Bound, complex_numbers
from lsp_ad.rules.complex_numbers import REAL_VALUED
from lsp_ad.rules.resolve import OPERATORS, Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import change_of, is_access
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.semantics.memory import stored_value, written_root
from lsp_ad.semantics.names import Program
from lsp_ad.semantics.shapes import UNKNOWN, Kind, is_complex
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import expression_text

_REAL = ("float", "int", "bool")
_CONJUGATES = ("numpy.conj", "numpy.conjugate")
_CONVERSIONS = ("numpy.array", "numpy.asarray", "numpy.astype")
_OPERATORS = {kind for kind, rule in OPERATORS.items() if not rule.is_zero and rule.name not in REAL_VALUED}
_WAY_OUT = "Annotate it, or split it into real and imaginary parts."


@dataclass
class Realness:
    """What is complex in a function in normal form. `tainted`: names that hold complex numbers or may do so;
    `unclear`: those of them of which it cannot be told."""

    scope: Scope
    kinds: Kinds
    active: set[str]
    carries: Callable[[gast.expr], set[str]]
    tainted: set[str] = field(default_factory=set)
    unclear: set[str] = field(default_factory=set)
    statements: list[gast.stmt] = field(default_factory=list)
    moving: list[gast.stmt] = field(default_factory=list)  # those that hand on a derivative

    def find(self, statements: list[gast.stmt]) -> None:
        self.statements = statements
        self.moving = [s for s in statements if self.is_active(s)]
        self.tainted = {n for n, kind in self.kinds.names.items() if is_complex(kind)}
        pending = [edge for s in statements for edge in _edges(s)]
        while True:
            before = len(self.tainted)
            for source, targets in pending:
                if self._taints(source):
                    for n in targets - self.tainted:
                        kind = self.kinds.names.get(n, UNKNOWN)
                        if kind.dtype not in ("int", "bool"):
                            self.tainted.add(n)
                            if not kind.is_structure:
                                self.unclear.add(n)
            if len(self.tainted) == before:
                return

    def _taints(self, node: gast.expr) -> bool:
        """Whether the value of an expression may be complex."""
        if isinstance(node, gast.Name):
            return node.id in self.tainted or (node.id not in self.scope.local and self._mentions(node))
        if isinstance(node, gast.Constant):
            return isinstance(node.value, complex)
        if isinstance(node, gast.BinOp) and type(node.op) in _OPERATORS:
            return self._taints(node.left) or self._taints(node.right)
        if isinstance(node, (gast.Compare, gast.JoinedStr)):
            return False
        if isinstance(node, gast.Subscript):
            return self._taints(node.value)
        if is_access(node):
            return self._taints(node.func.value)
        operation = self.scope.operation(node)
        if operation is not None:
            name = operation.rule.name
            if operation.rule.is_zero:
                return is_complex(self.kinds.of(node))
            to_float = name in _CONVERSIONS and len(operation.args) + len(operation.keywords) > 1
            if to_float or (name in REAL_VALUED and name not in _CONJUGATES):
                return False
            return any(self._taints(a) for a in [*operation.args, *(k.value for k in operation.keywords)])
        if self.scope.callee(node) is not None:
            # one that carries a derivative is refused by itself if its result may be complex
            passive = not self.carries(node) & self.active
            return (passive and self._mentions(node.func)) or any(self._taints(a) for a in node.args)
        if isinstance(node, gast.Attribute):
            return False
        return any(self._taints(c) for c in gast.iter_child_nodes(node) if isinstance(c, gast.expr))

    def _mentions(self, node: gast.expr) -> bool:
        """Whether a name from outside stands for what is written with complex numbers."""
        program, name = self.scope.program, self.scope.canonical(node)
        made = None if name in RULES else program.callee(name)
        if made is None and isinstance(node, gast.Name) and node.id not in self.scope.local:
            made = program.constants.get(node.id)
        return made is not None and mentions_complex(made, program)

    def check(self, result: str, where: Span) -> None:
        """Refuse complex results, and derivatives through what may be complex or not."""
        if result in self.tainted:
            raise Refusal(
                problem("AD402", "The result is complex, or may be.", where, "Return real numbers.")
            )
        for s in self.moving:
            value = _source(s)
            assert value is not None
            unclear = sorted(flow.reads(value) & self.unclear) if self.unclear else []
            if unclear:
                message = f"It cannot be told whether `{plain(unclear[0])}` is complex."
                raise Refusal(problem("AD402", message, span_of(s), _WAY_OUT))
            callee = self.scope.callee(value)
            if callee is not None and any(self._taints(a) for a in value.args):
                message = f"`{callee.name}` is given complex numbers."
                raise Refusal(problem("AD402", message, span_of(s), "Write the function out here."))
        self._refuse_directions()

    def _refuse_directions(self) -> None:
        """NumPy's sign of a complex number is its direction, which has a derivative."""
        for s in self.statements:
            source = _source(s)
            for node in flow.walk(source) if source is not None else ():
                if type(node) is not gast.Call or getattr(node.func, "attr", "sign") != "sign":
                    continue
                operation = self.scope.operation(node)
                if operation is not None and operation.rule.name == "numpy.sign":
                    of = operation.args[0]
                    if self._taints(of) and flow.reads(of) & self.active:
                        message = (
                            f"`{expression_text(node)}`: no derivative of it for complex numbers is known."
                        )
                        raise Refusal(problem("AD402", message, span_of(s)))

    def is_active(self, s: gast.stmt) -> bool:
        source = _source(s)
        carried = source is not None and self.carries(source) & self.active
        return bool(carried and flow.header_writes(s) & self.active)

    def assumed(self, parameters: Iterable[str]) -> tuple[str, ...]:
        """The parameters that must be real for the derivative to be right, and may not be."""
        if not any(self._matters(s) for s in self.moving):
            return ()
        relied: set[str] = {p for p in parameters if p in self.active}
        for s in self.moving:
            if not any(is_complex(self.kinds.names.get(n, UNKNOWN)) for n in flow.header_writes(s)):
                relied |= self.carries(_source(s))
        sources: dict[str, set[str]] = {}
        for source, targets in (edge for s in self.statements for edge in _edges(s)):
            for n in targets - self.active:
                sources.setdefault(n, set()).update(self.carries(source))
        pending = list(relied)
        while pending:
            for n in sources.get(pending.pop(), set()) - relied:
                relied.add(n)
                pending.append(n)
        kinds = self.kinds.names
        return tuple(
            p
            for p in parameters
            if p in relied and kinds[p].dtype is None and kinds[p].type in ("number", "numeric", "array")
        )

    def _matters(self, s: gast.stmt) -> bool:
        """Whether the derivative of a statement is right for real numbers only."""
        if any(is_complex(self.kinds.names.get(n, UNKNOWN)) for n in flow.header_writes(s)):
            return True
        source = _source(s)
        operation = self.scope.operation(source) if source is not None else None
        if operation is None or operation.rule.name not in REAL_VALUED:
            return False
        return any(self.kinds.of(a).dtype not in _REAL for a in operation.args[:1])


def is_conjugated(bound: Bound, node: gast.expr, kind: Kind, s: gast.stmt) -> bool:
    """Whether an operation takes the conjugates of its operands: it is one of complex numbers."""
    if kind.dtype != "complex" and not any(is_complex(bound.kind(p)) for p in bound.given):
        return False
    conjugated = complex_numbers.is_conjugated(bound.rule.name)
    if conjugated is None:
        message = f"`{expression_text(node)}`: there is no derivative of it for complex numbers."
        raise Refusal(problem("AD402", message, span_of(s)))
    return conjugated


def mentions_complex(made: gast.AST, program: Program) -> bool:
    """Whether complex numbers occur in the text of a function or expression of the file."""
    for n in gast.walk(made):
        word = getattr(n, "id", getattr(n, "attr", getattr(n, "value", "")))
        if isinstance(word, complex) or (isinstance(word, str) and word.startswith("complex")):
            return True
        if isinstance(n, gast.Attribute) and (program.canonical(n, frozenset()) or "").startswith(
            "numpy.fft."
        ):
            return True
    return False


def _edges(s: gast.stmt) -> list[tuple[gast.expr, set[str]]]:
    """What a statement writes into names, lists and dicts."""
    array = written_root(s)
    if array is not None:
        return [(stored_value(s), {array})]
    change = change_of(s)
    changes = [] if change is None else [(a, {change.base}) for a in change.args]
    source = _source(s)
    return changes if source is None else [*changes, (source, flow.header_writes(s))]


def _source(s: gast.stmt) -> gast.expr | None:
    return s.value if isinstance(s, gast.Assign) else s.iter if isinstance(s, gast.For) else None
