"""Functions whose derivative the user has declared: by rules of their own, or as zero.

A declaration is a decorator, `@lsp_ad.custom_vjp(rule)`. What it declares becomes a rule like those of the
tables; the body of the function is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass

import gast

from lsp_ad.problems import Problem, problem
from lsp_ad.rules import opaque
from lsp_ad.rules.rule import UNKNOWN_VALUE, Adjoint, Bound, Rule, Unsupported, literal
from lsp_ad.semantics.names import Program
from lsp_ad.semantics.shapes import UNKNOWN, Kind
from lsp_ad.source.parse import span_of

CUSTOM_VJP, CUSTOM_JVP = "lsp_ad.custom_vjp", "lsp_ad.custom_jvp"
NON_DIFFERENTIABLE = "lsp_ad.non_differentiable"
DECLARATIONS = (CUSTOM_VJP, CUSTOM_JVP, NON_DIFFERENTIABLE, opaque.OPAQUE)

# In the text of a rule: an argument of the call; a name of the file.
ARGUMENT, NAME = "argument__", "name__"
# A module, with two underscores for each dot.
MODULE = "module__"


@dataclass(frozen=True)
class Declared:
    """What is declared of one function: a rule, or what is wrong with the declaration; the functions of the
    file that the rule calls; the arguments of the rule, where they are not those of the call."""

    rule: Rule | None
    problems: tuple[Problem, ...] = ()
    calls: tuple[str, ...] = ()
    arguments: tuple[gast.expr, ...] | None = None


def declared(program: Program, function: gast.FunctionDef) -> Declared | None:
    """What is declared of a function of the file; None where nothing is."""
    key = ("declared", id(function))
    if key not in program.derived:
        program.derived[key] = _declared(program, function)
    return program.derived[key]


def _declared(program: Program, function: gast.FunctionDef) -> Declared | None:
    found = {}
    for decorator in function.decorator_list:
        target = decorator.func if isinstance(decorator, gast.Call) else decorator
        name = program.canonical(target)
        if name in DECLARATIONS:
            found[name] = decorator
    if not found:
        return None
    return _Reader(program, function).read(found)


def declared_call(node: gast.Call, canonical: Callable[[gast.AST], str | None], constants) -> Declared | None:
    """What is declared where a function from elsewhere is called; `constants`: what names of the file are."""
    mark = node.func
    if isinstance(mark, gast.Name):
        mark = constants.get(mark.id)
    if mark is None or not opaque.marks(mark, canonical):
        return None
    found = opaque.rule_of_call(mark, node, ARGUMENT)
    if found is None:
        message = (
            "`lsp_ad.opaque` takes a function, by its name, and `by` with one of numerical, autograd and jax."
        )
        return Declared(None, (problem("AD602", message, span_of(mark)),))
    return Declared(found[0], arguments=tuple(found[1]))


def zero_call(name: str, call: gast.Call) -> Declared:
    """A call of a function without a derivative, whatever its parameters are."""
    count = len(call.args)
    names = [f"argument{i}" for i in range(1, count + 1)] + [k.arg for k in call.keywords if k.arg]
    return Declared(Rule(name, tuple(names), kind=lambda bound: UNKNOWN))


def call_of(function: gast.FunctionDef) -> gast.stmt:
    """`return f(a, b, c=c)`: what is differentiated of a function whose derivative is declared."""
    a = function.args
    given = [_name(p.id) for p in [*a.posonlyargs, *a.args]]
    call = gast.Call(_name(function.name), given, [gast.keyword(p.id, _name(p.id)) for p in a.kwonlyargs])
    made = gast.Return(call)
    for node in gast.walk(made):
        gast.copy_location(node, function)
    return made


def _name(identifier: str) -> gast.Name:
    return gast.Name(identifier, gast.Load(), None, None)


class _Wrong(Exception):
    def __init__(self, message: str, node: gast.AST):
        super().__init__(message)
        self.problem = problem("AD602", message, span_of(node))


class _Reader:
    """Reads the declarations of one function."""

    def __init__(self, program: Program, function: gast.FunctionDef):
        self.program = program
        self.function = function
        a = function.args
        self.parameters = tuple(p.id for p in [*a.posonlyargs, *a.args, *a.kwonlyargs])

    def read(self, found: dict[str, gast.expr]) -> Declared:
        try:
            self._signature()
            if NON_DIFFERENTIABLE in found:
                if len(found) > 1 or isinstance(found[NON_DIFFERENTIABLE], gast.Call):
                    message = f"`{self.function.name}` is declared non-differentiable, and something else."
                    raise _Wrong(message, found[NON_DIFFERENTIABLE])
                return Declared(self._rule())
            if opaque.OPAQUE in found:
                return Declared(self._rule(*self._opaque(found)), (), (self.function.name,))
            calls, passive, adjoints, tangent = [], set(), None, None
            if CUSTOM_VJP in found:
                rule, place = self._function(found[CUSTOM_VJP], 2, "the result and its adjoint")
                calls.append(place.id)
                passive = self._passive(rule, place)
                adjoints = _adjoints(place.id, self.parameters, passive)
            if CUSTOM_JVP in found:
                more = len(self.parameters)
                _, place = self._function(found[CUSTOM_JVP], 1 + more, "the result and a tangent for each")
                calls.append(place.id)
                tangent = _tangent(place.id, self.parameters)
                adjoints = adjoints or _no_adjoints
            return Declared(self._rule(adjoints, tangent, tuple(sorted(passive))), (), tuple(calls))
        except _Wrong as wrong:
            return Declared(None, (wrong.problem,))

    def _opaque(self, found: dict[str, gast.expr]):
        mark = found[opaque.OPAQUE]
        chosen = opaque.oracle(mark) if isinstance(mark, gast.Call) and not mark.args else None
        if len(found) > 1 or chosen is None or self.function.args.kwonlyargs:
            message = (
                f"`{self.function.name}` is to be declared by `@lsp_ad.opaque(by=...)` alone, with one of "
            )
            raise _Wrong(message + "numerical, autograd and jax, and has no keyword-only parameters.", mark)
        texts = {p: ARGUMENT + p for p in self.parameters}
        name = NAME + self.function.name
        return opaque.adjoints(chosen, name, texts), opaque.tangent(chosen, name, texts)

    def _signature(self) -> None:
        a = self.function.args
        if a.vararg is not None or a.kwarg is not None:
            message = f"`{self.function.name}` takes any number of arguments: a rule of one's own names each."
            raise _Wrong(message, a.vararg or a.kwarg)
        for node in gast.walk(self.function):
            if _written(node) in self.parameters:
                message = (
                    f"`{self.function.name}` changes its argument `{_written(node)}`, as a rule cannot say."
                )
                raise _Wrong(message, node)

    def _rule(
        self,
        adjoints: Callable[[Bound], dict[str, Adjoint]] | None = None,
        tangent: Callable[[Bound, Set[str]], str] | None = None,
        passive: tuple[str, ...] = (),
    ) -> Rule:
        a = self.function.args
        positional = [p.id for p in [*a.posonlyargs, *a.args]]
        count = len(a.defaults)
        defaults = dict(zip(positional[len(positional) - count :], map(literal, a.defaults), strict=True))
        only = [p.id for p in a.kwonlyargs]
        for p, value in zip(only, a.kw_defaults, strict=True):
            if value is not None:
                defaults[p] = literal(value)
        kind = _result_kind(self.function)
        carrying = adjoints is not None or tangent is not None
        return Rule(
            self.function.name,
            self.parameters,
            # a default that is no literal has to be given: a rule could not repeat it
            {p: value for p, value in defaults.items() if value is not UNKNOWN_VALUE},
            adjoints=adjoints,
            tangent=tangent,
            kind=lambda bound: kind,
            differentiable=tuple(p for p in self.parameters if carrying and p not in passive),
            keyword_only=tuple(only),
            passive=passive,
        )

    def _function(self, decorator: gast.expr, more: int, what: str) -> tuple[gast.FunctionDef, gast.Name]:
        """The function that a decorator names as the rule, and that name."""
        name = self.function.name
        if not isinstance(decorator, gast.Call) or len(decorator.args) != 1 or decorator.keywords:
            raise _Wrong(f"The rule of `{name}` is missing: `@lsp_ad.custom_vjp(rule)`.", decorator)
        place = decorator.args[0]
        rule = self.program.callee(self.program.canonical(place))
        if rule is None or not isinstance(place, gast.Name):
            raise _Wrong(f"The rule of `{name}` is not a function of this file.", place)
        a = rule.args
        count = len(a.posonlyargs) + len(a.args)
        if count != len(self.parameters) + more or a.vararg or a.kwonlyargs or a.kwarg:
            wanted = f"those of `{name}`, then {what}"
            message = (
                f"`{rule.name}` takes {count} parameters, and is called with {len(self.parameters) + more}: "
            )
            raise _Wrong(message + f"{wanted}.", place)
        return rule, place

    def _passive(self, rule: gast.FunctionDef, place: gast.expr) -> set[str]:
        """The parameters for which a VJP always returns None."""
        none: set[str] | None = None
        for value in _returned(rule):
            given = [value]
            if len(self.parameters) > 1:
                if not isinstance(value, gast.Tuple) or len(value.elts) != len(self.parameters):
                    count = len(self.parameters)
                    message = f"`{rule.name}` does not return a tuple, written out, of {count} values,"
                    raise _Wrong(f"{message} one for each parameter of `{self.function.name}`.", place)
                given = value.elts
            missing = {p for p, v in zip(self.parameters, given, strict=True) if _is_none(v)}
            if none is not None and none != missing:
                raise _Wrong(f"`{rule.name}` returns None for a parameter on some paths only.", place)
            none = missing
        if none is None:
            raise _Wrong(f"`{rule.name}` returns nothing.", place)
        return none


def _written(node: gast.AST) -> str:
    """The name of what a statement writes into in place, as far as it is plain to see."""
    targets = node.targets if isinstance(node, gast.Assign) else [getattr(node, "target", None)]
    if not isinstance(node, (gast.Assign, gast.AugAssign)):
        return ""
    for target in targets:
        inside = isinstance(node, gast.AugAssign)
        while isinstance(target, (gast.Subscript, gast.Attribute)):
            target, inside = target.value, True
        if inside and isinstance(target, gast.Name):
            return target.id
    return ""


def _returned(function: gast.FunctionDef) -> list[gast.expr | None]:
    found: list[gast.expr | None] = []
    pending: list[gast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, gast.Return):
            found.append(node.value)
        elif not isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.expr)):
            pending += gast.iter_child_nodes(node)
    return found


def _is_none(node: gast.expr | None) -> bool:
    return node is None or (isinstance(node, gast.Constant) and node.value is None)


def _result_kind(function: gast.FunctionDef) -> Kind:
    """A tuple where every path returns one of the same length, else unknown."""
    counts = {len(v.elts) if isinstance(v, gast.Tuple) else 0 for v in _returned(function)}
    count = counts.pop() if len(counts) == 1 else 0
    return Kind("tuple", None, None, (UNKNOWN,) * count) if count else UNKNOWN


def _adjoints(rule: str, parameters: tuple[str, ...], passive: set[str]):
    arguments = ", ".join(f"{ARGUMENT}{p}" for p in parameters)
    call = f"{NAME}{rule}({arguments}, y, dy)"
    if len(parameters) == 1:
        found = {p: Adjoint(call) for p in parameters if p not in passive}
    else:
        texts = {p: f"adjoints = {call}\nadjoints[{i}]" for i, p in enumerate(parameters)}
        found = {p: Adjoint(text) for p, text in texts.items() if p not in passive}
    return lambda bound: found


def _no_adjoints(bound: Bound) -> dict[str, Adjoint]:
    raise Unsupported("reverse mode, for a function with a custom_jvp and no custom_vjp,")


def _tangent(rule: str, parameters: tuple[str, ...]) -> Callable[[Bound, Set[str]], str]:
    def text(bound: Bound, moved: Set[str]) -> str:
        arguments = [*(f"{ARGUMENT}{p}" for p in parameters), "y"]
        arguments += [f"d{p}" if p in moved else "0.0" for p in parameters]
        return f"{NAME}{rule}({', '.join(arguments)})"

    return text
