"""Which values may share memory in Python, so that a write into one of them may be one into others.

Every value has the numbers of the pieces of memory that it may lie in; None: it may lie anywhere. What the
body of a loop is given has a number of its own, which stands for all that the variable may be before an
iteration. So what must not share memory in a body (`Apart`) is looked at again where its loop is closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from lsp_ad.staging.errors import StagingError, again

Memory = frozenset[int] | None
NOWHERE: frozenset[int] = frozenset()  # a number, and what holds no array
TWICE = -(10**9)  # with the memory of a list: one array may be several of its items
# operations whose result may lie in the memory of some operands: how many of the first
_HANDED_ON = {
    "reshape": 1,
    "transpose": 1,
    "broadcast-to": 1,
    "cast": 1,
    "unbroadcast": 1,
    "real": 1,
    "imag": 1,
    "conj": 1,
    "list-append": 2,
    "list-get": 1,
    "list-len": 0,
    "list-new": 0,
    "list-pop": 1,
    "list-set": 3,
    "tuple": None,
}


class Apart(NamedTuple):
    """Two memories in which nothing may be shared; `otherwise` is raised where something is.

    `seen`: only where that is seen, not where one may lie anywhere.
    """

    one: Memory
    other: Memory
    otherwise: StagingError
    seen: bool = False

    @property
    def shared(self) -> bool:
        """Whether something is, as far as that can be told."""
        if self.one is None or self.other is None:
            return not self.seen and self.one != NOWHERE and self.other != NOWHERE
        return bool(self.one & self.other)


class Sharing:
    """The memories of one program in the making."""

    def __init__(self) -> None:
        self._numbers = count()
        self._arrays: dict[int, tuple[Any, Memory]] = {}  # those of NumPy, which are there for all iterations
        self._open: list[list[Apart]] = []
        self._loops: list[int] = []

    def piece(self) -> Memory:
        """Memory that is new."""
        return frozenset([next(self._numbers)])

    def of(self, value: Any) -> Memory:
        """Where a value lies, whether it is staged or of NumPy."""
        if not isinstance(value, np.ndarray):
            return getattr(value, "memory", NOWHERE)
        if not value.ndim:
            return NOWHERE
        while isinstance(value.base, np.ndarray):
            value = value.base
        return self._arrays.setdefault(id(value), (value, frozenset([-1 - len(self._arrays)])))[1]

    def of_result(self, operation: str, operands: Sequence[Any]) -> Memory:
        """Where the result of an operation lies."""
        if operation not in _HANDED_ON:
            return self.piece()
        found = joined(map(self.of, operands[: _HANDED_ON[operation]]))
        if operation == "list-append" and found is not None:
            items, item = self.of(operands[0]) or NOWHERE, self.of(operands[-1]) or NOWHERE
            if items & item or (self._loops and any(number < self._loops[-1] for number in item)):
                return found | {TWICE}
        return found

    @contextmanager
    def body(self, is_loop: bool) -> Iterator[tuple[int, list[Apart]]]:
        """A block that is being traced: the first of its numbers, and what must be apart in it."""
        self._open.append([])
        first = next(self._numbers)
        if is_loop:
            self._loops.append(first)
        try:
            yield first, self._open[-1]
        finally:
            self._open.pop()
            if is_loop:
                self._loops.pop()

    def are_apart(self, apart: Apart) -> bool:
        """Whether two memories have nothing in common, as far as that can be told by now."""
        if apart.shared:
            return False
        self.require([apart])
        return True

    def require(self, apart: Sequence[Apart]) -> None:
        """Look at memories again where the loop around is closed."""
        if self._open:
            self._open[-1].extend(apart)

    def carried(
        self,
        first: int,
        apart: Sequence[Apart],
        inputs: Sequence[Memory],
        initial: Sequence[Memory],
        outputs: Sequence[Memory],
    ) -> list[Memory]:
        """Where the variables of a loop may lie before an iteration and after all of them.

        `inputs` stand for them in the body, which makes `outputs` of them, and in which all numbers from
        `first` on are new in each iteration. Raises the error of what is not apart.
        """
        before: dict[int, int] = {}  # what is new in an iteration, by its number in earlier ones
        places = {number: place for place, memory in enumerate(inputs) for number in memory or ()}
        found = list(initial)

        def given(memory: Memory, earlier: bool) -> Memory:
            """A memory of the body, seen from around the loop."""
            if memory is None:
                return None
            parts: list[Memory] = []
            for number in memory:
                if number in places:
                    parts.append(found[places[number]])
                elif earlier and number >= first:
                    parts.append(frozenset([before.setdefault(number, next(self._numbers))]))
                else:
                    parts.append(frozenset([number]))
            return joined(parts)

        while True:
            after = [joined([m, given(out, True)]) for m, out in zip(found, outputs, strict=True)]
            if after == found:
                break
            found = after
        for pair in apart:
            around = pair._replace(one=given(pair.one, False), other=given(pair.other, False))
            if around.shared:
                raise again(pair.otherwise)
            self.require([around])
        return found


def joined(memories: Iterable[Memory]) -> Memory:
    """Where a value lies that is one of several."""
    found = NOWHERE
    for memory in memories:
        if memory is None:
            return None
        found |= memory
    return found
