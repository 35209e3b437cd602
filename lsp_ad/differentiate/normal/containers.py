"""Normal form of what lists, tuples and dicts do: each statement with one of their operations on names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from lsp_ad.differentiate.reverse.values import name_taken
from lsp_ad.differentiate.types.library import MAKERS, is_copy
from lsp_ad.problems import Refusal, problem
from lsp_ad.rules.helpers import RUNTIME
from lsp_ad.semantics.changes import Change, is_access
from lsp_ad.semantics.shapes import OTHER
from lsp_ad.simplify.algebra import assign, call, constant, name, store
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import expression_text
from lsp_ad.source.trees import copied, located, shallow

if TYPE_CHECKING:
    from lsp_ad.differentiate.normal.form import Normalizer

ARRAYS = ("numpy.array", "numpy.asarray")


class Containers:
    """The part of the normal form that lists, tuples and dicts have for themselves."""

    def __init__(self, normal: Normalizer):
        self.normal = normal

    def change(self, s: gast.Expr | gast.Assign, change: Change, out: list[gast.stmt]) -> None:
        """A change of an active list: what is popped gets a name."""
        if isinstance(s, gast.Assign):
            place, value = s.targets[0], self.normal.argument(change.args[1], s, out)
            where = self.normal.index(place.slice, s, out)
            place = gast.Subscript(place.value, where, gast.Store())
            out.append(located(gast.Assign([place], value, None), s))
            return
        if change.method == "pop":
            target = self.normal.fresh.new("t", "popped")
            self.normal.kinds.names[target] = self.normal.kinds.of(s.value)
            out.append(located(assign(target, s.value), s))
            return
        call = shallow(s.value)
        call.args = [*change.args[:-1], self.normal.argument(change.args[-1], s, out)]
        out.append(located(gast.Expr(call), s))

    def unpack_starred(
        self, target: gast.Tuple | gast.List, value: gast.expr, s: gast.stmt, out: list[gast.stmt]
    ) -> None:
        """`a, *rest, b = xs`: `a = xs[0]`, `rest = list(xs[1:-1])`, `b = xs[-1]`."""
        star = next(i for i, t in enumerate(target.elts) if isinstance(t, gast.Starred))
        whole = value if isinstance(value, gast.Name) else self.normal.temporary(value, s, out)
        last = star + 1 - len(target.elts)
        for position, part in enumerate(target.elts):
            if isinstance(part, gast.Starred):
                where: gast.expr = gast.Slice(constant(star), constant(last) if last else None, None)
            else:
                where = constant(position if position < star else position - len(target.elts))
            item: gast.expr = gast.Subscript(copied(whole), where, gast.Load())
            if isinstance(part, gast.Starred):
                part, item = part.value, call("list", item)
            self.normal.assignment(located(gast.Assign([part], item, None), s), out)

    def over_dict(self, s: gast.For, out: list[gast.stmt]) -> bool:
        """A loop over the items or the values of a dict reads them by their keys."""
        over = s.iter
        if not (is_access(over) and over.func.attr in ("items", "values") and not over.args):
            return False
        over.func.value = self.normal.iterable(over.func.value, s, out)
        if over.func.attr == "values":
            key = self.normal.fresh.new("t", "key")
            self.normal.kinds.names[key] = OTHER
            s.target = gast.Tuple([store(key), s.target], gast.Store())
            over.func.attr = "items"
        elif not (isinstance(s.target, gast.Tuple) and isinstance(s.target.elts[0], gast.Name)):
            text = expression_text(over)
            raise Refusal(
                problem(
                    "AD102", f"The items of `{text}` are not unpacked.", span_of(s), "Write `for k, v in`."
                )
            )
        return True

    def _made(self, made: str, node: gast.Call, s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        """`list(x)` and the like of a name; `dict(a=x)` as `{"a": x}`."""
        if made == "dict" and not node.args and all(k.arg for k in node.keywords):
            keys = [constant(k.arg) for k in node.keywords]
            return self.normal.simple(gast.Dict(keys, [k.value for k in node.keywords]), s, out)
        if len(node.args) != 1 or node.keywords or made == "sorted":
            message = f"`{expression_text(node)}` cannot be differentiated."
            raise Refusal(problem("AD102", message, span_of(node if hasattr(node, "lineno") else s)))
        inner = node.args[0]
        if is_access(inner) and inner.func.attr == "values":
            return self.normal.simple(inner, s, out)
        node.args = [self.normal.temporary(inner, s, out) if not isinstance(inner, gast.Name) else inner]
        return node

    def arrays(self, node: gast.Call, s: gast.stmt, out: list[gast.stmt]) -> None:
        """NumPy takes a list for the array of its items: this is what the rules see."""
        operation = self.normal.scope.operation(node)
        if operation is None or operation.rule.parameters[0] in ("arrays",) or operation.rule.name in ARRAYS:
            return
        module = self.normal.scope.alias_of("numpy")
        for place, argument in enumerate(node.args):
            kind = self.normal.kinds.of(argument)
            if isinstance(argument, gast.Dict) and self.normal.is_active(argument):
                node.args[place] = self.normal.temporary(argument, s, out)
            elif operation.rule.name.startswith(RUNTIME):
                continue  # these take lists as lists
            elif kind.type in ("list", "tuple") and self.normal.is_active(argument):
                if module is None:
                    raise Refusal(name_taken("np", "the module numpy", span_of(s)))
                function = gast.Attribute(name(module), "array", gast.Load())
                node.args[place] = self.normal.temporary(gast.Call(function, [argument], []), s, out)

    def _named(self, node: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        """An operand as a name, if it is active."""
        if isinstance(node, gast.Name) or not self.normal.is_active(node):
            return node
        return self.normal.temporary(node, s, out)

    def _starred(self, node: gast.Tuple | gast.List, s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        """`[a, *xs]` as `[a] + list(xs)`."""
        parts: list[gast.expr] = []
        for e in node.elts:
            if isinstance(e, gast.Starred):
                parts.append(call("list", e.value))
            elif parts and isinstance(parts[-1], gast.List):
                parts[-1].elts.append(e)
            else:
                parts.append(gast.List([e], gast.Load()))
        total = parts[0]
        for part in parts[1:]:
            total = gast.BinOp(total, gast.Add(), part)
        made = call("tuple", total) if isinstance(node, gast.Tuple) else total
        return self.normal.simple(made, s, out)

    def chosen(self, node: gast.expr) -> gast.IfExp | None:
        """`d.get(k, e)` as `d[k] if k in d else e`."""
        if not (is_access(node) and node.func.attr == "get" and node.args):
            return None
        key, default = node.args[0], node.args[1] if len(node.args) > 1 else constant(None)
        item = gast.Subscript(node.func.value, key, gast.Load())
        test = gast.Compare(copied(key), [gast.In()], [copied(node.func.value)])
        return gast.IfExp(test, item, default)

    def made(self, node: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> gast.expr | None:
        """What makes a list, a tuple or a dict of another one: of a name."""
        if isinstance(node, (gast.Tuple, gast.List)) and any(isinstance(e, gast.Starred) for e in node.elts):
            return self._starred(node, s, out)
        if isinstance(node, gast.BinOp) and self.normal.kinds.of(node).type in ("list", "tuple"):
            node.left, node.right = self._named(node.left, s, out), self._named(node.right, s, out)
            return node
        if is_access(node):
            if node.func.attr == "pop":
                return node
            node.func = shallow(node.func)
            node.func.value = self.normal.atom(node.func.value, s, out)
            return call("list", node)
        if is_copy(node) and (kind := self.normal.kinds.of(node.func.value)).is_structure:
            return call(kind.type, self.normal.atom(node.func.value, s, out))
        if isinstance(node, gast.Call):
            function = MAKERS.get(self.normal.scope.canonical(node.func) or "")
            return self._made(function, node, s, out) if function else None
        return None
