"""The classes of a file, as far as predictions follow them: methods, properties, fields, inheritance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import gast

from lsp_ad.checks.staged_functions import Functions, Place

_PLAIN_BASES = {"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"}
_TUPLES = {"typing.NamedTuple"}
_DATACLASSES = {"dataclasses.dataclass"}
_PROPERTIES = {"builtins.property", "functools.cached_property"}
_HIDING = ("__setattr__", "__getattribute__", "__new__", "__delattr__", "__slots__")
_KINDS = _PROPERTIES | {"builtins.classmethod", "builtins.staticmethod"}


@dataclass(frozen=True, eq=False)
class Class:
    """A class that predictions follow: `line` is it and what it inherits from, in the order of look-up."""

    node: gast.ClassDef
    functions: Functions
    line: tuple[gast.ClassDef, ...]

    @property
    def name(self) -> str:
        return self.node.name

    @cached_property
    def is_dataclass(self) -> bool:
        return any(_decorator(self.functions, d) in _DATACLASSES for n in self.line for d in n.decorator_list)

    @cached_property
    def is_tuple(self) -> bool:
        return any(self.functions.canonical(b, None) in _TUPLES for n in self.line for b in n.bases)

    @cached_property
    def fields(self) -> dict[str, gast.expr | None]:
        """The fields of a dataclass or named tuple, with their defaults."""
        return {
            s.target.id: s.value
            for n in reversed(self.line)
            for s in n.body
            if isinstance(s, gast.AnnAssign) and isinstance(s.target, gast.Name)
        }

    @cached_property
    def has_order(self) -> bool:
        """Does Python compare its objects field by field?"""
        return self.is_tuple or any(
            k.arg == "order" and isinstance(k.value, gast.Constant) and k.value.value is True
            for n in self.line
            for d in n.decorator_list
            if isinstance(d, gast.Call)
            for k in d.keywords
        )

    def member(self, name: str, after: gast.ClassDef | None = None) -> Member | None:
        """What the class, or one that it inherits from, has under a name; only what comes `after`."""
        line = self.line if after is None else self.line[self.line.index(after) + 1 :]
        for owner in line:
            found = self._own(owner, name)
            if found is not None:
                return found
        return None

    def _own(self, owner: gast.ClassDef, name: str) -> Member | None:
        methods: dict[str, Place] = {}
        for s in owner.body:
            if isinstance(s, (gast.FunctionDef, gast.AsyncFunctionDef)) and s.name == name:
                kind = self._kind(s)
                if kind is None or isinstance(s, gast.AsyncFunctionDef):
                    return Member(owner, {}, None)
                methods[kind] = self.functions.places[s]
            elif isinstance(s, gast.Assign) and any(
                isinstance(t, gast.Name) and t.id == name for t in s.targets
            ):
                if isinstance(s.value, gast.Name):  # `__rmul__ = __mul__`
                    other = self._own(owner, s.value.id)
                    if other is not None and s.value.id != name:
                        return other
                return Member(owner, {}, s.value)
        return Member(owner, methods, None) if methods else None

    def _kind(self, method: gast.FunctionDef) -> str | None:
        """What a method is by its decorator: "", property, setter, classmethod ...; None for any other."""
        if not method.decorator_list:
            return ""
        (decorator, *more) = method.decorator_list
        if isinstance(decorator, gast.Attribute) and decorator.attr in ("setter", "deleter"):
            return decorator.attr
        name = self.functions.canonical(decorator, None)
        return name.rpartition(".")[2] if name in _KINDS and not more else None

    def is_kind_of(self, other: Class) -> bool:
        return other.node in self.line


@dataclass(frozen=True)
class Member:
    """What a class has under a name: methods by what they are, or a value; neither where it is unknown."""

    owner: gast.ClassDef
    methods: dict[str, Place]
    value: gast.expr | None


def class_of(functions: Functions, name: str) -> Class | None:
    """A class of the file, if all that it is made of is plain."""
    node = functions.classes.get(name)
    line = _line(functions, node) if node is not None else None
    return Class(node, functions, tuple(line)) if node is not None and line is not None else None


def _line(functions: Functions, node: gast.ClassDef) -> list[gast.ClassDef] | None:
    line = [node]
    for known in line:
        if not _is_plain(functions, known):
            return None
        for base in known.bases:
            inner = functions.classes.get(base.id) if isinstance(base, gast.Name) else None
            if inner is not None and inner not in line:
                line.append(inner)
    return line


def _is_plain(functions: Functions, node: gast.ClassDef) -> bool:
    names = {
        s.name for s in node.body if isinstance(s, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef))
    }
    if node.keywords or names & set(_HIDING):
        return False
    if any(_decorator(functions, d) not in _DATACLASSES for d in node.decorator_list):
        return False
    for base in node.bases:
        plain = base.value if isinstance(base, gast.Subscript) else base
        known = isinstance(plain, gast.Name) and plain.id in functions.classes
        if not known and functions.canonical(plain, None) not in _PLAIN_BASES | _TUPLES:
            return False
    return True


def _decorator(functions: Functions, node: gast.expr) -> str | None:
    return functions.canonical(node.func if isinstance(node, gast.Call) else node, None)
