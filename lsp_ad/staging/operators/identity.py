"""Which list, dict or object a variable stands for, in staged code that changes it or chooses another.

A body is traced with copies. What it does to a copy is done to the list itself afterwards, so that all names
for it see it. Where a variable stands for one of several lists, by a staged value, it is given a list of its
own; a later change of one of them is an error, since nobody knows which names should see it.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from lsp_ad.staging.effects import converted_frames, inside
from lsp_ad.staging.errors import CONVERTED, StagingError, staging_error, user_place
from lsp_ad.staging.operators.lists import Moved, StagedList
from lsp_ad.staging.structures import Form, made_of, parts_of

Path = tuple[int, ...]


class Copies:
    """Values with lists, dicts and objects of their own, shared as before; and what becomes of these."""

    def __init__(self, start: Sequence[Any]):
        known: dict[int, Any] = {}
        self.values = tuple(_copied(value, known) for value in start)
        self.initial = _of_all(self.values)
        self._content = {path: content(one) for path, one in self.initial.items()}

    def ends(self, values: Sequence[Any]) -> Ends:
        """What has become of them where the variables have these values."""
        changed = {p for p, one in self.initial.items() if not _equal(content(one), self._content[p])}
        return Ends(self.initial, _of_all(values), changed)


def shared_as(before: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Values that stand for others, with one list, dict or object where these have one in several places."""
    known: dict[int, Any] = {}
    return [_shared(old, new, known) for old, new in zip(before, values, strict=True)]


def _shared(old: Any, new: Any, known: dict[int, Any]) -> Any:
    found, given = parts_of(old), parts_of(new)
    if found is None or given is None:
        return new
    if id(old) in known and is_mutable(old):
        return known[id(old)]
    made = new
    if type(old) is type(new) and not isinstance(old, StagedList) and len(found[0]) == len(given[0]):
        parts = [_shared(a, b, known) for a, b in zip(found[0], given[0], strict=True)]
        if any(a is not b for a, b in zip(parts, given[0], strict=True)):
            made = made_of(type(new), given[1], parts)
    if is_mutable(old):
        known[id(old)] = made
    return made


@dataclass
class Ends:
    """The lists, dicts and objects at the start of a body (`initial`) and at its end (`held`), by their place
    in the variables; and the places of those that it has changed."""

    initial: dict[Path, Any]
    held: dict[Path, Any]
    changed: set[Path]

    def keeps(self, path: Path) -> bool:
        """Whether the same one is there at the end."""
        return path in self.initial and self.held.get(path) is self.initial[path]

    def origin(self, path: Path) -> Path | None:
        """The place where the one that is there at the end was at the start."""
        one = self.held.get(path)
        return next((p for p, first in self.initial.items() if first is one), None)


class Settling:
    """Gives variables the values that come out of staged bodies, and lists the contents."""

    def __init__(self, construct: str, names: Sequence[str], before: Sequence[Any], ends: Sequence[Ends]):
        self.construct, self.names, self.before, self.ends = construct, names, before, ends
        self.originals = _of_all(before)
        self.several: list[tuple[Any, str, list[Any]]] = []  # what is one of several
        self._done: dict[int, Any] = {}  # by the list that was there, what stands for it now

    def settled(self, values: Sequence[Any], bodies: Sequence[Callable[..., Any]]) -> tuple:
        """The values with the lists in them that the variables stand for. Raises StagingError."""
        self._check_changes(bodies)
        return tuple(self._put(value, (i,)) for i, value in enumerate(values))

    def remember(self) -> None:
        """Remember what is one of several, once the variables have their values."""
        sources = {id(s) for _, _, found in self.several for s in found}
        held = holders(sources, self.names) if sources else {}
        known = _choices.get()
        for new, name, found in self.several:
            if known is not None and any(id(s) in held for s in found):
                what = (
                    f"{':'.join(map(str, user_place()))}: `{name}` is one of several {_plural(new)} here, by"
                    " a staged value, and one of these is changed afterwards: which names see that, nobody"
                    " knows. Make a copy where it is chosen."
                )
                known += [(one, content(one), what) for one in (new, *found)]

    def _all_keep(self, path: Path) -> bool:
        return all(e.keeps(path) for e in self.ends)

    def _check_changes(self, bodies: Sequence[Callable[..., Any]]) -> None:
        changed = {path for e in self.ends for path in e.changed if path in self.originals}
        if not changed:
            return
        wanted = {id(self.originals[p]) for p in changed}
        reached = holders(wanted, self.names)
        for path in changed:
            alike = [p for p, one in self.originals.items() if one is self.originals[path]]
            if any(self._parted(alike, e) for e in self.ends):
                raise staging_error(
                    f"`{self.names[alike[0][0]]}` and `{self.names[alike[-1][0]]}` stand for one"
                    f" {type(self.originals[path]).__name__} before a staged `{self.construct}`, that"
                    " changes it, and for two after it.",
                    "Give the other one another name.",
                )
            if id(self.originals[path]) in reached and not any(map(self._all_keep, alike)):
                name = self.names[path[0]]
                raise staging_error(
                    f"What `{name}` stands for is changed in a staged `{self.construct}`, in which `{name}`"
                    " is given another value, too.",
                    "Give the other value another name.",
                )
        used = {n for body in bodies for n in _names(body)}
        held = holders(wanted, self.names, callers=False)
        for path in changed:
            others = held.get(id(self.originals[path]), set()) & used
            if others:
                raise staging_error(
                    f"`{min(others)}` and `{self.names[path[0]]}` stand for the same"
                    f" {type(self.originals[path]).__name__}, which a staged `{self.construct}` changes under"
                    " one name and uses under the other.",
                    "Use one name.",
                )

    def _parted(self, alike: list[Path], ends: Ends) -> bool:
        """Whether one list has become several, of which one is changed."""
        held = [ends.held.get(path) for path in alike]
        return any(path in ends.changed for path in alike) and any(one is not held[0] for one in held)

    def _put(self, new: Any, path: Path) -> Any:
        found = parts_of(new)
        if found is None:
            return new
        old = self.originals.get(path)
        if old is not None and self._all_keep(path):
            if id(old) not in self._done:
                self._done[id(old)] = self._put_into(old, new, path)
            return self._done[id(old)]
        if path in self.ends[0].held:
            origins = {e.origin(path) for e in self.ends}
            only = origins.pop() if len(origins) == 1 else None
            if only is not None and only in self.originals:
                return self.originals[only]
            held = [e.held.get(path) for e in self.ends]
            if held[0] is not None and len(held) > 1 and all(one is held[0] for one in held):
                return held[0]
            self._one_of_several(new, path)
        if isinstance(new, StagedList):
            return new
        parts = [self._put(part, (*path, i)) for i, part in enumerate(found[0])]
        made = made_of(type(new), found[1], parts)
        self.several = [(made if one is new else one, n, s) for one, n, s in self.several]
        return made

    def _one_of_several(self, new: Any, path: Path) -> None:
        sources = [self.originals[path]] if path in self.originals else []
        for e in self.ends:
            origin = e.origin(path)
            one = self.originals.get(origin) if origin is not None else e.held.get(path)
            if one is not None:
                sources.append(one)
        self.several.append((new, self.names[path[0]], sources))

    def _put_into(self, old: Any, new: Any, path: Path) -> Any:
        """The list itself, with what a body has made of its copy."""
        if type(old) is list and isinstance(new, StagedList):
            old[:] = [Moved(":".join(map(str, user_place())))]
            return new
        if isinstance(new, StagedList):
            old.meta, old.base, old.stores = new.meta, new.base, new.stores
            return old
        changed = any(path in e.changed for e in self.ends)
        found = parts_of(new if changed else old)
        assert found is not None
        values = parts_of(new)
        assert values is not None
        parts = [self._put(part, (*path, i)) for i, part in enumerate(values[0])]
        if changed:
            _refill(old, found[1], parts)
        return old


_choices: ContextVar[list[tuple[Any, tuple, str]] | None] = ContextVar("choices", default=None)


@contextmanager
def no_changes_of_choices() -> Iterator[None]:
    """Refuse, where a trace ends, changes of what a variable may stand for by a staged value."""
    if _choices.get() is not None:
        yield
        return
    known: list[tuple[Any, tuple, str]] = []
    token = _choices.set(known)
    try:
        yield
    finally:
        _choices.reset(token)
    for one, before, what in known:
        if not _equal(content(one), before):
            raise StagingError(what)


def holders(wanted: set[int], own: Sequence[str], callers: bool = True) -> dict[int, set[str]]:
    """By identity: the variables of the functions that run through which each of some objects is reached.

    `own`: the names of the innermost one that do not count; `callers`: look at those around it, too.
    """
    pending: list[tuple[Any, str]] = []
    here = True  # in the innermost function, of which blocks run as functions of their own
    for frame in converted_frames():
        names = {n: v for n, v in frame.f_locals.items() if not (here and n in own)}
        pending += [(value, name) for name, value in names.items()]
        here = here and CONVERTED[frame.f_code]
        if not here and not callers:
            break
    found: dict[int, set[str]] = {}
    seen: set[int] = set()
    while pending:
        value, name = pending.pop()
        if id(value) in wanted:
            found.setdefault(id(value), set()).add(name)
        elif id(value) not in seen:
            seen.add(id(value))
            if isinstance(value, types.FunctionType) and not CONVERTED.get(value.__code__, False):
                cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
                pending += [(v, n) for n, cell in cells if n not in own for v in inside(cell)]
            else:
                pending += [(part, name) for part in inside(value)]
    return found


def is_mutable(value: Any) -> bool:
    """Whether a value is a list, a dict, or an object of a dataclass, or of a class of a library's, that can
    change."""
    kind = type(value)
    if kind in (list, dict, StagedList):
        return True
    if not dataclasses.is_dataclass(kind):
        found = parts_of(value)
        return found is not None and isinstance(found[1], Form)
    return not kind.__dataclass_params__.frozen  # type: ignore[attr-defined]


def content(value: Any) -> tuple:
    """What a list, a dict or an object holds, to be compared by identity."""
    if isinstance(value, StagedList):
        return (value.base, *value.stores)
    found = parts_of(value)
    assert found is not None
    if isinstance(found[1], Form):
        return (*found[0], *getattr(value, "__dict__", {}).values())
    return (*found[0], *(found[1] if isinstance(found[1], tuple) else ()))


def _equal(one: tuple, other: tuple) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _refill(old: Any, meta: Any, parts: list[Any]) -> None:
    if type(old) is list:
        old[:] = parts
    elif type(old) is dict:
        old.clear()
        old.update(zip(meta, parts, strict=True))
    elif isinstance(meta, Form):
        made = meta.made(parts)
        slots = [n for kind in type(made).__mro__ for n in getattr(kind, "__slots__", ())]
        for name in [*getattr(made, "__dict__", ()), *slots]:
            if hasattr(made, name):
                object.__setattr__(old, name, getattr(made, name))
    else:
        for name, part in zip(meta, parts, strict=True):
            object.__setattr__(old, name, part)


def _copied(value: Any, known: dict[int, Any]) -> Any:
    if id(value) in known:
        return known[id(value)]
    found = parts_of(value)
    if found is None:
        return value
    parts = [_copied(part, known) for part in found[0]]
    if not is_mutable(value) and all(new is old for new, old in zip(parts, found[0], strict=True)):
        return value
    made = made_of(type(value), found[1], parts)
    if is_mutable(value):
        known[id(value)] = made
    return made


def _of_all(values: Sequence[Any]) -> dict[Path, Any]:
    """The lists, dicts and objects in values, by their place."""
    found: dict[Path, Any] = {}
    pending: list[tuple[Any, Path]] = [(value, (i,)) for i, value in enumerate(values)]
    while pending:
        value, path = pending.pop()
        if is_mutable(value):
            found[path] = value
        parts = None if isinstance(value, StagedList) else parts_of(value)
        if parts is not None:
            pending += [(part, (*path, i)) for i, part in enumerate(parts[0])]
    return found


def _names(body: Callable[..., Any]) -> set[str]:
    """The names in the text of a body."""
    while isinstance(body, functools.partial):
        body = body.func
    pending = [body.__code__] if isinstance(body, types.FunctionType) else []
    found: set[str] = set()
    for code in pending:
        found |= {*code.co_freevars, *code.co_names, *code.co_varnames}
        pending += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return found


def _plural(value: Any) -> str:
    names = {list: "lists", StagedList: "lists", dict: "dicts"}
    return names.get(type(value), f"objects of `{type(value).__name__}`")
