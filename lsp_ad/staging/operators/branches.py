"""`if` statements and conditional expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from lsp_ad.staging import decisions
from lsp_ad.staging.backends import owner
from lsp_ad.staging.backends.base import Backend, Ended, Spec, Traced
from lsp_ad.staging.decisions import decide
from lsp_ad.staging.errors import StagingError, in_generated_code
from lsp_ad.staging.operators.identity import Ends, Settling, is_mutable
from lsp_ad.staging.operators.optional import knowing, narrowed
from lsp_ad.staging.operators.plans import Joining, Tree, fitted, leaves_of, structure_of, tree_of
from lsp_ad.staging.operators.state import (
    NOTHING,
    Outcome,
    State,
    checked_undefined,
    pack,
    run_body,
    taken_apart,
)
from lsp_ad.staging.operators.truth import truth
from lsp_ad.staging.operators.types import Fixed, is_number, is_zero
from lsp_ad.staging.operators.variables import Undefined
from lsp_ad.staging.operators.views import seen
from lsp_ad.staging.structures import LEAF, flatten

_BRANCHES = ("in one branch", "in the other")


def if_(
    test: Any,
    body: Callable[[], Any],
    orelse: Callable[[], Any],
    state: State = NOTHING,
    construct: str = decisions.IF,
) -> None:
    """Run one of two bodies, or stage both where a back end owns the test.

    `construct`: what stands there in the user's text.
    """
    test = truth(test)
    backend = owner(test)
    if backend is None:
        in_python(construct, test)
        (body if test else orelse)()
        return
    decide(construct, decisions.STAGED, f"the condition is a value of {backend.name}")
    before = state.get()
    state.set(_chosen(backend, test, state, before, body, orelse))


def if_exp(test: Any, body: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """The value of `body() if test else orelse()`; both are staged where a back end owns the test."""
    test = truth(test)
    backend = owner(test)
    if backend is None:
        in_python(decisions.IF_EXPRESSION, test)
        return body() if test else orelse()
    decide(decisions.IF_EXPRESSION, decisions.STAGED, f"the condition is a value of {backend.name}")
    return staged_choice(backend, test, body, orelse, "the conditional expression")


def staged_choice(
    backend: Backend, test: Any, body: Callable[[], Any], orelse: Callable[[], Any], what: str
) -> Any:
    """The staged choice of one of two values."""
    value: list[Any] = [None]
    state = State(what, lambda: (value[0],), lambda values: value.__setitem__(0, values[0]), 1)

    def kept(run: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: value.__setitem__(0, run())

    return _chosen(backend, test, state, (None,), kept(body), kept(orelse))[0]


def in_python(construct: str, test: Any) -> None:
    """Record that Python decides, and by what."""
    if decisions.are_recorded():
        decide(construct, decisions.PYTHON, why_python(test))


def why_python(test: Any) -> str:
    """Why a condition is decided in Python: what it is."""
    return f"the condition is a Python value of type {type(test).__name__}"


def _chosen(
    backend: Backend, test: Any, state: State, before: Sequence[Any], *bodies: Callable[[], Any]
) -> tuple:
    """The values of all variables after a staged choice of two bodies."""
    sides = _both(backend, test, state, before, bodies)
    values = _merge(backend, test, sides, state.guarded)
    if not any(side.traced.ends for side in sides) and not in_generated_code():
        for value, *outcomes in zip(values, *(side.outcomes for side in sides), strict=True):
            _remember_arrays(value, outcomes)
    settling = Settling(decisions.IF, state.all, before, [s.ends for s in sides if not s.traced.ends])
    found = settling.settled(values, bodies)
    made = (*found, *before[len(found) :])
    state.set(made)
    settling.remember()
    return made


def _remember_arrays(value: Any, outcomes: list[Outcome]) -> None:
    """What is one of two arrays is, in Python, the one or the other itself.

    Generated code does not count: it writes into no array that it has under another name.
    """
    leaves = flatten(value)[0]
    for outcome in outcomes:
        if len(outcome.leaves) == len(leaves):
            for leaf, array in zip(leaves, outcome.leaves, strict=True):
                seen(leaf, array)


class _OfBranches(Joining):
    """No iteration of a loop by itself makes the types of two branches one."""

    error = StagingError


class _Side(NamedTuple):
    """One of two bodies, traced: what it makes of each variable, and of the lists in them."""

    traced: Traced
    outcomes: list[Outcome]
    ends: Ends


def _both(
    backend: Backend, test: Any, state: State, before: Sequence[Any], bodies: Sequence[Callable[[], Any]]
) -> list[_Side]:
    """Both branches traced, and again where that shows lists of different lengths: these become staged."""
    types: dict[str, Tree] = {}
    count = state.outputs  # of the variables whose values matter
    recorded = decisions.count()
    while True:
        decisions.forget(recorded)
        sides = []
        for run, holds in zip(bodies, (True, False), strict=True):
            with knowing(test, holds):
                sides.append(_branch(backend, state, before, run, types, count))
        changed = [path[0] + 1 for side in sides for path in side.ends.changed]
        if max(changed, default=0) > count:  # a list that is not read here, but may have other names
            count = max(changed)
            continue
        if any(side.traced.ends for side in sides):
            return sides
        found = {
            a.name: _OfBranches(backend, a.name, _BRANCHES).join(_type(backend, a), _type(backend, b))
            for a, b in zip(sides[0].outcomes, sides[1].outcomes, strict=True)
            if (a.structure != b.structure or (backend.optional and _none_in_one(a, b)))
            and not _has_no_value(a)
            and not _has_no_value(b)
        }
        if not found or found.keys() <= types.keys():
            return sides
        types.update(found)


def _type(backend: Backend, outcome: Outcome) -> Tree:
    leaves = [backend.spec(leaf) if backend.owns(leaf) else Fixed(leaf) for leaf in outcome.leaves]
    return tree_of(outcome.structure, iter(leaves))


def _none_in_one(a: Outcome, b: Outcome) -> bool:
    return any((x is None) != (y is None) for x, y in zip(a.leaves, b.leaves, strict=True))


def _has_no_value(outcome: Outcome) -> bool:
    return any(isinstance(leaf, Undefined) for leaf in outcome.leaves)


def _branch(
    backend: Backend,
    state: State,
    before: Sequence[Any],
    run: Callable[[], Any],
    types: dict[str, Tree],
    count: int,
) -> _Side:
    """A branch traced once. The trace gives the leaves that are numbers, of the first variables in a row."""
    found: list[Outcome] = []
    last = [Ends({}, {}, set())]  # of a body that ends the program

    def flat(_: list[Any]) -> list[Any]:
        found.clear()
        values, ends = run_body(decisions.IF, state, before, run)
        values = tuple(map(narrowed, values))
        last[:] = [ends]
        names = state.all[:count]
        values = tuple(
            v if i < state.outputs or is_mutable(v) else None for i, v in enumerate(values[:count])
        )
        made = [fitted(v, types[n]) if n in types else v for n, v in zip(names, values, strict=True)]
        found[:] = taken_apart(names, made)
        return [leaf for outcome in found for leaf in outcome.leaves if backend.owns(leaf) or is_number(leaf)]

    traced = backend.trace(flat, ())
    return _Side(traced, found, last[0])


def _merge(
    backend: Backend,
    test: Any,
    sides: Sequence[_Side],
    guarded: Sequence[str],
) -> list[Any]:
    """The values of the variables after a staged conditional."""
    branches, outcomes = [s.traced for s in sides], [s.outcomes for s in sides]
    traced = branches
    ended = [t.ends for t in branches]
    if all(ended):
        backend.cond(test, branches[0], branches[1], [])
        raise Ended
    if any(ended):  # what is not there is as the other branch has it
        there = ended.index(False)
        traced, outcomes = [traced[there]] * 2, [outcomes[there]] * 2
    numbers = [count(), count()]
    picks: tuple[list[int | None], list[int | None]] = ([], [])
    specs: list[Spec] = []
    plan: list[Tree] = []
    for pair in zip(*outcomes, strict=True):
        missing = [e or _has_no_value(o) for o, e in zip(pair, ended, strict=True)]
        if any(missing) and not all(missing) and not any(ended) and not in_generated_code():
            checked_undefined(pair[0].name, guarded, "in one branch")
        given = [_numbered(backend, o, n) for o, n in zip(pair, numbers, strict=True)]
        if not any(missing) and _is_the_test(backend, test, pair):
            plan.append(Fixed(test if pair[0].leaves[0] else backend.not_(test)))
            continue
        trees = [_of_trace(backend, o, g, t) for o, g, t in zip(pair, given, traced, strict=True)]
        plan.append(_joined(backend, pair[0].name, trees, missing))
        for position, leaf in enumerate(leaves_of(plan[-1])):
            if isinstance(leaf, Spec):
                specs.append(leaf)
                for side in (0, 1):
                    empty = missing[side] or is_zero(pair[side].leaves[position])
                    picks[side].append(None if empty else given[side][position])
    kept = specs or any(t.effects for t in branches)
    chosen = [replace(t, picks=tuple(p)) for t, p in zip(branches, picks, strict=True)]
    results = iter(backend.cond(test, chosen[0], chosen[1], specs) if kept else ())
    return [
        pack(structure_of(p), [next(results) if isinstance(x, Spec) else x.value for x in leaves_of(p)])
        for p in plan
    ]


def _numbered(backend: Backend, outcome: Outcome, numbers: Iterator[int]) -> list[int | None]:
    """For each leaf its number among the values that the trace gives, None where it is none of them."""
    return [next(numbers) if backend.owns(v) or is_number(v) else None for v in outcome.leaves]


def _is_the_test(backend: Backend, test: Any, pair: Sequence[Outcome]) -> bool:
    """Whether a variable, as the flag of a jump, is True in one branch and False in the other."""
    values = [o.leaves[0] if o.structure == LEAF else None for o in pair]
    spec = backend.spec(test)
    return (
        {type(v) for v in values} == {bool}
        and values[0] is not values[1]
        and spec == Spec(np.dtype(bool), ())
    )


def _of_trace(backend: Backend, outcome: Outcome, numbers: list[int | None], traced: Traced) -> Tree:
    """The type of a variable at the end of a branch."""
    leaves = [
        traced.specs[n] if n is not None and backend.owns(leaf) else Fixed(leaf)
        for leaf, n in zip(outcome.leaves, numbers, strict=True)
    ]
    return tree_of(outcome.structure, iter(leaves))


def _joined(backend: Backend, name: str, trees: list[Tree], missing: list[bool]) -> Tree:
    """The type of a variable after both branches, of which one may give it no value."""
    joining = _OfBranches(backend, name, _BRANCHES)
    if not any(missing):
        return joining.join(trees[0], trees[1])
    tree = trees[missing.index(False)] if not all(missing) else trees[0]
    return tree_of(structure_of(tree), iter([joining.number(leaf) or leaf for leaf in leaves_of(tree)]))


__all__ = ["if_", "if_exp", "staged_choice", "why_python"]
