"""What is known of a value while the staging of a function is predicted, without running it.

Either the value itself (`Known`), or a list, tuple or dict of such (`Items`, `Table`), or that it is a Python
value (`Python`: one that nobody knows, but the same object wherever it gets), or that it is staged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import gast

from lsp_ad.checks.prediction.classes import Class
from lsp_ad.checks.staged_functions import Place


@dataclass(frozen=True, eq=False)
class Known:
    """A number, a text, None or a range."""

    value: object


@dataclass(frozen=True, eq=False)
class Python:
    """A Python value that is not known; equal only to itself."""


@dataclass(frozen=True, eq=False)
class Staged:
    """An array that is staged, or a list of them. `optional`: or None, by a staged value."""

    is_list: bool = False
    optional: bool = False


@dataclass(frozen=True, eq=False)
class Unclear:
    """It cannot be told if it is staged."""


@dataclass(eq=False)
class Items:
    """A tuple, or a list, which can be changed."""

    items: list[Value]
    is_list: bool = True


@dataclass(eq=False)
class Table:
    """A dict with keys that are known."""

    entries: dict[object, Value]


@dataclass(eq=False)
class Frame:
    """The variables of one call of a function, and the frame around it.

    `kept`: a function that is defined in it may outlive the call.
    """

    place: Place
    parent: Frame | None
    names: dict[str, Value] = field(default_factory=dict)
    kept: bool = False


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the file, with the frame that it was defined in."""

    place: Place
    frame: Frame | None


@dataclass(eq=False)
class Object:
    """An object of a class of the file, with its attributes."""

    kind: Class
    fields: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Type:
    """A class of the file."""

    kind: Class


@dataclass(frozen=True, eq=False)
class Super:
    """`super()` in a method of a class."""

    object: Object
    after: gast.ClassDef


@dataclass(frozen=True, eq=False)
class Library:
    """A function or module of a library, by its canonical name."""

    name: str


@dataclass(frozen=True, eq=False)
class Method:
    """A method that is about to be called."""

    owner: Value
    name: str


Value: TypeAlias = (
    "Known | Python | Staged | Unclear | Items | Table | Object | Type | Super | Function | Library | Method"
)
State: TypeAlias = "dict[Frame, dict[str, Value]]"

STAGED, STAGED_LIST, UNCLEAR, NONE = Staged(), Staged(True), Unclear(), Known(None)
MORE = Unclear()  # arguments of which the number is not known
OPTIONAL = Staged(optional=True)
TRUE, FALSE = Known(True), Known(False)


def parts(value: Value) -> Iterator[Value]:
    """A value and all that it holds."""
    pending, seen = [value], {id(value)}
    for part in pending:
        yield part
        inner = [item for item in held(part) if id(item) not in seen]
        seen |= {id(item) for item in inner}
        pending += inner


def held(value: Value) -> list[Value]:
    """What a list, dict or object holds."""
    if isinstance(value, Items):
        return value.items
    if isinstance(value, Table):
        return list(value.entries.values())
    return list(value.fields.values()) if isinstance(value, Object) else []


def has_staged(*values: Value) -> bool:
    return any(isinstance(part, Staged) for value in values for part in parts(value))


def is_unclear(*values: Value) -> bool:
    return any(isinstance(part, Unclear) for value in values for part in parts(value))


def combined(*values: Value) -> Value:
    """What is computed from values: staged where one of them is."""
    if has_staged(*values):
        return STAGED
    return UNCLEAR if is_unclear(*values) else Python()


def same(a: Value, b: Value) -> bool:
    """Are they surely equal, and equally little known?"""
    if a is b:
        return True
    if isinstance(a, Known) and isinstance(b, Known):
        return type(a.value) is type(b.value) and a.value == b.value
    if isinstance(a, Items) and isinstance(b, Items):
        alike = a.is_list == b.is_list and len(a.items) == len(b.items)
        return alike and all(map(same, a.items, b.items))
    if isinstance(a, Table) and isinstance(b, Table):
        return list(a.entries) == list(b.entries) and all(map(same, a.entries.values(), b.entries.values()))
    if isinstance(a, Object) and isinstance(b, Object):
        alike = a.kind.node is b.kind.node and a.fields.keys() == b.fields.keys()
        return alike and all(same(v, b.fields[name]) for name, v in a.fields.items())
    if isinstance(a, Type) and isinstance(b, Type):
        return a.kind.node is b.kind.node
    if isinstance(a, Function) and isinstance(b, Function):
        return a.place is b.place
    if isinstance(a, Library) and isinstance(b, Library):
        return a.name == b.name
    return isinstance(a, Unclear) and isinstance(b, Unclear)


def is_number(value: Value) -> bool:
    """May a loop that is staged carry it?"""
    if isinstance(value, Known):
        return isinstance(value.value, (bool, int, float, complex))
    return isinstance(value, (Python, Staged))


def is_none(value: Value) -> bool:
    return isinstance(value, Known) and value.value is None


def may_be_none(value: Value) -> bool:
    """Is it a staged value that tells if it is None?"""
    return isinstance(value, Staged) and value.optional


class Meeting:
    """Two states become one; names of one list in both stay names of one list."""

    def __init__(self, how: Value):
        """`how`: the value that decides between them: staged, a Python value, or unclear."""
        self.how = how
        self._met: dict[tuple[int, int], Value] = {}

    def states(self, one: State, other: State) -> None:
        """Give the frames what both states come to."""
        for frame, names in one.items():
            others = other.get(frame, {})
            frame.names = {
                name: self.values(names[name], others[name])
                if name in names and name in others
                else names.get(name, others.get(name, UNCLEAR))
                for name in {**names, **others}
            }

    def values(self, a: Value, b: Value) -> Value:
        if isinstance(a, (Items, Table, Object)) or isinstance(b, (Items, Table, Object)):
            if (id(a), id(b)) not in self._met:
                self._met[id(a), id(b)] = self._containers(a, b)
            return self._met[id(a), id(b)]
        if same(a, b):
            return a
        if isinstance(a, Unclear) or isinstance(b, Unclear) or isinstance(self.how, Unclear):
            return UNCLEAR
        if isinstance(self.how, Staged):
            for one, other in ((a, b), (b, a)):
                if (is_none(one) and is_number(other)) or may_be_none(one):
                    return OPTIONAL if is_number(other) or is_none(other) else UNCLEAR
            return STAGED if is_number(a) and is_number(b) else UNCLEAR
        return UNCLEAR if has_staged(a, b) else Python()

    def _containers(self, a: Value, b: Value) -> Value:
        if isinstance(a, Items) and isinstance(b, Items) and a.is_list == b.is_list:
            if len(a.items) == len(b.items):
                return Items([self.values(x, y) for x, y in zip(a.items, b.items, strict=True)], a.is_list)
            if a.is_list and isinstance(self.how, Staged):
                return STAGED_LIST
        if isinstance(a, Table) and isinstance(b, Table) and a.entries.keys() == b.entries.keys():
            return Table({key: self.values(value, b.entries[key]) for key, value in a.entries.items()})
        if isinstance(a, Object) and isinstance(b, Object) and a.kind.node is b.kind.node:
            met = self._met[id(a), id(b)] = Object(a.kind)
            met.fields |= {
                name: self.values(a.fields[name], b.fields[name])
                if name in a.fields and name in b.fields
                else a.fields.get(name, b.fields.get(name, UNCLEAR))
                for name in {**a.fields, **b.fields}
            }
            return met
        if isinstance(self.how, Staged) and any(isinstance(v, Staged) and v.is_list for v in (a, b)):
            return STAGED_LIST
        plain = isinstance(self.how, (Known, Python)) and not has_staged(a, b) and not is_unclear(a, b)
        return Python() if plain else UNCLEAR


def copied(value: Value, known: dict[int, Value]) -> Value:
    """A value with lists of its own; `known` has what is copied already."""
    if isinstance(value, (Method, Super)):
        return _copied_around(value, known)
    if not isinstance(value, (Items, Table, Object)):
        return value
    if id(value) not in known:
        if isinstance(value, Object):
            object_ = known[id(value)] = Object(value.kind)
            object_.fields |= {name: copied(item, known) for name, item in value.fields.items()}
        elif isinstance(value, Items):
            made = known[id(value)] = Items([], value.is_list)
            made.items += [copied(item, known) for item in value.items]
        else:
            table = known[id(value)] = Table({})
            table.entries |= {key: copied(item, known) for key, item in value.entries.items()}
    return known[id(value)]


def _copied_around(value: Method | Super, known: dict[int, Value]) -> Value:
    """What stands for an object stands for its copy."""
    if isinstance(value, Method):
        return Method(copied(value.owner, known), value.name)
    owner = copied(value.object, known)
    return Super(owner, value.after) if isinstance(owner, Object) else value


def truth(value: Value) -> Value:
    """Is a value true? `Known(True)` or `Known(False)`, or what cannot be told."""
    if isinstance(value, Known):
        return TRUE if value.value else FALSE
    if isinstance(value, Items):
        return TRUE if value.items else FALSE
    if isinstance(value, Table):
        return TRUE if value.entries else FALSE
    if isinstance(value, (Function, Library, Method, Object, Type)):
        return TRUE
    return value
