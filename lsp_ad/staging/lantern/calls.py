"""Calls while tracing: code is traced through them, as if they were written out.

Only a function that comes to be called from inside itself with arguments of the same types becomes a function
of the program: it is traced first until a path is found that gives its result, whose type its own calls then
have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from lsp_ad.staging.backends.base import Ended, Owned
from lsp_ad.staging.context import writing
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.lantern.helpers import helper
from lsp_ad.staging.lantern.ir import Scalar, Tuple, Type
from lsp_ad.staging.lantern.records import Boxed, Record
from lsp_ad.staging.lantern.sharing import Memory
from lsp_ad.staging.lantern.staged import Staged
from lsp_ad.staging.operators.given import wrote
from lsp_ad.staging.operators.optional import Maybe
from lsp_ad.staging.structures import Structure, flatten, mapped, parts_of, unflatten

if TYPE_CHECKING:
    from lsp_ad.staging.lantern.tracer import Tracer

_ATTEMPTS = 8
UNROLLED = 30  # calls of one function inside one another that differ in what is known when tracing


@dataclass(frozen=True, eq=False)
class Same:
    """An object as a key: equal to itself only, and kept, so that no other comes to have its place."""

    held: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)


@dataclass
class Known:
    """What earlier attempts have found: functions that call themselves, and which of their arguments are
    arrays of NumPy, or Python numbers that change from call to call, which must be values of the program.
    """

    recursive: set[Any] = field(default_factory=set)
    records: dict[Any, Record] = field(default_factory=dict)
    changing: set[tuple[CodeType, int]] = field(default_factory=set)


class Restart(Exception):
    """Tracing has found something about the program that it must know from the start."""


@dataclass
class Definition:
    """A function of the program: `result` is the structure of what it returns and the types of the leaves.

    `changed`: the lists of records that it adds to, by number, and returns behind its result.
    `writes`: for each argument, the place where it is written into, or "".
    """

    name: str
    key: Any
    captures: list[Staged] = field(default_factory=list)
    result: tuple[Structure, list[Type | None], list[Any]] | None = None
    changed: list[int] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)

    @property
    def found(self) -> tuple:
        """What another attempt may change."""
        return self.result and self.result[:2], self.changed, self.writes


@dataclass
class Frame:
    """A function that is being traced, with what it takes from frames around it: (their value, its own).

    `around`: the memory in which all that it is given may lie.
    """

    depth: int
    around: Memory
    captures: list[tuple[Staged, Staged]] = field(default_factory=list)
    constants: dict[int, tuple[Any, Staged]] = field(default_factory=dict)


class Calls:
    """The calls of one program in the making."""

    def __init__(self, tracer: Tracer, known: Known):
        self.tracer, self.builder, self.known = tracer, tracer.builder, known
        self.running: list[Any] = []
        self.definitions: dict[Any, Definition] = {}

    def call(self, function: FunctionType, args: tuple, named: dict[str, Any]) -> Any:
        """A call of a converted function: traced through, or a call of a function of the program."""
        known = helper(function, args) if not named else None
        if known is not None:
            return known()
        args, named = mapped((args, named), Maybe, self._seen)
        leaves, structure = flatten((args, named))
        if not any(isinstance(leaf, Staged) for leaf in leaves) and not _captures(function):
            return function(*args, **named)
        given = list(leaves)
        for place in range(len(leaves)):
            if (function.__code__, place) in self.known.changing:
                made = self.tracer.output(leaves[place])
                leaves[place] = made if made is not None else leaves[place]
        leaves = self._like_known_calls(function, leaves, structure)
        if any(new is not old for new, old in zip(leaves, given, strict=True)):
            args, named = unflatten(structure, leaves)  # else the lists that the caller sees
        key = (_identity(function), structure, tuple(map(self._known, leaves)))
        if key in self.known.recursive:
            return self._call(key, function, leaves, structure)
        if key in self.running:
            arrays = {(function.__code__, i) for i, leaf in enumerate(leaves) if _is_array(leaf)}
            self.known.changing |= arrays
            if not arrays:
                self.known.recursive.add(key)
            raise Restart
        self._check_depth(function, key)
        self.running.append(key)
        try:
            return function(*args, **named)
        finally:
            self.running.pop()

    def _seen(self, value: Maybe, _: tuple) -> Any:
        """What may be None, as the value alone where that has been checked."""
        there = value.there
        seen = isinstance(there, Staged) and self.builder.holds(self.tracer.value(there))
        return value.value if seen else value

    def _check_depth(self, function: FunctionType, key: Any) -> None:
        """Where calls that only Python numbers tell apart nest deep, these become values of the program."""
        alike = [one[2] for one in self.running if one[0][0] is function.__code__ and one[1] == key[1]]
        if len(alike) < UNROLLED:
            return
        places = {
            (function.__code__, place)
            for place, now in enumerate(key[2])
            if (isinstance(now, tuple) and now[0] in (int, float)) or _is_array(getattr(now, "held", None))
            if any(one[place] != now for one in alike)
        }
        if not places:
            raise staging_error(
                f"`{function.__name__}` calls itself {UNROLLED} times while it is traced, each time with "
                "others of the arguments that are known when tracing.",
                "Pass as arrays or floats what changes from call to call.",
            )
        self.known.changing |= places
        raise Restart

    def _like_known_calls(self, function: FunctionType, leaves: list[Any], structure: Structure) -> list[Any]:
        """The arguments of a call, numbers staged where the function's calls of itself have them staged."""
        identity = _identity(function)
        for other, form, wanted in self.known.recursive:
            if other == identity and form == structure:
                made = [self._lifted(leaf, as_) for leaf, as_ in zip(leaves, wanted, strict=True)]
                if tuple(map(self._known, made)) == wanted:
                    return made
        return leaves

    def _lifted(self, leaf: Any, wanted: Any) -> Any:
        if type(leaf) not in (int, float) or not isinstance(wanted[0], Scalar):
            return leaf
        t, weak = wanted
        found = self.builder.type_of(leaf)
        return self.tracer.staged(self.builder.op("cast", leaf, dtype=t.dtype), weak) if found == t else leaf

    def _known(self, leaf: Any) -> Any:
        if isinstance(leaf, Staged):
            return leaf.type, leaf.weak
        try:
            hash(leaf)
        except TypeError:
            return Same(leaf)
        return type(leaf), leaf

    def _call(self, key: Any, function: FunctionType, leaves: list[Any], structure: Structure) -> Any:
        own = (key, _cells(function))
        if own not in self.definitions:
            self._define(own, function, leaves, structure)
        definition = self.definitions[own]
        if definition.result is None:
            raise Ended  # on the way to a path that gives the type of the result
        operands = [leaf for leaf in leaves if isinstance(leaf, Staged)]
        operands += [*definition.captures, *self.tracer.records.lists]
        result = self.builder.call(definition.name, *map(self.tracer.value, operands))
        for leaf, place in zip(operands, definition.writes, strict=False):
            if place:
                wrote(leaf, place)
        shape, types, fixed = definition.result
        count = iter(range(len(types) + len(definition.changed)))

        def following() -> Staged:
            return self.tracer.staged(self.builder.item(result, next(count)))

        outputs = [v if t is None else following() for t, v in zip(types, fixed, strict=True)]
        self.tracer.records.lists = list(self.tracer.records.lists)
        for number in definition.changed:
            self.tracer.records.lists[number] = following()
        return unflatten(shape, outputs)

    def _define(self, own: Any, function: FunctionType, leaves: list[Any], structure: Structure) -> None:
        definition = Definition(self.builder.function_name(function.__name__), own[0])
        known = dict(self.definitions)
        for _ in range(_ATTEMPTS):
            self.definitions = {**known, own: definition}
            before = definition.found
            captured = len(definition.captures)
            self._attempt(definition, function, leaves, structure)
            assert definition.result is not None
            if before == definition.found and len(definition.captures) == captured:
                return
        raise staging_error(f"The type of what `{function.__name__}` returns keeps changing.")

    def _attempt(
        self, definition: Definition, function: FunctionType, leaves: list[Any], structure: Structure
    ) -> None:
        """Trace the body once, with what is known so far of its result and of what it captures."""
        given = [leaf for leaf in leaves if isinstance(leaf, Staged)]
        names = [leaf.name or "x" for leaf in given] + [c.name or "x" for c in definition.captures]
        params = list(zip(names, [leaf.type for leaf in (*given, *definition.captures)], strict=True))
        declared = None
        if definition.result is not None:
            lists = [self.tracer.records.lists[i].type for i in definition.changed]
            declared = Tuple((*(t for t in definition.result[1] if t is not None), *lists))
        outer = self.tracer.records.lists
        params += [("record", store.type) for store in outer]
        depth = len(self.builder._frames)
        self.tracer.records.reads.pop(definition.name, None)
        inputs = self.builder.begin(definition.name, params, declared)
        frame = Frame(len(self.tracer.frames), self.tracer.sharing.piece())
        self.tracer.frames.append(frame)
        from_outside = [*given, *definition.captures, *outer]
        given_values = zip(inputs, from_outside, strict=True)
        variables = [self.tracer.staged(v, g.weak, frame.around) for v, g in given_values]
        end = len(variables) - len(outer)
        stores, self.tracer.records.lists = variables[end:], variables[end:]
        for outside, inner in zip(definition.captures, variables[len(given) : end], strict=True):
            frame.captures.append((outside, inner))
        rest = iter(variables)
        args, named = unflatten(structure, [next(rest) if isinstance(v, Staged) else v for v in leaves])
        try:
            with writing() as arrays:
                result = self._kept(function(*args, **named), definition.key)
            places = {id(array): place for array, place in arrays}
            writes = [places.get(id(variable), "") for variable in variables[: len(given)]]
            outputs, shape = flatten(result)
            values = [self.tracer.output(v) for v in outputs]
            types = [v.type if v is not None else None for v in values]
            kept = [None if t is not None else v for v, t in zip(outputs, types, strict=True)]
            changed = [i for i, store in enumerate(self.tracer.records.lists) if store is not stores[i]]
            made = [*(v for v in values if v is not None), *(self.tracer.records.lists[i] for i in changed)]
            self.builder.end(self.builder.op("tuple", *map(self.tracer.value, made)))
        except Ended:
            raise staging_error(
                f"`{function.__name__}` calls itself on every path.",
                "Give it one that returns without doing so.",
            ) from None
        finally:
            del self.builder._frames[depth:]
            self.tracer.frames.pop()
            self.tracer.records.lists = outer
        definition.result, definition.changed = (shape, types, kept), changed
        definition.writes = writes
        definition.captures = [outer for outer, _ in frame.captures]

    def _kept(self, result: Any, key: Any) -> Any:
        """The result of a function that calls itself, with what is inside a tuple kept as records."""
        if not isinstance(result, tuple):
            return result
        made = []
        for place, part in enumerate(result):
            if isinstance(part, Maybe | Boxed | Owned) or parts_of(part) is None:
                made.append(part)
                continue
            boxed, new = self.tracer.records.write(part, (key, place))
            if new:
                raise Restart
            made.append(boxed)
        return tuple(made)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0


def _identity(function: FunctionType) -> tuple[CodeType, tuple]:
    """What makes two live functions the same code with the same kinds of values around it."""
    parts = []
    for cell in function.__closure__ or ():
        try:
            held = cell.cell_contents
        except ValueError:
            continue
        parts.append(held.type if isinstance(held, Staged) else getattr(held, "__code__", Same(held)))
    return function.__code__, tuple(parts)


def _cells(function: FunctionType) -> tuple[int, ...]:
    """Which variables around it a function has: those made of one function in one place share them."""
    free = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return tuple(id(cell) for name, cell in free if name != "ag")


def _captures(function: FunctionType) -> bool:
    """Whether a function sees staged values around it."""
    for cell in function.__closure__ or ():
        try:
            if isinstance(cell.cell_contents, Staged):
                return True
        except ValueError:
            continue
    return False
