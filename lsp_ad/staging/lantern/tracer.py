"""Tracing Python into the intermediate language: values, and programs from functions."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from lsp_ad.staging.backends.base import Backend, Ended, is_data, spec_of
from lsp_ad.staging.errors import staging_error, user_place
from lsp_ad.staging.lantern.builder import Builder, fresh
from lsp_ad.staging.lantern.calls import Calls, Frame, Known, Restart
from lsp_ad.staging.lantern.errors import LanternTypeError
from lsp_ad.staging.lantern.exceptions import Exceptions
from lsp_ad.staging.lantern.ir import Array, Const, Program, Type, Var, ranked
from lsp_ad.staging.lantern.records import Records
from lsp_ad.staging.lantern.sharing import Memory, Sharing
from lsp_ad.staging.lantern.specs import dtype_name
from lsp_ad.staging.lantern.staged import Staged
from lsp_ad.staging.operators.optional import Maybe
from lsp_ad.staging.structures import Structure, flatten, unflatten

STAGED = object()  # in a result: a value that the program gives


class Tracer:
    """One program in the making."""

    def __init__(self, known: Known, backend: Backend):
        self.records = Records(self, backend, known.records)
        self.builder = Builder()
        self.frames: list[Frame] = []
        self.calls = Calls(self, known)
        self.exceptions = Exceptions()
        self.sharing = Sharing()
        # arrays of no certain shape, by function and name: the number that they are made of (None: zero)
        self.unshaped: dict[Any, Any] = {}

    # values

    def staged(self, value: Any, weak: bool = False, memory: Memory = None) -> Staged:
        return Staged(self, value, self.frames[-1], self.builder.type_of(value), weak, memory)

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
            return self.builder.op("cast", given.item(), dtype=dtype_name(spec.dtype))
        if isinstance(given, bool | int | float | complex | Const):
            return given
        raise staging_error(f"A {type(given).__name__} cannot be part of a Lantern program.")

    def op(self, name: str, *operands: Any, weak: bool = False, **params: Any) -> Staged:
        """The result of an operation."""
        file, line = user_place()
        self.builder.place = f"{file}:{line}" if line else None
        try:
            made = self.builder.op(name, *map(self.value, operands), **params)
            return self.staged(made, weak, self.sharing.of_result(name, operands))
        except LanternTypeError as error:
            raise staging_error(f"The Lantern back end has no `{name}` of these values: {error}") from None

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
        own = Staged(self, parameter, frame, value.type, value.weak, frame.around)
        frame.captures.append((value, own))
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
            t = Array(dtype_name(array.dtype), array.ndim)
            top.constants[id(array)] = array, Staged(self, self._parameter(top, "constant", t), top, t, False)
        return self.staged(self._local(top.constants[id(array)][1]), memory=self.sharing.of(array))

    def entry(
        self, function: FunctionType, leaves: list[Any], structure: Structure
    ) -> tuple[Program, list[Any], Structure, list[Any], Exceptions]:
        """Trace a whole program: itself, the arrays that it takes besides its arguments, its result, and the
        exceptions that it raises."""
        name = self.builder.function_name(function.__name__)
        data = [spec_of(v) for v in leaves if is_data(v)]
        names = _names(function, len(leaves))
        params = [
            (n, ranked(dtype_name(spec_of(v).dtype), np.ndim(v)))
            for v, n in zip(leaves, names, strict=True)
            if is_data(v)
        ]
        inputs = iter(self.builder.begin(name, params))
        around = self.sharing.piece()
        self.frames.append(Frame(0, around))
        self.records.begin()
        assert len(data) == len(params)
        values = [self.staged(next(inputs), spec_of(v).weak, around) if is_data(v) else v for v in leaves]
        args, named = unflatten(structure, values)
        try:
            outputs, shape = flatten(self.calls.call(function, args, named))
        except Ended:
            outputs, shape = flatten(None)
        made = [self.output(v) for v in outputs]
        self.builder.end(self.builder.op("tuple", *[v.value for v in made if v is not None]))
        kept = [STAGED if m is not None else v for v, m in zip(outputs, made, strict=True)]
        program = self.builder.program(name)
        if not self.records.finish(program):
            raise Restart
        constants = [array for array, _ in self.frames[0].constants.values()]
        return program, constants, shape, kept, self.exceptions

    def output(self, value: Any) -> Staged | None:
        """A leaf of a result as a staged value of this frame; None of what is no number."""
        if isinstance(value, Staged):
            return self.staged(self._local(value))
        if isinstance(value, bool | int | float | complex | np.generic | np.ndarray):
            made = self.value(value)
            return self.staged(
                made
                if isinstance(made, Var)
                else self.builder.op("cast", made, dtype=dtype_name(spec_of(value).dtype))
            )
        return None


def _names(function: FunctionType, count: int) -> list[str]:
    """Names for the parameters of a program: those of the function as far as they go."""
    own = list(function.__code__.co_varnames[: function.__code__.co_argcount])
    return [*own, *["x"] * count][:count]
