"""What a name stands for: imports under any alias, functions and constants of this file.

A *canonical name* is the dotted name of a library object whatever it is called here: after
`import numpy.linalg as la` the expression `la.inv` is `numpy.linalg.inv`. Built-ins are
`builtins.abs`, functions of this file `here.f`, what a relative import names `.model.f`. What is
bound twice, under a condition or by a star import has no canonical name: it cannot be told what it
is. An import in a `try` whose handlers bind nothing else but None to the name is no condition: where
it fails, the name is of no use.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import gast

from lsp_ad.problems import Span
from lsp_ad.source.document import Document
from lsp_ad.source.parse import Parsed
from lsp_ad.source.trees import children, walk

_DOTTED = (gast.Name, gast.Attribute)
HERE = "here."
_DEFINITIONS = frozenset((gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef))
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_SCOPES = frozenset((*_DEFINITIONS, *_COMPREHENSIONS, gast.Lambda))
_BINDING = frozenset(
    (
        gast.Import,
        gast.ImportFrom,
        gast.Global,
        gast.Nonlocal,
        gast.ExceptHandler,
        gast.MatchAs,
        gast.MatchStar,
    )
)


@dataclass(frozen=True)
class Home:
    """Where lines that stand below the text of a program come from: a file, and the line of the first."""

    first: int
    last: int
    path: str
    line: int


@dataclass
class Links:
    """What a program takes from other files of the workspace (see `linking.py`).

    `functions` and `classes` are theirs, expressed in the names of the program, each under a name that is
    unique in it; `called` is what a class is called in the program. `targets` has these names, `values` the
    expressions of constants, `reasons` why something cannot be had: all by canonical name. `libraries` has
    what names stand for that are handed on from a library. `imports` are names for the file to import if they
    are used, with what they stand for and the line.
    """

    functions: dict[str, gast.FunctionDef] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    values: dict[str, gast.expr] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    libraries: dict[str, str] = field(default_factory=dict)
    classes: dict[str, gast.stmt] = field(default_factory=dict)
    called: dict[str, str] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    homes: list[Home] = field(default_factory=list)


@dataclass(frozen=True)
class Program:
    """One parsed file and what its top-level names stand for.

    `settings`: the text of the settings that hold for it, if there are any. `derived`: what later stages have
    worked out about the file, so that they do so once. `made` are functions that the compiler made of what
    the text defines (`differentiate/functions/lift.py`), by name; one with the name of a function of the file
    stands for it. `written` is what the user wrote for them.
    """

    parsed: Parsed
    settings: Document | None = None
    derived: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    links: Links = field(default_factory=Links)
    made: Mapping[str, gast.FunctionDef] = field(default_factory=dict)
    written: Mapping[str, gast.AST] = field(default_factory=dict)
    _bindings: dict[str, list[gast.AST]] = field(default_factory=dict, init=False)
    _meanings: dict[str, str | None] = field(default_factory=dict, init=False, compare=False, repr=False)
    _members: dict[tuple[str, str], str | None] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        for statement in self.parsed.module.body:
            for name in bound_names([statement]):
                self._bindings.setdefault(name, []).append(statement)

    @cached_property
    def functions(self) -> dict[str, gast.FunctionDef]:
        """The functions defined once, unconditionally, at the top level of the file; and those made."""
        defined = {
            s.name: s
            for s in self.parsed.module.body
            if isinstance(s, gast.FunctionDef) and len(self._bindings[s.name]) == 1
        }
        return {**defined, **self.made}

    def text_of(self, name: str) -> gast.AST:
        """What the user wrote for a function: its definition, or a lambda."""
        return self.written.get(name) or self.function(name)

    @cached_property
    def imports(self) -> dict[str, str]:
        """Local name to canonical name, for the names that are bound by one import and nothing else."""
        found = {}
        for statement in self.parsed.module.body:
            for alias, canonical in imported(statement).items():
                if all(imported(b).get(alias) == canonical for b in self._bindings[alias]):
                    found[alias] = canonical
        return found

    @cached_property
    def constants(self) -> dict[str, gast.expr]:
        """Top-level names that are assigned once, with the expression, and never declared `global`."""
        declared = {
            n for node in walk(self.parsed.module) if isinstance(node, gast.Global) for n in node.names
        }
        return {
            s.targets[0].id: s.value
            for s in self.parsed.module.body
            if isinstance(s, gast.Assign)
            and len(s.targets) == 1
            and isinstance(s.targets[0], gast.Name)
            and len(self._bindings[s.targets[0].id]) == 1
            and s.targets[0].id not in declared
        }

    @cached_property
    def has_star_import(self) -> bool:
        return any(
            a.name == "*" for s in walk(self.parsed.module) if isinstance(s, gast.ImportFrom) for a in s.names
        )

    @cached_property
    def bound(self) -> frozenset[str]:
        """Every name that the top level of the file binds in any way, and those of functions made."""
        return frozenset({*self._bindings, *self.made})

    def bindings(self, name: str) -> list[gast.AST]:
        """The statements at the top level of the file that bind a name."""
        return self._bindings.get(name, [])

    def canonical(self, node: gast.AST, local: Set[str] = frozenset()) -> str | None:
        """The canonical name of a `Name` or dotted `Attribute`, or None. `local`: names bound nearer by."""
        if type(node) is gast.Name:
            if node.id in local:
                return None
            if node.id not in self._meanings:
                self._meanings[node.id] = self._meaning(node.id)
            return self._meanings[node.id]
        if type(node) is not gast.Attribute or type(node.value) not in _DOTTED:
            return None
        base = self.canonical(node.value, local)
        if base is None or base in self.links.values:
            return None
        if (base, node.attr) not in self._members:
            outside = bool(base) and not base.startswith((HERE, "builtins."))
            self._members[base, node.attr] = joined(base, node.attr) if outside else None
        return self._members[base, node.attr]

    def _meaning(self, name: str) -> str | None:
        """What a name of the top level stands for."""
        if name in self.imports:
            return self.links.libraries.get(name, self.imports[name])
        if name in self.links.imports:
            return self.links.imports[name][0]
        if name in self.functions:
            return HERE + name
        if name not in self._bindings and not self.has_star_import and hasattr(builtins, name):
            return "builtins." + name
        return None

    @cached_property
    def numpy(self) -> str:
        """The name of NumPy in generated code: the file's own, or `np`."""
        return self.alias_of("numpy") or "np"

    def alias_of(self, module: str, wanted: str = "") -> str | None:
        """The name that the file uses for a module (`np` for `numpy`), if it imports it.

        `wanted`: only if it is this one.
        """
        known = self.links.libraries
        found = {a: known.get(a, c) for a, c in self.imports.items()}
        found |= {a: c for a, (c, _) in self.links.imports.items()}
        return next((a for a, c in found.items() if c == module and wanted in ("", a)), None)

    def function(self, name: str) -> gast.FunctionDef:
        """A function of this file or one that is linked to it; KeyError where there is none."""
        return self.functions[name] if name in self.functions else self.links.functions[name]

    def callee(self, canonical: str | None) -> gast.FunctionDef | None:
        """The function that a canonical name stands for, if its text is known."""
        if canonical is None:
            return None
        if canonical.startswith(HERE):
            return self.functions[canonical[len(HERE) :]]
        name = self.links.targets.get(canonical, "")
        return self.made.get(name) or self.links.functions.get(name)

    def home(self, span: Span) -> tuple[str, Span] | None:
        """The file and the place of a span of a linked function; None for one of this file."""
        for home in self.links.homes:
            if home.first <= span.line <= home.last:
                moved = home.line - home.first
                return home.path, Span(span.line + moved, span.column, span.end_line + moved, span.end_column)
        return None


def joined(base: str, name: str) -> str:
    """`a.b` for `a`, and `.b` for `.`."""
    return f"{base}{name}" if base.endswith(".") else f"{base}.{name}"


def imported(statement: gast.AST) -> dict[str, str]:
    """What an import statement binds: local name to canonical name."""
    if isinstance(statement, gast.Import):
        return {
            a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0]
            for a in statement.names
        }
    if isinstance(statement, gast.ImportFrom):
        module = "." * (statement.level or 0) + (statement.module or "")
        return {a.asname or a.name: joined(module, a.name) for a in statement.names if a.name != "*"}
    if isinstance(statement, gast.Try):
        return _tried(statement)
    return {}


def _tried(statement: gast.Try) -> dict[str, str]:
    """What the imports in the body of a `try` bind, if no other part of it binds that to more than None."""
    found: dict[str, str] = {}
    other: list[gast.AST] = [*statement.orelse, *statement.finalbody]
    for s in statement.body:
        if isinstance(s, (gast.Import, gast.ImportFrom)) and not imported(s).keys() & found.keys():
            found |= imported(s)
        else:
            other.append(s)
    for handler in statement.handlers:
        other += [s for s in handler.body if not _is_none(s)]
    other += [h.name for h in statement.handlers if isinstance(h.name, gast.Name)]
    taken = bound_names(other)
    return {name: canonical for name, canonical in found.items() if name not in taken}


def _is_none(s: gast.stmt) -> bool:
    return (
        isinstance(s, gast.Assign)
        and all(isinstance(t, gast.Name) for t in s.targets)
        and isinstance(s.value, gast.Constant)
        and s.value.value is None
    )


def bound_names(body: list[gast.AST]) -> set[str]:
    """The names that statements bind in the scope they stand in (not in scopes nested in it)."""
    return _bound_and_declared(body)[0]


def _bound_and_declared(body: list[gast.AST]) -> tuple[set[str], set[str]]:
    """The names that statements bind in their scope, and those that they declare global or nonlocal."""
    found: set[str] = set()
    declared: set[str] = set()
    pending: list[gast.AST] = list(body)
    for node in pending:  # which grows on the way
        kind = type(node)
        if kind is gast.Name:
            if isinstance(node.ctx, (gast.Store, gast.Del)):
                found.add(node.id)
        elif kind is gast.Constant:
            continue
        elif kind is gast.BinOp:
            pending += (node.left, node.right)
        elif kind is gast.Call:
            pending += (node.func, *node.args, *node.keywords)
        elif kind in _DEFINITIONS:
            found.add(node.name)
            pending += node.decorator_list
        elif kind in _SCOPES:
            # a walrus in a comprehension binds in the scope around it
            found |= {n.target.id for n in walk(node) if isinstance(n, gast.NamedExpr)}
        else:
            if kind in _BINDING:
                _bound_by(node, found, declared)
            pending += children(node)
    return found, declared


def _bound_by(node: gast.AST, found: set[str], declared: set[str]) -> None:
    if isinstance(node, (gast.Import, gast.ImportFrom)):
        found |= set(imported(node))
    elif isinstance(node, (gast.Global, gast.Nonlocal)):
        declared |= set(node.names)
    elif isinstance(node, gast.ExceptHandler) and node.name is not None:
        found.add(node.name.id if isinstance(node.name, gast.Name) else node.name)
    elif isinstance(node, (gast.MatchAs, gast.MatchStar)) and node.name:
        found.add(node.name)


def parameters(function: gast.FunctionDef) -> list[str]:
    """All parameter names in order, starred ones included."""
    a = function.args
    starred = [a.vararg] if a.vararg else []
    double = [a.kwarg] if a.kwarg else []
    return [p.id for p in [*a.posonlyargs, *a.args, *starred, *a.kwonlyargs, *double]]


def local_names(function: gast.FunctionDef) -> set[str]:
    """Parameters and names bound in the body, without those that it declares global or nonlocal."""
    bound, declared = _bound_and_declared(function.body)
    return (set(parameters(function)) | bound) - declared


def local_imports(function: gast.FunctionDef) -> dict[str, str]:
    """What a function imports on every path, and binds in no other way: local name to canonical name."""
    if not any(imported(s) for s in function.body):
        return {}
    others = set(parameters(function))
    found: dict[str, str] = {}
    for s in function.body:
        names = imported(s)
        if names:
            others |= {n for n, canonical in names.items() if found.setdefault(n, canonical) != canonical}
        else:
            others |= bound_names([s])
    declared = set(found) - local_names(function)
    return {n: canonical for n, canonical in found.items() if n not in others | declared}
