"""Views of arrays that a list, tuple or dict holds: `[y, y[1:], y.T]`  becomes
`[y, ag.get_item(y, slice(1, None, None)), ag.view_of(y, "T")]`; also those that get a name first.

A write into the array has to know them; reads by constant slices elsewhere are left as they stand.
"""

from __future__ import annotations

import gast

from lsp_ad.source.trees import walk
from lsp_ad.staging.converters.building import constant, operator
from lsp_ad.staging.converters.expressions import Expressions
from lsp_ad.staging.converters.sharing import Canonical
from lsp_ad.staging.converters.slices import index_of

_ATTRIBUTES = ("T", "mT", "real", "imag")
_TAKING = ("append", "insert", "extend", "setdefault", "update")


class HeldViews(Expressions):
    kinds = (gast.List, gast.Tuple, gast.Dict, gast.Call, gast.Assign)

    def __init__(self, function: gast.FunctionDef, canonical: Canonical):
        self.canonical = canonical
        held = [part for node in walk(function) for part in _held(node)]
        self.held = {part.id for part in held if isinstance(part, gast.Name)}

    def visit(self, node: gast.AST) -> gast.AST:
        if isinstance(node, gast.Subscript):
            node.value = self.visit(node.value)  # a tuple in an index holds nothing
            return node
        if isinstance(node, gast.Call) and (self.canonical(node.func) or "").startswith("numpy."):
            for part in [*node.args, *(k.value for k in node.keywords)]:
                for inner in gast.iter_child_nodes(part):
                    self.visit(inner)
            return node
        return super().visit(node)

    def convert(self, node: gast.AST) -> gast.AST:
        if isinstance(node, gast.Assign):
            if any(target.id in self.held for target in node.targets if isinstance(target, gast.Name)) or any(
                isinstance(target, (gast.Attribute, gast.Subscript)) for target in node.targets
            ):
                node.value = _known(node.value)
            return node
        held = _held(node)
        held[:] = [_known(part) for part in held]
        return node


def _held(node: gast.AST) -> list[gast.expr]:
    """The list of what a container comes to hold, in the tree."""
    if isinstance(node, gast.Dict):
        return node.values
    if isinstance(node, gast.Call):
        takes = isinstance(node.func, gast.Attribute) and node.func.attr in _TAKING
        return node.args if takes else []
    display = isinstance(node, (gast.List, gast.Tuple)) and isinstance(node.ctx, gast.Load)
    return node.elts if display else []


def _known(part: gast.expr) -> gast.expr:
    """What a container holds, as a view that is remembered if it is one."""
    if isinstance(part, gast.IfExp):
        part.body, part.orelse = _known(part.body), _known(part.orelse)
    text = isinstance(part, gast.Subscript) and isinstance(getattr(part.slice, "value", None), str)
    if isinstance(part, gast.Subscript) and not text:
        return operator("get_item", part.value, index_of(part.slice))
    if isinstance(part, gast.Attribute) and part.attr in _ATTRIBUTES:
        return operator("view_of", part.value, constant(part.attr))
    return part
