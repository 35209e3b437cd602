"""Changes that staged code makes to things outside its variables: seen when it is traced, not when it runs.

A snapshot holds what the lists, dicts, sets, objects, closures and modules contain that converted code can
reach. In a body of a staged statement a change to one of them is an error, since it would be made once
whatever happens; in a function it is recorded, and an error where it leaves a staged value behind.
"""

from __future__ import annotations

import collections
import re
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lsp_ad.staging import decisions
from lsp_ad.staging.backends import owner
from lsp_ad.staging.backends.base import Owned
from lsp_ad.staging.decisions import decide
from lsp_ad.staging.errors import CONVERTED, StagingError, staging_error
from lsp_ad.staging.libraries import is_library, is_users
from lsp_ad.staging.structures import flatten, parts_of

_MOST = 5000  # containers that a snapshot looks at
_LONGEST = 1000  # items of a list whose insides are looked at
_GONE: Any = object()


class Snapshot:
    """What containers held: each with a path, by which the user knows it."""

    def __init__(self) -> None:
        self.held: dict[int, tuple[Any, str, dict]] = {}
        self.pending: list[tuple[Any, str]] = []

    def add_frame(self, frame: types.FrameType) -> None:
        """The variables of a running function, and the module that it is of."""
        code = frame.f_code
        self.add_globals(frame.f_globals)
        inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]  # its blocks
        names = {name for c in (code, *inner) for name in c.co_names}
        named = {name: frame.f_globals[name] for name in names if name in frame.f_globals}
        self.pending += [(value, name) for name, value in {**named, **frame.f_locals}.items()]
        self.follow()

    def add_globals(self, namespace: dict[str, Any]) -> None:
        if id(namespace) not in self.held:
            self.held[id(namespace)] = namespace, "", _content(namespace)

    def follow(self) -> None:
        """Look into what has been found, and what is in that."""
        while self.pending and len(self.held) < _MOST:
            value, path = self.pending.pop()
            if id(value) in self.held:
                continue
            if isinstance(value, types.MethodType):
                self.pending += [(value.__self__, f"{path}.__self__"), (value.__func__, path)]
            elif isinstance(value, types.FunctionType):
                self._closure(value)
            elif _is_container(value):
                content = _content(value)
                self.held[id(value)] = value, path, content
                if len(content) <= _LONGEST:
                    self.pending += [(item, _path(value, path, key)) for key, item in content.items()]

    def _closure(self, function: types.FunctionType) -> None:
        if is_library(function.__code__.co_filename) or id(function) in self.held:
            return
        self.held[id(function)] = function, "", {}
        self.add_globals(function.__globals__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if id(cell) not in self.held:
                content = _content(cell)
                self.held[id(cell)] = cell, name, content
                self.pending += [(item, name) for item in content.values()]

    def changed(self) -> Iterator[tuple[Any, str, Any, Any, Any]]:
        """What is not as it was: container, its path, the key, old and new value (or _GONE)."""
        for container, path, before in list(self.held.values()):
            now = _content(container)
            if len(now) == len(before) and all(now.get(key, _GONE) is value for key, value in before.items()):
                continue
            for key in {**before, **now}:
                old, new = before.get(key, _GONE), now.get(key, _GONE)
                if old is not new:
                    yield container, _path(container, path, key), key, old, new

    def restore(self) -> None:
        """Put back what was there."""
        for container, _, before in self.held.values():
            _refill(container, before)


def _is_container(value: Any) -> bool:
    if isinstance(value, (Owned, type)):
        return False
    if isinstance(value, (list, dict, set, collections.deque)):
        return True
    if isinstance(value, (tuple, types.ModuleType)):
        return isinstance(value, tuple)
    return hasattr(value, "__dict__") and is_users(type(value))


def inside(value: Any) -> list[Any]:
    """What is reached through a value."""
    if isinstance(value, types.MethodType):
        return [value.__self__]
    reaches = isinstance(value, types.CellType) or _is_container(value)
    return list(_content(value).values()) if reaches else []


def _content(value: Any) -> dict:
    """What a container holds, by key."""
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, (list, tuple, collections.deque)):
        return dict(enumerate(value))
    if isinstance(value, set):
        return {item: item for item in value}
    if isinstance(value, types.CellType):
        try:
            return {"": value.cell_contents}
        except ValueError:
            return {}
    if isinstance(value, types.FunctionType):
        return {}
    return dict(vars(value))


def _refill(value: Any, content: dict) -> None:
    if isinstance(value, list):
        value[:] = content.values()
    elif isinstance(value, collections.deque):
        value.clear()
        value.extend(content.values())
    elif isinstance(value, (dict, set)):
        if isinstance(value, dict) and "__builtins__" in value:  # a module: never empty
            for key in [key for key in value if key not in content]:
                del value[key]
        else:
            value.clear()
        value.update(content)
    elif isinstance(value, types.CellType):
        if content:
            value.cell_contents = content[""]
    elif not isinstance(value, (tuple, types.FunctionType)):
        vars(value).clear()
        vars(value).update(content)


def _path(container: Any, path: str, key: Any) -> str:
    if isinstance(container, types.CellType):
        return path
    if isinstance(container, dict) and not path:
        return str(key)  # a global variable
    if isinstance(container, (list, tuple, set, collections.deque)):
        return path  # which item it is says little
    if isinstance(container, dict):
        return f"{path}[{key!r}]"
    return f"{path}.{key}"


def converted_frames() -> Iterator[types.FrameType]:
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code in CONVERTED:
            yield frame
        frame = frame.f_back


@contextmanager
def no_hidden_changes(construct: str, names: Sequence[str], values: Sequence[Any]) -> Iterator[None]:
    """Refuse changes, in a body that is traced, of anything but the variables of its state."""
    snapshot = Snapshot()
    kept = [value for value in values if not isinstance(value, Owned)]
    for value in kept:  # copies, whose changes are seen
        _known(value, snapshot)
    for frame in converted_frames():
        snapshot.add_frame(frame)
    seen = set(snapshot.held)

    def changes() -> list[tuple]:
        return [c for c in snapshot.changed() if id(c[0]) in seen and not _expected(c, names)]

    try:
        yield
    except (LookupError, TypeError, ValueError):
        found = changes()  # which may be why: what has been changed once is not as it is when the body runs
        if not found:
            raise
    else:
        found = changes()
    if found:
        _, path, _, _, _ = found[0]
        snapshot.restore()
        raise staging_error(
            f"`{path}` is changed in code that is staged (`{construct}`), out of its sight: that would happen"
            " once, when it is traced, and not when it runs.",
            "Change a variable of the function itself, or return the new value.",
        )


def _known(value: Any, snapshot: Snapshot) -> None:
    parts = parts_of(value)
    if parts is not None:
        snapshot.held[id(value)] = (), "", {}
        for part in parts[0]:
            _known(part, snapshot)


def _expected(change: tuple, names: Sequence[str]) -> bool:
    """Whether a change is that of a variable of the state, or of Python's own records."""
    container, path, key, _, _ = change
    variable = path in names and not isinstance(container, (list, set, collections.deque))
    return variable or (isinstance(key, str) and re.fullmatch(r"__\w+__", key) is not None)


@contextmanager
def no_leaks(function: types.FunctionType, args: tuple, named: dict[str, Any]) -> Iterator[list[Any]]:
    """Refuse staged values that a function leaves in things from outside; record other changes of these.

    Gives the containers and objects that the function can reach.
    """
    snapshot = Snapshot()
    snapshot.add_globals(function.__globals__)
    code = function.__code__
    around = [(function.__globals__[n], n) for n in code.co_names if n in function.__globals__]
    given = [*zip(args, code.co_varnames, strict=False), *((value, name) for name, value in named.items())]
    snapshot.pending += [*around, (function, ""), *given]
    snapshot.follow()
    yield [value for value, _, _ in snapshot.held.values()]
    for _, path, key, _, new in list(snapshot.changed()):
        if isinstance(key, str) and re.fullmatch(r"__\w+__", key):
            continue
        if new is not _GONE and owner(*flatten(new)[0]) is not None:
            snapshot.restore()
            raise StagingError(
                f"{code.co_filename}:{code.co_firstlineno}: {function.__qualname__} would leave a value"
                f" of a trace in `{path}`, which means nothing after it. Return the value."
            )
        decide(
            decisions.EFFECT,
            decisions.PYTHON,
            "it is changed when this is traced, not when it runs",
            subject=path,
        )
