"""Writes into the arrays and lists of an object that was passed in: they are refused.

A parameter that is written is copied on entry; a field of an object is not, and the object of the caller
would change. Any name counts that may share memory with a field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gast

from lsp_ad.differentiate.fence.refused import MUTATORS
from lsp_ad.semantics import flow

# What NumPy has functions and methods for that may give a view; the others make new arrays.
VIEWS = {
    *("reshape", "ravel", "transpose", "squeeze", "swapaxes", "moveaxis", "rollaxis", "expand_dims", "view"),
    *("broadcast_to", "broadcast_arrays", "diagonal", "diag", "flip", "fliplr", "flipud", "rot90"),
    *("asarray", "asanyarray", "ascontiguousarray", "atleast_1d", "atleast_2d", "atleast_3d"),
    *("split", "array_split", "hsplit", "vsplit", "real", "imag", "nditer", "lib", "require"),
}
_NEW = {"copy", "sum", "mean", "dot", "max", "min", "tolist", "item", "prod", "std", "var", "clip"}


def written(
    function: gast.FunctionDef, fields: set[str], canonical: Callable[[gast.AST], str | None]
) -> gast.stmt | None:
    """The first statement that may write into what one of these names stands for."""
    statements = list(flow.statements(function.body))
    shared = set(fields)
    before = 0
    while len(shared) > before:
        before = len(shared)
        for s in statements:
            source = s.iter if isinstance(s, gast.For) else getattr(s, "value", None)
            if isinstance(s, gast.AugAssign) or source is None:
                continue
            if _roots(source, canonical) & shared:
                shared |= flow.header_writes(s)
    return next((s for s in statements if any(n in shared for n in _written_by(s, canonical))), None)


def _roots(node: gast.AST, canonical: Callable[[gast.AST], str | None]) -> set[str]:
    """The names whose memory a value may have: not that of what an operation makes."""
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
        library = (canonical(node.func) or "").startswith("numpy.")
        if node.func.attr in _NEW or (library and node.func.attr not in VIEWS):
            return set()
    if isinstance(node, gast.Name):
        return {node.id}
    if isinstance(node, (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Constant, gast.JoinedStr)):
        return set()
    if isinstance(node, (gast.Attribute, gast.Subscript)):
        return _roots(node.value, canonical)
    return {n for child in gast.iter_child_nodes(node) for n in _roots(child, canonical)}


def _written_by(s: gast.stmt, canonical: Callable[[gast.AST], str | None]) -> Iterator[str]:
    """The names through which a statement itself writes."""
    if isinstance(s, (gast.Assign, gast.AugAssign)):
        targets = s.targets if isinstance(s, gast.Assign) else [s.target]
        for target in targets:
            for part in target.elts if isinstance(target, (gast.Tuple, gast.List)) else [target]:
                if isinstance(part, gast.Subscript) or isinstance(s, gast.AugAssign):
                    yield from _roots(part, canonical)
    if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
        # a call whose value nobody uses is there for what it changes
        call = s.value
        for part in [] if canonical(call.func) == "builtins.print" else [*call.args, call.func]:
            yield from _roots(part, canonical)
    for node in (n for part in flow.header(s) for n in flow.walk(part)):
        if isinstance(node, gast.Call):
            if isinstance(node.func, gast.Attribute) and node.func.attr in MUTATORS:
                yield from _roots(node.func.value, canonical)
            for k in node.keywords:
                if k.arg == "out":
                    yield from _roots(k.value, canonical)
