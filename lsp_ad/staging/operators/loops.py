"""`while` and `for` statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lsp_ad.staging import decisions
from lsp_ad.staging.backends import owner
from lsp_ad.staging.backends.base import Backend, Spec, Traced
from lsp_ad.staging.decisions import decide
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.operators.branches import described, if_, why_python
from lsp_ad.staging.operators.iteration import Staged, staged
from lsp_ad.staging.operators.state import (
    Outcome,
    State,
    is_number,
    is_same,
    pack,
    restored,
    run_body,
    taken_apart,
    unified,
    value_spec,
)
from lsp_ad.staging.operators.variables import Undefined

_INDEX = Spec(np.dtype(np.int64), ())
_ROUNDS = 6  # how often the types of the state may be widened


def while_(test: Callable[[], Any], body: Callable[[], Any], state: State) -> None:
    """Run a loop; from the first test on that a back end owns, what is left of it is staged."""
    count = 0
    while True:
        value = test()
        backend = owner(value)
        if backend is not None:
            why = "the condition" if not count else f"after {count} iterations in Python, the condition"
            decide(decisions.WHILE, decisions.STAGED, f"{why} is a value of {backend.name}")
            _Loop(backend, state, body, test=test).run()
            return
        if not value:
            decide(decisions.WHILE, decisions.UNROLLED, why_python(value), count)
            return
        body()
        count += 1


def for_(
    iterable: Any, body: Callable[[Any], Any], state: State, goes_on: Callable[[], Any] | None = None
) -> None:
    """Run a loop over an iterable, or stage it where the iterable is staged. `goes_on`: no `break` so far."""
    over = staged(iterable)
    if over is not None:
        decide(decisions.FOR, decisions.STAGED, f"it goes over {over.what} of {over.backend.name}")
        _Loop(over.backend, state, body, over=over, test=goes_on).run()
        return
    count = 0
    for item in iterable:
        if goes_on is not None:
            more = goes_on()
            if owner(more) is not None:
                if_(more, partial(body, item), lambda: None, state)
                count += 1
                continue
            if not more:
                break
        body(item)
        count += 1
    decide(decisions.FOR, decisions.UNROLLED, f"it goes over a Python {type(iterable).__name__}", count)


@dataclass
class _Plan:
    """A variable of the state: its structure, and for each leaf the type or the fixed value of it."""

    name: str
    structure: Any
    leaves: list[Spec | _Fixed]


@dataclass(frozen=True)
class _Fixed:
    """A leaf that is the same Python value in every iteration."""

    value: Any


class _Loop:
    """One staged loop. The types of its state are found by tracing the body until they no longer change."""

    def __init__(
        self,
        backend: Backend,
        state: State,
        body: Callable[..., Any],
        test: Callable[[], Any] | None,
        over: Staged | None = None,
    ):
        self.backend, self.state, self.body, self.test, self.over = backend, state, body, test, over
        self.construct = decisions.FOR if over is not None else decisions.WHILE
        self.before = state.get()
        self.initial = taken_apart(state.all, self.before)

    def run(self) -> None:
        plans = [self._first(outcome) for outcome in self.initial]
        for _ in range(_ROUNDS):
            traced, outcomes = self._traced(plans)
            wanted = [
                self._next(*pair)
                for pair in zip(plans, outcomes, self._specs_of(traced, outcomes), strict=True)
            ]
            if wanted == plans:
                break
            plans = wanted
        else:
            raise staging_error(
                "The types of the variables of this loop keep changing from iteration to iteration."
            )
        self._emit(plans, replace(traced, picks=self._picks(plans, outcomes)))

    def _first(self, outcome: Outcome) -> _Plan:
        whole = not hasattr(outcome.structure, "parts")
        leaves: list[Spec | _Fixed] = []
        for leaf in outcome.leaves:
            carried = self.backend.owns(leaf) or (is_number(leaf) and (whole or isinstance(leaf, np.ndarray)))
            leaves.append(value_spec(self.backend, leaf) if carried else _Fixed(leaf))
        return _Plan(outcome.name, outcome.structure, leaves)

    def _carried(self, plans: list[_Plan]) -> list[Spec]:
        return [leaf for plan in plans for leaf in plan.leaves if isinstance(leaf, Spec)]

    def _values(self, plans: list[_Plan], inputs: Iterable[Any]) -> list[Any]:
        """The values of all variables where those that are carried are `inputs`."""
        carried = iter(inputs)
        return [
            pack(p.structure, [next(carried) if isinstance(leaf, Spec) else leaf.value for leaf in p.leaves])
            for p in plans
        ]

    def _traced(self, plans: list[_Plan]) -> tuple[Traced, list[Outcome]]:
        found: list[Outcome] = []

        def flat(inputs: list[Any]) -> list[Any]:
            run: Callable[[], Any] = self.body
            stepped = []
            if self.over is not None:
                index, *inputs = inputs
                stepped = [index + 1]
                run = partial(self._with_item, index)
            found[:] = run_body(self.construct, self.state, self._values(plans, inputs), run)
            values = [v for outcome in found for v in outcome.leaves if self.backend.owns(v) or is_number(v)]
            return [*stepped, *values]

        index = [_INDEX] if self.over is not None else []
        return self.backend.trace(flat, [*index, *self._carried(plans)]), found

    def _with_item(self, index: Any) -> None:
        assert self.over is not None
        self.body(self.over.item(index))

    def _specs_of(self, traced: Traced, outcomes: list[Outcome]) -> list[list[Spec | None]]:
        """The type of each leaf after an iteration, of each variable; None of what is no number."""
        specs = iter(traced.specs[self.over is not None :])  # without the index
        return [
            [next(specs) if self.backend.owns(v) or is_number(v) else None for v in outcome.leaves]
            for outcome in outcomes
        ]

    def _next(self, plan: _Plan, outcome: Outcome, specs: list[Spec | None]) -> _Plan:
        if any(isinstance(leaf, _Fixed) and isinstance(leaf.value, Undefined) for leaf in plan.leaves):
            return self._adopted(plan, outcome, specs)
        if plan.structure != outcome.structure:
            old = Outcome(plan.name, plan.structure, [getattr(leaf, "value", leaf) for leaf in plan.leaves])
            raise staging_error(
                f"`{plan.name}` is {described(old)} before an iteration, {described(outcome)} after it."
            )
        leaves: list[Spec | _Fixed] = []
        for old_leaf, value, spec in zip(plan.leaves, outcome.leaves, specs, strict=True):
            if isinstance(old_leaf, _Fixed) and is_same(old_leaf.value, value):
                leaves.append(old_leaf)
                continue
            start = (
                value_spec(self.backend, old_leaf.value)
                if isinstance(old_leaf, _Fixed) and is_number(old_leaf.value)
                else old_leaf
            )
            if isinstance(start, _Fixed) or spec is None:
                was = getattr(old_leaf, "value", old_leaf)
                raise staging_error(
                    f"`{plan.name}` is {was!r} before an iteration and {value!r} after it.",
                    "Only numbers and arrays can change in a staged loop.",
                )
            wide = unified(start, spec, same_shapes=True)
            if wide is None:
                raise staging_error(
                    f"`{plan.name}` is {start} before an iteration and {spec} after it.",
                    "Give it one type and shape before the loop.",
                )
            leaves.append(wide)
        return _Plan(plan.name, plan.structure, leaves)

    def _adopted(self, plan: _Plan, outcome: Outcome, specs: list[Spec | None]) -> _Plan:
        """A variable that has no value before the loop."""
        if any(isinstance(v, Undefined) for v in outcome.leaves):
            return plan
        runs = (
            self.over is not None
            and isinstance(self.over.count, int)
            and self.over.count > 0
            and self.test is None
        )
        if plan.name not in self.state.guarded and not runs:
            raise staging_error(
                f"`{plan.name}` has no value if this loop does not run.", "Give it one before the loop."
            )
        leaves = [s if s is not None else _Fixed(v) for v, s in zip(outcome.leaves, specs, strict=True)]
        return _Plan(plan.name, outcome.structure, leaves)

    def _picks(self, plans: list[_Plan], outcomes: list[Outcome]) -> tuple[int | None, ...]:
        """Which of the values that the trace gave are carried on."""
        picks: list[int | None] = []
        position = int(self.over is not None)
        for plan, outcome in zip(plans, outcomes, strict=True):
            for leaf, value in zip(plan.leaves, outcome.leaves, strict=True):
                number = self.backend.owns(value) or is_number(value)
                if isinstance(leaf, Spec):
                    picks.append(position)
                position += number
        return tuple(picks)

    def _emit(self, plans: list[_Plan], body: Traced) -> None:
        backend, specs = self.backend, self._carried(plans)
        start = []
        for plan, outcome in zip(plans, self.initial, strict=True):
            given = outcome.leaves if outcome.structure == plan.structure else [None] * len(plan.leaves)
            for leaf, value in zip(plan.leaves, given, strict=True):
                if isinstance(leaf, Spec):
                    known = backend.owns(value) or is_number(value)
                    start.append(backend.cast(value, leaf) if known else backend.zeros(leaf))
        results = None
        if self.over is not None and self.test is None:
            results = backend.for_loop(self.over.count, body, start, specs)
        if results is None:
            results = self._by_while(plans, body, start, specs)
        self.state.set(restored(self._values(plans, results), self.before))

    def _by_while(self, plans: list[_Plan], body: Traced, start: list[Any], specs: list[Spec]) -> list[Any]:
        backend, over = self.backend, self.over

        def test(inputs: list[Any]) -> list[Any]:
            index, inputs = (inputs[0], inputs[1:]) if over is not None else (None, inputs)
            self.state.set(tuple(self._values(plans, inputs)))
            more = self.test() if self.test is not None else True
            if over is None:
                return [more]
            inside = index < over.count
            return [inside if more is True else backend.function("logical_and")(inside, more)]

        index = [_INDEX] if over is not None else []
        traced_test = backend.trace(test, [*index, *specs])
        if over is None:
            return backend.while_loop(traced_test, body, start, specs)
        assert body.picks is not None
        counted = replace(body, picks=(0, *body.picks))
        return backend.while_loop(traced_test, counted, [backend.cast(0, _INDEX), *start], [_INDEX, *specs])[
            1:
        ]


__all__ = ["for_", "while_"]
