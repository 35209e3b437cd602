"""What the fence lets through of lists, tuples, dicts and comprehensions."""

from __future__ import annotations

from abc import ABC, abstractmethod

import gast

from lsp_ad.differentiate.desugar.iterators import lists_iterator
from lsp_ad.differentiate.types.library import MAKERS, VIEWS
from lsp_ad.rules.helpers import RUNTIME
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import change_of
from lsp_ad.semantics.names import parameters
from lsp_ad.source.trees import children


def own_containers(function: gast.FunctionDef, scope: Scope) -> set[str]:
    """The names that only ever stand for lists and dicts which the function itself makes."""
    made: dict[str, bool] = dict.fromkeys(parameters(function), False)
    pieces: dict[str, set[str]] = {}
    for s in flow.statements(function.body):
        if isinstance(s, gast.AugAssign):
            continue  # `xs += ys` leaves a list what it is
        value = s.value if isinstance(s, (gast.Assign, gast.AnnAssign)) else None
        for n in flow.header_writes(s):
            alone = isinstance(s, (gast.Assign, gast.AnnAssign)) and not any(
                isinstance(t, (gast.Tuple, gast.List)) for t in getattr(s, "targets", ())
            )
            update = isinstance(value, gast.BinOp) and getattr(value.left, "id", "") == n
            piece = _sliced(value)
            pieces.setdefault(n, set()).update({piece} if piece else set())
            made[n] = made.get(n, True) and alone and (update or bool(piece) or _makes(value, scope))
    found = {n for n, own in made.items() if own}
    while lacking := {n for n in found if not pieces.get(n, set()) <= found}:
        found -= lacking
    return found


def _sliced(node: gast.expr | None) -> str | None:
    """The name in `xs[1:]`, which is a new list if xs is one."""
    is_slice = isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Slice)
    return node.value.id if is_slice and isinstance(node.value, gast.Name) else None  # type: ignore[union-attr]


def _makes(node: gast.expr | None, scope: Scope) -> bool:
    if isinstance(node, gast.BinOp):
        return isinstance(node.left, gast.List) or isinstance(node.right, gast.List)
    if isinstance(node, gast.Call):
        return scope.canonical(node.func) in MAKERS or is_structure_helper(node, scope)
    return isinstance(node, (gast.List, gast.Dict, gast.ListComp, gast.DictComp))


def tables(function: gast.FunctionDef, own: set[str], scope: Scope) -> set[str]:
    """The lists of lists whose rows surely have no other name: made row by row, and only read by `t[i][j]`,
    `len(t)`, `len(t[i])`, in functions of NumPy, and in what is returned."""
    found = set(own)
    for s in flow.statements(function.body) if own else ():
        value = s.value if isinstance(s, (gast.Assign, gast.AnnAssign)) else None
        for n in flow.header_writes(s) & found:
            if not _makes_rows(value):
                found.discard(n)
        found -= _rows_handed_out(s, scope)
    return found


def _makes_rows(node: gast.expr | None) -> bool:
    """Whether an expression is a list of lists, each of which is new."""
    rows = [node.elt] if isinstance(node, gast.ListComp) else getattr(node, "elts", None)
    return rows is not None and all(
        isinstance(r, (gast.List, gast.ListComp))
        or (isinstance(r, gast.BinOp) and isinstance(r.left, gast.List) and isinstance(r.op, gast.Mult))
        for r in rows
    )


def _rows_handed_out(s: gast.stmt, scope: Scope) -> set[str]:
    """The names that a statement reads as a whole, or of which it takes a row."""
    found: set[str] = set()
    pending: list[gast.AST] = [s]
    if flow.blocks(s):
        pending = [c for c in gast.iter_child_nodes(s) if isinstance(c, (gast.expr, gast.withitem))]
    while pending:
        node = pending.pop()
        if isinstance(node, gast.Name):
            found |= {node.id} if isinstance(node.ctx, gast.Load) else set()
        elif isinstance(node, gast.Subscript) and isinstance(node.value, gast.Subscript):
            inner = node.value
            pending += [node.slice, inner.slice]
            pending += [] if isinstance(inner.value, gast.Name) else [inner.value]
        elif isinstance(node, (gast.Call, gast.Return)):
            taken = isinstance(node, gast.Return) or scope.operation(node) is not None
            for child in children(node):
                row = isinstance(child, gast.Subscript) and isinstance(child.value, gast.Name)
                if taken and row:
                    pending.append(child.slice)
                elif not (taken and isinstance(child, gast.Name)):
                    pending.append(child)
        else:
            pending += children(node)
    return found


def is_structure_helper(node: gast.Call, scope: Scope) -> bool:
    """Whether generated code makes an adjoint of a list or dict by a call."""
    return scope.canonical(node.func) in (f"{RUNTIME}zeros_of", f"{RUNTIME}sum_of", f"{RUNTIME}copy_of")


class ContainerFence(ABC):
    """The part of the fence for lists, tuples and dicts."""

    scope: Scope
    own: set[str]
    tables: set[str]

    @abstractmethod
    def expression(self, node: gast.expr) -> None: ...

    @abstractmethod
    def iterable(self, node: gast.expr) -> None: ...

    @abstractmethod
    def target(self, target: gast.expr, s: gast.AST) -> None: ...

    @abstractmethod
    def refuse(self, code: str, message: str, node: gast.AST) -> None: ...

    def change(self, s: gast.Expr | gast.Assign) -> bool:
        """Whether a statement changes a list of the function's own by a method; its arguments are checked."""
        change = change_of(s)
        if change is None or change.method == "set" or change.base not in self.scope.local:
            return False
        counts = {"extend": (1,), "append": (1,), "insert": (2,), "pop": (0, 1)}[change.method]
        if len(change.args) not in counts:
            return False
        for argument in change.args:
            self.expression(argument)
        return True

    def is_own_item(self, target: gast.Subscript) -> bool:
        """Whether a target is an item of a list or dict that the function itself made."""
        inner = target.value
        if isinstance(inner, gast.Subscript):
            return isinstance(inner.value, gast.Name) and inner.value.id in self.tables
        return isinstance(inner, gast.Name) and inner.id in self.own

    def starred_display(self, node: gast.expr) -> bool:
        """Whether an expression is a list or tuple with starred parts; these are checked."""
        if not isinstance(node, (gast.List, gast.Tuple)):
            return False
        if not any(isinstance(e, gast.Starred) for e in node.elts):
            return False
        for e in node.elts:
            self.expression(e.value if isinstance(e, gast.Starred) else e)
        return True

    def listed_iterator(self, node: gast.Call) -> bool:
        """Whether a call makes a list or tuple of a `zip` or the like; what that goes over is checked."""
        known = lists_iterator(node, self.scope)
        if known:
            self.iterable(node.args[0])
        return known

    def container_call(self, name: str | None, node: gast.Call) -> bool:
        """Whether a call makes a list or dict, or reads one by a method; its arguments are checked before."""
        if name in MAKERS:
            plain = len(node.args) <= 1 and (name == "builtins.dict" or not node.keywords)
            return plain and not any(isinstance(a, gast.Starred) for a in node.args)
        change = change_of(gast.Expr(node))
        if change is not None and change.method == "pop" and change.base in self.scope.local:
            return len(node.args) <= 1
        if name is None and isinstance(node.func, gast.Attribute) and node.func.attr in (*VIEWS, "get"):
            self.expression(node.func.value)
            return not node.keywords
        return False

    def comprehension(self, node: gast.expr) -> None:
        parts = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
        for g in node.generators:
            self.target(g.target, node)
            self.iterable(g.iter)
            parts += g.ifs
            if g.is_async:
                self.refuse("AD102", "An asynchronous comprehension cannot be differentiated.", node)
        for part in parts:
            self.expression(part)
