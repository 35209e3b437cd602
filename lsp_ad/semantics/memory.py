"""Memory: which statements write into an array in place, and which names may share one.

`a[s] = e`, `a[s] += e` and `np.add.at(a, s, e)` change the array that `a` stands for; every name of the
same array, and every view of it, sees the change. A name is the *root* of `a[0].T[s]`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import gast

from lsp_ad.semantics import flow

Canonical = Callable[[gast.AST], str | None]
SCATTERS = ("numpy.add.at", "numpy.subtract.at")
_LISTS = (gast.List, gast.Tuple, gast.ListComp)
SHAPE_ATTRIBUTES = ("shape", "size", "ndim", "dtype")
SHAPE_FUNCTIONS = ("shape", "size", "ndim", "zeros_like", "ones_like", "empty_like", "len")
# The functions of lsp_ad.runtime that may hand on what they are given: how many of their arguments.
_HANDED_ON = {"unbroadcast": 1, "sum_of": 2, "part_of_sum": 1, "like": 1, "joined_like": 1, "filled": 1}
VIEWING_METHODS = ("reshape", "transpose", "ravel", "swapaxes", "view", "squeeze")


def root(node: gast.AST) -> gast.Name | None:
    """The name whose array a path of indices, `.T` and viewing methods is part of; None for other
    expressions."""
    while not isinstance(node, gast.Name):
        if isinstance(node, (gast.Subscript, gast.Attribute)):
            node = node.value
        elif (
            isinstance(node, gast.Call)
            and isinstance(node.func, gast.Attribute)
            and node.func.attr in VIEWING_METHODS
        ):
            node = node.func.value
        else:
            return None
    return node


def are_apart(a: gast.expr, b: gast.expr) -> bool:
    """Whether two parts of one array surely have no element in common: `m[0]` and `m[1]`, `m[:, 0]` and
    `m[:, 1:]`."""
    if not (isinstance(a, gast.Subscript) and isinstance(b, gast.Subscript)):
        return False
    if not (isinstance(a.value, gast.Name) and isinstance(b.value, gast.Name) and a.value.id == b.value.id):
        return False
    for p, q in zip(_axes(a.slice), _axes(b.slice), strict=False):
        first, second = _range(p), _range(q)
        if first is None or second is None:
            return False
        if first[1] <= second[0] or second[1] <= first[0]:
            return True
    return False


def _axes(index: gast.expr) -> list[gast.expr]:
    return index.elts if isinstance(index, gast.Tuple) else [index]


def _range(index: gast.expr) -> tuple[float, float] | None:
    """The positions that an index takes of an axis lie from the first number to before the second; None where
    they are counted from the end, or it is no slice and no number."""
    if isinstance(index, gast.Slice):
        low, high, step = (_position(e) for e in (index.lower, index.upper, index.step))
        if low is None or high is None or step is None or (index.step is not None and step < 1):
            return None
        return (low, high if index.upper is not None else math.inf)
    at = _position(index)
    return (at, at + 1) if at is not None else None


def _position(node: gast.expr | None) -> float | None:
    """A number that is written out, counted from the start; 0 where there is none."""
    if node is None:
        return 0.0
    value = getattr(node, "value", None)
    is_number = isinstance(node, gast.Constant) and type(value) is int
    return float(value) if is_number and value is not None and value >= 0 else None


def scatter(s: gast.stmt) -> gast.Call | None:
    """The call in a statement `np.add.at(a, i, e)`, whatever NumPy is called."""
    if (
        isinstance(s, gast.Expr)
        and isinstance(s.value, gast.Call)
        and isinstance(s.value.func, gast.Attribute)
        and s.value.func.attr == "at"
        and isinstance(s.value.func.value, gast.Attribute)
        and s.value.func.value.attr in ("add", "subtract")
        and len(s.value.args) == 3
        and not s.value.keywords
    ):
        return s.value
    return None


def written(s: gast.stmt) -> gast.Subscript | None:
    """The part of an array that a statement writes, as the element that it is: `a[s]`."""
    kind = type(s)
    if kind is gast.Assign and type(s.targets[0]) is not gast.Subscript:
        return None
    if isinstance(s, gast.Assign):
        target = s.targets[0] if len(s.targets) == 1 else None
        if not isinstance(target, gast.Subscript) or isinstance(getattr(target.slice, "value", None), str):
            return None
        return target
    if isinstance(s, gast.AugAssign):
        return s.target if isinstance(s.target, gast.Subscript) else None
    call = scatter(s)
    return gast.Subscript(call.args[0], call.args[1], gast.Load()) if call is not None else None


def written_root(s: gast.stmt) -> str | None:
    """The name of the array that a statement writes into, if it does."""
    target = written(s)
    found = root(target) if target is not None else None
    return found.id if found is not None else None


def stored_value(s: gast.stmt) -> gast.expr:
    """The value that a statement writes into an array, or adds to it."""
    return s.value.args[2] if isinstance(s, gast.Expr) else s.value


def mutated(body: list[gast.stmt]) -> set[str]:
    """The names whose arrays the statements of a body write into."""
    return {r for s in flow.statements(body) if (r := written_root(s)) is not None}


class Sharing:
    """What the value of an expression may share its memory with.

    `makes_new`: whether a call surely returns memory of its own; `picks`: whether an index surely is an
    array, so that what it reads is new; `keeps`: whether a name may stand for a list or a dict, which keeps
    what is assigned to its items; `is_list`: whether a name surely stands for one, whose copies, sums and
    multiples have the same items.
    """

    def __init__(
        self,
        makes_new: Callable[[gast.Call], bool],
        picks: Callable[[gast.expr], bool] | None = None,
        keeps: Callable[[str], bool] = lambda n: False,
        is_list: Callable[[str], bool] = lambda n: False,
    ):
        self.makes_new = makes_new
        self.picks = picks
        self.keeps = keeps
        self.is_list = is_list

    def sources(self, node: gast.expr | None) -> set[str]:
        """The names with which the value of an expression may share memory."""
        if isinstance(node, gast.Name):
            return {node.id}
        if isinstance(node, gast.Attribute):
            return set() if node.attr in SHAPE_ATTRIBUTES else self.sources(node.value)
        if isinstance(node, gast.Subscript) and self.picks is not None and self.picks(node.slice):
            return set()
        if isinstance(node, (gast.Subscript, gast.Starred, gast.NamedExpr)):
            return self.sources(node.value)
        if isinstance(node, (gast.Tuple, gast.List)):
            return self._all(node.elts)
        if isinstance(node, gast.BinOp) and any(map(self._is_list, (node.left, node.right))):
            return self._all([node.left, node.right])
        function = node.func if isinstance(node, gast.Call) else None
        if isinstance(function, gast.Attribute) and function.attr == "copy" and self._is_list(function.value):
            return self.sources(function.value)
        if isinstance(node, gast.Dict):
            return self._all(node.values)
        if isinstance(node, gast.IfExp):
            return self.sources(node.body) | self.sources(node.orelse)
        if isinstance(node, gast.BoolOp):
            return self._all(node.values)
        if isinstance(node, (gast.ListComp, gast.GeneratorExp, gast.DictComp, gast.SetComp, gast.Lambda)):
            return flow.reads(node)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in _HANDED_ON:
            return self._all(node.args[: _HANDED_ON[node.func.id]])
        if isinstance(node, gast.Call) and not self.makes_new(node):
            found = self._all([*node.args, *(k.value for k in node.keywords)])
            return found | self.sources(node.func.value) if isinstance(node.func, gast.Attribute) else found
        return set()

    def _is_list(self, node: gast.expr) -> bool:
        return isinstance(node, _LISTS) or (isinstance(node, gast.Name) and self.is_list(node.id))

    def _all(self, nodes: Iterable[gast.expr]) -> set[str]:
        return {n for node in nodes for n in self.sources(node)}

    def edges(self, s: gast.stmt) -> list[tuple[str, set[str]]]:
        """(name, names it may share memory with from here on) for what a statement binds."""
        inside = [n for part in flow.header(s) for n in flow.walk(part) if isinstance(n, gast.NamedExpr)]
        # what is not sure to be evaluated leaves a name what it was
        return [*self._bound_by(s), *((n.target.id, self.sources(n.value) | {n.target.id}) for n in inside)]

    def _bound_by(self, s: gast.stmt) -> list[tuple[str, set[str]]]:
        if isinstance(s, gast.AnnAssign):
            return self._bound(s.target, s.value) if s.value is not None else []
        if isinstance(s, gast.AugAssign):  # an array is what it was
            return [(s.target.id, {s.target.id})] if isinstance(s.target, gast.Name) else []
        if isinstance(s, gast.Match):
            taken = [n for case in s.cases for n in flow.captured(case.pattern)]
            return [(n, self.sources(s.subject) | {n}) for n in taken]
        if isinstance(s, gast.Assign):
            found = [pair for t in s.targets for pair in self._bound(t, s.value)]
            names = {n for t in s.targets for n in flow.stored(t)} if len(s.targets) > 1 else set()
            return [(n, sources | (names - {n})) for n, sources in found]
        if isinstance(s, gast.For):
            return self._bound(s.target, s.iter)
        if isinstance(s, gast.With):
            sources = self._all(item.context_expr for item in s.items)
            return [(n, sources) for n in flow.header_writes(s)]
        appended = _appended(s)
        return [(appended[0], self.sources(appended[1]))] if appended else []

    def _bound(self, target: gast.expr, value: gast.expr) -> list[tuple[str, set[str]]]:
        if isinstance(target, gast.Subscript):
            base = root(target)
            return [(base.id, self.sources(value))] if base is not None and self.keeps(base.id) else []
        if (
            isinstance(target, (gast.Tuple, gast.List))
            and isinstance(value, (gast.Tuple, gast.List))
            and len(target.elts) == len(value.elts)
        ):
            return [p for t, v in zip(target.elts, value.elts, strict=True) for p in self._bound(t, v)]
        sources = self.sources(value)
        return [(n, sources) for n in flow.stored(target)]

    def groups(self, body: list[gast.stmt], tapes: Iterable[str] = ()) -> dict[str, frozenset[str]]:
        """For each name that may share memory anywhere in a body: all names that it may share it with,
        itself included.

        `tapes`: lists of tuples that are appended to and iterated, and nothing else; what stands at one place
        of such a tuple is taken apart from what stands at another.
        """
        tapes = frozenset(tapes)
        parent: dict[str, str] = {}

        def find(n: str) -> str:
            while parent.setdefault(n, n) != n:
                parent[n] = n = parent[parent[n]]
            return n

        for s in flow.statements(body):
            for bound, sources in _of_tape(s, tapes) or self.edges(s):
                for source in sources:
                    parent[find(bound)] = find(source)
        members: dict[str, set[str]] = {}
        for n in list(parent):
            members.setdefault(find(n), set()).add(n)
        return {n: frozenset(group) for group in members.values() for n in group}


def _of_tape(s: gast.stmt, tapes: frozenset[str]) -> list[tuple[str, set[str]]]:
    """The edges of a statement that appends to a tape or iterates one: each place of the tuple has its
    own."""
    appended = _appended(s)
    if appended and appended[0] in tapes:
        tape, entry = appended
    elif (
        isinstance(s, gast.For)
        and isinstance(s.iter, gast.Call)
        and len(tape_read := flow.reads(s.iter) & tapes) == 1
    ):
        (tape,) = tape_read
        entry = s.target
    else:
        return []
    parts = entry.elts if isinstance(entry, gast.Tuple) else [entry]
    places = [(f"{tape}[{i}]", part) for i, part in enumerate(parts)]
    return [(place, {part.id}) for place, part in places if isinstance(part, gast.Name)]


def _appended(s: gast.stmt) -> tuple[str, gast.expr] | None:
    """(list, item) in `xs.append(x)`, `xs.extend(x)` or `xs.insert(i, x)`."""
    if (
        isinstance(s, gast.Expr)
        and isinstance(s.value, gast.Call)
        and isinstance(s.value.func, gast.Attribute)
        and s.value.func.attr in ("append", "extend", "insert")
        and isinstance(s.value.func.value, gast.Name)
        and s.value.args
    ):
        return s.value.func.value.id, s.value.args[-1]
    return None


def content_reads(s: gast.stmt) -> set[str]:
    """The names of which a point reads more than the shape; the array that it only writes into is not
    read."""
    target = written(s)
    if target is None:
        if isinstance(s, (gast.If, gast.While)):
            return values_read(s.test)
        if isinstance(s, gast.For):
            return values_read(s.iter)
        if isinstance(s, gast.FunctionDef):
            return set()
        changed = {s.target.id} if isinstance(s, gast.AugAssign) else set()
        return values_read(s) | changed
    found = values_read(stored_value(s)) | values_read(target.slice)
    node = target.value
    while isinstance(node, (gast.Subscript, gast.Attribute)):
        if isinstance(node, gast.Subscript):
            found |= values_read(node.slice)
        node = node.value
    return found if isinstance(node, gast.Name) else found | values_read(node)


def values_read(node: gast.AST | None) -> set[str]:
    """The names of which evaluating an expression reads more than the shape."""
    if node is None:
        return set()
    if (
        isinstance(node, gast.Attribute)
        and node.attr in SHAPE_ATTRIBUTES
        and isinstance(node.value, gast.Name)
    ):
        return set()
    if isinstance(node, gast.Call) and len(node.args) >= 1 and isinstance(node.args[0], gast.Name):
        function = node.func.attr if isinstance(node.func, gast.Attribute) else getattr(node.func, "id", "")
        if function in SHAPE_FUNCTIONS:
            rest = [*node.args[1:], *(k.value for k in node.keywords)]
            return {n for a in rest for n in values_read(a)}
    if isinstance(node, gast.Name):
        return {node.id} if not isinstance(node.ctx, gast.Store) else set()
    if not any(isinstance(n, (gast.Attribute, gast.Call)) for n in flow.walk(node)):
        return flow.reads(node)
    found: set[str] = set()
    for child in gast.iter_child_nodes(node):
        found |= values_read(child)
    return found
