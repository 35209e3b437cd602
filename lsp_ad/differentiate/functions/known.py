"""Which function an expression stands for: a definition, a lambda, an alias, a partial, a gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from lsp_ad.differentiate.functions.arguments import is_settled
from lsp_ad.differentiate.functions.callables import (
    Choice,
    Definition,
    Derivation,
    Held,
    Library,
    Lifted,
    Partial,
    Settled,
    Value,
    Variable,
    function_of,
    located,
)
from lsp_ad.problems import Refusal, problem
from lsp_ad.rules import CONSTANT_ONLY, METHODS, RULES
from lsp_ad.rules.helpers import canonical_helper
from lsp_ad.rules.rule import UNKNOWN_VALUE, literal
from lsp_ad.semantics import flow
from lsp_ad.semantics.hints import default_values
from lsp_ad.semantics.names import Program
from lsp_ad.simplify import algebra
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import expression_text

if TYPE_CHECKING:
    from lsp_ad.differentiate.functions.lift import Lifter

DERIVATIVES = {f"lsp_ad.{mode}": mode for mode in ("grad", "value_and_grad", "vjp")}
PARTIAL = "functools.partial"


class TopLevel:
    """The functions that names of the top level stand for."""

    def __init__(self, program: Program):
        self.program = program
        self.known: dict[str, Value | None] = {}
        self.definitions: dict[str, Definition] = {}
        self.lambdas: dict[int, Definition] = {}
        self.only_read: dict[str, bool] = {}

    def value(self, name: str) -> Value | None:
        """The function that a name of the top level stands for."""
        if name not in self.known:
            self.known[name] = (
                None  # while it is looked for: a name that stands for itself stands for nothing
            )
            self.known[name] = self._value(algebra.name(name))
        return self.known[name]

    def definition(self, function: gast.FunctionDef, reference: gast.expr | None = None) -> Definition:
        """The definition of a function with a text, whatever its decorators make of it."""
        if function.name not in self.definitions:
            reference = reference or algebra.name(function.name)
            self.definitions[function.name] = Definition(
                function, function.name, function, reference=reference
            )
        return self.definitions[function.name]

    def _value(self, node: gast.expr) -> Value | None:
        function = self.program.callee(self.program.canonical(node))
        if function is None:
            return self._assigned(node.id) if isinstance(node, gast.Name) else None
        for decorator in function.decorator_list:
            mode = DERIVATIVES.get(self.program.canonical(decorator) or "")
            if mode is not None:
                return Derivation(self.definition(function, node), None, mode)
        return self.definition(function, node)

    def _assigned(self, name: str) -> Value | None:
        node = self.program.constants.get(name)
        if isinstance(node, gast.Lambda):
            return Definition(function_of(node, name), name, node, reference=algebra.name(name))
        return self.expression(node) if node is not None else None

    def expression(self, node: gast.expr) -> Value | None:
        """The function that an expression at the top level stands for."""
        canonical = self.program.canonical(node)
        if canonical in RULES or canonical in CONSTANT_ONLY:
            return Library(canonical, node)
        if isinstance(node, gast.Name):
            return self.value(node.id)
        if isinstance(node, gast.Attribute):
            return self._value(node)
        if isinstance(node, gast.Subscript):
            return self._item(node)
        if isinstance(node, gast.Lambda):
            if id(node) not in self.lambdas:
                self.lambdas[id(node)] = Definition(function_of(node, "lambda"), "lambda", node)
            return self.lambdas[id(node)]
        if isinstance(node, gast.Call) and node.args:
            canonical = self.program.canonical(node.func)
            function = self.expression(node.args[0])
            if function is not None and canonical == PARTIAL:
                return self._partial(function, node)
            if function is not None and canonical in DERIVATIVES:
                return derivation(function, node, DERIVATIVES[canonical])
        return None

    def _item(self, node: gast.Subscript) -> Value | None:
        """`TABLE["name"]` for a dictionary of functions that the file writes out, and only reads."""
        if not isinstance(node.value, gast.Name) or not isinstance(node.slice, gast.Constant):
            return None
        written = self.program.constants.get(node.value.id)
        if not isinstance(written, gast.Dict) or not self._is_only_read(node.value.id):
            return None
        keys = [k.value if isinstance(k, gast.Constant) else None for k in written.keys]
        if None in keys or keys.count(node.slice.value) != 1:
            return None
        return self.expression(written.values[keys.index(node.slice.value)])

    def _is_only_read(self, name: str) -> bool:
        """Whether all that the file does with a name of its top level is to read items of it."""
        if name not in self.only_read:
            nodes = list(flow.walk(self.program.parsed.module))
            uses = sum(isinstance(n, gast.Name) and n.id == name for n in nodes)
            items = [n.value for n in nodes if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Load)]
            reads = sum(isinstance(n, gast.Name) and n.id == name for n in items)
            self.only_read[name] = uses == reads + 1
        return self.only_read[name]

    def _partial(self, function: Value, node: gast.Call) -> Value | None:
        held = [self.held(a) for a in node.args[1:]]
        keywords = [(k.arg, self.held(k.value)) for k in node.keywords]
        if None in held or any(k is None or v is None for k, v in keywords):
            return None
        return Partial(function, tuple(held), tuple(keywords))  # type: ignore[arg-type]

    def held(self, node: gast.expr) -> Held | None:
        """An argument or default that is evaluated at the top level, if it is the same for good."""
        value = self.expression(node)
        if value is not None:
            return value
        return Settled(expression_text(node), node) if is_settled(node, self.program) else None


class Known:
    """The functions that expressions stand for in one function that is being lifted.

    `hoisted`: by statement, the assignments that take its place; `before`: where assignments can go that have
    to be made before the statement `present`; None where an expression is evaluated only sometimes.
    """

    def __init__(self, lifter: Lifter, lifted: Lifted):
        self.lifter = lifter
        self.top = lifter.top
        self.lifted = lifted
        self.hidden: frozenset[str] = frozenset()
        self.bindings: dict[str, Value | None] = {}
        self.hoisted: dict[int, list[gast.stmt]] = {}
        self.before: list[gast.stmt] | None = None
        self.present: gast.stmt | None = None

    def canonical(self, node: gast.AST) -> str | None:
        root, home = self._root(node)
        if root is None or home is not None:
            known = home.imports.get(root) if home is not None and root is not None else None
            return known if known is None else known + expression_text(node)[len(str(root)) :]
        return canonical_helper(self.lifter.program, self.lifter.program.canonical(node))

    def is_top_level(self, node: gast.AST) -> bool:
        """Whether a name, dotted or not, is not one of a variable of the function."""
        root, home = self._root(node)
        return root is not None and home is None

    def _root(self, node: gast.AST) -> tuple[str | None, Lifted | None]:
        """The first part of a dotted name, and the function whose variable that is."""
        while isinstance(node, gast.Attribute):
            node = node.value
        if not isinstance(node, gast.Name) or node.id in self.hidden:
            return None, None
        return node.id, self.lifted.home(node.id)

    def name(self, identifier: str) -> Value | None:
        """The function that a name stands for."""
        if identifier in self.hidden:
            return None
        home = self.lifted.home(identifier)
        return self.top.value(identifier) if home is None else self.lifter.known(home).binding(identifier)

    def binding(self, identifier: str) -> Value | None:
        """The function that a local name stands for: one that is bound once, to a function."""
        if identifier in self.lifted.unclear:
            return None
        sites = self.lifted.sites.get(identifier, [])
        if not sites:
            return self.lifted.given.get(identifier)
        is_variable = identifier in self.lifted.parameters and identifier not in self.lifted.given
        if is_variable or (len(sites) != 1 and identifier not in self.lifted.arms):
            return None
        if identifier not in self.bindings:
            self.bindings[identifier] = None
            if len(sites) == 1:
                self.bindings[identifier] = self._bound(sites[0], identifier)
            else:
                self.bindings[identifier] = self._in_branches(*self.lifted.arms[identifier], identifier)
        return self.bindings[identifier]

    def _bound(self, s: gast.stmt, identifier: str) -> Value | None:
        hoisted: list[gast.stmt] = []
        value: Value | None = None
        if isinstance(s, gast.FunctionDef) and not s.decorator_list:
            value = self._definition(s, identifier, s, s, hoisted)
        elif isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name):
            value = self.expression(s.value, identifier, hoisted, s)
        if value is not None:
            self.hoisted[id(s)] = hoisted
        return value

    def _in_branches(self, s: gast.If, one: gast.stmt, other: gast.stmt, identifier: str) -> Value | None:
        """One of two functions, by the test of the `if`, which is evaluated once and kept."""
        first, second = self._bound(one, identifier), self._bound(other, identifier)
        if first is None or second is None:
            return None
        hoisted = self.hoisted.setdefault(id(s), [])
        test = self.held(s.test, f"is_{identifier}", s, hoisted)
        if isinstance(test, Variable) and hoisted:
            s.test = located(algebra.name(test.name), s.test)
        return Choice(test, first, second)

    def expression(
        self,
        node: gast.expr,
        hint: str = "lambda",
        hoisted: list[gast.stmt] | None = None,
        at: gast.stmt | None = None,
    ) -> Value | None:
        """The function that an expression stands for.

        `hoisted` and `at` for one that is bound to a name: what it holds is that of the binding.
        Otherwise it is applied at once, and a variable has the same value then.
        """
        canonical = self.canonical(node)
        if canonical in RULES or canonical in CONSTANT_ONLY:
            return Library(canonical, node)
        if isinstance(node, gast.Name):
            return self.name(node.id)
        if isinstance(node, gast.Attribute):
            return self.top.expression(node) if canonical is not None else None
        if isinstance(node, gast.Lambda):
            if taken := sorted(flow.reads(node.body) & self.hidden):
                message = f"A function that is made in a comprehension uses its variable `{taken[0]}`."
                raise Refusal(problem("AD205", message, span_of(node), "Write the comprehension as a loop."))
            function = function_of(node, hint)
            return self._definition(function, hint, node, at or node, hoisted)
        if isinstance(node, gast.Subscript) and self.is_top_level(node.value):
            return self.top.expression(node)
        if isinstance(node, gast.IfExp):
            return self._choice(node, hint, hoisted, at or node)
        if isinstance(node, gast.Call) and node.args:
            return self._made(node, hint, hoisted, at or node)
        return None

    def _choice(
        self, node: gast.IfExp, hint: str, hoisted: list[gast.stmt] | None, at: gast.AST
    ) -> Value | None:
        first = self.expression(node.body, hint, hoisted, at)
        second = self.expression(node.orelse, hint, hoisted, at) if first is not None else None
        if first is None or second is None:
            return None
        return Choice(self.held(node.test, f"is_{hint}", at, hoisted), first, second)

    def _made(
        self, node: gast.Call, hint: str, hoisted: list[gast.stmt] | None, at: gast.AST
    ) -> Value | None:
        canonical = self.canonical(node.func)
        if canonical != PARTIAL and canonical not in DERIVATIVES:
            return None
        function = self.expression(node.args[0], hint, hoisted, at)
        if function is None:
            return None
        if canonical in DERIVATIVES:
            return derivation(function, node, DERIVATIVES[canonical])
        if any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return None
        args = [
            self.held(a, f"{hint}_{number}", at, hoisted) for number, a in enumerate(node.args[1:], start=1)
        ]
        keywords = [(k.arg, self.held(k.value, f"{hint}_{k.arg}", at, hoisted)) for k in node.keywords]
        return Partial(function, tuple(args), tuple(keywords))

    def _definition(
        self,
        function: gast.FunctionDef,
        title: str,
        written: gast.AST,
        at: gast.AST,
        hoisted: list[gast.stmt] | None,
    ) -> Definition:
        """A nested function with its defaults, which are evaluated where it stands."""
        found = Definition(function, title, written, self.lifted)
        for p, default in default_values(function).items():
            found.defaults[p] = self.held(default, f"{title}_{p}", at, hoisted)
        return found

    def _calls_others(self, s: gast.stmt) -> bool:
        """Whether a statement calls more than one function that could change what is evaluated before it."""
        if not self.lifter.writes_in_place:
            return False
        calls = 0
        for n in (n for part in flow.header(s) for n in flow.walk(part)):
            if isinstance(n, gast.Call) and not isinstance(n.func, gast.Lambda):
                canonical = self.canonical(n.func)
                is_method = isinstance(n.func, gast.Attribute) and n.func.attr in METHODS
                is_known = canonical in RULES or canonical in CONSTANT_ONLY or canonical == PARTIAL
                calls += not is_known and not is_method
        return calls > 1

    def held(self, node: gast.expr, wanted: str, at: gast.AST, hoisted: list[gast.stmt] | None) -> Held:
        """What a callable holds: a constant, a function, a variable, or a new variable for the value."""
        if isinstance(node, gast.Constant) or literal(node) is not UNKNOWN_VALUE:
            return Settled(expression_text(node), node)
        value = self.expression(node, wanted, hoisted, at)
        if value is not None:
            return value
        if isinstance(node, gast.Name) and node.id not in self.hidden:
            home = self.lifted.home(node.id)
            if home is not None and (hoisted is None or home.is_settled(node.id)):
                return Variable(home, node.id)
        place = hoisted
        if place is None and self.present is not None and not self._calls_others(self.present):
            place = self.before
        if place is None or self.hidden:
            held = expression_text(node)
            message = f"`{held}` is held by a function that is made in the middle of a statement."
            raise Refusal(problem("AD205", message, span_of(node), "Give it a name before this statement."))
        variable = self.lifter.new(wanted)
        self.lifted.local.add(variable)
        value_now = self.lifter.body(self.lifted).evaluated(node)
        place.append(located(algebra.assign(variable, value_now), at))
        self.lifted.changed = True
        return Variable(self.lifted, variable)


def derivation(function: Value, node: gast.Call, mode: str) -> Value | None:
    """`lsp_ad.grad(f, wrt)` where `wrt` can be read."""
    given = [*node.args[1:], *(k.value for k in node.keywords)]
    if len(given) > 1 or any(k.arg != "wrt" for k in node.keywords):
        return None
    if not given:
        return Derivation(function, None, mode)
    items = given[0].elts if isinstance(given[0], (gast.Tuple, gast.List)) else [given[0]]
    wrt = [i.value if isinstance(i, gast.Constant) else literal(i) for i in items]
    if wrt == [None]:
        return Derivation(function, None, mode)
    if not wrt or not all(isinstance(w, (str, int)) and not isinstance(w, bool) for w in wrt):
        return None
    return Derivation(function, tuple(wrt), mode)  # type: ignore[arg-type]
