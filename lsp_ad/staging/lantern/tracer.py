"""Tracing Python into the intermediate language: frames, blocks, and functions that call themselves.

Code is traced through calls, as if they were written out. Only a function that comes to be called from inside
itself with arguments of the same types becomes a function of the program: it is traced first until a path is
found that gives its result, whose type its own calls then have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from lsp_ad.staging.backends.base import Backend, Ended, Owned, is_data, spec_of
from lsp_ad.staging.errors import staging_error, user_place
from lsp_ad.staging.lantern.builder import Builder, fresh
from lsp_ad.staging.lantern.helpers import helper
from lsp_ad.staging.lantern.ir import Array, Const, List, Program, Tuple, Type, Var, ranked
from lsp_ad.staging.lantern.records import Boxed, Records
from lsp_ad.staging.lantern.staged import Staged
from lsp_ad.staging.operators.optional import Maybe, certain
from lsp_ad.staging.operators.plans import Tree
from lsp_ad.staging.structures import Structure, flatten, parts_of, unflatten

_ATTEMPTS = 8
UNROLLED = 30  # calls of one function inside one another that differ in what is known when tracing


STAGED = object()  # in a result: a value that the program gives


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
    Python numbers that change from call to call, so that they must be values of the program.
    """

    recursive: set[Any] = field(default_factory=set)
    records: dict[Any, Tree] = field(default_factory=dict)
    changing: set[tuple[CodeType, int]] = field(default_factory=set)


class Restart(Exception):
    """Tracing has found something about the program that it must know from the start."""


@dataclass
class Frame:
    """A function that is being traced, with what it takes from frames around it: (their value, its own)."""

    depth: int
    captures: list[tuple[Staged, Staged]] = field(default_factory=list)
    constants: dict[int, tuple[Any, Staged]] = field(default_factory=dict)


@dataclass
class Definition:
    """A function of the program: `result` is the structure of what it returns and the types of the leaves."""

    name: str
    key: Any
    captures: list[Staged] = field(default_factory=list)
    result: tuple[Structure, list[Type | None], list[Any]] | None = None


class Tracer:
    """One program in the making."""

    def __init__(self, known: Known, backend: Backend):
        self.records = Records(self, backend, known.records)
        self.builder = Builder()
        self.known = known
        self.frames: list[Frame] = []
        self.running: list[Any] = []
        self.definitions: dict[Any, Definition] = {}

    # values

    def staged(self, value: Any, weak: bool = False) -> Staged:
        return Staged(self, value, self.frames[-1], self.builder.type_of(value), weak)

    def value(self, given: Any) -> Any:
        """An operand for the builder: a staged value brought into this frame, a number, a constant array."""
        if isinstance(given, Maybe):
            given = given.checked()
        if isinstance(given, Staged):
            return self._local(given)
        if isinstance(given, np.ndarray) and given.ndim:
            return self._constant(given).value
        if isinstance(given, np.generic | np.ndarray):
            spec = spec_of(given)
            return self.builder.op("cast", given.item(), dtype=_dtype(spec.dtype))
        if isinstance(given, bool | int | float | complex | Const):
            return given
        raise staging_error(f"A {type(given).__name__} cannot be part of a Lantern program.")

    def op(self, name: str, *operands: Any, weak: bool = False, **params: Any) -> Staged:
        """The result of an operation."""
        file, line = user_place()
        self.builder.place = f"{file}:{line}" if line else None
        return self.staged(self.builder.op(name, *map(self.value, operands), **params), weak)

    def _local(self, value: Staged) -> Any:
        if value.tracer is not self:
            raise staging_error(
                "A value of another trace was kept: it has no meaning here.", "Return it instead."
            )
        if not isinstance(value.value, Var) or value.frame is self.frames[-1]:
            return value.value
        if value.frame not in self.frames:
            raise staging_error("A value of a function that has ended was kept.", "Return it instead.")
        for depth in range(value.frame.depth + 1, len(self.frames)):
            value = self._captured(value, self.frames[depth])
        return value.value

    def _captured(self, value: Staged, frame: Frame) -> Staged:
        for outer, own in frame.captures:
            if outer.value == value.value:
                return own
        parameter = self._parameter(frame, value.value.name, value.type)
        frame.captures.append((value, Staged(self, parameter, frame, value.type, value.weak)))
        return frame.captures[-1][1]

    def _parameter(self, frame: Frame, wanted: str, t: Type) -> Var:
        inside = self.builder._frames[frame.depth]
        name = fresh(wanted, inside.names)
        inside.params = (*inside.params, (name, t))
        inside.scope[name] = t
        return Var(name)

    def _constant(self, array: np.ndarray) -> Staged:
        """An array that is known when tracing: a parameter of the program that the caller does not see."""
        top = self.frames[0]
        if id(array) not in top.constants:
            t = Array(_dtype(array.dtype), array.ndim)
            top.constants[id(array)] = array, Staged(self, self._parameter(top, "constant", t), top, t, False)
        return self.staged(self._local(top.constants[id(array)][1]))

    # functions

    def call(self, function: FunctionType, args: tuple, named: dict[str, Any]) -> Any:
        """A call of a converted function: traced through, or a call of a function of the program."""
        known = helper(function, certain(args)) if not named else None
        if known is not None:
            return known(*certain(args))
        leaves, structure = flatten((args, named))
        if not any(isinstance(leaf, Staged) for leaf in leaves) and not _captures(function):
            return function(*args, **named)
        for place in range(len(leaves)):
            if (function.__code__, place) in self.known.changing:
                made = self.output(leaves[place])
                leaves[place] = made if made is not None else leaves[place]
        args, named = unflatten(structure, leaves)
        key = (_identity(function), structure, tuple(map(self._known, leaves)))
        if key in self.known.recursive:
            return self._call(key, function, leaves, structure)
        if key in self.running:
            self.known.recursive.add(key)
            raise Restart
        self._check_depth(function, key)
        self.running.append(key)
        try:
            return function(*args, **named)
        finally:
            self.running.pop()

    def _check_depth(self, function: FunctionType, key: Any) -> None:
        """Where calls that only Python numbers tell apart nest deep, these become values of the program."""
        alike = [one[2] for one in self.running if one[0][0] is function.__code__ and one[1] == key[1]]
        if len(alike) < UNROLLED:
            return
        places = {
            (function.__code__, place)
            for place, now in enumerate(key[2])
            if isinstance(now, tuple) and now[0] in (int, float) and any(one[place] != now for one in alike)
        }
        if not places:
            raise staging_error(
                f"`{function.__name__}` calls itself {UNROLLED} times while it is traced, each time with "
                "others of the arguments that are known when tracing.",
                "Pass as arrays or floats what changes from call to call.",
            )
        self.known.changing |= places
        raise Restart

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
        operands += [*definition.captures, *self.records.lists]
        result = self.builder.call(definition.name, *map(self.value, operands))
        shape, types, fixed = definition.result
        count = iter(range(len(types)))
        outputs = []
        for t, value in zip(types, fixed, strict=True):
            outputs.append(self.staged(self.builder.item(result, next(count))) if t is not None else value)
        first = sum(t is not None for t in types)
        rows = range(first, first + len(self.records.lists))
        self.records.lists = [self.staged(self.builder.item(result, i)) for i in rows]
        return unflatten(shape, outputs)

    def _define(self, own: Any, function: FunctionType, leaves: list[Any], structure: Structure) -> None:
        definition = Definition(self.builder.function_name(function.__name__), own[0])
        known = dict(self.definitions)
        for _ in range(_ATTEMPTS):
            self.definitions = {**known, own: definition}
            result, captures = self._attempt(definition, function, leaves, structure)
            settled = definition.result is not None and definition.result[:2] == result[:2]
            if settled and len(captures) == len(definition.captures):
                return
            definition.result, definition.captures = result, captures
        raise staging_error(f"The type of what `{function.__name__}` returns keeps changing.")

    def _attempt(
        self, definition: Definition, function: FunctionType, leaves: list[Any], structure: Structure
    ) -> tuple[tuple[Structure, list[Type | None], list[Any]], list[Staged]]:
        """Trace the body once, with what is known so far of its result and of what it captures."""
        given = [leaf for leaf in leaves if isinstance(leaf, Staged)]
        names = [leaf.name or "x" for leaf in given] + [c.name or "x" for c in definition.captures]
        params = list(zip(names, [leaf.type for leaf in (*given, *definition.captures)], strict=True))
        declared = None
        if definition.result is not None:
            lists = [store.type for store in self.records.lists]
            declared = Tuple((*(t for t in definition.result[1] if t is not None), *lists))
        outer = self.records.lists
        params += [("record", store.type) for store in outer]
        depth = len(self.builder._frames)
        inputs = self.builder.begin(definition.name, params, declared)
        frame = Frame(len(self.frames))
        self.frames.append(frame)
        from_outside = [*given, *definition.captures, *outer]
        variables = [self.staged(v, g.weak) for v, g in zip(inputs, from_outside, strict=True)]
        end = len(variables) - len(outer)
        self.records.lists = variables[end:]
        for outside, inner in zip(definition.captures, variables[len(given) : end], strict=True):
            frame.captures.append((outside, inner))
        rest = iter(variables)
        args, named = unflatten(structure, [next(rest) if isinstance(v, Staged) else v for v in leaves])
        try:
            result = self._kept(function(*args, **named), definition.key)
            outputs, shape = flatten(result)
            values = [self.output(v) for v in outputs]
            types = [v.type if v is not None else None for v in values]
            kept = [None if t is not None else v for v, t in zip(outputs, types, strict=True)]
            stores = [self.value(store) for store in self.records.lists]
            self.builder.end(self.builder.op("tuple", *[v.value for v in values if v is not None], *stores))
        except Ended:
            raise staging_error(
                f"`{function.__name__}` calls itself on every path.",
                "Give it one that returns without doing so.",
            ) from None
        finally:
            del self.builder._frames[depth:]
            self.frames.pop()
            self.records.lists = outer
        return (shape, types, kept), [outer for outer, _ in frame.captures]

    def entry(
        self, function: FunctionType, leaves: list[Any], structure: Structure
    ) -> tuple[Program, list[Any], Structure, list[Any]]:
        """Trace a whole program: itself, the arrays that it takes besides its arguments, and its result."""
        name = self.builder.function_name(function.__name__)
        data = [spec_of(v) for v in leaves if is_data(v)]
        names = _names(function, len(leaves))
        params = [
            (n, ranked(_dtype(spec_of(v).dtype), np.ndim(v)))
            for v, n in zip(leaves, names, strict=True)
            if is_data(v)
        ]
        inputs = iter(self.builder.begin(name, params))
        self.frames.append(Frame(0))
        self.records.begin()
        assert len(data) == len(params)
        values = [self.staged(next(inputs), spec_of(v).weak) if is_data(v) else v for v in leaves]
        args, named = unflatten(structure, values)
        try:
            outputs, shape = flatten(self.call(function, args, named))
        except Ended:
            outputs, shape = flatten(None)
        made = [self.output(v) for v in outputs]
        self.builder.end(self.builder.op("tuple", *[v.value for v in made if v is not None]))
        kept = [STAGED if m is not None else v for v, m in zip(outputs, made, strict=True)]
        return self.program(name), [array for array, _ in self.frames[0].constants.values()], shape, kept

    def _kept(self, result: Any, key: Any) -> Any:
        """The result of a function that calls itself, with what is inside a tuple kept as records."""
        if not isinstance(result, tuple):
            return result
        made = []
        for place, part in enumerate(result):
            if isinstance(part, Maybe | Boxed | Owned) or parts_of(part) is None:
                made.append(part)
                continue
            boxed, new = self.records.write(part, (key, place))
            if new:
                raise Restart
            made.append(boxed)
        return tuple(made)

    def output(self, value: Any) -> Staged | None:
        """A leaf of a result as a staged value of this frame; None of what is no number."""
        if isinstance(value, Staged):
            return self.staged(self._local(value))
        if isinstance(value, bool | int | float | complex | np.generic | np.ndarray):
            made = self.value(value)
            return self.staged(
                made
                if isinstance(made, Var)
                else self.builder.op("cast", made, dtype=_dtype(spec_of(value).dtype))
            )
        return None

    def program(self, entry: str) -> Program:
        return self.builder.program(entry)


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


def _dtype(dtype: np.dtype) -> str:
    name = np.dtype(dtype).name
    if name in ("int8", "int16", "uint8", "uint16", "uint32"):
        return "int64"
    if name not in ("bool", "int32", "int64", "float32", "float64", "complex128"):
        raise staging_error(f"The dtype {name} is not one of the Lantern back end.")
    return name


def type_from(spec: Any) -> Type:
    """The type in the language of a type of staging."""
    rank = len(spec.shape)
    dtype = _dtype(spec.dtype)
    return List(ranked(dtype, rank - 1)) if spec.listed else ranked(dtype, rank)


def _names(function: FunctionType, count: int) -> list[str]:
    """Names for the parameters of a program: those of the function as far as they go."""
    own = list(function.__code__.co_varnames[: function.__code__.co_argcount])
    return [*own, *["x"] * count][:count]
