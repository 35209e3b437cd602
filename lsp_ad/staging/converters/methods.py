"""What Python's compiler does for the text of a class, written out.

    self.__size          self._Model__size
    super().step(x)      super(__class__, self).step(x)

The blocks of a converted method are functions of their own, where neither would mean what it did.
"""

from __future__ import annotations

import gast

from lsp_ad.source.trees import children
from lsp_ad.staging.converters.building import at, name

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)


def convert(function: gast.FunctionDef, owner: str) -> None:
    """Write out the private names of class `owner` ("": there is none), and `super()`."""
    _visit(function, owner, "")


def _visit(node: gast.AST, owner: str, first: str) -> None:
    if isinstance(node, gast.ClassDef):
        for part in node.body:
            _visit(part, node.name, "")
        return
    if isinstance(node, _FUNCTIONS):
        node.name = _mangled(node.name, owner)
        arguments = [*node.args.posonlyargs, *node.args.args]
        first = _mangled(arguments[0].id, owner) if arguments else ""
    elif isinstance(node, gast.Call) and first and not node.args and not node.keywords:
        if isinstance(node.func, gast.Name) and node.func.id == "super":
            node.args = [at(name("__class__"), node), at(name(first), node)]
    elif isinstance(node, gast.Name):
        node.id = _mangled(node.id, owner)
    elif isinstance(node, gast.Attribute):
        node.attr = _mangled(node.attr, owner)
    elif isinstance(node, gast.keyword) and node.arg:
        node.arg = _mangled(node.arg, owner)
    elif isinstance(node, (gast.Nonlocal, gast.Global)):
        node.names = [_mangled(n, owner) for n in node.names]
    for part in children(node):
        _visit(part, owner, first)


def _mangled(text: str, owner: str) -> str:
    """`__x` in a class `Model` is `_Model__x`."""
    private = text.startswith("__") and not text.endswith("__") and "." not in text
    return f"_{owner.lstrip('_')}{text}" if private and owner.strip("_") else text
