"""Comprehensions that may carry a derivative are written out as loops, and so are sums and extremes of them.

Before: `ys = [x * x for x in xs if x > 0]`.     After: `ys = []` and
                                                        `for x in xs:`
                                                            `if x > 0:`
                                                                `ys.append(x * x)`

`sum(...)` becomes a running sum, `max(...)` and `min(...)` a running extreme. Comprehensions of passive
values, and generators in `any` and `all`, stay as they are.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable

import gast

from lsp_ad.differentiate.desugar.iterators import lists_iterator
from lsp_ad.differentiate.desugar.written_loops import SUM, Loops
from lsp_ad.differentiate.fence.containers import own_containers, tables
from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.problems import Refusal, problem
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import change_of
from lsp_ad.semantics.names import local_names
from lsp_ad.simplify.algebra import assign, call, name, store
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import expression_text
from lsp_ad.source.trees import copied

COMPREHENSIONS = (gast.ListComp, gast.DictComp, gast.GeneratorExp)
COLLECTING = ("builtins.list", "builtins.tuple", "builtins.sorted")
REDUCING = (SUM, "builtins.max", "builtins.min")
TESTS = ("builtins.any", "builtins.all")
_CONCERNED = frozenset((*COMPREHENSIONS, gast.SetComp, gast.IfExp, gast.BoolOp))
_FUNCTIONS = frozenset((*COLLECTING, *REDUCING, *TESTS))


def comprehension_names(node: gast.AST) -> set[str]:
    """The names that the comprehensions in a tree bind for themselves."""
    return {
        n
        for c in flow.walk(node)
        if isinstance(c, (*COMPREHENSIONS, gast.SetComp))
        for g in c.generators
        for n in flow.stored(g.target)
    }


def write_out(
    function: gast.FunctionDef, scope: Scope, varied: Callable[[], set[str]], fresh: Fresh
) -> dict[str, str]:
    """Write the comprehensions that read any of `varied()` as loops, in place.

    The variables of comprehensions get names of their own; returns new name to the user's name.
    """
    concerned = _is_concerned(function, scope)
    writer = _Writer(scope, set(varied()) if concerned else set(), fresh, local_names(function))
    writer.own = own_containers(function, scope)
    writer.tables = tables(function, writer.own, scope)
    writer.handed = {
        n
        for s in flow.statements(function.body)
        if isinstance(s, gast.Assign) and isinstance(s.value, (gast.Name, gast.IfExp, gast.Tuple))
        for n in flow.stored(s)
    }
    function.body = writer.block(function.body)
    if not concerned:
        return writer.shown
    writer.taken |= flow.writes(function.body)
    for s in function.body:
        for n in flow.walk(s):
            if isinstance(n, (*COMPREHENSIONS, gast.SetComp)):
                writer.set_apart(n)
    return writer.shown


def _is_concerned(node: gast.AST, scope: Scope) -> bool:
    """Whether there is anything in a tree that may be written out."""
    for n in flow.walk(node):
        kind = type(n)
        if kind in _CONCERNED:
            return True
        if kind is gast.Call:
            popped = isinstance(n.func, gast.Attribute) and n.func.attr == "pop"
            if popped or scope.canonical(n.func) in _FUNCTIONS:
                return True
    return False


class _Writer(Loops):
    def __init__(self, scope: Scope, varied: set[str], fresh: Fresh, local: set[str]):
        super().__init__(scope, varied, fresh, local | scope.program.bound | set(dir(builtins)))
        self.own: set[str] = set()
        self.tables: set[str] = set()
        self.handed: set[str] = set()

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        found: list[gast.stmt] = []
        for s in body:
            before: list[gast.stmt] = []
            if (written := self._change(s)) is not None:
                found += self.block([gast.copy_location(w, s) for w in written])
                continue
            if isinstance(s, (gast.Assign, gast.AnnAssign, gast.AugAssign, gast.Return, gast.Expr)):
                if s.value is not None:
                    s.value = self._value(s, before)
            elif isinstance(s, gast.If):
                s.test = self.expression(s.test, s, before)
            elif isinstance(s, gast.While):
                self._lazy(s.test)
            elif isinstance(s, gast.For):
                s.iter = self.expression(s.iter, s, before)
            for inner in flow.blocks(s):
                inner[:] = self.block(inner)
            found += [gast.copy_location(b, s) for b in before]
            if not (isinstance(s, gast.Assign) and _is_itself(s)):
                found.append(s)
        return found

    def _change(self, s: gast.stmt) -> list[gast.stmt] | None:
        """`xs.extend(ys)` and `xs += ys` as appends, `xs[i] += e` as `xs[i] = xs[i] + e`."""
        change = change_of(s)
        grown, items = None, None
        if change is not None and change.method == "extend":
            grown, items = change.base, change.args[0]
        elif _is_addition(s) and s.targets[0].id in self.own:
            grown, items = s.targets[0].id, s.value.right
        if grown is not None:
            append = gast.Attribute(name(grown), "append", gast.Load())
            if isinstance(items, (gast.List, gast.Tuple)) and not any(
                isinstance(e, gast.Starred) for e in items.elts
            ):
                return [gast.Expr(gast.Call(copied(append), [e], [])) for e in items.elts]
            if isinstance(items, (gast.ListComp, gast.GeneratorExp)):
                return self.loop(items, gast.Expr(gast.Call(append, [items.elt], [])), s)
            item = self.own_name("item")
            step = gast.Expr(gast.Call(append, [name(item)], []))
            return [gast.For(store(item), items, [gast.copy_location(step, s)], [], None)]
        written = s.targets[0] if isinstance(s, gast.Assign) else getattr(s, "target", None)
        if isinstance(written, gast.Subscript) and isinstance(written.value, gast.Subscript):
            row = written.value
            if isinstance(row.value, gast.Name) and row.value.id in self.tables and len(flow.stored(s)) == 0:
                return self._in_row(s, written, row)
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Subscript):
            read = copied(s.target)
            read.ctx = gast.Load()
            return [gast.Assign([s.target], gast.copy_location(gast.BinOp(read, s.op, s.value), s), None)]
        return None

    def _in_row(
        self, s: gast.Assign | gast.AugAssign, written: gast.Subscript, row: gast.Subscript
    ) -> list[gast.stmt]:
        """`t[i][j] = e` in a new row: `row = list(t[i]); row[j] = e; t[i] = row`."""
        kept = self.fresh.new("t", "row")
        made = assign(kept, call("list", copied(row)))
        item = gast.Subscript(name(kept), written.slice, gast.Store())
        change: gast.stmt = gast.Assign([item], s.value, None)
        if isinstance(s, gast.AugAssign):
            change = gast.AugAssign(gast.copy_location(item, written), s.op, s.value)
        place = gast.Subscript(copied(row.value), copied(row.slice), gast.Store())
        self.varied.add(kept)
        return [made, change, gast.Assign([place], name(kept), None)]

    def _value(self, s: gast.stmt, before: list[gast.stmt]) -> gast.expr:
        """The value of a statement; a list that is assigned to a name is built under this name, if no other
        list is handed to the name as a whole."""
        change = change_of(s)
        if change is not None and change.method == "pop":
            return s.value
        plain = isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name)
        if plain and isinstance(s.value, COMPREHENSIONS[:2]) and self._is_varied(s.value):
            target = s.targets[0].id
            if target not in flow.reads(s.value) and target not in self.handed:
                return self.collect(s.value, s, before, target)
        if isinstance(s.value, gast.GeneratorExp) and isinstance(s, gast.Assign) and _is_unpacked(s):
            s.value = gast.copy_location(gast.ListComp(s.value.elt, s.value.generators), s.value)
        return self.expression(s.value, s, before)

    def _is_varied(self, node: gast.expr) -> bool:
        return bool(flow.reads(node) & self.varied)

    # --- expressions -------------------------------------------------------------------------

    def expression(self, node: gast.expr, s: gast.stmt, before: list[gast.stmt]) -> gast.expr:
        """The expression with its comprehensions as the names of what loops before it have built."""
        if isinstance(node, (gast.Constant, gast.Name)) or not self.varied or not self._is_varied(node):
            return node
        if isinstance(node, (gast.IfExp, gast.BoolOp)):
            first = "test" if isinstance(node, gast.IfExp) else None
            if first:
                node.test = self.expression(node.test, s, before)
                if self._left_out(node.body) or self._left_out(node.orelse):
                    return self._branches(node, s, before)
            else:
                node.values[0] = self.expression(node.values[0], s, before)
                for value in node.values[1:]:
                    self._lazy(value)
            return node
        if isinstance(node, (gast.ListComp, gast.DictComp)):
            return self.collect(node, s, before)
        function = self.scope.canonical(node.func) if isinstance(node, gast.Call) else None
        if function in TESTS:
            return node
        if lists_iterator(node, self.scope):
            made = self.collect(self._each(node.args[0]), s, before)
            return made if function == COLLECTING[0] else gast.Call(node.func, [made], [])
        if (change := change_of(gast.Expr(node))) is not None and change.method == "pop":
            return self._popped(node, change.base, s, before)
        if (
            function in REDUCING
            and not node.keywords
            and len(node.args) in (1, 1 + (function == SUM))
        ):
            return self.reduce(function, node, s, before)
        if function in COLLECTING and len(node.args) == 1 and isinstance(node.args[0], gast.GeneratorExp):
            node.args[0] = self.collect(node.args[0], s, before)
            return node.args[0] if function == COLLECTING[0] else node
        if isinstance(node, gast.GeneratorExp):
            text = expression_text(node)
            message = f"The generator `{text}` is not used up at once by sum, max, min, list or tuple."
            raise Refusal(problem("AD102", message, span_of(node), "Make a list of it."))
        for field, value in gast.iter_fields(node):
            if isinstance(value, gast.expr):
                setattr(node, field, self.expression(value, s, before))
            elif isinstance(value, list):
                for position, item in enumerate(value):
                    if isinstance(item, gast.expr):
                        value[position] = self.expression(item, s, before)
                    elif isinstance(item, gast.keyword):
                        item.value = self.expression(item.value, s, before)
        return node

    def _each(self, over: gast.Call) -> gast.ListComp:
        """`zip(a, b)` as a list: `[(u, v) for u, v in zip(a, b)]`."""
        function = self.scope.canonical(over.func)
        count = {"builtins.zip": len(over.args), "builtins.enumerate": 2}.get(function or "", 0)
        names = [f"item_{k}" for k in range(count)] or ["item"]
        item: gast.expr = gast.Tuple([name(n) for n in names], gast.Load())
        target: gast.expr = gast.Tuple([store(n) for n in names], gast.Store())
        if not count:
            item, target = name("item"), store("item")
        return gast.ListComp(item, [gast.comprehension(target, over, [], 0)])

    def _popped(self, node: gast.Call, base: str, s: gast.stmt, before: list[gast.stmt]) -> gast.expr:
        """A value that is popped in the middle of an expression is popped before it; several are, in their
        order."""
        inside = [n for n in flow.walk(s) if isinstance(n, gast.Name) and n.id == base]
        changes = [change_of(gast.Expr(n)) for n in flow.walk(s) if isinstance(n, gast.Call)]
        pops = [c for c in changes if c is not None and c.method == "pop" and c.base == base]
        if len(inside) > len(pops):
            message = f"`{base}` is changed in the middle of a statement that reads it."
            raise Refusal(problem("AD302", message, span_of(s), "Pop in a statement of its own."))
        kept = self.fresh.new("t", "popped")
        before.append(assign(kept, node))
        self.varied.add(kept)
        return name(kept)

    def _branches(self, node: gast.IfExp, s: gast.stmt, before: list[gast.stmt]) -> gast.expr:
        """`a if test else sum(xs)` as an `if` statement, in which `sum(xs)` is a loop."""
        chosen = self.own_name("chosen")
        branch = gast.If(node.test, [], [])
        for value, block in ((node.body, branch.body), (node.orelse, branch.orelse)):
            part = self.expression(value, s, block)
            block.append(assign(chosen, part))
        for x in flow.statements([branch]):
            gast.copy_location(x, s)
        before.append(branch)
        self.varied.add(chosen)
        return name(chosen)

    def _lazy(self, node: gast.expr) -> None:
        """Refuse comprehensions in what is evaluated only sometimes, or more than once."""
        if (found := self._left_out(node)) is not None:
            message = f"`{expression_text(found)}` is evaluated only under a condition here."
            raise Refusal(problem("AD102", message, span_of(found), "Use an `if` statement."))

    def _left_out(self, node: gast.expr) -> gast.expr | None:
        """A part of an expression that has to stand before the statement."""
        if isinstance(node, gast.Call) and self.scope.canonical(node.func) in TESTS:
            return None
        for child in gast.iter_child_nodes(node):
            if isinstance(child, gast.expr) and (found := self._left_out(child)) is not None:
                return found
        call = change_of(gast.Expr(node))
        popped = call is not None and call.method == "pop"
        function = self.scope.canonical(node.func) if isinstance(node, gast.Call) else None
        reducing = function in REDUCING and len(node.args) == 1
        wanted = popped or reducing or isinstance(node, COMPREHENSIONS)
        return node if wanted and self._is_varied(node) else None


def _is_addition(s: gast.stmt) -> bool:
    """Whether an assignment stands for `xs += ys`: its operand has the place of its target."""
    return (
        isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and isinstance(s.value, gast.BinOp)
        and isinstance(s.value.op, gast.Add)
        and isinstance(s.value.left, gast.Name)
        and s.value.left.id == s.targets[0].id
        and hasattr(s.value.left, "lineno")
        and hasattr(s.targets[0], "lineno")
        and span_of(s.value.left) == span_of(s.targets[0])
    )


def _is_itself(s: gast.Assign) -> bool:
    target = s.targets[0]
    return isinstance(target, gast.Name) and isinstance(s.value, gast.Name) and s.value.id == target.id


def _is_unpacked(s: gast.Assign) -> bool:
    return all(isinstance(t, (gast.Tuple, gast.List)) for t in s.targets)
