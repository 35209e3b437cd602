"""The flow of origins through the statements of one function."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.certainty import FLATTENED, of_operation
from lsp_ad.checks.facts import Facts
from lsp_ad.checks.origins import (
    PARTS,
    UNKNOWN,
    Kind,
    Origin,
    Sure,
    frozen,
    is_constant,
    join,
    merge,
    outside,
    widens,
)
from lsp_ad.checks.staged_functions import Place
from lsp_ad.checks.values import Values
from lsp_ad.semantics.names import bound_names

_SCOPES = (
    gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef,
    gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp,
)  # fmt: skip
_ROUNDS = 6  # loops inside loops settle one round per level; few need more than two


class Flow(Values):
    """One function with an origin for each parameter; `run` finds the state at its end and all predicates.

    `traced` says that the body runs while it is traced, which makes a name that is assigned under a
    traced predicate traced itself.
    """

    def __init__(self, facts: Facts, place: Place, parameters: dict[str, Origin],
                 around: Values | None = None, traced: bool = True):
        super().__init__(facts, place, around)
        self.parameters, self.traced = parameters, traced
        self._heads: dict[gast.AST, dict[str, Origin]] = {}
        self._returned: list[Origin] = []
        self._changed = False
        nonlocals = (n for n in gast.walk(place.node) if isinstance(n, gast.Nonlocal))
        self._rebound = {name for n in nonlocals for name in n.names}

    def run(self) -> Flow:
        for _ in range(_ROUNDS):
            self._changed = False
            self._returned = []
            self.state = dict(self.parameters)
            body = self.place.node.body if self.place else []
            if isinstance(body, list):
                self.block(body)
            else:
                self._returned.append(self.origin(body))
            if not self._changed:
                break
        return self

    @property
    def result(self) -> Origin:
        """The origin of what the function gives, as its caller sees it."""
        assert self.place
        if any(isinstance(n, (gast.Yield, gast.YieldFrom, gast.Await)) for n in gast.walk(self.place.node)):
            return UNKNOWN
        found = join(self._returned)
        if found.kind is Kind.CONSTANT:
            return Origin(Kind.FLAG, f"`{self.place.name}` gives a Python value")
        return UNKNOWN if found.kind is Kind.OPTIONAL else found

    def lookup(self, name: str) -> Origin:
        # What a nested function may rebind at any time is not followed.
        return UNKNOWN if self.traced and name in self._rebound else super().lookup(name)

    def captured(self, name: str, inner: Place | None) -> Origin:
        found = self.lookup(name) if self.traced else outside(self.lookup(name))
        # A name that a nested function declares nonlocal is not among `locals`.
        if self.traced or not self.place or name not in self.place.locals | self.state.keys():
            return found
        if name not in self.state or not found.kind.decided:
            return UNKNOWN
        # A factory: what is set by then is meant, as in `def make(training): ... @jax.jit def step(x): ...`.
        if rebound_after(self.place, name, inner) is not None:
            return frozen(name, "a name of the function around", Kind.SILENT, found.related)
        if found.kind is Kind.FORM:
            return found
        return Origin(Kind.FLAG, f"`{name}` is a Python value of the function around", "", found.related)

    # Statements, by the name of the node

    def block(self, body: list[gast.stmt]) -> None:
        for statement in body:
            method = getattr(self, "_" + type(statement).__name__.lower(), None)
            if method:
                method(statement)
            else:
                self.all([n for n in gast.iter_child_nodes(statement) if isinstance(n, gast.expr)])

    def _return(self, node: gast.Return) -> None:
        self._returned.append(self.origin(node.value))

    def _assign(self, node: gast.Assign) -> None:
        for target in node.targets:
            self._assign_to(target, node.value)

    def _assign_to(self, target: gast.expr, value: gast.expr) -> None:
        parallel = (isinstance(target, (gast.Tuple, gast.List)) and isinstance(value, (gast.Tuple, gast.List))
                    and len(target.elts) == len(value.elts)
                    and not any(isinstance(e, gast.Starred) for e in [*target.elts, *value.elts]))
        if parallel:
            for element, origin in zip(target.elts, self.all(value.elts), strict=True):
                self._keep(element, origin)
        elif self._is_flattened(target, value):
            origin = self.origin(value)
            given = self.known.get(value.args[0], UNKNOWN).sure >= Sure.PARTS
            self._keep(target.elts[0], PARTS if given else origin)
            self._keep(target.elts[1], Origin(Kind.FORM, "the structure of a tree is known then"))
        else:
            self._keep(target, self.origin(value))

    def _is_flattened(self, target: gast.expr, value: gast.expr) -> bool:
        """`leaves, structure = jax.tree.flatten(tree)`"""
        two = isinstance(target, (gast.Tuple, gast.List)) and len(target.elts) == 2
        if not two or not isinstance(value, gast.Call) or not value.args:
            return False
        return self.functions.canonical(value.func, self.place) in FLATTENED

    def _keep(self, target: gast.expr, origin: Origin) -> None:
        if origin.kind is Kind.CONSTANT and isinstance(target, gast.Name):
            origin = Origin(Kind.CONSTANT, f"`{target.id}` is a Python value", origin.way_out, origin.related)
        self.bind(target, origin)

    def _annassign(self, node: gast.AnnAssign) -> None:
        if node.value is not None:
            self._keep(node.target, self.origin(node.value))

    def _augassign(self, node: gast.AugAssign) -> None:
        value = self.origin(node.value)
        if isinstance(node.target, gast.Name):
            old = node.target, self.lookup(node.target.id)
            self.bind(node.target, of_operation(node.op, old, (node.value, value)))
        else:
            self.bind(node.target, value)

    def _if(self, node: gast.If) -> None:
        decided = self.predicate(node, node.test)
        before, before_all = dict(self.state), dict(self.state)
        self.narrow(node.test, True)
        self.block(node.body)
        after_body, self.state = self.state, before
        self.narrow(node.test, False)
        self.block(node.orelse)
        branches = ((after_body, node.body), (self.state, node.orelse))
        ends = [state for state, body in branches if not _leaves(body)]
        self.widen(before_all, ends)
        self.state = merge(*ends) if ends else self.state
        for name in _chosen([*node.body, *node.orelse]):
            if name in self.state and self.state[name].kind is Kind.CONSTANT and decided.kind.decided:
                self.state[name] = Origin(Kind.FLAG, f"`{name}` is one of several Python values", "",
                                          self.state[name].related)
        self._staged_names(decided, [*node.body, *node.orelse])

    def _while(self, node: gast.While) -> None:
        first = self.origin(node.test)
        self._enter(node)
        # Names of a staged loop are traced from its second round on.
        decided = self.predicate(node, node.test)
        if first.sure is Sure.ITSELF:  # it is staged, whatever the iterations make of it
            decided = self.known[node.test] = first
        self._staged_names(decided, node.body)
        self._loop(node, decided)

    def _for(self, node: gast.For) -> None:
        self._enter(node)
        decided = self.bind_loop(node.target, node.iter)
        # Python lists of traced elements are walked in Python, tensors are not: which of both is not known.
        maybe = UNKNOWN if decided.kind is Kind.TRACED else Origin(Kind.CONSTANT)
        staged = decided if isinstance(node.iter, gast.Call) else maybe
        self._staged_names(staged, node.body)
        self._loop(node, staged)

    _asyncfor = _for

    def _enter(self, node: gast.AST) -> None:
        if node in self._heads:
            self.state = merge(self.state, self._heads[node])

    def _loop(self, node: gast.For | gast.While, decided: Origin) -> None:
        skipped = dict(self.state)
        self.block(node.body)
        end, known = self.state, self._heads.get(node)
        if known is None or widens(known, end):
            self._heads[node] = merge(known, end) if known else dict(end)
            self._changed = True
        self.state = merge(skipped, end)
        self.block(node.orelse)
        self._staged_names(decided, node.body)

    def _staged_names(self, decided: Origin, body: list[gast.stmt]) -> None:
        """What is assigned under a predicate that is not decided in Python is no Python value either."""
        if decided.kind.decided:
            return
        for name in bound_names(body):
            if name in self.state and self.state[name].kind is Kind.TRACED:
                continue
            self.state[name] = join((self.state.get(name, UNKNOWN), Origin(decided.kind, sure=decided.sure)))

    def _try(self, node: gast.Try) -> None:
        before = dict(self.state)
        self.block(node.body)
        entered = merge(before, self.state)
        self.block(node.orelse)
        ends = [self.state]
        for handler in node.handlers:
            self.state = dict(entered)
            if handler.name is not None:
                self.state[getattr(handler.name, "id", handler.name)] = UNKNOWN
            self.block(handler.body)
            ends.append(self.state)
        self.state = merge(*ends)
        self.block(node.finalbody)

    _trystar = _try

    def _with(self, node: gast.With) -> None:
        for item in node.items:
            self.origin(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, UNKNOWN)
        self.block(node.body)

    _asyncwith = _with

    def _match(self, node: gast.Match) -> None:
        self.origin(node.subject)
        before = dict(self.state)
        ends = [before]
        for case in node.cases:
            self.state = {**before, **dict.fromkeys(bound_names([case.pattern]), UNKNOWN)}
            self.origin(case.guard)
            self.block(case.body)
            ends.append(self.state)
        self.state = merge(*ends)

    def _functiondef(self, node: gast.FunctionDef) -> None:
        self.all(node.decorator_list)
        self.state[node.name] = UNKNOWN
        self.inner[node] = self.functions.places[node]

    _asyncfunctiondef = _functiondef

    def _classdef(self, node: gast.ClassDef) -> None:
        self.state[node.name] = UNKNOWN
        for statement in node.body:
            if isinstance(statement, (gast.FunctionDef, gast.AsyncFunctionDef)):
                self.inner[statement] = self.functions.places[statement]

    def _delete(self, node: gast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, gast.Name):
                self.state.pop(target.id, None)


def rebound_after(place: Place, name: str, inner: Place | None) -> gast.AST | None:
    """Where a function gives one of its names another value after one inside it may have been called."""
    body = place.node.body if isinstance(place.node.body, list) else []
    definition = next((p.node for p in (inner.chain() if inner else ()) if p.parent is place), None)
    called = 0 if definition is None else _first_use(body, definition, set())
    bound, after = int(name in place.parameters), None
    for node in _in_scope(body):
        nonlocals = gast.walk(node) if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef)) else ()
        for declared in nonlocals:
            if isinstance(declared, gast.Nonlocal) and name in declared.names:
                return declared
        if isinstance(node, gast.Name) and node.id == name and isinstance(node.ctx, (gast.Store, gast.Del)):
            bound += 1
            if node.lineno > called:
                after = after or node
    return after if bound > 1 else None


def _first_use(body: list[gast.stmt], definition: gast.AST, seen: set[gast.AST]) -> int:
    """The line where a function that is defined in a block is named first after that, outside functions."""
    seen.add(definition)
    name, end = getattr(definition, "name", ""), definition.end_lineno
    lines = []
    for node in _in_scope(body):
        if isinstance(node, gast.Name) and node.id == name and node.lineno > end:
            lines.append(node.lineno)
        elif isinstance(node, gast.FunctionDef) and node not in seen and any(
            isinstance(n, gast.Name) and n.id == name for n in gast.walk(node)
        ):
            lines.append(_first_use(body, node, seen))
    return min(lines, default=end)


def _in_scope(body: list[gast.stmt]) -> Iterator[gast.AST]:
    """The nodes of some statements, but not those in functions, classes and comprehensions in them."""
    pending = list(body)
    for node in pending:  # which grows on the way
        yield node
        if not isinstance(node, _SCOPES):
            pending += gast.iter_child_nodes(node)


def _chosen(body: list[gast.stmt]) -> set[str]:
    """The names that the branches of a conditional give constants, and nothing else."""
    values: dict[str, list[bool]] = {}
    for statement in body:
        plain = isinstance(statement, gast.Assign) and is_constant(statement.value)
        for name in bound_names([statement]):
            values.setdefault(name, []).append(plain)
    return {name for name, found in values.items() if all(found)}


def _leaves(body: list[gast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (gast.Return, gast.Raise))
