"""Normal form: a statement that carries a derivative does one thing.

Before: `z = np.tanh(x @ w + b)`.   After: `t__1 = x @ w; t__2 = t__1 + b; z = np.tanh(t__2)`.

Passive code, and passive parts of active expressions, stay as they are. Conditional expressions and
`and`/`or` with active values become `if` statements; unpacking becomes one assignment for each name.
"""

from __future__ import annotations

import gast

from lsp_ad.differentiate.fresh import Fresh, plain
from lsp_ad.differentiate.normal.containers import Containers
from lsp_ad.differentiate.quoting import place, quoted
from lsp_ad.problems import Refusal, problem
from lsp_ad.rules import CONSTANTS, literal, products
from lsp_ad.rules.resolve import Scope
from lsp_ad.rules.rule import UNKNOWN_VALUE
from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import change_of
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.semantics.memory import written
from lsp_ad.semantics.shapes import Kind
from lsp_ad.semantics.uses import is_string
from lsp_ad.simplify.algebra import assign, constant, name
from lsp_ad.source.parse import span_of
from lsp_ad.source.trees import copied, located, shallow


class Normalizer:
    """Turns blocks into normal form; new temporaries get their kinds and a hint for their names."""

    def __init__(self, scope: Scope, kinds: Kinds, active: set[str], carries, fresh: Fresh):
        self.scope = scope
        self.kinds = kinds
        self.active = active
        self.carries = carries
        self.fresh = fresh
        self.unpacked: set[str] = set()

    @property
    def containers(self) -> Containers:
        """Made when asked for: two that hold one another, and all trees, would wait for the collector."""
        return Containers(self)

    def is_active(self, node: gast.expr) -> bool:
        return bool(self.carries(node) & self.active)

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        found: list[gast.stmt] = []
        for s in body:
            if self.kinds.writes_array(s):
                self.write(s, found)
                continue
            self._refuse_inner(s)
            if isinstance(s, gast.Assign):
                self.assignment(s, found)
            elif isinstance(s, gast.For):
                self.loop(s, found)
            elif isinstance(s, gast.Expr) and (change := change_of(s)) and change.base in self.active:
                self.containers.change(s, change, found)
            else:
                for block in flow.blocks(s):
                    block[:] = self.block(block)
                found.append(s)
        return found

    def quoted(self, node: gast.expr) -> str:
        return quoted(node, self.scope.program)

    # --- statements --------------------------------------------------------------------------

    def assignment(self, s: gast.Assign, out: list[gast.stmt]) -> None:
        change = change_of(s)
        if change is not None and change.method == "set" and self.kinds.of(name(change.base)).is_structure:
            if change.base in self.active and self.is_active(s.value):
                self.containers.change(s, change, out)
            else:
                out.append(s)
            return
        if len(s.targets) == 1 and isinstance(s.targets[0], gast.Name):
            bound = {s.targets[0].id}
        else:
            bound = {n.id for t in s.targets for n in flow.walk(t) if isinstance(n, gast.Name)}
        if not (bound & self.active and self.is_active(s.value)):
            out.append(s)
            return
        if len(s.targets) > 1:
            self._chained(s, out)
            return
        target = s.targets[0]
        if isinstance(target, gast.Name):
            self.into(target.id, s.value, s, out)
        elif isinstance(target, (gast.Tuple, gast.List)):
            self.unpack(target, s.value, s, out)
        else:
            message = f"`{self.quoted(target)} = ...` changes a list or a dict in place."
            raise Refusal(problem("AD301", message, place(target, s)))

    def _refuse_inner(self, s: gast.stmt) -> None:
        """No write into an array that is an item of a list or dict: other names of it would not see it."""
        targets = s.targets if isinstance(s, gast.Assign) else [written(s)]
        for target in targets:
            if isinstance(target, gast.Subscript) and not isinstance(target.value, gast.Name):
                message = f"`{self.quoted(target)} = ...` changes in place what a list or a dict holds."
                way_out = "Write into the array before the list takes it, or build a new value."
                raise Refusal(problem("AD301", message, place(target, s), way_out))

    def write(self, s: gast.stmt, out: list[gast.stmt]) -> None:
        """A write into an array: the indices without calls, the value an atom where the derivative needs
        it."""
        if isinstance(s, gast.Expr):
            array, index, value = s.value.args
            self._path(array, s, out)
            s.value.args = [array, self.index(index, s, out), self._stored(value, s, out)]
            return out.append(s)
        target = written(s)
        assert target is not None
        self._path(target, s, out)
        if isinstance(s, gast.AugAssign) and isinstance(s.op, (gast.Mult, gast.Div)):
            s.value = self.atom(s.value, s, out)
        else:
            s.value = self._stored(s.value, s, out)
        out.append(s)

    def _stored(self, value: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        if isinstance(value, (gast.List, gast.Tuple)) and self.is_active(value):
            numpy = self.scope.program.numpy
            value = gast.Call(gast.Attribute(name(numpy), "array", gast.Load()), [value], [])
        return self.atom(value, s, out) if self.is_active(value) else value

    def _path(self, node: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> None:
        """The indices on the way from an array to the part of it that is written."""
        while not isinstance(node, gast.Name):
            if isinstance(node, gast.Subscript):
                node.slice = self.index(node.slice, s, out)
            node = node.func.value if isinstance(node, gast.Call) else node.value

    def _chained(self, s: gast.Assign, out: list[gast.stmt]) -> None:
        """`a = b = e`: e once, then each target in turn."""
        value = self.atom(s.value, s, out)
        for target in s.targets:
            self.assignment(located(gast.Assign([target], copied(value), None), s), out)

    def unpack(
        self, target: gast.Tuple | gast.List, value: gast.expr, s: gast.stmt, out: list[gast.stmt]
    ) -> None:
        if any(isinstance(t, gast.Starred) for t in target.elts):
            self.containers.unpack_starred(target, value, s, out)
            return
        value = self._quotient(value, s, out)
        if isinstance(value, (gast.Tuple, gast.List)) and not _has_starred(value):
            if len(value.elts) != len(target.elts):
                raise Refusal(
                    problem("AD102", f"{len(value.elts)} values for {len(target.elts)} names.", span_of(s))
                )
            # all values first, then the names: `a, b = b, a` swaps
            later = {n.id for t in target.elts for n in flow.walk(t) if isinstance(n, gast.Name)}
            values = []
            for item in value.elts:
                stays = isinstance(item, gast.Constant) or (
                    isinstance(item, gast.Name) and item.id not in later
                )
                values.append(item if stays else self.temporary(item, s, out))
            for part, item in zip(target.elts, values, strict=True):
                self.assignment(located(gast.Assign([part], item, None), s), out)
            return
        whole = self.atom(value, s, out)
        self.unpacked |= flow.reads(whole)
        for position, part in enumerate(target.elts):
            item = gast.Subscript(copied(whole), constant(position), gast.Load())
            self.assignment(located(gast.Assign([part], item, None), s), out)

    def loop(self, s: gast.For, out: list[gast.stmt]) -> None:
        """A loop over something active gets a position to index it with: `for i, x in enumerate(xs)`."""
        targets = {n.id for n in flow.walk(s.target) if isinstance(n, gast.Name)}
        if targets & self.active and self.is_active(s.iter) and self.containers.over_dict(s, out):
            pass
        elif targets & self.active and self.is_active(s.iter):
            s.iter = self.iterable(s.iter, s, out)
            if not self._has_position(s):
                position = self.fresh.new("t", "i")
                self.kinds.names[position] = Kind("number", "int", (), fresh=True)
                s.target = gast.Tuple([gast.Name(position, gast.Store(), None, None), s.target], gast.Store())
                s.iter = gast.Call(gast.Name("enumerate", gast.Load(), None, None), [s.iter], [])
        s.body = self.block(s.body)
        out.append(s)

    def _has_position(self, s: gast.For) -> bool:
        return (
            isinstance(s.iter, gast.Call)
            and self.scope.canonical(s.iter.func) == "builtins.enumerate"
            and len(s.iter.args) == 1
            and not s.iter.keywords
            and isinstance(s.target, gast.Tuple)
            and len(s.target.elts) == 2
            and isinstance(s.target.elts[0], gast.Name)
        )

    def iterable(self, node: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        """The iterable with everything active in it as a name."""
        if isinstance(node, gast.Call) and self.scope.canonical(node.func) in (
            "builtins.zip",
            "builtins.enumerate",
            "builtins.reversed",
        ):
            node.args = [self.iterable(a, s, out) for a in node.args]
            return node
        if not self.is_active(node):
            return node
        if isinstance(node, gast.Name) and node.id not in flow.writes([s]):
            return node
        # what the loop goes over is the value that the expression has before it
        return self.temporary(node, s, out)

    # --- expressions -------------------------------------------------------------------------

    def temporary(self, node: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> gast.Name:
        """A new name for the value of an expression."""
        target = self.fresh.new("t", hint(node, self.scope) or _on_the_way(s))
        self.kinds.names[target] = self.kinds.of(node)
        if self.is_active(node):
            self.active.add(target)
            self.into(target, node, s, out)
        else:
            out.append(located(assign(target, node), s))
        return name(target)

    def atom(self, node: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        """A name or a literal for the value of an expression (a shape or a list stays as it is)."""
        if (
            isinstance(node, (gast.Name, gast.Tuple, gast.List, gast.Slice))
            or literal(node) is not UNKNOWN_VALUE
        ):
            return node
        return self.temporary(node, s, out)

    def into(self, target: str, node: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> None:
        """Assign an active expression to a name, in normal form."""
        if isinstance(node, gast.IfExp):
            yes: list[gast.stmt] = []
            no: list[gast.stmt] = []
            self._branch(target, node.body, s, yes)
            self._branch(target, node.orelse, s, no)
            out.append(located(gast.If(node.test, yes, no), s))
            return
        if isinstance(node, gast.BoolOp):
            self._lazy(target, node, s, out)
            return
        if (chosen := self.containers.chosen(node)) is not None:
            self.into(target, chosen, s, out)
            return
        node = self._quotient(node, s, out)
        out.append(located(assign(target, self.simple(node, s, out)), s))

    def _quotient(self, node: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        """`divmod(a, b)` as the pair that it is."""
        if (
            isinstance(node, gast.Call)
            and self.scope.canonical(node.func) == "builtins.divmod"
            and len(node.args) == 2
        ):
            left, right = (self.atom(a, s, out) for a in node.args)
            quotient = gast.BinOp(left, gast.FloorDiv(), right)
            return gast.Tuple([quotient, gast.BinOp(copied(left), gast.Mod(), copied(right))], gast.Load())
        return node

    def _branch(self, target: str, node: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> None:
        if self.is_active(node):
            self.into(target, node, s, out)
        else:
            out.append(located(assign(target, node), s))

    def _lazy(self, target: str, node: gast.BoolOp, s: gast.stmt, out: list[gast.stmt]) -> None:
        """`a or b`: a, and where that is false, b."""
        first = node.values[0]
        self._branch(target, first, s, out)
        rest = node.values[1] if len(node.values) == 2 else gast.BoolOp(node.op, node.values[1:])
        inner: list[gast.stmt] = []
        self._branch(target, rest, s, inner)
        test: gast.expr = name(target)
        if isinstance(node.op, gast.Or):
            test = gast.UnaryOp(gast.Not(), test)
        out.append(located(gast.If(test, inner, []), s))

    def simple(self, node: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        """One operation on atoms."""
        whole = node
        node = shallow(node)
        if isinstance(node, gast.Name):
            return node
        if isinstance(node, gast.Subscript):
            literal_base = isinstance(node.value, (gast.Tuple, gast.List, gast.Dict))
            node.value = (self.temporary if literal_base else self.atom)(node.value, s, out)
            if is_string(node.slice) and self.kinds.of(node.value).type == "numeric":
                self.kinds.names[node.value.id] = Kind("dict")
            node.slice = self.index(node.slice, s, out)
            return node
        if (
            isinstance(node, gast.Call)
            and self.scope.canonical(node.func) in ("builtins.max", "builtins.min")
            and len(node.args) > 2
        ):
            # max(a, b, c) is max(max(a, b), c)
            inner = located(gast.Call(node.func, node.args[:-1], []), node)
            node.args = [inner, node.args[-1]]
        if isinstance(node, (gast.Tuple, gast.List, gast.Dict)):
            return self.argument(node, s, out)
        if (made := self.containers.made(node, s, out)) is not None:
            return made
        if self.scope.operation(node) is None and self.scope.callee(node) is None:
            raise Refusal(
                problem("AD102", f"`{self.quoted(node)}` cannot be differentiated.", place(node, s))
            )
        factors = products.factors(node)
        if factors is not None and not any(self.kinds.of(f).is_structure for f in factors):
            return node
        if isinstance(node, gast.BinOp):
            node.left, node.right = self.atom(node.left, s, out), self.atom(node.right, s, out)
            self.kinds.fits_as(node, whole)
        elif isinstance(node, gast.UnaryOp):
            node.operand = self.atom(node.operand, s, out)
        elif isinstance(node, gast.Attribute):
            node.value = self.atom(node.value, s, out)
        elif isinstance(node, gast.Call):
            if isinstance(node.func, gast.Attribute) and self.scope.canonical(node.func) is None:
                node.func = shallow(node.func)
                node.func.value = self.atom(node.func.value, s, out)
            node.args = [self.argument(a, s, out) for a in node.args]
            node.keywords = [gast.keyword(k.arg, self.argument(k.value, s, out)) for k in node.keywords]
            self.containers.arrays(node, s, out)
        return node

    def index(self, node: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        """An index in which nothing is called: it is evaluated again in the backward sweep."""
        if isinstance(node, (gast.Tuple, gast.Slice)):
            node = shallow(node)
            for field, value in gast.iter_fields(node):
                if isinstance(value, gast.expr):
                    setattr(node, field, self.index(value, s, out))
                elif isinstance(value, list):
                    setattr(node, field, [self.index(v, s, out) for v in value])
            return node
        if any(isinstance(n, (gast.Call, gast.Compare, gast.Subscript)) for n in flow.walk(node)):
            return self.temporary(node, s, out)
        return node

    def argument(self, node: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        """An argument: an atom, or a literal list of atoms."""
        if isinstance(node, (gast.Tuple, gast.List)) and self.is_active(node):
            node = shallow(node)
            node.elts = [self.argument(e, s, out) for e in node.elts]
            return node
        if isinstance(node, gast.Dict) and self.is_active(node):
            node = shallow(node)
            node.values = [self.argument(v, s, out) for v in node.values]
            return node
        if isinstance(node, gast.Attribute) and self.scope.canonical(node) in CONSTANTS:
            return node  # `dtype=np.float64` says what the call does, as long as it stands there
        return self.atom(node, s, out)


def _has_starred(node: gast.Tuple | gast.List) -> bool:
    return any(isinstance(e, gast.Starred) for e in node.elts)


def hint(node: gast.expr, scope: Scope) -> str:
    """What a person might call the value of an expression: `exp_z`, `x_w`, `log_p`."""
    if isinstance(node, gast.Call):
        function = node.func.attr if isinstance(node.func, gast.Attribute) else getattr(node.func, "id", "")
        base = (
            node.args[0]
            if node.args
            else node.func.value
            if isinstance(node.func, gast.Attribute) and scope.is_value(node.func.value)
            else None
        )
        if isinstance(base, gast.UnaryOp):
            base = base.operand
        word = base.id if isinstance(base, gast.Name) and "__" not in base.id else ""
        return f"{function}_{word}" if word and len(word) <= 8 else function
    if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.MatMult, gast.Mult)):
        words = [n.id for n in (node.left, node.right) if isinstance(n, gast.Name) and "__" not in n.id]
        if len(words) == 2 and len(words[0]) + len(words[1]) <= 10:
            return "_".join(words) if words[0] != words[1] else f"{words[0]}_sq"
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and "__" not in node.value.id:
        return f"{node.value.id}_i"
    if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name):
        return f"{node.value.id}_{node.attr}"
    return ""


def _on_the_way(s: gast.stmt) -> str:
    """A name for a value inside the expression for `h1`: `h1_in`."""
    target = s.targets[0] if isinstance(s, gast.Assign) else None
    word = plain(target.id) if isinstance(target, gast.Name) else ""
    return f"{word}_in" if word and word not in ("t", "result") else ""
