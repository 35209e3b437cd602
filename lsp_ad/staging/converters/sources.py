"""With which names the value of an expression may share memory, in code that is converted.

More is told than from one expression: what a function of the file returns, part by part; which indices pick
elements, so that what is read is new; and that what generated code saves before a write is no view.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import gast

from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow, memory
from lsp_ad.semantics.aliases import Given
from lsp_ad.semantics.names import parameters
from lsp_ad.source.printing import expression_text
from lsp_ad.staging.generated import docstring_of, forward_of, is_generated

CALLERS = "caller's "
"""What the name of an array of the caller's begins with, which stands for it from the start."""

ITEMS = "items of "
"""What the name of what may be in a list, or a dict, begins with; the name may as well stand for an array."""

_DISPLAYS = (gast.List, gast.Tuple, gast.Dict, gast.ListComp, gast.DictComp)
_NEW = {*("len", "int", "float", "bool", "range", "abs", "sum", "isinstance", "str", "min", "max", "round")}
_HELPERS = {f"lsp_ad.runtime.{name}" for name in ("zeros_of", "ones_of", "copy_of", "own_copy")}
_NUMPY = {
    f"numpy.{name}"
    for name in (
        *("shape", "size", "ndim", "diag_indices", "diag_indices_from", "tril_indices", "tril_indices_from"),
        *("triu_indices", "triu_indices_from", "indices", "nonzero", "flatnonzero", "argwhere", "argsort"),
        *("unravel_index", "ravel_multi_index", "searchsorted", "lexsort", "unique", "isnan", "isinf"),
        *("isfinite", "logical_and", "logical_or", "logical_not", "logical_xor"),
    )
}


@dataclass(frozen=True)
class Result:
    """What a function returns, by its parts (of a tuple that is written out, else the one value).

    `parameters`: those that each may share memory with; `parts`: the other parts that it may; `last`: the
    same of the last part, if that is a tuple that is written out.
    """

    parameters: list[frozenset[str]]
    parts: list[frozenset[int]]
    is_tuple: bool
    last: Result | None = None


class Sources(memory.Sharing):
    """For one function, before its expressions are converted.

    `docstring`: what it had for one; `keeps`: what is assigned to a part of a name is in it.
    """

    def __init__(self, function: gast.FunctionDef, scope: Scope, docstring: str, keeps: bool = False):
        super().__init__(self._makes_new, _picks, lambda n: keeps)
        self.scope = scope
        self._containers = _containers(function)
        self._inside = {d.name for d in flow.statements(function.body) if isinstance(d, gast.FunctionDef)}
        self._saves = set(_saves(function.body)) if is_generated(docstring) else set()
        forward = scope.program.functions.get(forward_of(docstring) or "")
        found = _result_of(scope, forward) if forward is not None else None
        self._saved = (parameters(function)[0], found.last) if found is not None and found.last else None

    def sources(self, node: gast.expr | None) -> set[str]:
        found = self._result(node)
        if found is None:
            if isinstance(node, gast.BinOp) and self._is_container(node):
                return self.sources(node.left) | self.sources(node.right)
            part = self._read_from(node)
            more = {ITEMS + part.id} if part is not None else set()
            if part is not None and isinstance(node, gast.Call):
                more.add(part.id)
            return super().sources(node) | more
        function, result = found
        return set().union(*(self._given(function, node, p) for p in result.parameters))

    def _read_from(self, node: gast.expr | None) -> gast.Name | None:
        """The variable of which an expression reads an item, an attribute, or what it is called for."""
        if isinstance(node, gast.Subscript):
            return memory.root(node)
        if isinstance(node, gast.Attribute):
            return memory.root(node) if node.attr not in memory.SHAPE_ATTRIBUTES else None
        if not isinstance(node, gast.Call) or self._makes_new(node):
            return None
        found = memory.root(node.func)
        known = found is not None and found.id in self.scope.local and found.id not in self._inside
        return found if known else None

    def _is_container(self, node: gast.expr) -> bool:
        """Whether an expression surely is a list, a tuple or a dict."""
        if isinstance(node, gast.BinOp):
            return self._is_container(node.left) or self._is_container(node.right)
        return isinstance(node, _DISPLAYS) or (isinstance(node, gast.Name) and node.id in self._containers)

    def edges(self, s: gast.stmt) -> list[tuple[str, set[str]]]:
        """What a statement binds; the number of `enumerate` is apart."""
        if id(s) in self._saves:
            return [(n, set()) for n in flow.header_writes(s)]
        found = [*super().edges(s), *self._held(s)]
        if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
            found += self._kept_by_method(s.value)
            function = s.value.func
            if isinstance(function, gast.Name) and function.id == "setattr" and len(s.value.args) == 3:
                base = memory.root(s.value.args[0])
                found += [(ITEMS + base.id, self.sources(s.value.args[2]))] if base is not None else []
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name) and self._is_container(s.value):
            found.append((s.target.id, self.sources(s.value)))
        if isinstance(s, gast.For) and isinstance(s.iter, gast.Name):
            found += [(n, {ITEMS + s.iter.id}) for n in flow.stored(s.target)]
        if (
            isinstance(s, gast.For)
            and isinstance(s.iter, gast.Call)
            and isinstance(s.iter.func, gast.Name)
            and s.iter.func.id == "enumerate"
            and isinstance(s.target, (gast.Tuple, gast.List))
            and isinstance(s.target.elts[0], gast.Name)
        ):
            return [(n, sources) for n, sources in found if n != s.target.elts[0].id]
        return found

    def _held(self, s: gast.stmt) -> list[tuple[str, set[str]]]:
        """The names that have more in them after a call of a function of the file."""
        edges = []
        for node in [n for part in flow.header(s) for n in flow.walk(part) if isinstance(n, gast.Call)]:
            function = self._callee(node)
            held = _held_by(self.scope, function) if function is not None else {}
            for p, others in held.items():
                sources = self._given(function, node, others)
                edges += [(n, sources - {n}) for n in self._given(function, node, [p])]
        return edges

    def _kept_by_method(self, call: gast.Call) -> list[tuple[str, set[str]]]:
        """An object may keep what a method of it is given."""
        base = memory.root(call.func) if isinstance(call.func, gast.Attribute) else None
        if base is None or base.id not in self.scope.local:
            return []
        given = [*call.args, *(k.value for k in call.keywords)]
        return [(ITEMS + base.id, set().union(*map(self.sources, given)))] if given else []

    def _bound(self, target: gast.expr, value: gast.expr) -> list[tuple[str, set[str]]]:
        if isinstance(target, (gast.Attribute, gast.Subscript)):
            base = memory.root(target)
            if base is None:
                return []
            return [(base.id if self.keeps(base.id) else ITEMS + base.id, self.sources(value))]
        if not isinstance(target, (gast.Tuple, gast.List)):
            return super()._bound(target, value)
        found = self._result(value)
        if found is not None and found[1].is_tuple:
            function, result = found
            sources = [self._given(function, value, given) for given in result.parameters]
        elif self._saved is not None and isinstance(value, gast.Name) and value.id == self._saved[0]:
            result = self._saved[1]
            sources = [{f"{CALLERS}{value.id}[{i}]"} for i in range(len(result.parts))]
        else:
            return super()._bound(target, value)
        if len(target.elts) != len(result.parts):
            return super()._bound(target, value)
        stored = [flow.stored(t) for t in target.elts]
        edges = []
        for names, given, others in zip(stored, sources, result.parts, strict=True):
            around = given.union(*(stored[i] for i in others), names)
            edges += [(n, around - {n}) for n in names]
        return edges

    def _makes_new(self, call: gast.Call) -> bool:
        if isinstance(call.func, gast.Name) and call.func.id in _NEW:
            picks = call.func.id in ("min", "max") and bool(call.keywords)
            return not picks and not (call.func.id == "sum" and len(call.args) > 1)
        is_copy = isinstance(call.func, gast.Attribute) and call.func.attr == "copy"
        if is_copy and self._is_container(call.func.value):
            return False
        dotted = self.scope.canonical(call.func) or ""
        return dotted in _HELPERS or dotted in _NUMPY or self.scope.makes_new(call)

    def _result(self, node: gast.expr | None) -> tuple[gast.FunctionDef, Result] | None:
        """The function of the file that an expression calls, and what it returns, where that is known."""
        function = self._callee(node) if isinstance(node, gast.Call) else None
        result = _result_of(self.scope, function) if function is not None else None
        return (function, result) if function is not None and result is not None else None

    def _callee(self, call: gast.Call) -> gast.FunctionDef | None:
        """The function of the file that is called, with arguments that are written out."""
        if any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            return None
        return self.scope.callee(call)

    def _given(self, function: gast.FunctionDef, call: gast.Call, names: Iterable[str]) -> set[str]:
        """What the arguments for some parameters may share memory with."""
        given = dict(zip(parameters(function), call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords}
        return {n for p in names if p in given for n in self.sources(given[p])}


def _result_of(scope: Scope, function: gast.FunctionDef) -> Result | None:
    """What a function of the file returns; None where it is not known: it may be memory from outside."""
    key, derived = ("parts returned", id(function)), scope.program.derived
    if key not in derived:
        derived[key] = None  # while it is looked at: a function that calls itself
        derived[key] = _found(Scope.of(scope.program, function), function)
    return derived[key]


def _held_by(scope: Scope, function: gast.FunctionDef) -> dict[str, frozenset[str]]:
    """For parameters of a function of the file, the others that they may have in them afterwards."""
    key, derived = ("parameters held", id(function)), scope.program.derived
    if key not in derived:
        derived[key] = {}  # while it is looked at: a function that calls itself
        names = parameters(function)
        body = [*function.body, gast.Pass()]
        sharing = Sources(function, Scope.of(scope.program, function), docstring_of(function), keeps=True)
        given = Given(body, names, sharing.edges)
        found = {p: {q for s in flow.statements(body) for q in given.at(s, p)} - {p} for p in names}
        derived[key] = {p: frozenset(others) for p, others in found.items() if others}
    return derived[key]


def _found(scope: Scope, function: gast.FunctionDef) -> Result | None:
    header = function.args
    statements = list(flow.statements(function.body))
    inside = any(isinstance(s, (gast.FunctionDef, gast.ClassDef)) for s in statements)
    if function.decorator_list or header.vararg or header.kwarg or inside or not _constant(header):
        return None
    returns = [s for s in statements if isinstance(s, gast.Return) and s.value is not None]
    sharing = Sources(function, scope, docstring_of(function), keeps=True)
    given = Given(function.body, parameters(function), sharing.edges)
    return _parts_of([(s, s.value) for s in returns], sharing, given)


def _parts_of(values: list[tuple[gast.stmt, gast.expr]], sharing: Sources, given: Given) -> Result | None:
    """The parts of what is returned: by each statement its value."""
    is_tuple = all(isinstance(value, gast.Tuple) for _, value in values)
    parts = [value.elts if isinstance(value, gast.Tuple) and is_tuple else [value] for _, value in values]
    if not values or len({len(p) for p in parts}) != 1:
        return None
    shared: list[frozenset[str]] = [frozenset() for _ in parts[0]]
    others: list[frozenset[int]] = [frozenset() for _ in parts[0]]
    for (s, _), found in zip(values, parts, strict=True):
        roots = [sharing.sources(v) for v in found]
        if not set().union(*roots) <= sharing.scope.local:
            return None
        reached = [r.union(*(given.names(s, n) for n in r)) for r in roots]
        for i, names in enumerate(roots):
            shared[i] |= {p for n in names for p in given.at(s, n)}
            others[i] |= {j for j, around in enumerate(reached) if j != i and around & reached[i]}
    nested = is_tuple and bool(parts[0]) and all(isinstance(p[-1], gast.Tuple) for p in parts)
    last = [(s, p[-1]) for (s, _), p in zip(values, parts, strict=True)] if nested else []
    return Result(shared, others, is_tuple, _parts_of(last, sharing, given) if nested else None)


def _constant(header: gast.arguments) -> bool:
    """Whether all defaults are constants, which no two calls share."""
    return all(d is None or isinstance(d, gast.Constant) for d in [*header.defaults, *header.kw_defaults])


def _picks(index: gast.expr) -> bool:
    """Whether an index surely picks elements: a list that is written out, or a comparison, is in it."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return any(isinstance(part, (gast.List, gast.ListComp, gast.Compare)) for part in parts)


def _containers(function: gast.FunctionDef) -> set[str]:
    """The variables that somewhere get a list, a tuple or a dict that is written out."""
    found = set()
    for s in flow.statements(function.body):
        if isinstance(s, (gast.Assign, gast.AnnAssign)) and isinstance(s.value, _DISPLAYS):
            targets = s.targets if isinstance(s, gast.Assign) else [s.target]
            found |= {t.id for t in targets if isinstance(t, gast.Name)}
    return found


def _saves(body: list[gast.stmt]) -> Iterable[int]:
    """The statements `before = x[i]` of a block in which `x[i]` is written next: what generated code saves.

    It reads there what was in `x` before, so it has copied it, or it is a number.
    """
    reads: dict[str, gast.stmt] = {}
    for s in body:
        target = memory.written(s)
        if target is not None:
            saved = reads.get(expression_text(target))
            if saved is not None:
                yield id(saved)
        for n in flow.header_writes(s):
            reads = {text: one for text, one in reads.items() if n not in flow.reads(one)}
        named = isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
        if named and isinstance(s.value, gast.Subscript):
            reads[expression_text(s.value)] = s
        for block in flow.blocks(s):
            yield from _saves(block)


__all__ = ["Sources"]
