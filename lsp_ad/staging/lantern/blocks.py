"""Blocks of a program that have been traced: branches and bodies of loops, and what their results are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lsp_ad.staging.backends.base import Backend, Spec, Traced
from lsp_ad.staging.lantern import zeros
from lsp_ad.staging.lantern.ir import Var
from lsp_ad.staging.lantern.sharing import NOWHERE, Apart, Memory, joined
from lsp_ad.staging.lantern.staged import Staged

if TYPE_CHECKING:
    from lsp_ad.staging.lantern.tracer import Tracer


@dataclass
class Code:
    """A block that has been traced, to be finished: its inputs, the values that it gives, and the lists of
    all records, as it takes them (`before`) and as it leaves them. From the number `first` on, memory is new
    in it; `apart`: what must share none.
    """

    block: Any
    inputs: list[Staged]
    outputs: list[Any]
    before: list[Staged]
    after: list[Staged]
    first: int
    apart: list[Apart]

    @property
    def bound(self) -> zeros.Bound:
        """The names that the block binds, and those that it takes."""
        taken = {v.value.name: None for v in (*self.inputs, *self.before) if isinstance(v.value, Var)}
        return {**{b.name: b.value for b in self.block.bindings}, **(taken if self.inputs else {})}

    @property
    def changed(self) -> set[int]:
        """Which of the lists it changes."""
        pairs = zip(self.before, self.after, strict=True)
        return {i for i, (before, after) in enumerate(pairs) if before is not after}


def picks(traced: Traced) -> Sequence[int | None]:
    return range(len(traced.code.outputs)) if traced.picks is None else traced.picks


def memories(tracer: Tracer, traced: Traced, count: int) -> list[Memory]:
    """Where the results of a block lie, as far as it gives them."""
    if traced.ends:
        return [NOWHERE] * count
    found = traced.code.outputs
    return [NOWHERE if p is None else tracer.sharing.of(found[p]) for p in picks(traced)]


def chosen(tracer: Tracer, then: Traced, orelse: Traced, count: int) -> list[Memory]:
    """Where the results of a conditional lie; what must be apart in its branches must be so around it."""
    for traced in (then, orelse):
        tracer.sharing.require(traced.code.apart)
    return [joined(pair) for pair in zip(*(memories(tracer, t, count) for t in (then, orelse)), strict=True)]


def carried(tracer: Tracer, test: Traced, body: Traced, initial: Sequence[Any]) -> list[Memory]:
    """Where what a loop carries lies after it. Raises the error of what shares memory and must not."""
    start = [tracer.sharing.of(value) for value in initial]
    inputs = [v.memory for v in body.code.inputs]
    outputs = memories(tracer, body, len(start))
    tests = [v.memory for v in test.code.inputs]
    found = tracer.sharing.carried(body.code.first, body.code.apart, inputs, start, outputs)
    tracer.sharing.carried(test.code.first, test.code.apart, tests, found, [NOWHERE] * len(tests))
    return found


def picked(traced: Traced, which: Sequence[int]) -> Traced:
    """Code of which only some of the results are wanted."""
    if traced.ends:
        return traced
    found = picks(traced)
    return replace(traced, picks=tuple(found[i] for i in which))


def decided(backend: Backend, test: Any, then: Traced, orelse: Traced, count: int) -> dict[int, Any]:
    """The results that are the condition itself, or its opposite."""
    if then.ends or orelse.ends or not isinstance(test, Staged):
        return {}
    found = {}
    for i in range(count):
        sides = [t.code.outputs[p] if (p := picks(t)[i]) is not None else None for t in (then, orelse)]
        if all(type(side) is bool for side in sides) and sides[0] != sides[1]:
            found[i] = test if sides[0] else backend.not_(test)
    return found


def absent(tracer: Tracer, then: Traced, orelse: Traced, specs: Sequence[Spec]) -> dict[int, Staged]:
    """What stands for arrays that only one branch gives, in the other: zeros of their shape."""
    found: dict[int, Staged] = {}
    if not (then.ends or orelse.ends):
        for one, other in ((then, orelse), (orelse, then)):
            both = zip(picks(one), picks(other), strict=True)
            for i, (missing, given) in enumerate(both):
                if missing is None and given is not None and specs[i].shape and not specs[i].listed:
                    made = zeros.shaped_like(tracer, specs[i], other.code.outputs[given], other.code.bound)
                    found |= {} if made is None else {i: made}
    return found
