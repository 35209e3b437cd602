"""Which rule an expression stands for, whether it is written as operator, function, method or attribute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import NamedTuple

import gast

from lsp_ad.rules import ATTRIBUTES, CONSTANT_ONLY, CONSTANTS, METHODS, RULES, VARIANTS, Unsupported, products
from lsp_ad.rules.declared import Declared, declared, declared_call, zero_call
from lsp_ad.rules.helpers import OWN, canonical_helper
from lsp_ad.rules.rule import UNKNOWN_VALUE, Bound, Rule, literal
from lsp_ad.rules.settings import settings_of
from lsp_ad.semantics import flow
from lsp_ad.semantics.aliases import Given
from lsp_ad.semantics.memory import Sharing, root
from lsp_ad.semantics.names import Program, local_imports, local_names, parameters
from lsp_ad.semantics.shapes import UNKNOWN, Kind

_SIGNS = {
    gast.Add: "+",
    gast.Sub: "-",
    gast.Mult: "*",
    gast.Div: "/",
    gast.Mod: "%",
    gast.Pow: "**",
    gast.MatMult: "@",
    gast.USub: "u-",
    gast.UAdd: "u+",
}
OPERATORS = {kind: RULES[sign] for kind, sign in _SIGNS.items()}


# np.clip and the method know the bounds by two names
_BOUNDS = {"min": "a_min", "max": "a_max"}

_CONVERTING = ("numpy.array", "numpy.asarray", "numpy.astype", "numpy.full")
_WITH_VARIANTS = frozenset((*_CONVERTING, "numpy.clip", "numpy.arange", "numpy.full_like"))
_DTYPES = {
    **dict.fromkeys(("float", "float64", "float32", "float16", "double", "longdouble"), "float"),
    **dict.fromkeys(("complex", "complex128", "complex64"), "complex"),
    **dict.fromkeys(("int", "int64", "int32", "int16", "int8", "uint8", "intp", "bool", "bool_"), "int"),
}
_CONVERTED = {"float": "", "int": "of int", "complex": "of complex"}


class Operation(NamedTuple):
    """An expression as a call of a rule."""

    rule: Rule
    args: list[gast.expr]
    keywords: list[gast.keyword]

    def bind(self, kind_of: Callable[[gast.expr], Kind]) -> Bound:
        return self.rule.bind(self.args, self.keywords, kind_of)


@dataclass(frozen=True)
class Scope:
    """What names mean inside one function: those of the program, less the local ones.

    `imports`: what the function itself imports, which is not among the local names.
    """

    program: Program
    local: Set[str]
    imports: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(program: Program, function: gast.FunctionDef) -> Scope:
        imports = local_imports(function)
        return Scope(program, local_names(function) - set(imports), imports)

    def canonical(self, node: gast.AST) -> str | None:
        if self.imports and (path := dotted(node)) and path[0] in self.imports:
            return ".".join([self.imports[path[0]], *path[1:]])
        return canonical_helper(self.program, self.program.canonical(node, self.local))

    def alias_of(self, module: str) -> str | None:
        """The name of a module that is at hand in the function, if there is one."""
        alias = next((a for a, canonical in self.imports.items() if canonical == module), None)
        alias = alias or self.program.alias_of(module)
        return None if alias in self.local else alias

    def callee(self, node: gast.expr) -> gast.FunctionDef | None:
        """The function whose text is known that a call calls, if its text is what is differentiated."""
        function = self._function(self.canonical(node.func)) if isinstance(node, gast.Call) else None
        return function if function is None or declared(self.program, function) is None else None

    def declared(self, node: gast.expr) -> Declared | None:
        """What the user has declared of the derivative of the function that a call calls."""
        return self._declared(node, self.canonical(node.func)) if isinstance(node, gast.Call) else None

    def _declared(self, node: gast.Call, name: str | None) -> Declared | None:
        settings = settings_of(self.program)
        if name in settings.rules:
            return Declared(settings.rules[name])
        if name in settings.zero:
            return zero_call(name, node)
        function = self._function(name)
        if function is not None:
            return declared(self.program, function)
        if isinstance(node.func, gast.Attribute):
            return None
        constants = {} if getattr(node.func, "id", "") in self.local else self.program.constants
        return declared_call(node, self.canonical, constants)

    def _function(self, name: str | None) -> gast.FunctionDef | None:
        if name is None or name in RULES:
            return None
        settings = settings_of(self.program)
        if name in settings.rules or name in settings.zero:
            return None
        return self.program.callee(name)

    def operation(self, node: gast.expr) -> Operation | None:
        """The rule that an expression stands for with its arguments, or None."""
        kind = type(node)
        if kind is gast.Name or kind is gast.Constant:
            return None
        if kind is gast.BinOp:
            if (factors := products.factors(node)) is not None:
                return Operation(products.rule_of(factors), factors, [])
            rule = OPERATORS.get(type(node.op))
            return Operation(rule, [node.left, node.right], []) if rule is not None else None
        if kind is gast.Call:
            return self._call(node)
        if kind is gast.UnaryOp:
            rule = OPERATORS.get(type(node.op))
            return Operation(rule, [node.operand], []) if rule is not None else None
        if kind is gast.Attribute and node.attr in ATTRIBUTES and self.canonical(node) is None:
            return Operation(RULES[ATTRIBUTES[node.attr]], [node.value], [])
        return None

    def _call(self, node: gast.Call) -> Operation | None:
        name = self.canonical(node.func)
        settings = settings_of(self.program)
        if name in RULES and name not in settings.rules and name not in settings.zero:
            return self._operation(RULES[name], node.args, node.keywords)
        known = self._declared(node, name)
        if known is not None:
            args = node.args if known.arguments is None else known.arguments
            return Operation(known.rule, list(args), list(node.keywords)) if known.rule else None
        if name is not None:
            rule = RULES.get(name) or CONSTANT_ONLY.get(name)
            return self._operation(rule, node.args, node.keywords) if rule else None
        function = node.func
        if (
            isinstance(function, gast.Attribute)
            and function.attr in METHODS
            and self.is_value(function.value)
        ):
            args = list(node.args)
            if function.attr in ("reshape", "transpose") and len(args) > 1:
                args = [gast.Tuple(args, gast.Load())]
            return self._operation(RULES[METHODS[function.attr]], [function.value, *args], node.keywords)
        return None

    def _operation(self, rule: Rule, args: list[gast.expr], keywords: list[gast.keyword]) -> Operation:
        """The rule with the arguments, or a variant of it where the options make it another function."""
        if rule.name not in _WITH_VARIANTS:
            return Operation(rule, list(args), list(keywords))
        if rule.name == "numpy.clip":
            keywords = [gast.keyword(_BOUNDS.get(k.arg, k.arg), k.value) for k in keywords]
        options = {k.arg: k.value for k in keywords}
        options.update(zip(rule.parameters, args, strict=False))
        variant = ""
        if rule.name == "numpy.arange":
            # a sole argument is the stop; a stop decides how many elements there are, a start is in them
            start = options.get("start") if len(options.keys() - {"dtype"}) > 1 else None
            moved = [p for p in (start, options.get("step")) if p is not None]
            variant = "" if all(literal(p) is not UNKNOWN_VALUE for p in moved) else "from start"
        elif rule.name == "numpy.full_like":
            variant = "" if literal(options.get("fill_value")) is not UNKNOWN_VALUE else "of a value"
        elif rule.name in _CONVERTING and "dtype" in options:
            variant = _CONVERTED.get(self._dtype(options["dtype"]), "of another dtype")
            if rule.name == "numpy.full" and variant == "of complex":
                variant = "of another dtype"
        rule = VARIANTS[f"{rule.name} {variant}"] if variant else rule
        return Operation(rule, list(args), list(keywords))

    def _dtype(self, node: gast.expr) -> str:
        """ "float", "complex" or "int" (truth values too), where an argument names such a type for sure."""
        if literal(node) is None:
            return "float"  # no type is given
        name = node.value if isinstance(node, gast.Constant) else self.canonical(node)
        return _DTYPES.get(str(name).removeprefix("numpy.").removeprefix("builtins."), "")

    def makes_new(self, call: gast.Call) -> bool:
        """Whether a call surely returns memory of its own."""
        operation = self.operation(call)
        if operation is None:
            function = self.callee(call)
            return function is not None and self._returns_new(function)
        if operation.rule.name in OWN:
            return True
        try:
            bound = operation.bind(lambda n: UNKNOWN)
            return bound.rule.result_kind(bound).fresh
        except Unsupported:
            return False

    def _returns_new(self, function: gast.FunctionDef) -> bool:
        """Whether what a function returns surely shares no memory with anything from outside, and none of its
        parts with another."""
        key, derived = ("returns new", id(function)), self.program.derived
        if key not in derived:
            derived[key] = False  # while it is looked at: a function that calls itself
            scope = Scope.of(self.program, function)
            sharing = Sharing(scope.makes_new, keeps=lambda n: True)
            given = Given(function.body, parameters(function), sharing.edges)
            returns = [s for s in flow.statements(function.body) if _returns(s)]
            parts = [(s, p) for s in returns for p in _parts(s.value) if sharing.sources(p)]
            names = [(s, getattr(root(p), "id", "")) for s, p in parts]
            derived[key] = bool(returns) and all(
                n in scope.local and given.is_alone(s, n) and names.count((s, n)) == 1 for s, n in names
            )
        return derived[key]

    def is_value(self, node: gast.expr) -> bool:
        """Whether an expression is a value, not a module or part of one."""
        while isinstance(node, gast.Attribute):
            if self.constant(node) is not None:
                return True
            node = node.value
        if not isinstance(node, gast.Name) or node.id in self.local:
            return True
        if node.id not in self.imports and node.id not in self.program.imports:
            return True
        return self.constant(node) is not None

    def is_float(self, node: gast.expr) -> bool:
        """Whether a name stands for a float of a library, or of another file where it is written out."""
        value = self.constant(node)
        return self.canonical(node) in CONSTANTS or (value is not None and isinstance(literal(value), float))

    def constant(self, node: gast.expr) -> gast.expr | None:
        """The expression of a constant of another file, where a name stands for one."""
        values = self.program.links.values
        return values.get(self.canonical(node) or "") if values else None


def _returns(s: gast.stmt) -> bool:
    return isinstance(s, gast.Return) and s.value is not None


def _parts(node: gast.expr) -> list[gast.expr]:
    """The items of a tuple that is written out, and of tuples in it; any other expression as it is."""
    if isinstance(node, gast.Tuple):
        return [p for e in node.elts for p in _parts(e)]
    return [node]


def dotted(node: gast.AST) -> list[str]:
    """The names in `a.b.c`; nothing for any other expression."""
    names: list[str] = []
    while isinstance(node, gast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, gast.Name) else []
