"""Adjoints of solutions and determinants of symmetric matrices: the forward sweep has most of them at hand.

Before: `b = c / np.diag(chol); dk = cholesky_adjoint_of_diagonal(b, chol)` with chol = np.linalg.cholesky(k).
After: `dk = 0.5 * c * np.linalg.inv(k)`.
Before: `da = c * y; q = np.linalg.solve(k, da)` with a = np.linalg.solve(k, y).  After: `q = c * a`.
In each k is symmetric and c is a number. Where y is a vector only perhaps, a helper looks when the code runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Set
from typing import NamedTuple

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.points import Points
from lsp_ad.simplify.algebra import call, constant, name, normalize
from lsp_ad.simplify.copies import Counts
from lsp_ad.source.trees import copied, rebuilt

SOLVED = "solved_adjoint"
_OF_DIAGONAL = "cholesky_adjoint_of_diagonal"


class Facts(NamedTuple):
    """What is known of a generated body: the names that stand for symmetric matrices, and for numbers; those
    that are bound on entry, and those whose arrays are written into. `called`: which function or method an
    expression calls, as a function with its arguments; `numpy` makes the name of the module."""

    symmetric: Set[str]
    is_number: Callable[[str], bool]
    given: Set[str]
    changed: Set[str]
    called: Callable[[gast.expr], tuple[str, list[gast.expr]]]
    numpy: Callable[[], gast.expr]


class Multiple(NamedTuple):
    """A number times a name, or times that transposed."""

    factor: gast.expr
    of: gast.expr


def shorten(body: list[gast.stmt], facts: Facts, points: Points) -> set[str]:
    """Write such adjoints in the short way, in place; the names of the helpers that are new."""
    if not facts.symmetric:
        return set()
    found = _Shorter(facts, Counts(body, points).writes)
    for s in body:
        if found.may_be_shorter(points.of(s).reads) and found.shorten(s):
            points.forget(s)
        found.learn(s)
    return found.helpers


class _Shorter:
    """One way through the statements that always run.

    `definitions`: the values of the names that one assignment has bound, and nothing changes; `solved`: the
    matrix and the right side of each system, by the name of its solution.
    """

    def __init__(self, facts: Facts, bound: Counter[str]):
        self.facts = facts
        self.bound = bound
        self.helpers: set[str] = set()
        self.definitions: dict[str, gast.expr] = {}
        self.solved: dict[str, tuple[str, str]] = {}
        self.numbers: dict[str, bool] = {}

    def learn(self, s: gast.stmt) -> None:
        if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
            return
        n, value = s.targets[0].id, s.value
        if self.bound[n] > 1 or n in self.facts.changed or n in self.facts.given:
            return
        self.definitions[n] = value
        if (given := self.given(value, 2, "numpy.linalg.solve")) is not None:
            matrix, side = given
            if self.is_symmetric(matrix) and isinstance(side, gast.Name) and self.is_fixed(side.id):
                self.solved[n] = (matrix.id, side.id)

    def may_be_shorter(self, reads: Set[str]) -> bool:
        return _OF_DIAGONAL in reads or not self.facts.symmetric.isdisjoint(reads)

    def shorten(self, s: gast.stmt) -> bool:
        """Write the calls in a statement in the short way; returns whether there was any."""
        if not isinstance(s, (gast.Assign, gast.AugAssign)):
            return False
        shorter: dict[int, gast.AST] = {}
        for node in flow.walk(s.value):
            if isinstance(node, gast.Call) and not hasattr(node, "lineno"):
                short = self.determinant(node) or self.solution(node)
                if short is not None:
                    shorter[id(node)] = normalize(short)

        def replaced(node: gast.AST) -> gast.AST:
            return shorter[id(node)] if id(node) in shorter else rebuilt(node, replaced)

        if shorter:
            s.value = replaced(s.value)
        return bool(shorter)

    def given(self, node: gast.expr, count: int, *functions: str) -> list[gast.expr] | None:
        """The arguments of a call of one of some functions, with so many of them; None for anything else."""
        if not isinstance(node, gast.Call):
            return None
        function, args = self.facts.called(node)
        return args if function in functions and len(args) == count else None

    def is_fixed(self, n: str) -> bool:
        """Whether a name stands for the same value from here to where it was bound."""
        return n in self.definitions or (self.bound[n] == 0 and n not in self.facts.changed)

    def is_symmetric(self, node: gast.expr) -> bool:
        return isinstance(node, gast.Name) and node.id in self.facts.symmetric and self.is_fixed(node.id)

    def defined(self, node: gast.expr) -> gast.expr:
        """The expression that a name stands for, if that is known; any other expression as it is."""
        while isinstance(node, gast.Name) and node.id in self.definitions:
            node = self.definitions[node.id]
        return node

    def is_number(self, node: gast.expr | None) -> bool:
        if isinstance(node, gast.Constant):
            return type(node.value) in (int, float)
        if isinstance(node, gast.Name):
            n = node.id
            if n not in self.numbers:
                known = self.is_fixed(n) and self.facts.is_number(n)
                self.numbers[n] = known or self.is_number(self.definitions.get(n))
            return self.numbers[n]
        if isinstance(node, gast.Attribute):
            return node.attr == "size" and all(map(self.is_fixed, flow.reads(node)))
        if isinstance(node, gast.UnaryOp):
            return isinstance(node.op, gast.USub) and self.is_number(node.operand)
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, (gast.Mult, gast.Div)):
            return False
        return self.is_number(node.left) and self.is_number(node.right)

    # --- the logarithm of a determinant ------------------------------------------------------

    def determinant(self, node: gast.Call) -> gast.expr | None:
        """What the adjoint of the sum of the logarithms of a diagonal is shortened to."""
        if getattr(node.func, "id", "") != _OF_DIAGONAL:
            return None
        factor = self.defined(node.args[1])
        of = self.given(factor, 1, "numpy.linalg.cholesky")
        if of is None or not self.is_symmetric(of[0]):
            return None
        given = self.defined(node.args[0])
        if not isinstance(given, gast.BinOp) or not isinstance(given.op, gast.Div):
            return None
        diagonal = self.given(self.defined(given.right), 1, "numpy.diag", "numpy.diagonal")
        if diagonal is None or self.defined(diagonal[0]) is not factor or not self.is_number(given.left):
            return None
        half = gast.BinOp(constant(0.5), gast.Mult(), copied(given.left))
        linalg = gast.Attribute(self.facts.numpy(), "linalg", gast.Load())
        inverse = gast.Call(gast.Attribute(linalg, "inv", gast.Load()), [copied(of[0])], [])
        return gast.BinOp(half, gast.Mult(), inverse)

    # --- the solution of a system of equations -----------------------------------------------

    def solution(self, node: gast.Call) -> gast.expr | None:
        """What a system is shortened to whose right side is a multiple of that of one that is solved."""
        is_helper = getattr(node.func, "id", "") == "solve_adjoint_right"
        given = node.args[::-1] if is_helper else self.given(node, 2, "numpy.linalg.solve")
        if given is None or not self.is_symmetric(given[0]):
            return None
        matrix, right = given
        right = self.defined(right)
        for solution, (of, side) in self.solved.items():
            if of == matrix.id:
                shorter = self.of_product if is_helper else self.of_multiple
                if (short := shorter(right, solution, side, matrix)) is not None:
                    return short
        return None

    def of_multiple(
        self, right: gast.expr, solution: str, side: str, matrix: gast.Name
    ) -> gast.expr | None:
        found = self.multiple(right, side)
        if found is None or not isinstance(found.of, gast.Name):
            return None
        return gast.BinOp(found.factor, gast.Mult(), name(solution))

    def of_product(
        self, right: gast.expr, solution: str, side: str, matrix: gast.Name
    ) -> gast.expr | None:
        """Where ranks are not known, and the right side is the adjoint of a product with the solution."""
        if not isinstance(right, gast.Call) or getattr(right.func, "id", "") != "matmul_adjoint_right":
            return None
        dy, x1, x2 = right.args
        found = self.multiple(x1, side)
        if found is None or getattr(x2, "id", "") != solution or not all(map(self.is_fixed, flow.reads(dy))):
            return None
        self.helpers.add(SOLVED)
        factor = normalize(found.factor)
        return call(SOLVED, copied(dy), factor, copied(found.of), copied(matrix), name(solution))

    def multiple(self, node: gast.expr | None, vector: str) -> Multiple | None:
        """An expression as a number times a name, or times that transposed; None where it is neither."""
        if isinstance(node, gast.Name):
            if node.id == vector:
                return Multiple(constant(1.0), name(vector))
            return self.multiple(self.definitions.get(node.id), vector)
        if isinstance(node, gast.Attribute) and node.attr == "T":
            inner = self.multiple(node.value, vector)
            if inner is None:
                return None
            is_turned = isinstance(inner.of, gast.Attribute)
            turned = inner.of.value if is_turned else gast.Attribute(inner.of, "T", gast.Load())
            return inner._replace(of=turned)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            inner = self.multiple(node.operand, vector)
            return inner and inner._replace(factor=gast.UnaryOp(gast.USub(), inner.factor))
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, (gast.Mult, gast.Div)):
            return None
        if self.is_number(node.right):
            inner = self.multiple(node.left, vector)
            return inner and inner._replace(factor=gast.BinOp(inner.factor, node.op, copied(node.right)))
        if isinstance(node.op, gast.Mult) and self.is_number(node.left):
            inner = self.multiple(node.right, vector)
            return inner and inner._replace(factor=gast.BinOp(copied(node.left), node.op, inner.factor))
        return None
