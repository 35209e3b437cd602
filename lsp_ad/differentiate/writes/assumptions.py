"""What is taken for granted of a part of an array that is updated, `row = y[1]; row *= 2.0`: array or number.

To an array the update is a write into `y`, to a number it is not. Where nothing tells, both are written;
where one reading is taken, the generated code checks it.
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from lsp_ad.differentiate.fresh import is_temporary, plain
from lsp_ad.differentiate.quoting import quoted
from lsp_ad.differentiate.writes.mutations import DIRECT
from lsp_ad.rules.helpers import STRUCTURED
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.semantics.memory import mutated, written, written_root
from lsp_ad.semantics.shapes import INT, UNKNOWN, Kind
from lsp_ad.simplify.algebra import assign, constant, expression, name
from lsp_ad.source.parse import span_of
from lsp_ad.source.trees import copied

REDUCTIONS = {
    f"numpy.{f}" for f in ("sum", "mean", "max", "min", "dot", "prod", "std", "var", "linalg.norm")
} | {
    "builtins.len",
    "builtins.sum",
}


_MADE = ("array", "asarray", "concatenate", "stack", "repeat", "tile", "zeros", "ones", "full", "empty")
ARRAY_MAKERS = {f"numpy.{f}" for f in _MADE}


def is_update(s: gast.stmt) -> bool:
    """Whether an assignment stands for an augmented one (its operand has the place of its target)."""
    return (
        isinstance(s, gast.Assign)
        and isinstance(s.value, gast.BinOp)
        and isinstance(s.value.left, gast.Name)
        and isinstance(s.targets[0], gast.Name)
        and hasattr(s.value.left, "lineno")
        and hasattr(s.targets[0], "lineno")
        and span_of(s.value.left) == span_of(s.targets[0])
    )


def _is_copy(s: gast.stmt) -> bool:
    """Whether a statement gives a value another name."""
    return (
        isinstance(s, gast.Assign) and isinstance(s.value, gast.Name) and isinstance(s.targets[0], gast.Name)
    )


@dataclass
class Assumptions:
    """What can be assumed of the names of a body of statements."""

    body: list[gast.stmt]
    kinds: Kinds
    scope: Scope

    def either(self, s: gast.Assign, array: str) -> bool:
        """`w = y + e`, which stands for `y += e` of what may be a row of an array or a number:

        `if np.ndim(y) != 0: y[...] += e; w = y`, `else: w = y + e`.
        """
        definitions = self.definitions(array)
        if len(definitions) != 1 or self._is_tested(s) or s.targets[0].id == array:
            return False
        if not isinstance(getattr(definitions[0], "value", None), gast.Subscript):
            return False
        test = gast.Compare(expression(f"{self.numpy()}.ndim({array})"), [gast.NotEq()], [constant(0)])
        part = gast.Subscript(name(array), constant(Ellipsis), gast.Store())
        value = gast.BinOp(name(array), s.value.op, copied(s.value.right))
        yes: list[gast.stmt] = [gast.Assign([part], value, None)]
        if isinstance(s.value.op, DIRECT):
            yes = [gast.AugAssign(part, s.value.op, copied(s.value.right))]
        yes.append(assign(s.targets[0].id, name(array)))
        other = assign(s.targets[0].id, gast.BinOp(name(array), s.value.op, s.value.right))
        made = gast.If(test, yes, [other])
        for node in (made, *yes, other):
            gast.copy_location(node, s)
        put(self.body, s, [made])
        return True

    def _is_tested(self, s: gast.stmt) -> bool:
        return any(isinstance(x, gast.If) and s in x.orelse for x in flow.statements(self.body))

    def definitions(self, n: str) -> list[gast.stmt]:
        return [x for x in flow.statements(self.body) if n in flow.header_writes(x)]

    def as_numbers(self, n: str) -> bool:
        """A name that is an element of an array first, and updated in a loop: taken for a number, which is
        checked."""
        first = [x for x in self.definitions(n) if not is_update(x)]
        if len(first) == len(self.definitions(n)) == 1 and self.updates(n) < 2:
            return False
        return bool(first) and not any(
            not (isinstance(x, gast.Assign) and self.as_number(n, x)) for x in first
        )

    def as_array(self, n: str) -> bool:
        """A name that stands for an array or a part of one: taken for an array, where its use says so, which
        is checked."""
        definitions = self.definitions(n)
        if len(definitions) != 1 or self.kinds.names.get(n, UNKNOWN).type != "numeric":
            return False
        (definition,) = definitions
        if isinstance(definition, gast.Assign):
            is_part = isinstance(definition.value, (gast.Subscript, gast.Name, gast.Attribute))
            if not self._is_array(n, surely=not is_part):
                return False
        self.kinds.names[n] = self.kinds.names[n]._replace(type="array")
        self.kinds.forget()
        self.check(n, definition, gast.Eq(), f"`{plain(n)}` must be an array: it is changed in place")
        return True

    def _is_array(self, n: str, surely: bool = False) -> bool:
        """Whether a use says of a name, under any of its webs or another name, that it is an array: an index,
        a loop, an attribute, a product of matrices, or a function of a whole array. `surely`: it is said of
        this web, and by no function that a number may be given to."""
        same = {n} if surely or is_temporary(n) else {m for m in self.kinds.names if plain(m) == plain(n)}
        copies = [s for s in flow.statements(self.body) if _is_copy(s)]
        while more := {s.targets[0].id for s in copies if s.value.id in same} - same:
            same |= more

        def is_it(node: gast.AST | None) -> bool:
            return isinstance(node, gast.Name) and node.id in same

        for s in self.body:
            for x in flow.walk(s):
                if isinstance(x, (gast.Subscript, gast.Attribute)) and is_it(x.value):
                    return True
                if isinstance(x, gast.For) and is_it(x.iter):
                    return True
                product = isinstance(x, gast.BinOp) and isinstance(x.op, gast.MatMult)
                if product and (is_it(x.left) or is_it(x.right)):
                    return True
                if not surely and isinstance(x, gast.Call) and x.args and self._reduces(x):
                    inner = flow.reads(x.args[0])
                    if inner and inner <= same:
                        return True
        return False

    def _reduces(self, call: gast.Call) -> bool:
        """Whether a call makes one value of the elements of its argument."""
        return self.scope.canonical(call.func) in REDUCTIONS

    def updates(self, n: str) -> int:
        """How many augmented assignments a name has, under any of its webs."""
        return sum(is_update(s) and plain(s.targets[0].id) == plain(n) for s in flow.statements(self.body))

    def numpy(self) -> str:
        return self.scope.program.numpy

    def as_number(self, n: str, definition: gast.stmt) -> bool:
        """An element read by integers, `t = y[0]` or `s, t = y`, where it may be a number: taken for one,
        which is checked."""
        value = self._element(n, definition)
        kind = self.kinds.names.get(n, UNKNOWN)
        if (
            value is None
            or kind.type not in ("numeric", "number")
            or n in mutated(self.body)
            or self._is_array(n)
        ):
            return False
        parts = value.slice.elts if isinstance(value.slice, gast.Tuple) else [value.slice]
        if any(isinstance(p, gast.Slice) or self.kinds.of(p).dtype != "int" for p in parts):
            return False
        self.kinds.names[n] = Kind("number", kind.dtype, (), fresh=True)
        self.check(n, definition, gast.NotEq(), f"`{quoted(value, self.scope.program)}` must be a number")
        return True

    def _element(self, n: str, definition: gast.stmt) -> gast.Subscript | None:
        """The element that a name is bound to, by an index or in its place among several names."""
        if not isinstance(definition, gast.Assign):
            return None
        target, value = definition.targets[0], definition.value
        if isinstance(target, gast.Name):
            return value if isinstance(value, gast.Subscript) else None
        if not isinstance(target, gast.Tuple) or not isinstance(value, (gast.Name, gast.Subscript)):
            return None
        places = [i for i, t in enumerate(target.elts) if isinstance(t, gast.Name) and t.id == n]
        if len(places) != 1 or any(isinstance(t, gast.Starred) for t in target.elts):
            return None
        return gast.Subscript(copied(value), constant(places[0]), gast.Load())

    def as_list(self, n: str, kind: Kind) -> bool:
        """A name that may stand for a list which is written item by item, or slice by slice by what makes
        lists of lists: its other indices are taken for integers, which is checked where it is not known."""
        writes = [s for s in flow.statements(self.body) if written_root(s) == n and not self._cuts(s)]
        indices = [t.slice for s in writes if (t := written(s)) is not None]
        kinds = [(i, self.kinds.of(i).dtype) for i in indices]
        whole = all(dtype == "int" or (dtype is None and isinstance(i, gast.Name)) for i, dtype in kinds)
        if not whole or not kind.may_be_list or kind.fresh:
            return False
        for i in {i.id for i in indices if isinstance(i, gast.Name)}:
            if self.kinds.of(name(i)).type != "number":
                for definition in self.definitions(i):
                    self.check(i, definition, gast.NotEq(), f"`{plain(i)}` must be an integer")
                self.kinds.names[i] = INT
        return True

    def _cuts(self, s: gast.stmt) -> bool:
        """Whether a statement is `dxs[1:] = sum_of(dxs[1:], e)`, or with another function of its kind."""
        return (
            isinstance(s, gast.Assign)
            and isinstance(s.value, gast.Call)
            and isinstance(s.targets[0], gast.Subscript)
            and isinstance(s.targets[0].slice, gast.Slice)
            and self.scope.canonical(s.value.func) in STRUCTURED
        )

    def check_types(self, active: set[str]) -> None:
        """An array of integers would cut what is written into it, and let no derivative through: where an
        array is made and nothing tells its type, that is checked."""
        for r in sorted(mutated(self.body) & active):
            kind = self.kinds.names.get(r, UNKNOWN)
            if kind.type == "array" and kind.dtype is None:
                for definition in self.definitions(r):
                    if self._is_made(getattr(definition, "value", None), 0):
                        test = expression(f'{r}.dtype.kind in "iub"')
                        self.guard(definition, test, f"`{plain(r)}` is an array of integers")

    def _is_made(self, node: gast.expr | None, depth: int) -> bool:
        """Whether an array is made by a function that makes arrays of literals, or copied from such a one."""
        if isinstance(node, (gast.List, gast.ListComp)):
            return depth > 0
        if isinstance(node, gast.Call):
            function = self.scope.canonical(node.func)
            source = node.args[0] if node.args else None
            if function in ("numpy.array", "numpy.asarray") and isinstance(source, gast.Name):
                return self._is_made(source, depth)  # as it was
            if function in ARRAY_MAKERS:
                return True
            node = node.func
        while isinstance(node, (gast.Subscript, gast.Attribute)):
            node = node.value
        if isinstance(node, gast.Call):
            return self._is_made(node, depth)
        if not isinstance(node, gast.Name) or depth > 9:
            return False
        made = [getattr(d, "value", None) for d in self.definitions(node.id)]
        return any(self._is_made(m, depth + 1) for m in made)

    def check(self, n: str, definition: gast.stmt, wrong: gast.cmpop, message: str) -> None:
        """A check of what was taken for granted, where the name is bound; `wrong`: how the rank must not
        compare with zero."""
        test = gast.Compare(expression(f"{self.numpy()}.ndim({n})"), [wrong], [constant(0)])
        self.guard(definition, test, message)

    def guard(self, definition: gast.stmt, test: gast.expr, message: str) -> None:
        """Raise a ValueError under a condition, behind the statement that binds a name."""
        guard = gast.If(test, [gast.Raise(expression(f"ValueError({message!r})"), None)], [])
        for node in (guard, guard.body[0]):
            gast.copy_location(node, definition)
        if isinstance(definition, gast.For):
            definition.body.insert(0, guard)
        else:
            put(self.body, definition, [definition, guard])


def put(body: list[gast.stmt], old: gast.stmt, new: list[gast.stmt]) -> bool:
    """Put statements in the place of one, wherever it stands."""
    for position, s in enumerate(body):
        if s is old:
            body[position : position + 1] = new or ([] if len(body) > 1 else [gast.Pass()])
            return True
        if any(put(block, old, new) for block in flow.blocks(s)):
            return True
    return False
