"""Which names carry a derivative: those that depend on wrt and that the result depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import change_of, is_access
from lsp_ad.semantics.memory import stored_value, written_root
from lsp_ad.semantics.texts import kind_of_method
from lsp_ad.source.trees import children


def active_names(
    body: list[gast.stmt],
    wrt: Iterable[str],
    result: str,
    carries: Callable[[gast.expr], set[str]],
    real: Callable[[str], bool],
    declared: Iterable[tuple[set[str], set[str]]] = (),
) -> set[str]:
    """Names that are varied (depend on wrt) and useful (the result depends on them).

    `carries` gives the names through which an expression carries a derivative (none in `x > 0`,
    only `x` in `x[i]`); `real` says whether a name can hold a real number at all. `declared`: what
    influences what besides, whatever the statements say.
    """
    edges: list[tuple[set[str], set[str]]] = list(declared)
    for statement in flow.statements(body):
        array = written_root(statement)
        if array is not None:
            edges.append((carries(stored_value(statement)), {array}))
        elif isinstance(statement, gast.Assign):
            edges += _edges(statement.targets, statement.value, carries)
        elif isinstance(statement, gast.For):
            edges.append((carries(statement.iter), flow.stored(statement.target)))
        change = change_of(statement)
        if change is not None:
            edges.append((set().union(*map(carries, change.args)), {change.base}))
    varied = closure(set(wrt), [(s, {t for t in targets if real(t)}) for s, targets in edges])
    useful = closure({result}, [(targets, sources) for sources, targets in edges])
    return varied & useful


def _edges(targets: list[gast.expr], value: gast.expr, carries) -> list[tuple[set[str], set[str]]]:
    found = []
    for target in targets:
        if (
            isinstance(target, gast.Tuple)
            and isinstance(value, gast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            for part, item in zip(target.elts, value.elts, strict=True):
                found += _edges([part], item, carries)
        else:
            found.append((carries(value), flow.stored(target)))
    return found


def closure(start: set[str], edges: list[tuple[set[str], set[str]]]) -> set[str]:
    """Everything reachable along edges (from any of a set, to all of a set)."""
    follow: dict[str, set[str]] = {}
    for sources, targets in edges:
        for source in sources:
            follow.setdefault(source, set()).update(targets)
    found, pending = set(start), list(start)
    while pending:
        for target in follow.get(pending.pop(), ()):
            if target not in found:
                found.add(target)
                pending.append(target)
    return found


_NONE = (gast.Constant, gast.Compare, gast.JoinedStr, gast.Slice)
_INTEGER = (gast.FloorDiv, gast.BitAnd, gast.BitOr, gast.BitXor, gast.LShift, gast.RShift)


class Carries:
    """The function `carries` of `active_names` for one function's scope, which remembers what it was asked.

    `still`: expressions, by their ids, through which no derivative flows. Who rewrites expressions has it
    forget.
    """

    def __init__(self, operation: Callable, canonical: Callable, still: dict[int, gast.expr]):
        self.operation = operation
        self.canonical = canonical
        self.still = still
        self._known: dict[int, tuple[gast.expr, set[str]]] = {}

    def forget(self) -> None:
        self._known.clear()

    def __call__(self, node: gast.expr | None) -> set[str]:
        if isinstance(node, gast.Name):
            return {node.id}
        if node is None or type(node) in _NONE:
            return set()
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (node, self._of(node))
        return known[1]

    def _of(self, node: gast.expr) -> set[str]:
        carries = self
        if isinstance(node, gast.BinOp):
            return set() if isinstance(node.op, _INTEGER) else carries(node.left) | carries(node.right)
        if isinstance(node, gast.Call):
            if id(node) in self.still:
                return set()
            if kind_of_method(node) is not None and self.canonical(node.func) is None:
                return set()
            if is_access(node) and self.canonical(node.func) is None:
                return carries(node.func.value).union(*map(carries, node.args))
            operation = self.operation(node)
            if operation is not None:
                if operation.rule.is_zero:
                    return set()
                given = [
                    *zip(operation.rule.parameters, operation.args, strict=False),
                    *((k.arg, k.value) for k in operation.keywords),
                ]
                more = operation.args[len(operation.rule.parameters) :]
                passive = operation.rule.passive
                return set().union(*(carries(a) for p, a in given if p not in passive), *map(carries, more))
        if isinstance(node, gast.UnaryOp):
            return set() if isinstance(node.op, (gast.Not, gast.Invert)) else carries(node.operand)
        if isinstance(node, (gast.ListComp, gast.DictComp, gast.GeneratorExp)):
            return flow.reads(node)
        if isinstance(node, gast.Subscript):
            return carries(node.value)
        if isinstance(node, gast.IfExp):
            return carries(node.body) | carries(node.orelse)
        if isinstance(node, gast.Attribute):
            return carries(node.value) if self.operation(node) is not None else set()
        found: set[str] = set()
        for child in children(node):
            if isinstance(child, gast.expr) and not (isinstance(node, gast.Call) and child is node.func):
                found |= carries(child)
            elif isinstance(child, gast.keyword):
                found |= carries(child.value)
        return found
