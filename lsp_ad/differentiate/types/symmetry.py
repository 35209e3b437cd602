"""Which names stand for symmetric matrices, whatever the arguments are.

`np.sum((x[:, None] - x[None]) ** 2, axis=2)` is the same with its first two axes in each other's place; so
is an elementwise function of it, its sum with `np.eye(n)`, its inverse. This is told by an allow-list from
the form of the expressions, for all arguments: the derivative of such a matrix is symmetric, too, and of an
adjoint of it only the symmetric part counts.
"""

from __future__ import annotations

from typing import NamedTuple

import gast

from lsp_ad.rules import Unsupported, elementwise
from lsp_ad.rules.resolve import Scope
from lsp_ad.rules.rule import Bound, literal
from lsp_ad.semantics import flow
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.semantics.memory import Sharing
from lsp_ad.semantics.points import Points
from lsp_ad.semantics.shapes import UNKNOWN
from lsp_ad.source.trees import same

Array = tuple[str, int]  # a name, and how often it has been bound before

# What has a simpler derivative for a symmetric matrix.
_ASKED = frozenset(("solve", "inv", "det", "slogdet", "cholesky"))
_ELEMENTWISE = frozenset(r.name for r in elementwise.RULES if not r.name.startswith("math.")) | {
    "numpy.power",
    "numpy.clip",
}
_SQUARES = frozenset(("numpy.square", "numpy.abs", "numpy.absolute", "numpy.fabs"))
_COPIES = frozenset(("numpy.copy", "numpy.array", "numpy.asarray"))
_PRODUCTS = frozenset(("@", "numpy.matmul", "numpy.dot"))


class Symmetry(NamedTuple):
    """A value of at least `rank` axes; if it has just so many, it is `sign` times itself with the first two
    in each other's place."""

    sign: int
    rank: int


class View(NamedTuple):
    """An array along "rows" (`x[:, None]`), "columns" (`x[None]`, or x itself), or "turned" (`x.T`).

    `rest`: the indices after the first two, `rank`: the axes that it has at least.
    """

    array: Array
    along: str
    rest: str = ""
    rank: int = 0


def symmetric_names(
    tree: gast.FunctionDef, given: list[str], scope: Scope, kinds: Kinds, points: Points
) -> frozenset[str]:
    """The names that stand for arrays of two axes or more, and if of two, for real symmetric matrices.

    `given`: what is bound on entry.
    """
    if not any(_may_ask(n) for s in tree.body for n in flow.walk(s)):
        return frozenset()
    found = _Symmetries(scope, kinds, tree.body, points)
    found.block(tree.body)
    return frozenset(found.symmetric - found.other - set(given))


def _may_ask(node: gast.AST) -> bool:
    if not isinstance(node, gast.Call):
        return False
    return getattr(node.func, "attr", getattr(node.func, "id", "")) in _ASKED


class _Symmetries:
    """One way through a body. `facts`: what is known of the names where the way has come to; `changed`: names
    that may share memory with what is written into, of which nothing is ever known."""

    def __init__(self, scope: Scope, kinds: Kinds, body: list[gast.stmt], points: Points):
        self.scope = scope
        self.kinds = kinds
        self.facts: dict[str, Symmetry | View] = {}
        self.bound: dict[str, int] = {}
        self.symmetric: set[str] = set()
        self.other: set[str] = set()
        self.changed: set[str] = set()
        self.known: dict[int, Symmetry | View | None] = {}  # of the parts of the statement at hand
        if mutated := points.mutated(body):
            groups = Sharing(scope.makes_new, keeps=kinds.is_structure).groups(body)
            self.changed = mutated.union(*(groups.get(n, frozenset()) for n in mutated))

    # --- statements --------------------------------------------------------------------------

    def block(self, body: list[gast.stmt]) -> None:
        for s in body:
            if isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name):
                self.known.clear()
                self.assign(s.targets[0].id, self.of(s.value))
            elif isinstance(s, gast.If):
                self.branch(s)
            else:
                self.bind(flow.writes([s]))
                self.other |= flow.header_writes(s)
                for inner in flow.blocks(s):
                    self.path(inner)
                self.bind(flow.writes([s]))

    def path(self, body: list[gast.stmt]) -> dict[str, Symmetry | View]:
        """What is known after a block; then it is forgotten again."""
        before = dict(self.facts)
        self.block(body)
        after, self.facts = self.facts, before
        return after

    def branch(self, s: gast.If) -> None:
        yes, no = self.path(s.body), self.path(s.orelse)
        written = flow.writes([s])
        self.bind(written)
        self.facts.update({n: f for n, f in yes.items() if n in written and f == no.get(n)})

    def assign(self, name: str, fact: Symmetry | View | None) -> None:
        self.bind({name})
        if fact is not None and name not in self.changed:
            self.facts[name] = fact
        is_matrix = isinstance(fact, Symmetry) and fact == (1, 2) and name not in self.changed
        (self.symmetric if is_matrix and self.is_real(name) else self.other).add(name)

    def is_real(self, name: str) -> bool:
        return self.kinds.names.get(name, UNKNOWN).dtype != "complex"

    def bind(self, names: set[str]) -> None:
        for n in names:
            self.bound[n] = self.bound.get(n, 0) + 1
            self.facts.pop(n, None)

    # --- expressions -------------------------------------------------------------------------

    def of(self, node: gast.expr) -> Symmetry | View | None:
        if id(node) not in self.known:
            self.known[id(node)] = self._of(node)
        return self.known[id(node)]

    def _of(self, node: gast.expr) -> Symmetry | View | None:
        if isinstance(node, gast.Name):
            return self.facts.get(node.id)
        if isinstance(node, gast.Subscript):
            return self.indexed(node)
        if isinstance(node, gast.BinOp) and not isinstance(node.op, gast.MatMult):
            return self.operation(node)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, (gast.USub, gast.UAdd)):
            value = self.of(node.operand)
            return value if isinstance(value, Symmetry) else None
        if isinstance(node, gast.Compare):
            plain = len(node.ops) == 1 and isinstance(node.ops[0], (gast.Lt, gast.LtE, gast.Gt, gast.GtE))
            return self.even([node.left, *node.comparators]) if plain else None
        return self.call(node)

    def array(self, node: gast.expr) -> Array | None:
        """The present value of a name."""
        if not isinstance(node, gast.Name) or node.id not in self.scope.local or node.id in self.changed:
            return None
        return node.id, self.bound.get(node.id, 0)

    def view(self, node: gast.expr) -> View | None:
        """How an expression shows an array: one that is the operand of an operation has new axes in front."""
        found = self.of(node)
        if isinstance(found, View):
            return found
        array = self.array(node)
        return None if array is None else View(array, "columns")

    def indexed(self, node: gast.Subscript) -> View | None:
        """`x[:, None, ...]` and `x[None, :, ...]`, with nothing but whole axes and new ones."""
        array = self.array(node.value)
        indices = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
        parts = [self.index(p) for p in indices]
        if array is None or not all(parts):
            return None
        rank = len(parts) - parts.count("...")
        if parts[:2] == [":", "None"]:
            return View(array, "rows", _rest(parts[2:]), rank)
        if parts[0] == "None" and parts[1:2] in ([], [":"], ["..."]):
            return View(array, "columns", _rest(parts[2 if parts[1:2] == [":"] else 1 :]), rank)
        return None

    def index(self, part: gast.expr) -> str:
        """An index as text, if it leaves the axis as it is or makes one; else nothing."""
        if isinstance(part, gast.Slice):
            return "" if part.lower or part.upper or part.step else ":"
        value = literal(part)
        if value is None or self.scope.canonical(part) == "numpy.newaxis":
            return "None"
        return "..." if value is Ellipsis else ""

    def operation(self, node: gast.BinOp) -> Symmetry | None:
        """An elementwise operator."""
        between = self.between(node)
        if between is not None:
            return between
        is_square = isinstance(node.op, gast.Mult) and same(node.left, node.right)
        if is_square or (isinstance(node.op, gast.Pow) and _is_even(node.right)):
            value = self.of(node.left)
            return Symmetry(1, value.rank) if isinstance(value, Symmetry) else None
        operands = [node.left, node.right]
        signs, rank = self.signs(operands)
        if -1 not in signs:
            return self.even(operands)
        # -1 of an unsigned type is a large number when it is converted
        arrays = [e for e, sign in zip(operands, signs, strict=True) if sign]
        if not rank or any(self.kinds.of(e).dtype != "float" for e in arrays):
            return None
        if isinstance(node.op, (gast.Add, gast.Sub)):
            return Symmetry(-1, rank) if signs == [-1, -1] else None
        if isinstance(node.op, (gast.Mult, gast.Div)):
            return Symmetry(1 if signs == [-1, -1] else -1, rank)
        return None

    def between(self, node: gast.BinOp) -> Symmetry | None:
        """What an operator makes of two views of one array: `x[:, None] - x[None]`, `a + a.T`."""
        if not isinstance(node.op, (gast.Add, gast.Sub, gast.Mult)):
            return None
        views = self.view(node.left), self.view(node.right)
        if views[0] is None or views[1] is None or views[0].array != views[1].array:
            return None
        pair = {v.along: v for v in views if v is not None}
        sign = -1 if isinstance(node.op, gast.Sub) else 1
        if pair.keys() == {"turned", "columns"}:
            # the array as it is: a matrix
            whole = pair["columns"].rank == 0
            return Symmetry(sign, 2) if whole and self.rank(pair["columns"]) == 2 else None
        if pair.keys() != {"rows", "columns"}:
            return None
        rows, columns = pair["rows"], pair["columns"]
        if columns.rank and columns.rest != rows.rest:
            return None
        if not columns.rank and rows.rest.replace(":", ""):
            return None  # further new axes
        known = self.rank(rows)
        new = rows.rest.count("N") + 1
        return Symmetry(sign, rows.rank if known is None else known + new)

    def rank(self, view: View) -> int | None:
        return self.kinds.of(gast.Name(view.array[0], gast.Load(), None, None)).rank

    def signs(self, operands: list[gast.expr]) -> tuple[list[int], int]:
        """The signs of the operands of an elementwise function, and the rank that all of them have: 0 where
        there is none, or one is something else.

        The sign is 0 of what broadcasts along further axes only: a number, a vector beside three axes.
        """
        values = [self.of(e) for e in operands]
        signs = [v.sign if isinstance(v, Symmetry) else 0 for v in values]
        ranks = {v.rank for v in values if isinstance(v, Symmetry)}
        rank = ranks.pop() if len(ranks) == 1 else 0
        others = [self.kinds.of(e).rank for e, sign in zip(operands, signs, strict=True) if not sign]
        return signs, rank if all(r is not None and r <= rank - 2 for r in others) else 0

    def even(self, operands: list[gast.expr]) -> Symmetry | None:
        """What any elementwise function makes of symmetric values and numbers."""
        signs, rank = self.signs(operands)
        return Symmetry(1, rank) if rank and -1 not in signs else None

    def call(self, node: gast.expr) -> Symmetry | View | None:
        """A function, method or attribute."""
        made = self.made(node) if isinstance(node, gast.Call) else None
        operation = self.scope.operation(node) if made is None else None
        if operation is None:
            return made
        try:
            bound = operation.bind(self.kinds.of)
        except Unsupported:
            return None
        name = operation.rule.name
        if name in _PRODUCTS:
            return self.product(*operation.args)
        if name in _ELEMENTWISE:
            return self.function(name, list(bound.given.values()))
        return self.of_array(name, bound) if "x" in bound.given else None

    def made(self, node: gast.Call) -> Symmetry | None:
        """A matrix that is made symmetric: `np.eye(n)`, `np.outer(v, v)`, `np.diag(v)`."""
        name, args = self.scope.canonical(node.func), node.args
        if name == "numpy.outer" and len(args) == 2 and not node.keywords:
            return Symmetry(1, 2) if self.array(args[0]) and same(*args) else None
        if len(args) != 1 or any(k.arg != "dtype" for k in node.keywords):
            return None
        if name in ("numpy.eye", "numpy.identity"):
            return Symmetry(1, 2)
        if name == "numpy.diag" and not node.keywords:
            return Symmetry(1, 2) if self.kinds.of(args[0]).rank == 1 else None
        return None

    def product(self, left: gast.expr, right: gast.expr) -> Symmetry | None:
        """`a @ a.T` and `a.T @ a`."""
        views = self.view(left), self.view(right)
        if views[0] is None or views[1] is None or views[0].array != views[1].array:
            return None
        plain = {v.along: v.rank for v in views if v is not None} == {"turned": 0, "columns": 0}
        return Symmetry(1, 2) if plain and self.rank(views[0]) == 2 else None

    def function(self, name: str, args: list[gast.expr]) -> Symmetry | None:
        value = self.of(args[0]) if len(args) == 1 else None
        if not isinstance(value, Symmetry) or value.sign > 0:
            return self.even(args)
        exact = name == "numpy.square" or self.kinds.of(args[0]).dtype == "float"
        return Symmetry(1, value.rank) if name in _SQUARES and exact else None

    def of_array(self, name: str, bound: Bound) -> Symmetry | View | None:
        """A function of one array."""
        value, only = self.of(bound.given["x"]), len(bound.given) == 1
        if name == "numpy.transpose" and only and value is None:
            array = self.array(bound.given["x"])
            return None if array is None else View(array, "turned")
        if not isinstance(value, Symmetry):
            return None
        if name in ("numpy.sum", "numpy.mean"):
            return self.reduced(value, bound)
        if name in ("numpy.transpose", "numpy.linalg.inv"):
            return value if only and value.rank == 2 else None
        return value if name in _COPIES and only else None

    def reduced(self, value: Symmetry, bound: Bound) -> Symmetry | None:
        """A sum along an axis that is neither of the first two."""
        axis, keeps = bound.constant("axis"), bound.constant("keepdims")
        if type(axis) is not int or keeps is not False or bound.given.keys() - {"x", "axis", "keepdims"}:
            return None
        if value.rank < 3 or not (axis >= 2 or 2 - value.rank <= axis < 0):
            return None
        if value.sign < 0 and bound.kind("x").dtype != "float":
            return None
        return Symmetry(value.sign, value.rank - 1)


def _rest(parts: list[str]) -> str:
    """The indices after the first two, as text, without whole axes at the end, which change nothing."""
    return "".join(p[0] for p in parts).rstrip(":.")


def _is_even(node: gast.expr) -> bool:
    value = literal(node)
    return type(value) is int and value % 2 == 0
