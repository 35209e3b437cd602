"""Lantern: programs of the language of `staging/lantern/`, with recursion, compiled to machine code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from lsp_ad.staging.backends.base import PLAIN, Ended, Options, Spec, Traced, is_data, spec_of
from lsp_ad.staging.backends.lantern_lists import Lists
from lsp_ad.staging.context import compiling
from lsp_ad.staging.errors import StagingError, noted, staging_error
from lsp_ad.staging.lantern import blocks, elements, numpy_functions, numpy_rearranged, zeros
from lsp_ad.staging.lantern.blocks import Code
from lsp_ad.staging.lantern.builder import fresh
from lsp_ad.staging.lantern.calls import Known, Restart
from lsp_ad.staging.lantern.errors import LanternRaised
from lsp_ad.staging.lantern.exceptions import Exceptions
from lsp_ad.staging.lantern.ir import DTYPES, Binding, Expr, If, Let, List, Program, Type, Var, While
from lsp_ad.staging.lantern.sharing import TWICE, Apart, Memory
from lsp_ad.staging.lantern.specs import spec_from, type_from
from lsp_ad.staging.lantern.staged import Staged
from lsp_ad.staging.lantern.tracer import STAGED, Tracer
from lsp_ad.staging.operators.lists import StagedList, plain
from lsp_ad.staging.operators.optional import Maybe, computed
from lsp_ad.staging.structures import Structure, contains, flatten, unflatten

_NUMBERS = (float, complex, np.generic)
_KNOWN = frozenset({int, bool, str, type(None)})
_STAGED = frozenset({float, complex, *(np.dtype(name).type for name in DTYPES)})


def _signature(args: tuple[Any, ...]) -> tuple | None:
    """What tells calls with numbers and arrays of NumPy apart, at once; None of other arguments."""
    found: list[Any] = []
    for value in args:
        kind = type(value)
        if kind is np.ndarray and value.dtype != object:
            found += (value.dtype, value.ndim)
        elif kind in _STAGED:
            found.append(kind)
        elif kind in _KNOWN:
            found += (kind, value)
        else:
            return None
    return tuple(found)


class Lantern(Lists):
    name = "lantern"
    # sizes are not part of a type, so values of one rank have one shape
    optional = True
    raises = True
    unpacks = True
    follows_memory = True
    longest_unrolled = 4

    def __init__(self) -> None:
        self.tracers: list[Tracer] = []

    def owns(self, value: Any) -> bool:
        return isinstance(value, Staged)

    def spec(self, value: Any) -> Spec:
        if not isinstance(value, Staged):
            found = spec_of(value)
            return Spec(found.dtype, (None,) * len(found.shape or ()), found.weak)
        if isinstance(value.type, List):
            return spec_from(value.type)
        return Spec(value.dtype, (None,) * value.ndim, value.weak)

    def trace(self, run: Callable[[list[Any]], list[Any]], specs: Sequence[Spec]) -> Traced:
        builder, frame = self.tracer.builder, self.tracer.builder._frames[-1]
        records = self.tracer.records
        inputs = [self._input(type_from(spec), spec.weak) for spec in specs]
        outer = before = records.lists
        if specs:  # it may be the body of a loop, which goes on with the lists that it has changed
            before = [self._input(t) for t in records.types]
        records.lists = list(before)
        builder.open()
        depth, effects = len(frame.blocks), builder.effects
        ends = False
        outputs: list[Any] = []
        try:
            with self.tracer.sharing.body(bool(specs)) as (first, apart):
                outputs = run(list(inputs))
        except Ended:
            ends = True
            if not frame.blocks[-1].ends:  # on the way to the type of a recursive function
                builder.error("RecursionError", "not traced yet")
        except BaseException:
            del frame.blocks[depth - 1 :]
            raise
        finally:
            after, records.lists = records.lists, outer
        block = frame.blocks.pop()
        code = Code(block, inputs, outputs, before, after, first, apart)
        return Traced(tuple(map(self.spec, outputs)), code, effects=builder.effects > effects, ends=ends)

    def _input(self, t: Type, weak: bool = False) -> Staged:
        """A name for what a block takes."""
        frame = self.tracer.builder._frames[-1]
        name = fresh("s", frame.names)
        frame.scope[name] = t
        return self.tracer.staged(Var(name), weak, self.tracer.sharing.piece())

    def _finished(self, traced: Traced, finish: Callable[[list[Any]], Any]) -> tuple[Expr, Type]:
        """The block as one expression, with what `finish` adds to it as its value."""
        builder = self.tracer.builder
        builder._frames[-1].blocks.append(traced.code.block)
        return builder.close(finish(traced.code.outputs))

    def _tuple(self, values: Sequence[Any]) -> Any:
        return self.tracer.builder.op("tuple", *map(self.tracer.value, values))

    def cast(self, value: Any, spec: Spec) -> Any:
        wanted = spec.dtype.name
        if spec.listed:
            return self.list_cast(value, self.list_item(spec))
        if isinstance(value, Staged) and isinstance(value.type, List):
            raise staging_error("A list that changes in staged code is an item of another one.")
        if isinstance(value, Staged):
            return value if value.dtype.name == wanted else self.tracer.op("cast", value, dtype=wanted)
        made = self.tracer.value(np.asarray(value, spec.dtype)[()])
        return self.tracer.staged(made, memory=self.tracer.sharing.of(value))

    def copied(self, value: Any) -> Any:
        return numpy_functions.same(value)

    def are_apart(self, one: Any, other: Any, otherwise: StagingError, seen: bool = False) -> bool:
        of = self.tracer.sharing.of
        return self.tracer.sharing.are_apart(Apart(of(one), of(other), otherwise, seen))

    def items_apart(self, items: Any, otherwise: StagingError) -> bool:
        sharing = self.tracer.sharing
        return sharing.are_apart(Apart(sharing.of(items), frozenset([TWICE]), otherwise, seen=True))

    def filled(self, value: Any, spec: Spec) -> Any:
        made = self.cast(value, spec)
        if spec.listed or not spec.shape or made.ndim:
            return made
        return zeros.unshaped(self.tracer, spec, made)

    def zeros(self, spec: Spec) -> Any:
        if spec.listed:
            return self.list_new(self.list_item(spec), 0)
        if spec.shape:
            return zeros.unshaped(self.tracer, spec)
        return self.cast(0, spec)

    def cond(self, test: Any, then: Traced, orelse: Traced, specs: Sequence[Spec]) -> list[Any]:
        builder = self.tracer.builder
        truth = self._truth(test)
        condition = self.tracer.value(truth)
        decided = blocks.decided(self, truth, then, orelse, len(specs))
        rest = [i for i in range(len(specs)) if i not in decided]
        then, orelse = blocks.picked(then, rest), blocks.picked(orelse, rest)
        every, specs = len(specs), [specs[i] for i in rest]
        changed = sorted(set().union(*(t.code.changed for t in (then, orelse) if not t.ends)))
        absent = blocks.absent(self.tracer, then, orelse, specs)
        parts = [self._finished(t, partial(self._branch, t, specs, changed, absent)) for t in (then, orelse)]
        expr = If(condition, parts[0][0], parts[1][0])
        found = builder._frames[-1].types.joined(expr, builder.type_of(condition), parts[0][1], parts[1][1])
        result = builder._bound(expr, found, "t")
        if then.ends and orelse.ends:
            raise Ended
        memories = blocks.chosen(self.tracer, then, orelse, len(specs))
        made = iter(self._items(result, specs, changed, memories))
        return [decided[i] if i in decided else next(made) for i in range(every)]

    def _branch(
        self,
        traced: Traced,
        specs: Sequence[Spec],
        changed: Sequence[int],
        absent: dict[int, Staged],
        values: list[Any],
    ) -> Any:
        if traced.ends:
            return self._tuple([])
        results = self.results(traced, values, specs)
        for i, made in absent.items():
            results[i] = made if blocks.picks(traced)[i] is None else results[i]
        return self._tuple([*results, *(traced.code.after[i] for i in changed)])

    def _items(
        self, result: Any, specs: Sequence[Spec], changed: Sequence[int], memories: Sequence[Memory]
    ) -> list[Any]:
        """What a conditional or a loop gives, the lists of the records taken over."""
        builder, records = self.tracer.builder, self.tracer.records
        made = [
            self.tracer.staged(builder.item(result, i), spec.weak, memory)
            for i, (spec, memory) in enumerate(zip(specs, memories, strict=True))
        ]
        records.lists = list(records.lists)
        for place, i in enumerate(changed, len(specs)):
            records.lists[i] = self.tracer.staged(builder.item(result, place))
        return made

    def _given(self, names: Sequence[Staged], values: Sequence[Any], expr: Expr) -> Expr:
        """An expression where names stand for values."""
        given = [Binding(n.value.name, self.tracer.value(v)) for n, v in zip(names, values, strict=True)]
        return Let((*given, *_bindings(expr)), _body(expr)) if given else expr

    def _truth(self, test: Any) -> Any:
        if not isinstance(test, Staged):
            return bool(test)
        if test.ndim:
            raise staging_error("The truth of an array is ambiguous.", "Use `.any()` or `.all()`.")
        return numpy_functions.as_bool(test)

    def while_loop(
        self,
        test: Traced,
        body: Traced,
        initial: list[Any],
        specs: Sequence[Spec],
        options: Options = PLAIN,
    ) -> list[Any]:
        builder, tracer = self.tracer.builder, self.tracer
        frame = builder._frames[-1]
        changed, lists = sorted(body.code.changed), tracer.records.lists
        kept = [i for i in range(len(lists)) if i not in changed]
        carried = [*body.code.inputs, *(body.code.before[i] for i in changed)]
        names = [v.value.name for v in carried]
        if not body.ends:
            values = [body.code.outputs[p] if p is not None else None for p in blocks.picks(body)]
            first = dict(zip(names, (*initial, *(lists[i] for i in changed)), strict=True))
            for i, (value, spec) in enumerate(zip(values, specs, strict=True)):
                initial[i] = zeros.shaped(tracer, spec, initial[i], value, names[i], body.code.bound, first)
        memories = blocks.carried(tracer, test, body, initial)
        initial = [*initial, *(lists[i] for i in changed)]
        entry = [builder.type_of(tracer.value(v)) for v in initial]
        if test.code.changed:
            raise staging_error(
                "The condition of this loop calls a function that keeps data for its gradient."
            )
        condition, condition_type = self._finished(test, lambda v: tracer.value(self._truth(v[0])))
        step, step_type = self._finished(body, partial(self._branch, body, specs, changed, {}))
        if specs:
            inside = [*body.code.inputs, *body.code.before]
            condition = self._given([*test.code.inputs, *test.code.before], inside, condition)
            unchanged = [body.code.before[i] for i in kept], [lists[i] for i in kept]
            step, condition = self._given(*unchanged, step), self._given(*unchanged, condition)
        bindings = tuple(
            Binding(n, tracer.value(v), builder.place) for n, v in zip(names, initial, strict=True)
        )
        expr = While(bindings, condition, step, options.maximum_iterations)
        found = frame.types.carried(expr, entry, condition_type, step_type)
        return self._items(builder._bound(expr, found, "loop"), specs, changed, memories)

    def numpy(self, name: str) -> Callable[..., Any] | None:
        return numpy_rearranged.TABLE.get(name)

    def get_item(self, value: Any, index: Any) -> Any:
        return elements.get_item(value, index)

    def set_item(self, value: Any, index: Any, new: Any) -> Any:
        return elements.set_item(value, index, new)

    def tracing(self) -> bool:
        return bool(self.tracers)

    def check_shape(self, made: Any, value: Any) -> None:
        if np.ndim(made) != np.ndim(value):
            raise staging_error(
                f"An array with {np.ndim(value)} axes is updated to one with {np.ndim(made)}."
            )
        for one, other in zip(made.shape, value.shape, strict=True):
            self.require(one == other, "ValueError", "an array is updated to one of another shape")

    def add_at(self, value: Any, index: Any, by: Any) -> Any:
        return elements.add_at(value, index, by)

    def not_(self, value: Any) -> Any:
        return self.tracer.op("not", self._truth(value))

    def print_(self, *values: Any, **options: Any) -> None:
        self.tracer.builder.print(*[v if isinstance(v, str) else self.tracer.value(v) for v in values])

    def assert_(self, test: Any, message: Callable[[], str]) -> None:
        self.require(test, "AssertionError", message())

    def require(self, test: Any, error: str, message: str) -> None:
        self.tracer.builder.require(self.tracer.value(self._truth(test)), error, message)

    def raise_(self, error: Exception, place: str) -> None:
        tracer, builder = self.tracer, self.tracer.builder
        kind, parts = tracer.exceptions.parts(error)
        builder.place = place
        builder.error(kind, *[p if isinstance(p, str) else tracer.value(p) for p in parts])

    def call(self, function: Any, args: tuple, named: dict[str, Any]) -> Any:
        return self.tracer.calls.call(function, args, named)

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Arrays and floats are staged; other arguments are known when tracing: one trace for each value."""
        compiled: dict[Any, Callable[[list[Any]], Any]] = {}
        quick: dict[tuple, Callable[[list[Any]], Any]] = {}

        @functools.wraps(function)
        def run(*args: Any, **named: Any) -> Any:
            signature = None if named else _signature(args)
            if signature in quick:
                return quick[signature]([v for v in args if type(v) not in _KNOWN])
            leaves, structure = flatten((args, named))
            data = [v if isinstance(v, _NUMBERS) else np.asarray(v) for v in leaves if is_data(v)]
            key = structure, tuple(self.spec(v) if is_data(v) else (type(v), v) for v in leaves)
            if key not in compiled:
                compiled[key] = self._compiled(function, leaves, structure)
            if signature is not None:
                quick[signature] = compiled[key]
            return compiled[key](data)

        return run

    def enter(self, program: Program) -> Callable[..., Any]:
        """A program as a function of its arguments: machine code."""
        from lsp_ad.staging.lantern.compiler.driver import compiled

        return compiled(program)

    def _compiled(self, function: Any, leaves: list[Any], structure: Structure) -> Callable[[list[Any]], Any]:
        program, constants, shape, kept, exceptions = self._program(function, leaves, structure)
        enter = self.enter(program)
        optional, listed = contains(shape, Maybe), contains(shape, StagedList)

        def run(data: list[Any]) -> Any:
            try:
                outputs = iter(enter(*data, *constants))
            except Exception as error:
                made = exceptions.of(error) if isinstance(error, LanternRaised) else error
                raise noted(made, getattr(error, "lantern_place", None)) from None
            found = unflatten(shape, [next(outputs) if fixed is STAGED else fixed for fixed in kept])
            if optional:
                found = computed(found)
            return plain(found, lambda value: value) if listed else found

        return run

    def _program(
        self, function: Any, leaves: list[Any], structure: Structure
    ) -> tuple[Program, list[Any], Structure, list[Any], Exceptions]:
        known = Known()
        while True:
            try:
                return self._trace(function, leaves, structure, known)
            except Restart:
                continue

    def _trace(
        self, function: Any, leaves: list[Any], structure: Structure, known: Known
    ) -> tuple[Program, list[Any], Structure, list[Any], Exceptions]:
        tracer = Tracer(known, self)
        self.tracers.append(tracer)
        try:
            with compiling(self):
                return tracer.entry(function, leaves, structure)
        finally:
            self.tracers.pop()


def _bindings(expr: Expr) -> tuple[Binding, ...]:
    return expr.bindings if isinstance(expr, Let) else ()


def _body(expr: Expr) -> Expr:
    return expr.body if isinstance(expr, Let) else expr


BACKEND = Lantern()
