"""How the backward sweep gets at values of the forward sweep: by name, saved, or only by their shape."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.fresh import Fresh, plain
from lsp_ad.differentiate.normal.stable import Stability
from lsp_ad.differentiate.quoting import binding_place
from lsp_ad.problems import Problem, Refusal, Span, problem
from lsp_ad.rules import literal
from lsp_ad.rules.resolve import Scope
from lsp_ad.rules.rule import UNKNOWN_VALUE
from lsp_ad.semantics import flow
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.semantics.memory import root
from lsp_ad.semantics.names import parameters
from lsp_ad.semantics.points import Points
from lsp_ad.semantics.shapes import Kind
from lsp_ad.simplify.algebra import assign, call, constant, expression, name, store, substitute
from lsp_ad.source.trees import copied


def name_taken(taken: str, meaning: str, where: Span) -> Problem:
    """Generated code needs a name for something, and the user has it for something else."""
    message = f"Generated code needs the name `{taken}` for {meaning}, but it stands for something else here."
    return problem("AD506", message, where)


class ForwardValues:
    """Hands the backward sweep expressions for forward values; collects what must be saved for that.

    A value that its name no longer holds later is saved under a new name, `x__1 = x`, at the
    statement that reads it; `saved` lists these copies, before or after a statement.
    """

    def __init__(
        self,
        function: gast.FunctionDef,
        scope: Scope,
        kinds: Kinds,
        stability: Stability,
        fresh: Fresh,
        declared: dict[str, tuple],
    ):
        self.function = function
        self.scope = scope
        self.kinds = kinds
        self.stability = stability
        self.fresh = fresh
        self.declared = declared
        self.before: dict[int, dict[str, str]] = {}
        self.after: dict[int, dict[str, str]] = {}
        self.kept: dict[int, list[gast.stmt]] = {}
        self.tests: dict[int, tuple[str, gast.expr]] = {}
        self.handled: dict[int, str] = {}
        self.calls: dict[int, tuple[str, str]] = {}
        self.parts: dict[int, tuple[str, gast.expr]] = {}
        self.lists: set[str] = set()
        self.bound_first: set[str] = set()
        self._by_shape: dict[object, list[str]] | None = None
        self.helpers: set[str] = set()
        self.modules: set[str] = set()

    # --- values ------------------------------------------------------------------------------

    def operand(self, node: gast.expr, s: gast.stmt) -> gast.expr:
        """An expression for the value that `node` has just before `s`."""
        if literal(node) is not UNKNOWN_VALUE:
            return copied(node)
        values = {n: name(self._saved(n, s, self.before)) for n in flow.reads(node) if not self._holds(n, s)}
        return substitute(copied(node), values)

    def result(self, target: str, s: gast.stmt) -> gast.expr:
        """An expression for the value that `s` has just assigned to `target`."""
        return name(target if self.stability.is_stable(target) else self._saved(target, s, self.after))

    def _holds(self, identifier: str, s: gast.stmt) -> bool:
        return identifier not in self.scope.local or self.stability.keeps(identifier, s)

    def _saved(self, identifier: str, s: gast.stmt, table: dict[int, dict[str, str]]) -> str:
        here = table.setdefault(id(s), {})
        if identifier not in here:
            here[identifier] = self.fresh.new("s__" + identifier)
            self.kinds.names[here[identifier]] = self.kinds.names.get(identifier, Kind())
        return here[identifier]

    def insert_saves(self, body: list[gast.stmt], points: Points) -> list[gast.stmt]:
        """The block with the copies that were asked for, saved predicates, and calls of forward functions."""
        found: list[gast.stmt] = []
        for s in body:
            found += [assign(new, self._kept(old, s)) for old, new in self.before.get(id(s), {}).items()]
            found += self.kept.get(id(s), [])
            if id(s) in self.parts:
                found.append(assign(*self.parts[id(s)]))
            if id(s) in self.tests:
                kept, test = self.tests[id(s)]
                found.append(assign(kept, test))
                s.test = name(kept)
                points.forget_header(s)
            if id(s) in self.calls:
                saved, forward = self.calls[id(s)]
                s.targets = [gast.Tuple([*s.targets, store(saved)], gast.Store())]
                s.value.func = name(forward)
                points.forget_header(s)
            for block in flow.blocks(s):
                block[:] = self.insert_saves(block, points)
            if id(s) in self.handled:
                # which handler ran: its number, or whether the only one did
                values = range(len(s.handlers) + 1) if len(s.handlers) > 1 else (False, True)
                found.append(assign(self.handled[id(s)], constant(values[0])))
                for value, handler in zip(values[1:], s.handlers, strict=True):
                    handler.body.insert(0, assign(self.handled[id(s)], constant(value)))
            found.append(s)
            found += [assign(new, name(old)) for old, new in self.after.get(id(s), {}).items()]
        return found

    def _kept(self, identifier: str, s: gast.stmt) -> gast.expr:
        """What keeps a value: the value itself, or a copy of a list or dict that changes later."""
        if id(s) not in self.stability.changing.get(identifier, ()):
            return name(identifier)
        kind = self.kinds.of(name(identifier))
        # what an array holds is brought back by undoing the writes into it
        return call(kind.type, name(identifier)) if kind.is_structure else name(identifier)

    def keep(self, node: gast.expr, s: gast.stmt, hint: str) -> str:
        """Have an expression evaluated just before `s`, for the backward sweep; returns its name."""
        kept = self.fresh.new("t", hint)
        self.kept.setdefault(id(s), []).append(assign(kept, node))
        return kept

    def keep_part(self, s: gast.stmt, part: gast.expr) -> str:
        """The name under which the part of an array that `s` overwrites is kept, as it is before `s`."""
        if id(s) not in self.parts:
            inner = part
            if isinstance(part, gast.Call):  # a copy
                inner = part.args[0] if part.args else part.func
            array = root(inner)
            word = plain(array.id) if array is not None else ""
            self.parts[id(s)] = (self.fresh.new("t", f"{word}_before"), part)
        return self.parts[id(s)][0]

    def is_elementwise(self, node: gast.expr) -> bool:
        """Whether an expression is one elementwise operation on names and literals."""
        operation = self.scope.operation(node)
        return (
            operation is not None
            and operation.rule.elementwise is not None
            and not operation.keywords
            and all(isinstance(a, gast.Name) or literal(a) is not UNKNOWN_VALUE for a in operation.args)
        )

    def bind_first(self, n: str, s: gast.stmt) -> None:
        """See to it that a list or dict whose form is asked for at a statement has a value there: None, on
        paths that do not bind it."""
        if (
            self.kinds.names.get(n, Kind()).is_structure
            and n not in parameters(self.function)
            and not self.stability.defined_before(n, s)
        ):
            self.bound_first.add(n)

    # --- shapes ------------------------------------------------------------------------------

    def like(self, node: gast.expr, s: gast.stmt) -> gast.expr:
        """A value with the shape that `node` has at `s`: itself, or a plainer name that has the same."""
        kind = self.kinds.of(node)
        return self._same_shape(kind, s) or self.operand(node, s)

    def _alike(self, node: gast.expr, s: gast.stmt) -> gast.expr:
        """A value with the shape and the type that `node` has at `s`."""
        return self._same_shape(self.kinds.of(node), s, typed=True) or self.operand(node, s)

    def _same_shape(self, kind: Kind, s: gast.stmt, typed: bool = False) -> gast.expr | None:
        if kind.shape in (None, ()):
            return None
        for candidate in self._of_shape().get(kind.shape, ()):
            if typed and self.kinds.names[candidate].dtype != kind.dtype:
                continue
            if self.stability.defined_before(candidate, s):
                return name(candidate)
        return None

    def _of_shape(self) -> dict[object, list[str]]:
        """The user's names by the shape of their values."""
        if self._by_shape is None:
            self._by_shape = {}
            for n, kind in self.kinds.names.items():
                if "__" not in n and kind.type in ("array", "numeric") and self.stability.is_stable(n):
                    self._by_shape.setdefault(kind.shape, []).append(n)
        return self._by_shape

    def shape(self, node: gast.expr, s: gast.stmt) -> gast.expr:
        return self._attribute("shape", self.like(node, s))

    def size(self, node: gast.expr, s: gast.stmt) -> gast.expr:
        """The number of elements of a value."""
        kind = self.kinds.of(node)
        if kind.shape == ():
            return constant(1)
        if isinstance(kind.shape, tuple) and self._same_shape(kind, s) is None:
            lengths = [self._dimension(d) for d in kind.shape]
            if all(x is not None for x in lengths):
                product = lengths[0]
                for x in lengths[1:]:
                    product = gast.BinOp(product, gast.Mult(), x)
                return product
        return self._attribute("size", self.like(node, s))

    def length(self, node: gast.expr, axis: int, s: gast.stmt) -> gast.expr:
        """The length of a value along an axis."""
        kind = self.kinds.of(node)
        if isinstance(kind.shape, tuple) and -len(kind.shape) <= axis < len(kind.shape):
            known = self._dimension(kind.shape[axis])
            if known is not None:
                return known
        return gast.Subscript(
            self.shape(node, s), constant(axis) if axis >= 0 else expression(repr(axis)), gast.Load()
        )

    def _dimension(self, dimension: object) -> gast.expr | None:
        if isinstance(dimension, int):
            return constant(dimension)
        for parameter, dims in self.declared.items():
            if dimension in dims:
                shape = gast.Attribute(name(parameter), "shape", gast.Load())
                return gast.Subscript(shape, constant(dims.index(dimension)), gast.Load())
        return None

    def _attribute(self, what: str, node: gast.expr) -> gast.expr:
        """`x.shape` where x is surely an array, `np.shape(x)` where it may be a number."""
        if isinstance(node, gast.Name) and self.kinds.of(node).type == "array":
            return gast.Attribute(node, what, gast.Load())
        return gast.Call(gast.Attribute(self.module("numpy"), what, gast.Load()), [node], [])

    def full(self, value: gast.expr, node: gast.expr, s: gast.stmt) -> gast.expr:
        """A value that only broadcasts to the shape of `node`, with that shape."""
        ones = gast.Call(
            gast.Attribute(self.module("numpy"), "ones_like", gast.Load()), [self._alike(node, s)], []
        )
        return gast.BinOp(value, gast.Mult(), ones)

    def full_result(self, value: gast.expr, target: str, s: gast.stmt) -> gast.expr:
        """A value that only broadcasts to the shape of what `s` assigns to `target`, with that shape."""
        like = self._same_shape(self.kinds.of(name(target)), s, typed=True) or self.result(target, s)
        ones = gast.Call(gast.Attribute(self.module("numpy"), "ones_like", gast.Load()), [like], [])
        return gast.BinOp(value, gast.Mult(), ones)

    def zeros(self, node: gast.Name, s: gast.stmt, after: bool = False) -> gast.expr:
        """Zeros in the shape of a name's value, of float type whatever its type is: of its value before `s`,
        or `after` it. A list that changes is asked for only after its last change."""
        kind = self.kinds.of(node)
        if kind.is_structure or (node.id in self.lists and kind.shape != ()):
            if after or self.stability.is_stable(node.id):
                return call(self.helper("zeros_of"), self.result(node.id, s))
            return call(self.helper("zeros_of"), self.operand(node, s))
        like = self._alike(node, s)
        numpy = self.module("numpy")
        keywords = []
        if kind.dtype != "float":
            result = gast.Call(
                gast.Attribute(numpy, "result_type", gast.Load()), [copied(like), constant(1.0)], []
            )
            keywords = [gast.keyword("dtype", result)]
        return gast.Call(gast.Attribute(copied(numpy), "zeros_like", gast.Load()), [like], keywords)

    # --- names of modules and helpers --------------------------------------------------------

    def module(self, module: str) -> gast.expr:
        """The file's own name for a module;
        one that it does not import yet is imported with the generated code.
        """
        alias = self.scope.alias_of(module)
        if alias is None:
            alias = "np" if module == "numpy" else module
            if alias in self.scope.local or alias in self.scope.imports or alias in self.scope.program.bound:
                where = binding_place(alias, self.function, self.scope.program)
                raise Refusal(name_taken(alias, f"the module {module}", where))
            self.modules.add(module)
        return name(alias)

    def helper(self, helper: str) -> str:
        self.helpers.add(helper)
        return helper
