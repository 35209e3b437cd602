"""What is used where: how often names are read, which of them a program updates, which functions recur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from lsp_ad.staging.lantern.elementwise import ELEMENTWISE
from lsp_ad.staging.lantern.ir import (
    Binding,
    Call,
    Expr,
    Function,
    If,
    Item,
    Let,
    Op,
    Program,
    Update,
    Var,
    While,
    children,
    walk,
)

LIST_UPDATES = ("list-append", "list-pop", "list-set")
# A name, or one item of a name that stands for a tuple.
Use = str | tuple[str, int]


def uses(*exprs: Expr) -> Counter[Use]:
    """How often each name is read; reading one item of a tuple is reading that item only.

    The size of an array is not part of what is read: it stays when the array is written into.
    """
    found: Counter[Use] = Counter()
    pending = list(exprs)
    while pending:
        expr = pending.pop()
        if isinstance(expr, Item) and isinstance(expr.value, Var):
            found[expr.value.name, expr.index] += 1
            continue
        if size_of(expr) is not None:
            continue
        if isinstance(expr, Var):
            found[expr.name] += 1
        pending += children(expr)
    return found


def size_of(expr: Expr) -> str | None:
    """The name whose size an expression is."""
    if isinstance(expr, Op) and expr.name == "size" and isinstance(expr.args[0], Var):
        return expr.args[0].name
    return None


def updated_value(expr: Expr) -> Expr | None:
    """The array or list that an expression gives a changed version of."""
    if isinstance(expr, Update):
        return expr.value
    if isinstance(expr, Op) and expr.name in LIST_UPDATES:
        return expr.args[0]
    return None


def has_updates(expr: Expr, consumed: Mapping[str, frozenset[int]]) -> bool:
    """Whether evaluating an expression may write into memory."""
    return any(
        updated_value(e) is not None or (isinstance(e, Call) and consumed.get(e.function)) for e in walk(expr)
    )


class Updates:
    """The names of a function, each bound once, whose memory may be written into.

    A name is among them if its value may become, unchanged, what an update changes or a callee consumes; with
    `returned`, also what the function returns.
    """

    def __init__(
        self, function: Function, consumed: Mapping[str, frozenset[int]], returned: bool = False
    ) -> None:
        self.sources: dict[str, frozenset[str]] = {}
        self.values: dict[str, Expr] = {}
        self.names: set[str] = set()
        counts = uses(function.body)
        for expr in walk(function.body):
            if isinstance(expr, Let | While):
                for b in expr.bindings:
                    self.sources[b.name] = frozenset(_may_be(b.value))
                    self.values[b.name] = b.value
        for expr in walk(function.body):
            value = updated_value(expr)
            if value is not None:
                self._add(_may_be(value))
            elif isinstance(expr, Call):
                for i in consumed.get(expr.function, ()):
                    self._add(_may_be(expr.args[i]))
            elif isinstance(expr, While):
                for b, value in self._steps(expr):
                    if self._accumulates(value, b.name, counts):
                        self._add(iter([b.name]))
        if returned:
            self._add(_may_be(function.body))

    def _steps(self, loop: While) -> Iterator[tuple[Binding, Expr]]:
        """The values that each variable of a loop may take next."""
        pending = [loop.body]
        while pending:
            match pending.pop():
                case Let(_, body):
                    pending.append(body)
                case If(_, then, orelse):
                    pending += (then, orelse)
                case Var(name) if name in self.values:
                    pending.append(self.values[name])
                case Op("tuple", args) if len(args) == len(loop.bindings):  # else it is never reached
                    yield from zip(loop.bindings, args, strict=True)

    def _accumulates(self, value: Expr, name: str, counts: Counter[Use]) -> bool:
        """Whether a value, which is used nowhere else, is computed from that of a name element by element."""
        pending, first = [value], True
        while pending:
            expr = pending.pop()
            if isinstance(expr, Var) and expr.name == name and not first:
                return True
            if isinstance(expr, Var) and counts[expr.name] == 1 and expr.name in self.values:
                pending.append(self.values[expr.name])
            elif isinstance(expr, Let):
                pending.append(expr.body)
            elif isinstance(expr, Op) and expr.name in ELEMENTWISE:
                pending += expr.args
                first = False
        return False

    def _add(self, names: Iterator[str]) -> None:
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in self.names:
                self.names.add(name)
                pending += self.sources.get(name, ())


def result_of(function: str) -> str:
    """What stands for the result of a function among names."""
    return f"{function}()"


def _may_be(expr: Expr) -> Iterator[str]:
    """The names, or results of functions, that an expression's value, or an item of it, may be as a whole."""
    pending = [expr]
    while pending:
        expr = pending.pop()
        match expr:
            case Var(name):
                yield name
            case Let(_, body):
                pending.append(body)
            case If(_, then, orelse):
                pending += (then, orelse)
            case While(bindings):
                pending += (b.value for b in bindings)
            case Item(value):
                pending.append(value)
            case Call(callee):
                yield result_of(callee)
            case Op("tuple", args):
                pending += args
            case Op("unbroadcast", args):
                pending.append(args[0])
            case Update() | Op():
                changed = updated_value(expr)
                pending += [] if changed is None else [changed]


def consumed_parameters(program: Program) -> dict[str, frozenset[int]]:
    """Which parameters each function writes into, by number, so that its callers must own what they pass.

    Functions that call one another, and write into the results of these calls, also take what they return
    unchanged, so that the results are theirs.
    """
    consumed: dict[str, frozenset[int]] = {f.name: frozenset() for f in program.functions}
    returning: set[str] = set()
    for group in components(program):
        names = set().union(*(Updates(program.table[f], consumed).names for f in group))
        if is_recursive(group, program) and names & set(map(result_of, group)):
            returning |= set(group)
    changed = True
    while changed:
        changed = False
        for f in program.functions:
            names = Updates(f, consumed, f.name in returning).names
            found = frozenset(i for i, (name, _) in enumerate(f.params) if name in names)
            changed = changed or found != consumed[f.name]
            consumed[f.name] = found
    return consumed


def calls(function: Function) -> set[str]:
    return {e.function for e in walk(function.body) if isinstance(e, Call)}


def components(program: Program) -> list[list[str]]:
    """The functions that the entry reaches, in groups that call one another, callees first (Tarjan)."""
    graph = {f.name: sorted(calls(f)) for f in program.functions}
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    work: list[tuple[str, Iterator[str]]] = []

    def enter(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        work.append((name, iter(graph[name])))

    enter(program.entry)
    while work:
        name, following = work[-1]
        for other in following:
            if other not in order:
                enter(other)
                break
            if other in stack:
                low[name] = min(low[name], order[other])
        else:
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[name])
            if low[name] == order[name]:
                at = stack.index(name)
                found.append(stack[at:])
                del stack[at:]
    return found


def is_recursive(group: list[str], program: Program) -> bool:
    return len(group) > 1 or group[0] in calls(program.table[group[0]])
