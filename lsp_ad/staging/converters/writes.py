"""Writes into arrays and lists.

    y[i] = e             y = ag.set_item(y, i, e)
    y[i] += e            y = ag.update_item(y, i, "+", e)
    y += e               y = ag.update(y, "+", e)
    np.add.at(y, i, e)   y = ag.add_at(y, i, e)
    a.y[i][j] = e        a.y = ag.set_item(a.y, i, j, e)
    y.T[i] = e           y = ag.set_item(y, ag.view("T"), i, e)

A write gives the variable a new value where it is staged: staged arrays cannot be changed. Names that are
read later and may share its memory are handed over with it: `y, z = ag.set_item(y, i, e, z=z)`.
"""

from __future__ import annotations

import gast

from lsp_ad.semantics import memory
from lsp_ad.source.trees import copied
from lsp_ad.staging.converters.building import at, constant, operator, store
from lsp_ad.staging.converters.expressions import Expressions
from lsp_ad.staging.converters.sharing import Shared
from lsp_ad.staging.converters.slices import index_of

_SIGNS = {
    gast.Add: "+",
    gast.Sub: "-",
    gast.Mult: "*",
    gast.Div: "/",
    gast.FloorDiv: "//",
    gast.Mod: "%",
    gast.Pow: "**",
    gast.MatMult: "@",
    gast.BitAnd: "&",
    gast.BitOr: "|",
    gast.BitXor: "^",
    gast.LShift: "<<",
    gast.RShift: ">>",
}

_VIEWING = ("reshape", "ravel", "transpose", "swapaxes", "squeeze")


class Writes(Expressions):
    """Converts the statements that write; `shared`: which names each of them may change besides."""

    def __init__(self, shared: Shared):
        self.shared = shared

    def visit(self, node: gast.AST) -> gast.AST:
        if isinstance(node, gast.Assign) and len(node.targets) == 1 and _is_element(node.targets[0]):
            return self._write(node, "set_item", node.targets[0], [node.value])
        if isinstance(node, gast.AugAssign):
            sign = constant(_SIGNS[type(node.op)])
            which = "update_item" if _is_element(node.target) else "update"
            return self._write(node, which, node.target, [sign, node.value])
        call = memory.scatter(node) if isinstance(node, gast.Expr) else None
        if call is not None and self.shared.is_scatter(call):
            target = gast.Subscript(call.args[0], call.args[1], gast.Load())
            return self._write(node, f"{call.func.value.attr}_at", target, [call.args[2]])
        return super().visit(node)

    def _step(self, target: gast.expr) -> tuple[gast.expr, gast.expr] | None:
        """A step of the path of a write, and what it is one of."""
        if _is_element(target):
            return index_of(target.slice), target.value
        if isinstance(target, gast.Attribute) and target.attr in ("T", "flat"):
            return operator("view", constant(target.attr)), target.value
        method = target.func if isinstance(target, gast.Call) and not target.keywords else None
        if not isinstance(method, gast.Attribute) or method.attr not in _VIEWING:
            return None
        made = operator("view", constant(method.attr), *target.args)
        if isinstance(method.value, gast.Name) and method.value.id in self.shared.in_order:
            made.keywords = [gast.keyword("in_order", constant(True))]
        return made, method.value

    def _write(self, node: gast.stmt, which: str, target: gast.expr, values: list[gast.expr]) -> gast.AST:
        """The statement that gives a variable its value after a write."""
        path: list[gast.expr] = []
        while (step := self._step(target)) is not None:
            path.insert(0, step[0])
            target = step[1]
        base, store_ = copied(target), copied(target)
        base.ctx, store_.ctx = gast.Load(), gast.Store()
        made = operator(which, base, *path, *values)
        found = self.shared.of(node)
        if not _is_place(base) or (found is not None and found.outside and isinstance(base, gast.Name)):
            made.keywords = [gast.keyword("outside", constant(True))]
            return at(gast.Expr(made), node)
        names = found.names if found is not None else []
        if found is not None and found.given:
            made.keywords = [gast.keyword("given", constant(True))]
        if found is not None and found.keeping:
            made.keywords.append(gast.keyword("keeping", constant(", ".join(found.keeping))))
            names = sorted({*names, *found.keeping})
        whole = memory.root(base)
        if found is not None and whole is not None and not isinstance(base, gast.Name):
            made.keywords.append(gast.keyword("whole", gast.Name(whole.id, gast.Load(), None, None)))
        made.keywords += map(_handed, names)
        all_of_them = gast.Tuple([store_, *map(store, names)], gast.Store()) if names else store_
        return at(gast.Assign([all_of_them], made, None), node)


def _handed(name: str) -> gast.keyword:
    """A variable that is handed over with a write, which may have no value yet."""
    made = gast.keyword(name, gast.Name(name, gast.Load(), None, None))
    made.handed = True
    return made


def _is_element(target: gast.AST) -> bool:
    """Whether a target is an element; an entry under a text is a variable of its own."""
    return isinstance(target, gast.Subscript) and not (
        isinstance(target.slice, gast.Constant) and isinstance(target.slice.value, str)
    )


def _is_place(base: gast.expr) -> bool:
    """Whether an expression can be assigned to: a name, an attribute of an object, an entry under a text."""
    if isinstance(base, gast.Attribute) and base.attr in ("real", "imag"):
        return False
    return isinstance(base, (gast.Name, gast.Attribute, gast.Subscript))
