"""`if` statements and conditional expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from lsp_ad.staging import decisions
from lsp_ad.staging.backends import owner
from lsp_ad.staging.backends.base import Backend, Ended, Spec, Traced
from lsp_ad.staging.decisions import decide
from lsp_ad.staging.errors import in_generated_code, staging_error
from lsp_ad.staging.operators.plans import Joining, Tree, fitted, tree_of
from lsp_ad.staging.operators.state import (
    NOTHING,
    Outcome,
    State,
    checked_undefined,
    pack,
    restored,
    run_body,
    taken_apart,
)
from lsp_ad.staging.operators.truth import truth
from lsp_ad.staging.operators.types import Fixed, common, is_number, is_same, is_zero
from lsp_ad.staging.operators.variables import Undefined

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
    traced, outcomes = _both(backend, state, before, body, orelse)
    values = _merge(backend, test, traced, outcomes, state.guarded)
    state.set((*restored(values, before[: state.outputs]), *before[state.outputs :]))


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

    traced, outcomes = _both(backend, state, (None,), kept(body), kept(orelse))
    return _merge(backend, test, traced, outcomes, ())[0]


def in_python(construct: str, test: Any) -> None:
    """Record that Python decides, and by what."""
    if decisions.are_recorded():
        decide(construct, decisions.PYTHON, why_python(test))


def why_python(test: Any) -> str:
    """Why a condition is decided in Python: what it is."""
    return f"the condition is a Python value of type {type(test).__name__}"


def _both(
    backend: Backend, state: State, before: Sequence[Any], *bodies: Callable[[], Any]
) -> tuple[Sequence[Traced], Sequence[list[Outcome]]]:
    """Both branches traced, and again where that shows lists of different lengths: these become staged."""
    types: dict[str, Tree] = {}
    recorded = decisions.count()
    while True:
        decisions.forget(recorded)
        traced, outcomes = zip(*(_branch(backend, state, before, run, types) for run in bodies), strict=True)
        if any(t.ends for t in traced):
            return traced, outcomes
        found = {
            a.name: Joining(backend, a.name, _BRANCHES).join(_type(backend, a), _type(backend, b))
            for a, b in zip(*outcomes, strict=True)
            if (a.structure != b.structure or (backend.optional and _none_in_one(a, b)))
            and not _has_no_value(a)
            and not _has_no_value(b)
        }
        if not found or found.keys() <= types.keys():
            return traced, outcomes
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
) -> tuple[Traced, list[Outcome]]:
    """A branch traced once. The trace gives the leaves that are numbers, of all variables in a row."""
    found: list[Outcome] = []

    def flat(_: list[Any]) -> list[Any]:
        found.clear()
        values = run_body(decisions.IF, state, before, run)
        names = state.all[: state.outputs]
        made = [fitted(v, types[n]) if n in types else v for n, v in zip(names, values, strict=True)]
        found[:] = taken_apart(names, made)
        return [leaf for outcome in found for leaf in outcome.leaves if backend.owns(leaf) or is_number(leaf)]

    return backend.trace(flat, ()), found


def _merge(
    backend: Backend,
    test: Any,
    traced: Sequence[Traced],
    outcomes: Sequence[list[Outcome]],
    guarded: Sequence[str],
) -> list[Any]:
    """The values of all variables after a staged conditional."""
    ended = [t.ends for t in traced]
    if all(ended):
        backend.cond(test, traced[0], traced[1], [])
        raise Ended
    if any(ended):  # what is not there is as the other branch has it
        outcomes = [outcomes[ended.index(False)]] * 2
    counters = [0, 0]
    picks: tuple[list[int | None], list[int | None]] = ([], [])
    specs: list[Spec] = []
    plan: list[tuple[Any, list[tuple[bool, Any]]]] = []  # structure; per leaf: staged, or the value itself
    for pair in zip(*outcomes, strict=True):
        name = pair[0].name
        missing = [any(isinstance(leaf, Undefined) for leaf in outcome.leaves) for outcome in pair]
        missing = [m or e for m, e in zip(missing, ended, strict=True)]
        wrong = any(missing) and not all(missing) and not any(ended)
        if wrong and not in_generated_code():
            checked_undefined(name, guarded, "in one branch")
        model = pair[missing.index(False)] if not all(missing) else pair[0]
        if not any(missing) and pair[0].structure != pair[1].structure:
            raise staging_error(
                f"`{name}` is {described(pair[0])} in one branch, {described(pair[1])} in the other."
            )
        leaves: list[tuple[bool, Any]] = []
        for position, leaf in enumerate(model.leaves):
            numbers: list[int | None] = []
            sides = []
            for side in (0, 1):
                value = leaf if missing[side] else pair[side].leaves[position]
                sides.append(value)
                if not missing[side] and (backend.owns(value) or is_number(value)):
                    numbers.append(counters[side])
                    counters[side] += 1
                else:
                    numbers.append(None)
            leaves.append(_leaf(backend, name, sides, numbers, missing, traced, picks, specs))
        plan.append((model.structure, leaves))
    kept = specs or any(t.effects for t in traced)
    chosen = [replace(t, picks=tuple(p)) for t, p in zip(traced, picks, strict=True)]
    results = iter(backend.cond(test, chosen[0], chosen[1], specs) if kept else ())
    return [
        pack(structure, [next(results) if staged else value for staged, value in leaves])
        for structure, leaves in plan
    ]


def _leaf(
    backend: Backend,
    name: str,
    sides: list[Any],
    numbers: list[int | None],
    missing: list[bool],
    traced: Sequence[Traced],
    picks: tuple[list[int | None], list[int | None]],
    specs: list[Spec],
) -> tuple[bool, Any]:
    """What becomes of one leaf: (True, None) where it is staged, else (False, its value)."""
    if not any(missing) and not any(map(backend.owns, sides)) and is_same(*sides):
        return False, sides[0]
    if all(number is None for number in numbers):
        if any(missing):
            return False, sides[0]
        raise staging_error(
            f"`{name}` is {sides[0]!r} in one branch, {sides[1]!r} in the other.",
            "Only numbers and arrays can depend on a staged condition.",
        )
    if None in numbers and not any(missing):
        plain = sides[numbers.index(None)]
        raise staging_error(f"`{name}` is {plain!r} in one branch and a number or an array in the other.")
    if not any(missing) and any(map(backend.owns, sides)):
        numbers = [None if is_zero(value) else n for n, value in zip(numbers, sides, strict=True)]
    found = [traced[side].specs[n] if n is not None else None for side, n in enumerate(numbers)]
    known = [spec for spec in found if spec is not None]
    spec = common(backend, known[0], known[-1])
    if spec is None:
        raise staging_error(
            f"`{name}` is {known[0]} in one branch, {known[1]} in the other.",
            "Give it one type and shape in both.",
        )
    for side in (0, 1):
        picks[side].append(numbers[side])
    specs.append(spec)
    return True, None


def described(outcome: Outcome) -> str:
    """What a variable is, for a message."""
    if len(outcome.leaves) == 1 and not hasattr(outcome.structure, "parts"):
        value = outcome.leaves[0]
        return "None" if value is None else f"a {type(value).__name__}"
    return f"a {outcome.structure}"


__all__ = ["described", "if_", "if_exp", "staged_choice", "why_python"]
