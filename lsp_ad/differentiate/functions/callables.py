"""What an expression that stands for a function stands for, where the text tells it.

A `Definition` is a `def` or a lambda, in the place where it stands. A `Lifted` is an ordinary function made
of it: with the callables that were given to its parameters put in, and what it captures as parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.names import bound_names, local_imports, parameters
from lsp_ad.simplify.algebra import name
from lsp_ad.source.trees import copied


class Value:
    """A function that is known from the text."""


@dataclass(frozen=True)
class Variable:
    """A variable of one function; where a callable holds it, its value is that at the call."""

    owner: Lifted
    name: str

    @property
    def annotation(self) -> gast.expr | None:
        """What the user says of it, if it is a parameter that nothing assigns."""
        known = {p.id: p.annotation for p in self.owner.kept_parameters()}
        return known.get(self.name) if self.owner.is_settled(self.name) else None


@dataclass(frozen=True)
class Settled:
    """An expression of which every evaluation gives the same; its names are those of the top level."""

    text: str
    node: gast.expr = field(compare=False)


Held = Value | Variable | Settled


@dataclass(frozen=True)
class Library(Value):
    """A function of a library, by its canonical name and the expression for it."""

    canonical: str
    node: gast.expr = field(compare=False)


@dataclass(frozen=True)
class Nothing(Value):
    """None, given to a parameter for a function."""


@dataclass(eq=False)
class Definition(Value):
    """A function of the text. `reference`: by what a function of the top level, or of another file, is
    called; None for a nested one, whose `defaults` are held from where it is defined.
    """

    node: gast.FunctionDef
    title: str
    written: gast.AST
    owner: Lifted | None = None
    reference: gast.expr | None = None
    defaults: dict[str, Held] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """`called`: the parameters that the body calls."""
        own = set(parameters(self.node))
        self.called = {
            n.func.id
            for n in flow.walk(self.node)
            if isinstance(n, gast.Call) and isinstance(n.func, gast.Name) and n.func.id in own
        }


@dataclass(frozen=True)
class Partial(Value):
    function: Value
    args: tuple[Held, ...]
    keywords: tuple[tuple[str, Held], ...]


@dataclass(frozen=True)
class Choice(Value):
    """`first if test else second`."""

    test: Held
    first: Value
    second: Value


@dataclass(frozen=True)
class Derivation(Value):
    """The derivative of a function, as `lsp_ad.grad` and its like make it."""

    function: Value
    wrt: tuple[str | int, ...] | None
    mode: str


@dataclass(frozen=True)
class Spread:
    """What a call gives to `*args` and `**kwargs`: how many, and which names."""

    count: int = 0
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True)
class Call:
    """A call of a lifted function in another one, inside comprehensions that bind `hidden`."""

    node: gast.Call
    target: Lifted
    hidden: frozenset[str]


@dataclass(eq=False)
class Lifted:
    """A definition on its way to an ordinary function.

    `given`: parameters with the functions that they stand for; `captured`: variables of functions around it,
    with the names of the parameters for them.
    """

    definition: Definition
    name: str
    given: dict[str, Value]
    spread: Spread
    changed: bool = False
    captured: dict[Variable, str] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """`sites`: the statements that bind a local name; `defined`: the local functions; `arms`: the `if`
        that binds one in each of its two branches; `more`, `keywords`: names for what stars take; `imported`:
        imports of functions around it.
        """
        node = self.definition.node
        self.body = _prune([copied(s) for s in node.body], self.given)
        self.stands = self.definition.reference is not None and self.name == self.definition.node.name
        self.globals = _declared(self.body, gast.Global)
        self.nonlocals = _declared(self.body, gast.Nonlocal)
        self.sites: dict[str, list[gast.stmt]] = {}
        for s in _own(self.body):
            for n in _bound_by(s) - self.globals - self.nonlocals:
                self.sites.setdefault(n, []).append(s)
        functions = {s.name for s in _own(self.body) if isinstance(s, gast.FunctionDef)}
        self.defined = functions & self.sites.keys()
        self.arms = _arms(self.body, self.sites)
        self.imports = local_imports(node)
        self.imported: dict[str, gast.stmt] = {}
        self.parameters = parameters(node)
        self.local = set(self.parameters) | set(self.sites)
        self.unclear = {p for p, v in self.given.items() if p in self.sites and not self._is_filled_in(p, v)}
        self.words = {n.id for n in flow.walk(node) if isinstance(n, gast.Name)} | self.local
        self.vararg = node.args.vararg.id if node.args.vararg else None
        self.kwarg = node.args.kwarg.id if node.args.kwarg else None
        self.more: list[str] = []
        self.keywords: dict[str, str] = {}

    def _is_filled_in(self, parameter: str, value: Value) -> bool:
        """Whether a function is put in for a parameter that is None, by one statement before all reads."""
        if not isinstance(value, Nothing) or len(self.sites[parameter]) != 1:
            return False
        for s in self.body:
            if s is self.sites[parameter][0]:
                return True
            if any(isinstance(n, gast.Name) and n.id == parameter for n in flow.walk(s)):
                return False
        return False

    @property
    def owner(self) -> Lifted | None:
        return self.definition.owner

    def owners(self) -> Iterator[Lifted]:
        """This function and those around it."""
        function: Lifted | None = self
        while function is not None:
            yield function
            function = function.owner

    def home(self, variable: str) -> Lifted | None:
        """The function whose variable a name is here; None for a name of the top level."""
        for f in self.owners():
            if variable in f.globals:
                return None
            if variable in f.local:
                return f
        return None

    def is_settled(self, variable: str) -> bool:
        """Whether a local name is a parameter that nothing assigns."""
        return variable in self.parameters and variable not in self.sites

    def kept_parameters(self) -> list[gast.Name]:
        """The parameters as they are written that the lifted function still has, stars aside."""
        a = self.definition.node.args
        return [p for p in [*a.posonlyargs, *a.args, *a.kwonlyargs] if p.id not in self.given]

    def tree(self) -> gast.FunctionDef:
        """The ordinary function: captured variables first, then the parameters, without defaults."""
        node = self.definition.node
        if self.stands:
            args = node.args
        else:
            a = node.args
            keyword_only = {p.id for p in a.kwonlyargs}
            own = self.kept_parameters()
            names = [
                *(_parameter(n, v.annotation) for v, n in self.captured.items()),
                *(p for p in own if p.id not in keyword_only),
                *(_parameter(n) for n in self.more),
                *(p for p in own if p.id in keyword_only),
                *(_parameter(n) for n in self.keywords.values()),
            ]
            args = gast.arguments(names, [], None, [], [], None, [])
        function = gast.FunctionDef(self.name, args, self._head() or [gast.Pass()], [], None, None)
        function.decorator_list = node.decorator_list
        return gast.copy_location(function, node)

    def _head(self) -> list[gast.stmt]:
        """The body, with `args = (args_0, args_1)` before it where that is read, and the imports it needs."""
        added = list(self.imported.values())
        if self.vararg in self.used and self.definition.node.args.vararg is not None:
            target = gast.Name(self.vararg, gast.Store(), None, None)
            value = gast.Tuple([name(n) for n in self.more], gast.Load())
            added.append(located(gast.Assign([target], value, None), self.definition.node.args.vararg))
        at = 1 if gast.get_docstring(self.definition.node) is not None else 0
        return [*self.body[:at], *added, *self.body[at:]]


def located(node: gast.AST, at: gast.AST) -> gast.AST:
    """The node, it and its parts with the place of another where they have none."""
    for n in flow.walk(node):
        if isinstance(n, (gast.expr, gast.stmt)) and not hasattr(n, "lineno"):
            gast.copy_location(n, at)
    return node


def placed(node: gast.AST, at: gast.AST) -> gast.AST:
    """A copy of the node with the place of another."""
    node = copied(node)
    for n in flow.walk(node):
        if isinstance(n, (gast.expr, gast.stmt)):
            gast.copy_location(n, at)
    return node


def function_of(node: gast.Lambda, title: str) -> gast.FunctionDef:
    """A lambda as a function with one statement."""
    result = gast.copy_location(gast.Return(node.body), node.body)
    return gast.copy_location(gast.FunctionDef(title, node.args, [result], [], None, None), node)


def _parameter(identifier: str, annotation: gast.expr | None = None) -> gast.Name:
    return gast.Name(identifier, gast.Param(), annotation, None)


def _own(body: list[gast.stmt]) -> Iterator[gast.stmt]:
    """The statements of a function, without those of functions in it."""
    return iter(flow.statements(body))


def _declared(body: list[gast.stmt], kind: type[gast.Global] | type[gast.Nonlocal]) -> set[str]:
    """The names that a function declares global, or nonlocal."""
    return {n for s in _own(body) if isinstance(s, kind) for n in s.names}


def _arms(
    body: list[gast.stmt], sites: dict[str, list[gast.stmt]]
) -> dict[str, tuple[gast.If, gast.stmt, gast.stmt]]:
    """The names that are bound twice: in the one and in the other branch of an `if`."""
    found = {}
    for s in _own(body):
        if isinstance(s, gast.If) and s.orelse:
            first = {n: t for t in s.body for n in _bound_by(t)}
            for other in s.orelse:
                for n in _bound_by(other):
                    if sites.get(n) == [first.get(n), other]:
                        found[n] = (s, first[n], other)
    return found


def _bound_by(s: gast.stmt) -> set[str]:
    """The names that a statement binds itself, not in the blocks in it."""
    return flow.header_writes(s) if flow.blocks(s) else bound_names([s])


def _prune(body: list[gast.stmt], given: dict[str, Value]) -> list[gast.stmt]:
    """Without the branches that are not taken when parameters stand for known functions, or for None."""
    if not given:
        return body
    found: list[gast.stmt] = []
    for s in body:
        if isinstance(s, gast.If):
            truth = truth_of(s.test, given)
            if truth is not None:
                taken = _prune(s.body if truth else s.orelse, given)
                found += taken
                given = {p: v for p, v in given.items() if p not in flow.writes(taken)}
                continue
        if isinstance(s, (gast.If, gast.For, gast.While)):
            s.body = _prune(s.body, given) or [gast.copy_location(gast.Pass(), s)]
            s.orelse = _prune(s.orelse, given)
        found.append(s)
    return found


def truth_of(test: gast.expr, given: dict[str, Value]) -> bool | None:
    """What `f is None`, `f is not None` and `f` say of a parameter that stands for a function."""
    if isinstance(test, gast.Name) and test.id in given:
        return not isinstance(given[test.id], Nothing)
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        inner = truth_of(test.operand, given)
        return None if inner is None else not inner
    if (
        isinstance(test, gast.Compare)
        and isinstance(test.left, gast.Name)
        and test.left.id in given
        and len(test.ops) == 1
        and isinstance(test.ops[0], (gast.Is, gast.IsNot))
        and isinstance(test.comparators[0], gast.Constant)
        and test.comparators[0].value is None
    ):
        return isinstance(given[test.left.id], Nothing) == isinstance(test.ops[0], gast.Is)
    return None
