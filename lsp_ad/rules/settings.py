"""Rules for functions of other packages, from `lsp-ad.toml`, or `[tool.lsp-ad]` in pyproject.toml.

    non_differentiable = ["mylib.seed"]
    staged = ["train.step"]
    flags = ["training"]

    [rules]
    "scipy.special.erfcx" = { parameters = "x", x = "dy * (2 * x * y - 2 / np.sqrt(np.pi))" }

A rule names the parameters of the function, and for each one that has a derivative the adjoint that a call
adds to it, in the language of the tables: an expression in the parameters, the result `y` and its adjoint
`dy`. It is elementwise; with `form = "general"` it is taken as it is, and has the shape of the parameter.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lsp_ad.problems import Problem, Span, problem
from lsp_ad.rules.declared import MODULE
from lsp_ad.rules.rule import Adjoint, Rule, signature
from lsp_ad.semantics.names import Program
from lsp_ad.semantics.shapes import UNKNOWN
from lsp_ad.source.document import Document

_SECTION = ("tool", "lsp-ad")
_FORMS = ("elementwise", "general")
_OWN = ("y", "dy", "np", "math", "form", "parameters")
_PARTS = (
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Attribute, ast.Name, ast.Constant, ast.Subscript),
    *(ast.Slice, ast.Tuple, ast.List, ast.keyword, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context),
    ast.Expression,
)


@dataclass
class Settings:
    """The rules of the settings by canonical name, the functions without a derivative, and what is wrong.

    `staged`: functions that count as staged; `flags`: parameters (`training`, `step.training`) that are meant
    to decide branches while their function is traced.
    """

    rules: dict[str, Rule] = field(default_factory=dict)
    zero: set[str] = field(default_factory=set)
    staged: set[str] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)


def settings_of(program: Program) -> Settings:
    """The settings that hold for a file, read once."""
    if "settings" not in program.derived:
        document = program.settings
        program.derived["settings"] = Settings() if document is None else read(document)
    return program.derived["settings"]


def read(document: Document) -> Settings:
    """The settings in a file; whatever is wrong in it is a problem (AD603) that names file, line and key."""
    return _Reader(document).settings


class _Wrong(Exception):
    pass


class _Reader:
    def __init__(self, document: Document):
        self.document = document
        self.settings = Settings()
        try:
            table = self._table()
        except _Wrong as wrong:
            self._wrong(str(wrong), 1)
            return
        for key, value in table.items():
            if key == "rules" and isinstance(value, dict):
                for name, rule in value.items():
                    self._entry(name, rule)
            elif key == "non_differentiable" and isinstance(value, list):
                for name in value:
                    self._zero(name)
            elif key in ("staged", "flags") and isinstance(value, list):
                getattr(self.settings, key).update(map(str, value))
            else:
                what = "has to be a table" if key == "rules" else "has to be a list of names"
                known = key in ("rules", "non_differentiable", "staged", "flags")
                self._wrong(f"`{key}` {what}." if known else f"There is no setting `{key}`.", self._line(key))

    def _table(self) -> dict[str, Any]:
        if sys.version_info < (3, 11):
            raise _Wrong("Settings are read by Python 3.11 and later; this is an older one.")
        import tomllib

        try:
            table: Any = tomllib.loads(self.document.text)
        except tomllib.TOMLDecodeError as error:
            raise _Wrong(f"This is no TOML: {error}.") from None
        if self.document.path.endswith("pyproject.toml"):
            for key in _SECTION:
                table = table.get(key, {}) if isinstance(table, dict) else None
        if not isinstance(table, dict):
            raise _Wrong("`tool.lsp-ad` has to be a table.")
        return table

    def _wrong(self, message: str, line: int) -> None:
        place = f"{self.document.path}:{line}: "
        self.settings.problems.append(problem("AD603", place + message, Span(1, 0, 1, 1)))

    def _line(self, key: str) -> int:
        """The line in which a key stands: the first that begins with it, or that has it at all."""
        lines = self.document.text.splitlines()
        begin = [n for n, t in enumerate(lines, 1) if t.strip().lstrip("[\"'").startswith(key)]
        return next(iter([*begin, *(n for n, t in enumerate(lines, 1) if key in t)]), 1)

    def _zero(self, name: object) -> None:
        try:
            self.settings.zero.add(_canonical(name))
        except _Wrong as wrong:
            self._wrong(str(wrong), self._line(str(name)))

    def _entry(self, name: str, table: object) -> None:
        try:
            self.settings.rules[_canonical(name)] = _rule(name, table)
        except _Wrong as wrong:
            self._wrong(f"`{name}`: {wrong}", self._line(name))


def _canonical(name: object) -> str:
    parts = name.split(".") if isinstance(name, str) else []
    if len(parts) < 2 or not all(p.isidentifier() for p in parts):
        raise _Wrong(f"{name!r} is not the full name of a function, as in `scipy.special.erfcx`.")
    assert isinstance(name, str)
    if parts[0] in ("numpy", "math", "builtins", "lsp_ad"):
        raise _Wrong(f"what functions of {parts[0]} do is known, and cannot be set.")
    return name


def _rule(name: str, table: object) -> Rule:
    if not isinstance(table, dict) or not all(isinstance(v, str) for v in table.values()):
        raise _Wrong("a rule is a table of texts.")
    form = table.get("form", "elementwise")
    if form not in _FORMS:
        raise _Wrong(f"`form` is elementwise or general, not {form}.")
    if "parameters" not in table:
        raise _Wrong("`parameters` is missing.")
    try:
        parsed = ast.parse(f"def f({table['parameters']}): pass").body
    except SyntaxError:
        raise _Wrong(f"`parameters` are written as in a `def`, not {table['parameters']!r}.") from None
    if len(parsed) != 1 or not isinstance(parsed[0], ast.FunctionDef):
        raise _Wrong(f"`parameters` are written as in a `def`, not {table['parameters']!r}.")
    if parsed[0].args.vararg or parsed[0].args.kwarg or parsed[0].args.posonlyargs:
        raise _Wrong("`parameters` name each parameter, without stars and slashes.")
    names, defaults, only = signature(table["parameters"])
    if taken := sorted(set(names) & set(_OWN)):
        raise _Wrong(f"a parameter cannot be called {taken[0]}, which means something else in a rule.")
    texts = {key: value for key, value in table.items() if key not in ("form", "parameters")}
    if unknown := sorted(texts.keys() - set(names)):
        raise _Wrong(f"`{unknown[0]}` is none of its parameters.")
    if not texts:
        raise _Wrong("no parameter has an adjoint; such a function belongs into `non_differentiable`.")
    found = {p: _expression(texts[p], p, set(names)) for p in names if p in texts}
    if form == "elementwise":
        return Rule(name, names, defaults, elementwise=found, differentiable=tuple(found), keyword_only=only)
    adjoints = {p: Adjoint(text) for p, text in found.items()}
    return Rule(
        name,
        names,
        defaults,
        adjoints=lambda bound: adjoints,
        kind=lambda bound: UNKNOWN,
        differentiable=tuple(found),
        keyword_only=only,
    )


def _expression(text: str, parameter: str, parameters: set[str]) -> str:
    """The text of an adjoint, with the modules in it marked as such."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        raise _Wrong(f"the adjoint of {parameter} is no expression: {text!r}.") from None
    for node in ast.walk(tree):
        if not isinstance(node, _PARTS):
            raise _Wrong(f"a {type(node).__name__} cannot stand in the adjoint of {parameter}.")
    known = parameters | {"y", "dy", "np", "math"}
    tree = _Modules(known).visit(tree)
    names = set(_names(tree))
    if unknown := sorted(n for n in names - known if not n.startswith(MODULE)):
        raise _Wrong(f"`{unknown[0]}` in the adjoint of {parameter} is none of {', '.join(sorted(known))}.")
    if "dy" not in names:
        raise _Wrong(f"the adjoint of {parameter} does not depend on dy.")
    return ast.unparse(tree)


def _names(tree: ast.AST) -> Iterator[str]:
    return (n.id for n in ast.walk(tree) if isinstance(n, ast.Name))


class _Modules(ast.NodeTransformer):
    """`scipy.special.digamma(x)`: a module by its full name, and a function of it."""

    def __init__(self, known: set[str]):
        self.known = known

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        path: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            path.insert(0, inner.attr)
            inner = inner.value
        if not isinstance(inner, ast.Name) or inner.id in self.known:
            self.generic_visit(node)
            return node
        module = ast.Name(MODULE + "__".join([inner.id, *path[:-1]]), ast.Load())
        return ast.Attribute(module, path[-1], ast.Load())
