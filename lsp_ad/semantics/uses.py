"""What the use of a parameter says about it, where that use is certain to happen.

`range(n)` fails unless n is an integer, `math.exp(x)` and `float(x)` unless x is a number, and
`n, d = x.shape` unless x has two dimensions; so a function that always does one of these has told
the kind of its parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import cached_property

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.names import parameters
from lsp_ad.semantics.shapes import INT, Kind
from lsp_ad.source.trees import children, walk

Canonical = Callable[[gast.AST], str | None]
LOOP_OPTIONS = ("lsp_ad.loop_options", "lsp_ad.markers.loop_options")
_COUNTED = frozenset((gast.Call, gast.Compare, gast.Subscript))
_KEYED = frozenset((gast.Attribute, gast.Subscript, gast.For, gast.comprehension))
_CHOOSING = frozenset((gast.If, gast.While, gast.IfExp))
_CLOSED = frozenset(
    (gast.Lambda, gast.ListComp, gast.GeneratorExp, gast.SetComp, gast.DictComp, gast.FunctionDef)
)


class Uses:
    """What the use of the parameters of one function says, found when it is first asked for; `keeps` as for
    `tested`."""

    def __init__(self, function: gast.FunctionDef, canonical: Canonical, keeps: Callable[[gast.expr], bool]):
        self.function = function
        self.names = parameters(function)
        self.canonical = canonical
        self.keeps = keeps

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        return kinds_by_use(self.function, self.names, self.canonical)

    @cached_property
    def tested(self) -> set[str]:
        return tested(self.function, self.names, self.keeps)


def kinds_by_use(function: gast.FunctionDef, names: list[str], canonical: Canonical) -> dict[str, Kind]:
    """Kinds of parameters that are never assigned, as the statements that always run imply."""
    assigned = {
        n.id for n in walk(function) if isinstance(n, gast.Name) and isinstance(n.ctx, (gast.Store, gast.Del))
    }
    wanted = set(names) - assigned
    found: dict[str, Kind] = {}
    if not wanted:
        return found
    for statement in function.body:
        for call in _certain_calls(statement):
            _learn(call, wanted, canonical, found)
        if isinstance(statement, gast.Assign):
            _unpacked_shape(statement, wanted, found)
        if _may_return(statement):
            break
    return found


def _may_return(s: gast.stmt) -> bool:
    """Whether a function may come to its end in a statement, so that what follows is not sure to run.

    Where it raises an exception it has no value, unless it handles that.
    """
    if isinstance(s, gast.If):
        return any(_may_return(inner) for block in flow.blocks(s) for inner in block)
    if isinstance(s, (gast.Assign, gast.AugAssign, gast.Expr, gast.Raise)):
        return False
    return any(isinstance(n, (gast.Return, gast.Raise)) for n in walk(s))


def tested(function: gast.FunctionDef, names: list[str], keeps: Callable[[gast.expr], bool]) -> set[str]:
    """The parameters that an `if` or `while` compares as they come: surely numbers, or arrays of one element.

    The second is so rare that the first is assumed, and checked by the generated code. A local name that
    starts as the parameter (`k = n`) stands for it; a counter may also be tested by itself (`while k:`).
    A name that is also bound to what may be a number, though made of an array (`y = np.sum(y)`), says
    nothing; `keeps`: whether a value is not of that sort.
    """
    found: set[str] = set()
    nodes = walk(function)
    if not any(type(node) in _CHOOSING for node in nodes):
        return found
    unclear: set[str] = set()
    for node in nodes:
        if isinstance(node, gast.Assign) and not keeps(node.value):
            unclear |= flow.stored(node)
        elif isinstance(node, (gast.For, gast.NamedExpr)):
            unclear |= flow.stored(node.target)
    counters = {
        n.target.id for n in nodes if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)
    }
    for node in nodes:
        if type(node) in _CHOOSING:
            pending = [node.test]
            while pending:
                test = pending.pop()
                if isinstance(test, gast.BoolOp):
                    pending += test.values
                elif isinstance(test, gast.UnaryOp):
                    pending.append(test.operand)
                elif isinstance(test, gast.Name) and test.id in counters:
                    found.add(test.id)
                elif isinstance(test, gast.Compare) and all(
                    isinstance(op, (gast.Lt, gast.LtE, gast.Gt, gast.GtE)) for op in test.ops
                ):
                    found |= {n.id for n in [test.left, *test.comparators] if isinstance(n, gast.Name)}
    copies = [
        (n.targets[0].id, n.value.id)
        for n in nodes
        if isinstance(n, gast.Assign)
        and isinstance(n.targets[0], gast.Name)
        and isinstance(n.value, gast.Name)
    ]
    for _ in copies:
        found |= {original for copy, original in copies if copy in found - unclear}
    return (found - unclear) & set(names)


def used_as_int(function: gast.FunctionDef, canonical: Canonical) -> set[str]:
    """The names that are counted to, indexed with or compared with a string, not differentiated."""
    found = set()
    for node in [n for n in walk(function) if type(n) in _COUNTED]:
        if isinstance(node, gast.Call) and canonical(node.func) == "builtins.range":
            found |= {a.id for a in node.args if isinstance(a, gast.Name)}
        elif isinstance(node, gast.Call) and canonical(node.func) in LOOP_OPTIONS:
            found |= {k.value.id for k in node.keywords if isinstance(k.value, gast.Name)}
        elif isinstance(node, gast.Compare) and any(
            isinstance(c, gast.Constant) and isinstance(c.value, str) for c in [node.left, *node.comparators]
        ):
            found |= {c.id for c in [node.left, *node.comparators] if isinstance(c, gast.Name)}
        elif isinstance(node, gast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
            for part in parts:
                inner = [part.lower, part.upper, part.step] if isinstance(part, gast.Slice) else [part]
                found |= {p.id for p in inner if isinstance(p, gast.Name)}
    return found


def used_as_dict(body: list[gast.stmt]) -> set[str]:
    """The names that are read under a key that is a string, or one of their own, or asked for their keys."""
    found = set()
    keys: dict[str, str] = {}
    for node in [n for s in body for n in walk(s) if type(n) in _KEYED]:
        if isinstance(node, gast.Attribute) and node.attr in ("items", "keys", "values"):
            if isinstance(node.value, gast.Name):
                found.add(node.value.id)
        elif isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name):
            if is_string(node.slice):
                found.add(node.value.id)
        elif isinstance(node, (gast.For, gast.comprehension)) and isinstance(node.target, gast.Name):
            over = node.iter
            if (
                isinstance(over, gast.Call)
                and getattr(over.func, "id", "") in ("sorted", "list")
                and over.args
            ):
                over = over.args[0]
            if isinstance(over, gast.Name):
                keys[node.target.id] = over.id
    for node in (n for s in body for n in walk(s)) if keys else ():
        if (
            isinstance(node, gast.Subscript)
            and isinstance(node.value, gast.Name)
            and isinstance(node.slice, gast.Name)
            and keys.get(node.slice.id) == node.value.id
        ):
            found.add(node.value.id)
    return found


def is_string(key: gast.expr) -> bool:
    """Whether a key is surely a string."""
    return isinstance(key, gast.JoinedStr) or (isinstance(key, gast.Constant) and isinstance(key.value, str))


def joined_or_added(function: gast.FunctionDef, names: Set[str]) -> list[str]:
    """The parameters for which `x + y` or `x * 2` would join or repeat lists, if lists were given.

    `names` are those of unknown kind; for the others, and where an operation of the function fails for a
    list, the meaning is that of arrays.
    """
    pairs: list[set[str]] = []
    arrays: set[str] = set()
    for node in walk(function) if names else ():
        for part in _no_lists(node):
            arrays |= {part.id} if isinstance(part, gast.Name) else set()
            if isinstance(part, gast.BinOp) and (found := _joined(part, names)) is not None:
                arrays |= found  # what it gives would be a list, too
        if isinstance(node, gast.BinOp) and (found := _joined(node, names)) is not None:
            pairs.append(found)
    return sorted({min(found) for found in pairs if not found & arrays})


def _joined(node: gast.BinOp, names: Set[str]) -> set[str] | None:
    """The parameters in a sum of two, or in the product of one with an integer."""
    left, right = node.left, node.right
    found = {n.id for n in (left, right) if isinstance(n, gast.Name) and n.id in names}
    if isinstance(node.op, gast.Add) and isinstance(left, gast.Name) and isinstance(right, gast.Name):
        return found if {left.id, right.id} <= names else None
    number = right if isinstance(left, gast.Name) else left
    if isinstance(node.op, gast.Mult) and isinstance(number, gast.Constant) and type(number.value) is int:
        return found or None
    return None


def _no_lists(node: gast.AST) -> list[gast.expr]:
    """The parts of an expression that are no lists where it can be evaluated."""
    if isinstance(node, gast.BinOp):
        if isinstance(node.op, gast.Mult):
            parts = [node.left, node.right]
            known = any(isinstance(p, gast.Constant) and type(p.value) is int for p in parts)
            return [] if known else parts
        return [] if isinstance(node.op, gast.Add) else [node.left, node.right]
    if isinstance(node, gast.UnaryOp) and not isinstance(node.op, gast.Not):
        return [node.operand]
    if isinstance(node, gast.Attribute):
        return [node.value]
    if isinstance(node, gast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Tuple):
        return [node.value]
    return []


def _certain_calls(statement: gast.stmt) -> list[gast.Call]:
    """The calls that a statement of the body surely evaluates."""
    roots: list[gast.AST] = flow.header(statement)
    found: list[gast.Call] = []
    while roots:
        node = roots.pop()
        kind = type(node)
        if kind is gast.Name or kind is gast.Constant:
            continue
        if kind is gast.Call:
            found.append(node)
        if kind is gast.IfExp or kind is gast.BoolOp:
            roots.append(node.test if kind is gast.IfExp else node.values[0])
        elif kind not in _CLOSED:
            roots += children(node)
    return found


def _learn(node: gast.Call, wanted: set[str], canonical: Canonical, found: dict[str, Kind]) -> None:
    if not any(isinstance(a, gast.Name) and a.id in wanted for a in node.args):
        return
    name = canonical(node.func) or ""
    if name == "builtins.range":
        for a in node.args:
            if isinstance(a, gast.Name) and a.id in wanted:
                found[a.id] = INT
    elif name == "builtins.float" or (
        name.startswith("math.") and name not in ("math.fsum", "math.prod", "math.dist")
    ):
        for a in node.args:
            if isinstance(a, gast.Name) and a.id in wanted:
                found.setdefault(a.id, Kind("number", None, (), fresh=True))


def _unpacked_shape(statement: gast.Assign, wanted: set[str], found: dict[str, Kind]) -> None:
    """`n, d = x.shape`: x has two dimensions."""
    target, value = statement.targets[0], statement.value
    if (
        isinstance(target, gast.Tuple)
        and isinstance(value, gast.Attribute)
        and value.attr == "shape"
        and isinstance(value.value, gast.Name)
        and value.value.id in wanted
        and not any(isinstance(e, gast.Starred) for e in target.elts)
    ):
        x = value.value.id
        found[x] = Kind("array", None, tuple(f"{x}.{i}" for i in range(len(target.elts))))
