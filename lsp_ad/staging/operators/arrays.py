"""Elements of arrays and lists, read and written.

A write changes an array of NumPy as Python does, unless a body is being traced, which may not happen when
the program runs: then, as for staged arrays, it makes a new array. Whoever shares the memory must see it: the
names that are handed over (`others`), and the caller of a function that writes into what it was given.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lsp_ad.staging import decisions
from lsp_ad.staging.backends import loaded, owner
from lsp_ad.staging.backends.base import Backend, Owned
from lsp_ad.staging.context import active, bodies, gone_over
from lsp_ad.staging.errors import StagingError, again, handled, staging_error, user_place
from lsp_ad.staging.operators.bounds import check_index
from lsp_ad.staging.operators.classes import own_method
from lsp_ad.staging.operators.given import check_item, wrote
from lsp_ad.staging.operators.holding import check_keeper, check_whole, put_into, shared_memory
from lsp_ad.staging.operators.lists import StagedList
from lsp_ad.staging.operators.optional import Maybe
from lsp_ad.staging.operators.paths import View
from lsp_ad.staging.operators.picked import Picked
from lsp_ad.staging.operators.plans import listed
from lsp_ad.staging.operators.state import restored
from lsp_ad.staging.operators.truth import no_count
from lsp_ad.staging.operators.variables import Undefined
from lsp_ad.staging.operators.views import are_related, seen
from lsp_ad.staging.structures import flatten, mapped, parts_of, unflatten

_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "@": operator.imatmul,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
    "<<": operator.ilshift,
    ">>": operator.irshift,
}
_NUMBERS = frozenset([bool, int, float, complex, str])
_NEW: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}


def get_item(value: Any, index: Any) -> Any:
    """`value[index]`."""
    if isinstance(value, Maybe):
        value = value.checked()
    if isinstance(value, Owned):
        return value[index]  # type: ignore[index]
    index = _index(index)
    backend = owner(value, *flatten(index)[0])
    if backend is None:
        return value[index]
    if type(value) in (list, tuple):
        return listed(backend, list(value))[index]
    if own_method(value, "__getitem__") is not None:
        return value[index]
    check_index(backend, value, index)
    made = backend.get_item(value, index)
    # the element of an array without axes is not the array
    made = backend.copied(made) if made is value and index == () else made
    if not any(isinstance(part, list) or np.ndim(part) for part in _axes(index)):
        seen(made, value)
    return made


def _axes(index: Any) -> tuple:
    return index if isinstance(index, tuple) else (index,)


def _index(index: Any) -> Any:
    """An index, staged lists in it as arrays."""
    if isinstance(index, tuple):
        return tuple(map(_index, index))
    return index.array() if isinstance(index, StagedList) else index


@dataclass(frozen=True)
class Write:
    """A write at `path`, the indices one after the other, into `value`.

    `given`: it may be an array of the caller's; `outside`: it is none of the function's variables; `others`:
    variables that may share its memory, those in `keeping` only if they are lists or dicts.
    """

    value: Any
    path: tuple
    given: bool
    outside: bool
    others: dict[str, Any]
    keeping: str = ""
    whole: Any = None  # the object that has the array as an attribute, or the dict

    def __post_init__(self) -> None:
        object.__setattr__(self, "whole", self.others.pop("whole", None))
        if "keeping" in self.others:
            object.__setattr__(self, "keeping", self.others.pop("keeping"))

    def of(self, staged: Callable[[Any, Any], Any], plain: Callable[[Any, Any], None], *new: Any) -> Any:
        """Do it, to the array that it is about by `staged`, or by `plain` where it happens now.

        Gives what the variable is afterwards, and the others.
        """
        if isinstance(self.value, Maybe):
            return replace(self, value=self.value.checked()).of(staged, plain, *new)
        value, rest, parts = self.value, self.path, 0
        while len(rest) > 1 and type(value) in (list, tuple, dict) and owner(rest[0]) is None:
            value, rest, parts = value[rest[0]], rest[1:], parts + 1
        leaves = [leaf for given in (rest, new) for leaf in flatten(given)[0]]
        if isinstance(value, (list, dict, StagedList)) or own_method(value, "__setitem__") is not None:
            return self._in_container(value, rest, parts, staged, plain)
        if _holder(value, *leaves) is None and not in_trace(value):
            for index in rest[:-1]:
                value = index.of(value) if isinstance(index, View) else value[index]
            plain(value, rest[-1] if rest else None)
            return self._results(self.value, list(self.others.values()))
        return self.everywhere(value, _inside(value, rest, staged), parts > 0)

    def _in_container(self, value: Any, rest: tuple, parts: int, staged: Callable, plain: Callable) -> Any:
        """A write of an item of a list, or into one of a staged list or at a staged index."""
        if owner(rest[0]) is not None and type(value) is list:
            backend = owner(rest[0])
            assert backend is not None
            if parts:
                raise staging_error("A list in a list is written at a staged index.", "Give it a name.")
            value = listed(backend, value)
        if len(rest) == 1:
            plain(value, rest[0])
        else:
            item = value[rest[0]]
            if isinstance(value, StagedList):
                check_item(item, list(self.others.values()))
            value[rest[0]] = _inside(item, rest[1:], staged)
        return self._results(self.value if parts else value, list(self.others.values()))

    def everywhere(self, old: Any, new: Any, inside: bool = False) -> Any:
        """The results where an array is replaced by a new one: wherever it was, the new one is now."""
        if self.outside:
            raise staging_error(
                "A staged value is written into an array that is no variable of the function.",
                "Write into a variable of the function, and return it.",
            )
        if any(old is array for array in gone_over()):
            raise staging_error(
                "An array is written into by a loop that goes over it, and would see the changes.",
                "Go over a copy of it (`.copy()`), or over its indices.",
            )
        if self.given:
            wrote(old, ":".join(map(str, user_place())))
        if inside:
            _check_sharing("Another array of this list, tuple or dict", old, self.value)
        check_whole(self.whole, old)
        others = []
        for name, other in self.others.items():
            if isinstance(other, Undefined):
                others.append(other)
                continue
            put_into(other, name, old, partial(_is_part, old), partial(_replaced, old=old, new=new))
            check_keeper(name, old, other)
            if name in self.keeping.split(", ") and parts_of(other) is None:
                if other is not old and np.ndim(other) and are_related(other, old):
                    raise shared_memory(f"`{name}`")
                others.append(new if other is old else other)
                continue
            _check_sharing(f"`{name}`", old, other)
            others.append(_replaced(other, old, new))
        return self._results(_replaced(self.value, old, new) if inside else new, others)

    def _results(self, value: Any, others: list[Any]) -> Any:
        return (value, *others) if others else value


def _inside(value: Any, path: tuple, change: Callable[[Any, Any], Any]) -> Any:
    """A new array, changed in a part of it by `change(part, index)`."""
    if not path:
        return change(value, None)
    if isinstance(path[0], View):
        return path[0].back(value, _inside(path[0].through(value), path[1:], change))
    if len(path) == 1:
        return change(value, path[0])
    return _set(value, path[0], _inside(get_item(value, path[0]), path[1:], change))


def _check_sharing(name: str, old: Any, other: Any) -> None:
    """Refuse a variable that may have a part of an array in it; the array itself can be replaced there."""
    other = mapped(other, Picked, lambda one, path: None)  # it has memory of its own
    lists: list[StagedList] = []
    leaves = flatten(mapped(other, StagedList, lambda one, path: lists.append(one)))[0]
    found = any(leaf is old for leaf in leaves)
    parts = [leaf for leaf in leaves if np.ndim(leaf) and leaf is not old]
    if found and not _follows_memory(*leaves):  # what was not seen to be a part of it is another one
        parts = [part for part in parts if are_related(part, old)]
    for one in lists:
        parts += one.arrays()
    # a number may be an element that was read, or an array without axes: they look the same
    unknown = not np.ndim(old) and (lists or found)
    if not parts and not unknown:
        return
    shared = shared_memory(name)
    handled(shared)
    if unknown or not all(_are_apart(old, part, shared) for part in parts):
        raise again(shared)


def _is_part(old: Any, leaf: Any) -> bool:
    """Whether something was seen to be a view of an array, or may be what it was before a loop."""
    if not np.ndim(leaf) or (owner(leaf) is None and not isinstance(leaf, np.ndarray)):
        return False
    in_loop = any(body.construct in (decisions.FOR, decisions.WHILE) for body in bodies())
    return are_related(leaf, old) or (in_loop and np.shape(leaf) == np.shape(old))


def _follows_memory(*values: Any) -> bool:
    backend = owner(*values)
    return backend is not None and backend.follows_memory


def _are_apart(one: Any, other: Any, otherwise: StagingError) -> bool:
    backend = owner(one, other)
    if backend is not None:
        return backend.are_apart(one, other, otherwise)
    return not np.may_share_memory(one, other)


def _replaced(value: Any, old: Any, new: Any) -> Any:
    """A variable with an array replaced wherever it is in it."""
    leaves, structure = flatten(value)
    made = unflatten(structure, [new if leaf is old else leaf for leaf in leaves])
    return restored([made], [value])[0]


def _set(value: Any, index: Any, new: Any) -> Any:
    """A new array with some elements changed, or a list that is an item of a staged one."""
    if type(value) is list and owner(*flatten(index)[0]) is None:
        made = value.copy()
        made[index] = new
        return made
    backend = _holder(value, *flatten(index)[0], *flatten(new)[0])
    if backend is not None:
        check_index(backend, value, index)
        return backend.set_item(value, index, new)
    made = value.copy()
    made[index] = new
    return made


def _holder(value: Any, *others: Any) -> Backend | None:
    """The back end that makes a new array for a write into one."""
    held = (backend for backend in loaded() if backend.holds(value))
    return owner(value, *others) or next(held, None)


def set_item(
    value: Any, *path_and_new: Any, given: bool = False, outside: bool = False, **others: Any
) -> Any:
    """`value[i] = new`, or `value[i][j] = new`; what the variable is afterwards, and the `others`."""
    *path, new = path_and_new
    write = Write(value, _index(tuple(path)), given, outside, others)
    return write.of(lambda array, index: _set(array, index, new), lambda a, i: a.__setitem__(i, new), new)


def update_item(
    value: Any, *path_sign_and_by: Any, given: bool = False, outside: bool = False, **others: Any
) -> Any:
    """`value[i] += by`, or `value[i][j] += by`, or another operator."""
    *path, sign, by = path_sign_and_by

    def staged(array: Any, index: Any) -> Any:
        old = get_item(array, index)
        made = _NEW[sign](old, by)
        if np.ndim(old):
            _check_kind(made, old)
        return _set(array, index, made)

    def plain(array: Any, index: Any) -> None:
        old = array[index]
        signs = _IN_PLACE if _changes_itself(old, by) else _NEW
        array[index] = signs[sign](old, by)

    return Write(value, _index(tuple(path)), given, outside, others).of(staged, plain, by)


def update(value: Any, sign: str, by: Any, given: bool = False, outside: bool = False, **others: Any) -> Any:
    """`value += by`, or another operator."""
    if type(value) in _NUMBERS and type(by) in _NUMBERS and not others:
        return _NEW[sign](value, by)
    value = value.checked() if isinstance(value, Maybe) else value
    write = Write(value, (), given, outside, others)
    backend = owner(value, by)
    no_count(sign, value, by)
    if isinstance(value, (StagedList, list)) or _changes_itself(value, by):
        return write._results(_IN_PLACE[sign](value, by), list(others.values()))
    made = _NEW[sign](value, by)
    theirs = backend is not None and backend.owns(value) and active() is None
    if theirs or not np.ndim(value):  # a number, or an array of a library, is not changed but replaced
        return write._results(made, list(others.values()))
    return write.everywhere(value, _kept(backend, value, made))


def _changes_itself(value: Any, by: Any) -> bool:
    """Whether Python itself does to a value what `+=` and the like say."""
    plain = owner(value, by) is None or own_method(value, "__add__") or own_method(value, "__iadd__")
    return bool(plain) and not in_trace(value)


def add_at(value: Any, *path_and_by: Any, given: bool = False, outside: bool = False, **others: Any) -> Any:
    """`np.add.at(value, index, by)`; what the variable is afterwards."""
    return _scattered(np.add, value, path_and_by, given, outside, others)


def subtract_at(
    value: Any, *path_and_by: Any, given: bool = False, outside: bool = False, **others: Any
) -> Any:
    """`np.subtract.at(value, index, by)`; what the variable is afterwards."""
    return _scattered(np.subtract, value, path_and_by, given, outside, others)


def _scattered(
    ufunc: np.ufunc,
    value: Any,
    path_and_by: tuple,
    given: bool,
    outside: bool,
    others: dict[str, Any],
) -> Any:
    *path, by = path_and_by

    def staged(array: Any, index: Any) -> Any:
        backend = _holder(array, *flatten(index)[0], by)
        if backend is not None:
            check_index(backend, array, index)
            return backend.add_at(array, index, by if ufunc is np.add else -by)
        made = array.copy()
        ufunc.at(made, index, by)
        return made

    return Write(value, _index(tuple(path)), given, outside, others).of(
        staged, lambda array, index: ufunc.at(array, index, by), by
    )


def in_trace(value: Any) -> bool:
    """Whether a write into an array must not happen now: code is being traced."""
    if not isinstance(value, np.ndarray):
        return False
    # what a library has taken from an array when tracing would change with it
    return bool(bodies()) or active() is not None or any(backend.tracing() for backend in loaded())


def _kept(backend: Backend | None, value: Any, made: Any) -> Any:
    """The result of an update in the type and the shape of the array that it goes into."""
    if backend is not None:
        backend.check_shape(made, value)
    elif np.shape(made) != np.shape(value):
        raise staging_error(f"An array of shape {np.shape(value)} is updated to one of {np.shape(made)}.")
    if np.dtype(made.dtype) == np.dtype(value.dtype):
        return made
    _check_kind(made, value)
    return made.astype(value.dtype) if backend is None else backend.cast(made, backend.spec(value))


def _check_kind(made: Any, value: Any) -> None:
    """Refuse what an array is updated to where NumPy does not cast it to the type of the array."""
    if not np.can_cast(np.dtype(made.dtype), np.dtype(value.dtype), "same_kind"):
        raise staging_error(f"An array of {value.dtype} is updated to {made.dtype}, which NumPy refuses.")
