"""Calls: of functions of the file, of its classes and their methods, and of what libraries have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import gast

from lsp_ad.checks.parameters import defaults_of
from lsp_ad.checks.prediction import library
from lsp_ad.checks.prediction.classes import Class, Member
from lsp_ad.checks.prediction.expressions import Expressions
from lsp_ad.checks.prediction.values import (
    MORE,
    UNCLEAR,
    Frame,
    Function,
    Items,
    Known,
    Library,
    Method,
    Object,
    Python,
    Super,
    Table,
    Type,
    Value,
    combined,
    has_staged,
)
from lsp_ad.checks.staged_functions import Place

_DEEPEST = 24  # calls inside calls


class Calls(Expressions):
    """Goes through what is called."""

    def _call(self, node: gast.Call) -> Value:
        function = self.value(node.func)
        arguments = [self.plain(v) if not isinstance(v, Library) else v for v in self.values(node.args)]
        named = {k.arg or "**": self.plain(self.value(k.value)) for k in node.keywords}
        clear = MORE not in arguments and all(k.arg for k in node.keywords)
        if isinstance(function, Library):
            own = self.of_object(function.name.removeprefix("builtins."), arguments, named)
            if own is not None:
                return own
            return library.call(function.name, arguments, named, self.sizes)
        if isinstance(function, (Function, Type, Object)) or is_own(function):
            return self.called(function, arguments, named) if clear else UNCLEAR
        if isinstance(function, Method):
            return library.method(function.owner, function.name, [*arguments, *named.values()])
        return UNCLEAR if has_staged(*arguments, *named.values()) else combined(function, *arguments)

    def called(self, function: Value, arguments: list[Value], named: dict[str, Value]) -> Value:
        """What a function, class, method or object of the file gives."""
        if isinstance(function, Function):
            return self.run_function(function.place, function.frame, arguments, named)
        if isinstance(function, Type):
            return self.made(function.kind, arguments, named)
        if isinstance(function, Object):
            return self.method(function, "__call__", arguments, named) or UNCLEAR
        assert isinstance(function, Method)
        return self.method(function.owner, function.name, arguments, named) or UNCLEAR

    def method(
        self, owner: Value, name: str, arguments: list[Value], named: dict[str, Value] | None = None
    ) -> Value | None:
        """What a method of an object or class gives; None where it has none."""
        found = member(owner, name)
        if found is None and name == "_replace" and isinstance(owner, Object) and owner.kind.is_tuple:
            return Object(owner.kind, owner.fields | (named or {}))
        if found is None:
            return None
        kind = next(iter(found.methods), None)
        if kind is None:
            return UNCLEAR
        place = found.methods[kind]
        first: list[Value] = []
        if kind == "classmethod":
            first = [Type(kind_of(owner))]
        elif kind == "":
            first = [] if isinstance(owner, Type) else [owner.object if isinstance(owner, Super) else owner]
        elif kind != "staticmethod":
            return UNCLEAR
        return self.run_function(place, None, [*first, *arguments], named or {})

    def run_function(
        self, place: Place, around: Frame | None, arguments: list[Value], named: dict[str, Value]
    ) -> Value:
        given = self._bound(place, arguments, named)
        if given is None or self._depth >= _DEEPEST:
            return UNCLEAR
        with self.inside(Frame(place, around, given)):
            return self.run(place)

    def made(self, kind: Class, arguments: list[Value], named: dict[str, Value]) -> Value:
        """A new object of a class."""
        raise NotImplementedError

    def of_object(self, name: str, arguments: list[Value], named: dict[str, Value]) -> Value | None:
        """What a builtin gives of an object; None where it is given none."""
        raise NotImplementedError

    @contextmanager
    def inside(self, frame: Frame) -> Iterator[None]:
        """In a block, names are those of a frame."""
        around, self.frame = getattr(self, "frame", frame), frame
        self.frames.append(frame)
        self._depth += 1
        try:
            yield
        finally:
            self.frame = around
            self._depth -= 1
            if not frame.kept:
                self.frames.remove(frame)

    def _bound(
        self, place: Place, arguments: list[Value], named: dict[str, Value]
    ) -> dict[str, Value] | None:
        """The values of parameters: of arguments, then defaults."""
        declared = place.node.args
        parameters = [p.id for p in [*declared.posonlyargs, *declared.args]]
        given = dict(zip(parameters, arguments, strict=False))
        if declared.vararg is not None:
            given[declared.vararg.id] = Items(arguments[len(parameters) :], False)
        if declared.kwarg is not None:
            others: dict[object, Value] = {n: v for n, v in named.items() if n not in place.parameters}
            given[declared.kwarg.id] = Table(others)
            named = {n: v for n, v in named.items() if n not in others}
        given |= named
        for name, default in defaults_of(place.node).items():
            if name not in given:
                given[name] = Known(default.value) if isinstance(default, gast.Constant) else Python()
        return given if set(place.parameters) <= given.keys() else None


def kind_of(owner: Value) -> Class:
    assert isinstance(owner, (Object, Type, Super))
    return owner.object.kind if isinstance(owner, Super) else owner.kind


def member(owner: Value, name: str) -> Member | None:
    """What the class of an object has under a name."""
    if isinstance(owner, Super):
        return owner.object.kind.member(name, owner.after)
    return owner.kind.member(name) if isinstance(owner, (Object, Type)) else None


def is_own(function: Value) -> bool:
    """Is it a method of a class of the file?"""
    return isinstance(function, Method) and isinstance(function.owner, (Object, Type, Super))
