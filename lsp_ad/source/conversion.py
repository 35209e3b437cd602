"""From the trees of the standard library to gast's: what gast does, at a fraction of its cost."""

from __future__ import annotations

import ast
from typing import Any

import gast
from gast.ast3 import Ast3ToGAst

_SHARED_KINDS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
# Contexts and operators have no parts and no place: trees share them.
_SHARED: dict[type, gast.AST] = {
    kind: getattr(gast, kind.__name__)() for base in _SHARED_KINDS for kind in base.__subclasses__()
}
_COMMON = """Assign AugAssign Attribute BinOp BoolOp Call Compare Constant Dict Expr For If IfExp
    List ListComp Return Slice Subscript Tuple UnaryOp While With comprehension keyword withitem"""
_NO_NODES = ("attr", "arg", "kind", "type_comment", "is_async")


def _parts(kind: type) -> tuple[str, ...]:
    """The fields of a class of common nodes that hold nodes."""
    return () if kind is ast.Constant else tuple(f for f in kind._fields if f not in _NO_NODES)  # type: ignore[attr-defined]


# For a class of the standard library: that of gast, and the fields that hold nodes.
_CLASSES: dict[type, tuple[Any, tuple[str, ...]]] = {
    getattr(ast, word): (getattr(gast, word), _parts(getattr(ast, word))) for word in _COMMON.split()
}


class _Conversion(Ast3ToGAst):
    """gast's own conversion, with a short way for common nodes."""

    def _visit(self, node: Any) -> Any:
        kind = type(node)
        if kind is list:
            return [self._visit(item) for item in node]
        if kind is ast.Name:
            new = gast.Name.__new__(gast.Name)
            content = new.__dict__
            content.update(node.__dict__)
            content["ctx"] = _SHARED[type(node.ctx)]
            content["annotation"] = content["type_comment"] = None
            return new
        if kind in _CLASSES:
            to, parts = _CLASSES[kind]
            new = to.__new__(to)
            content = new.__dict__
            content.update(node.__dict__)
            for part in parts:
                if (value := content[part]) is not None:
                    content[part] = self._visit(value)
            return new
        return _SHARED[kind] if kind in _SHARED else super()._visit(node)


def ast_to_gast(tree: ast.AST) -> gast.AST:
    """The tree as one of gast."""
    return _Conversion().visit(tree)
