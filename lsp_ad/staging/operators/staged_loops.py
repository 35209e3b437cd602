"""A loop that is staged: its body is traced until the types of what it changes stay the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lsp_ad.staging import decisions
from lsp_ad.staging.backends.base import Backend, Iterable, Options, Spec, Traced
from lsp_ad.staging.context import going_over, gone_over, superseded, written
from lsp_ad.staging.errors import in_generated_code, staging_error
from lsp_ad.staging.operators.beginnings import flags, runs
from lsp_ad.staging.operators.growth import Growth, check_bound
from lsp_ad.staging.operators.identity import Ends, Settling, shared_as
from lsp_ad.staging.operators.iteration import Staged
from lsp_ad.staging.operators.lists import Meta, StagedList, folded
from lsp_ad.staging.operators.plans import (
    NO_ITEM,
    Joining,
    Made,
    Tree,
    fitted,
    has_list,
    is_undefined,
    leaves_of,
    length_spec,
    may_be_none,
    structure_of,
    tree_of,
    type_of,
)
from lsp_ad.staging.operators.state import Outcome, State, run_body
from lsp_ad.staging.operators.truth import truth
from lsp_ad.staging.operators.types import Fixed, is_number, is_zero, value_spec
from lsp_ad.staging.structures import flatten, mapped, parts_of, unflatten

_ROUNDS = 8  # how often the types of the state may be widened


class StagedLoop:
    """A loop over the state of a body: with a `test`, over an iterable, or both."""

    def __init__(
        self,
        backend: Backend,
        state: State,
        body: Callable[..., Any],
        test: Callable[[], Any] | None,
        over: Iterable | None,
        options: Options,
    ):
        self.backend, self.state, self.body, self.test, self.over = backend, state, body, test, over
        self.options = options
        self.construct = decisions.FOR if over is not None else decisions.WHILE
        self.cursor = [over.cursor] if over is not None else []
        counted = isinstance(over, Staged) and test is None and isinstance(over.count, int)
        self.arrays = over.arrays if isinstance(over, Staged) and counted and backend.takes_arrays else ()
        self.elements = [backend.item_spec(array) for array in self.arrays]
        self.before = state.get()
        self.ends = Ends({}, {}, set())  # of a body that ends the program
        self.off = flags(state, self.before, test)
        self.runs = runs(over, test)
        self.growth: dict[tuple, Growth] = {}
        self.added: dict[tuple, int] = {}  # for lists to which each iteration adds as many: how many

    def run(self) -> None:
        names = self.state.all
        plans = [self._first(type_of(self.backend, v), (n,)) for n, v in zip(names, self.before, strict=True)]
        recorded = decisions.count()
        for _ in range(_ROUNDS):
            decisions.forget(recorded)
            try:
                traced, outcomes = self._traced(plans)
            except (TypeError, ValueError):
                if (typed := self._numbers_typed(plans)) == plans:
                    raise
                plans = typed
                continue
            if traced.ends:  # it raises in its first iteration; without any, all is as before
                self._emit(plans, replace(traced, picks=()))
                return
            found = self._types(traced, outcomes)
            wanted = self._wanted(plans, found)
            if wanted == plans:
                break
            plans = wanted
        else:
            raise staging_error(
                "The types of the variables of this loop keep changing from iteration to iteration."
            )
        self._emit(plans, replace(traced, picks=self._picks(plans, outcomes)))

    def _first(self, tree: Tree, path: tuple) -> Tree:
        """The type of a variable when the loop begins: what is a number is carried."""
        if isinstance(tree, Fixed):
            if not is_number(tree.value) or is_zero(tree.value):
                return tree
            tree = value_spec(self.backend, tree.value)
        if isinstance(tree, Spec):
            declared = (self.options.shape_invariants or {}).get(path[0])
            return tree if declared is None or self.backend.same_shapes else replace(tree, shape=declared)
        return self._inside(tree, path)

    def _inside(self, tree: Tree, path: tuple) -> Tree:
        """The same for a part of a structure, where Python numbers stay Python."""
        if isinstance(tree, Fixed):
            array = isinstance(tree.value, np.ndarray) and is_number(tree.value)
            return value_spec(self.backend, tree.value) if array else tree
        if isinstance(tree, Spec):
            return tree
        if tree.kind is StagedList:
            meta, base = tree.meta, tree.parts[0]
            start = base.value if isinstance(base, Fixed) else meta.capacity - (meta.reserve - meta.top)
            self.growth[path] = Growth(meta.capacity, start)
            meta = replace(meta, offset=0, reserve=0, top=0, peak=0)
            return Made(StagedList, meta, [length_spec(self.backend), *tree.parts[1:]])
        parts = [self._inside(part, (*path, i)) for i, part in enumerate(tree.parts)]
        return Made(tree.kind, tree.meta, parts)

    def _carried(self, plans: Sequence[Tree]) -> list[Spec]:
        return [leaf for plan in plans for leaf in leaves_of(plan) if isinstance(leaf, Spec)]

    def _values(self, plans: Sequence[Tree], inputs: Iterator[Any]) -> list[Any]:
        """The values of all variables where those that are carried are `inputs`."""
        return [
            unflatten(
                structure_of(p),
                [next(inputs) if isinstance(leaf, Spec) else leaf.value for leaf in leaves_of(p)],
            )
            for p in plans
        ]

    def _traced(self, plans: list[Tree]) -> tuple[Traced, list[Outcome]]:
        found: list[Outcome] = []

        def flat(inputs: list[Any]) -> list[Any]:
            rest = iter(inputs)
            run: Callable[[], Any] = self.body
            stepped: list[Any] = []
            if self.over is not None:
                run = partial(self._with_item, next(rest), [next(rest) for _ in self.elements], stepped)
            start = shared_as(self.before, self._values(plans, rest))
            for position in self.off:
                start[position] = False
            with going_over(self._gone_over(start)):
                values, self.ends = run_body(self.construct, self.state, start, run)
            values = values[: self.state.outputs]
            self._written(start)
            made = [fitted(v, p) if may_be_none(p) else v for v, p in zip(values, plans, strict=True)]
            found[:] = self._outcomes(start, made)
            numbers = [v for outcome in found for v in outcome.leaves if self._is_number(v)]
            return [*stepped, *numbers]

        return self.backend.trace(flat, [*self.cursor, *self.elements, *self._carried(plans)]), found

    def _numbers_typed(self, plans: list[Tree]) -> list[Tree]:
        """The types where a Python number takes on that of what it meets: found by an iteration with it."""
        numbers = [
            Fixed(value) if isinstance(plan, Spec) and plan.weak and is_number(value) else plan
            for plan, value in zip(plans, self.before, strict=True)
        ]
        with decisions.recording():  # of nothing that is staged
            found = self._types(*self._traced(numbers))
        names = self.state.all
        joined = [self._next(*each) for each in zip(names, numbers, found, strict=True)]
        return [plan if isinstance(new, Fixed) else new for plan, new in zip(plans, joined, strict=True)]

    def _written(self, start: list[Any]) -> None:
        """What the body has written into is what the variables stand for before the loop, too."""
        places = {id(array): place for array, place in written()}
        for now, before in zip(start, self.before, strict=True):
            for one, other in zip(flatten(now)[0], flatten(before)[0], strict=False):
                if id(one) in places:
                    superseded(other, places[id(one)])

    def _gone_over(self, start: list[Any]) -> list[Any]:
        """What stands in the body for the arrays that this loop, or one around it, goes over."""
        pairs = [(flatten(old)[0], flatten(new)[0]) for old, new in zip(self.before, start, strict=True)]
        return [
            new
            for olds, news in pairs
            if len(olds) == len(news)
            for old, new in zip(olds, news, strict=True)
            if any(old is array for array in gone_over())
        ]

    def _is_number(self, value: Any) -> bool:
        return self.backend.owns(value) or is_number(value)

    def _outcomes(self, start: list[Any], values: Sequence[Any]) -> list[Outcome]:
        """The variables after an iteration, and how many items it has added to each list."""
        bases: dict[tuple, Any] = {}
        self.added = {}

        def seen(value: StagedList, path: tuple) -> StagedList:
            bases[path] = value.base
            return value

        def counted(value: StagedList, path: tuple) -> StagedList:
            if path in bases and value.base is bases[path]:
                self.added[path] = value.meta.offset
            return folded(value)

        names = self.state.all
        for name, value in zip(names, start, strict=True):
            mapped(value, StagedList, seen, (name,))
        made = [mapped(v, StagedList, counted, (n,)) for n, v in zip(names, values, strict=True)]
        return [
            Outcome(n, structure, leaves)
            for n, v in zip(names, made, strict=True)
            for leaves, structure in [flatten(v)]
        ]

    def _with_item(self, cursor: Any, elements: list[Any], stepped: list[Any]) -> None:
        over = self.over
        assert over is not None
        by_parts = isinstance(over, Staged) and self.arrays
        self.body(over.item(cursor, elements) if by_parts else over.at(cursor))  # type: ignore[attr-defined]
        stepped.append(over.after(cursor, self.test))

    def _types(self, traced: Traced, outcomes: list[Outcome]) -> list[Tree]:
        """The types of the variables after an iteration."""
        specs = iter(traced.specs[len(self.cursor) :])
        trees = []
        for outcome in outcomes:
            leaves: list[Spec | Fixed] = []
            for leaf in outcome.leaves:
                spec = next(specs) if self._is_number(leaf) else None
                leaves.append(spec if spec is not None and self.backend.owns(leaf) else Fixed(leaf))
            trees.append(tree_of(outcome.structure, iter(leaves)))
        return trees

    def _wanted(self, plans: list[Tree], found: list[Tree]) -> list[Tree]:
        """The types for another trace: those of numbers first, since the items of lists are made of these."""
        wanted = list(plans)
        for lists in (False, True):
            for i, (name, plan, new) in enumerate(zip(self.state.all, plans, found, strict=True)):
                if lists == (has_list(plan) or has_list(new)):
                    wanted[i] = self._next(name, plan, new)
            if wanted != plans:
                break
        return wanted

    def _next(self, name: str, plan: Tree, found: Tree) -> Tree:
        if is_undefined(plan):
            return self._adopted(name, plan, found)
        return _LoopJoining(self, name).join(plan, found, (name,))

    def _adopted(self, name: str, plan: Tree, found: Tree) -> Tree:
        """A variable that has no value before the loop."""
        if is_undefined(found):
            return plan
        if name not in self.state.guarded and not self.runs and not in_generated_code():
            raise staging_error(
                f"`{name}` has no value if this loop does not run.", "Give it one before the loop."
            )
        return self._first(found, (name,))

    def grown(self, name: str, path: tuple, before: Made, after: Made) -> int:
        """The capacity that a list needs for all iterations, after another trace of one."""
        if path not in self.growth:
            self.growth[path] = Growth(0, len(before.parts))
        growth = self.growth[path]
        growth.after(before, after)
        count = self._most()
        if growth.net > 0 and count is None and self.backend.bounded_lists:
            raise staging_error(
                f"The list `{name}` grows in a loop of unknown length.",
                "Give `lsp_ad.loop_options(maximum_iterations=n)` as the first statement of the loop.",
            )
        return max(growth.least, growth.start + growth.room(count))

    def _most(self) -> int | None:
        """How often the loop runs at most, where that is known."""
        most = self.over.most if isinstance(self.over, Staged) else None
        known = [n for n in (most, self.options.maximum_iterations) if isinstance(n, int)]
        return min(known, default=None)

    def _picks(self, plans: list[Tree], outcomes: list[Outcome]) -> tuple[int | None, ...]:
        """Which of the values that the trace gave are carried on."""
        picks: list[int | None] = []
        position = len(self.cursor)
        for plan, outcome in zip(plans, outcomes, strict=True):
            for leaf, value in zip(leaves_of(plan), outcome.leaves, strict=True):
                if isinstance(leaf, Spec):
                    picks.append(position)
                position += self._is_number(value)
        return tuple(picks)

    def _emit(self, plans: list[Tree], body: Traced) -> None:
        backend, specs = self.backend, self._carried(plans)
        start = []
        for plan, value in zip(plans, self.before, strict=True):
            leaves = leaves_of(plan)
            undefined = is_undefined(type_of(backend, value))
            given = [None] * len(leaves) if undefined else flatten(fitted(value, plan))[0]
            for leaf, known in zip(leaves, given, strict=True):
                if isinstance(leaf, Spec):
                    empty = undefined or is_zero(known)
                    start.append(backend.zeros(leaf) if empty else backend.filled(known, leaf))
        over, results = self.over, None
        if over is not None and self.test is None:
            results = backend.for_loop(over.count, body, start, specs, self.arrays, self.options)
        if results is None:
            results = self._by_while(plans, body, start, specs)
        values = self._values(plans, iter(results))
        made = [
            mapped(v, StagedList, self._afterwards, (n,)) for n, v in zip(self.state.all, values, strict=True)
        ]
        settling = Settling(self.construct, self.state.all, self.before, [self.ends])
        self.state.set(settling.settled(made, [f for f in (self.body, self.test) if f is not None]))
        settling.remember()
        if self.options.maximum_iterations is not None:
            check_bound(
                self.options.maximum_iterations, self.growth, dict(zip(self.state.all, made, strict=True))
            )

    def _afterwards(self, value: StagedList, path: tuple) -> StagedList:
        """A list after the loop, its length known where it can be."""
        growth, meta = self.growth.get(path), value.meta
        before: Any = self.before[self.state.all.index(path[0])]
        for part in path[1:]:
            before = parts_of(before)[0][part]  # type: ignore[index]
        count = self.over.count if self.over is not None and self.test is None else None
        known = isinstance(before, list) or (isinstance(before, StagedList) and before.known)
        if known and isinstance(count, int) and path in self.added:
            length = len(before) + count * self.added[path]
            if length < 0:
                raise staging_error("This loop pops more items than there are in a list.")
            meta = replace(meta, offset=0, reserve=0, top=0, peak=0)
            return StagedList(meta, length, value.stores)
        if growth is None or known or not isinstance(before, StagedList):
            return StagedList(replace(meta, reserve=0, top=0, peak=0), value.base, value.stores)
        old, room = before.meta, growth.room(self._most())
        reserve = old.reserve + meta.capacity - old.capacity
        top = old.top + max(growth.net, 0) * (self._most() or 0)
        meta = replace(meta, reserve=reserve, top=top, peak=max(old.peak, old.top + room))
        return StagedList(meta, value.base, value.stores)

    def _by_while(self, plans: list[Tree], body: Traced, start: list[Any], specs: list[Spec]) -> list[Any]:
        backend, over = self.backend, self.over

        def test(inputs: list[Any]) -> list[Any]:
            rest = iter(inputs)
            cursor = next(rest) if over is not None else None
            self.state.set(tuple(shared_as(self.before, self._values(plans, rest))))
            more = truth(self.test()) if self.test is not None else True
            if over is None:
                return [more]
            inside = over.more(cursor)
            return [inside if more is True else backend.function("logical_and")(inside, more)]

        traced_test = backend.trace(test, [*self.cursor, *specs])
        if over is None:
            return backend.while_loop(traced_test, body, start, specs, self.options)
        assert body.picks is not None
        body = replace(body, picks=(0, *body.picks))
        start = [over.start(), *start]
        return backend.while_loop(traced_test, body, start, [*self.cursor, *specs], self.options)[1:]


class _LoopJoining(Joining):
    def __init__(self, loop: StagedLoop, name: str):
        super().__init__(loop.backend, name, ("before an iteration", "after it"))
        self.loop = loop

    def lists(self, a: Made, b: Made, path: tuple) -> Tree:
        capacity = self.loop.grown(self.name, path, a, b)
        meta = Meta(self.backend, NO_ITEM, capacity, reserve=self.loop.growth[path].peak)
        return self.list_type(a, b, meta)
