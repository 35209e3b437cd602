"""Writes the text of one function: lines, names, and who owns which memory."""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lsp_ad.staging.lantern.compiler.facts import Facts
from lsp_ad.staging.lantern.compiler.operands import (
    NOTHING,
    ArrayLike,
    Computed,
    Group,
    Listed,
    Number,
    Operand,
    Roots,
    Stored,
    element_of,
    roots_of,
)
from lsp_ad.staging.lantern.compiler.renaming import Fresh
from lsp_ad.staging.lantern.compiler.uses import Use

_ATOM = re.compile(r"-?[\w.]+")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")


class Writer:
    """The text of a function so far, and what is known of its values at this place in it."""

    def __init__(self, fresh: Fresh, counts: Counter[Use], updated: set[str], stretching: bool) -> None:
        self.fresh = fresh
        self.facts = Facts()
        # Whether axes whose sizes are not known may have size 1 and be broadcast.
        self.stretching = stretching
        self.lines: list[str] = []
        self.indent = 1
        self.updated = updated
        # What each name of the program stands for, and the block that it was bound in.
        self.env: dict[str, Operand] = {}
        self.block_of: dict[str, int] = {}
        self._sharing: dict[int, set[str]] = {}
        # The names of arrays that are yet to be computed, and to be read.
        self.pending: dict[str, None] = {}
        self._settling: set[str] = set()
        self.block = 0
        self._blocks = 0
        # How often each name is still to be read; a loop that is being written reads a pinned name again.
        self.left = counts
        self.pinned: Counter[str] = Counter()
        # Values that are evaluated and wait for others to be.
        self.held: list[Operand] = []
        self.owned: set[int] = set()
        self._roots = 0

    # lines and names

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def assign(self, base: str, code: str) -> str:
        name = self.fresh(base)
        self.line(f"{name} = {code}")
        return name

    def atom(self, code: str, base: str = "t") -> str:
        """A name or number for an expression."""
        return code if is_atom(code) else self.assign(base, code)

    def once(self, code: str, base: str) -> str:
        """A name for an expression that does not read the content of memory: the same one the next time."""
        if is_atom(code):
            return code
        name = self.facts.named(code)
        if name is None:
            name = self.assign(base, code)
            self.facts.name(code, name)
        return name

    def check(self, code: str) -> None:
        """A check that the program makes, unless it has made it."""
        if self.facts.named(code) is None:
            self.line(code)
            self.facts.name(code, code)

    def size(self, code: str) -> str:
        """A name or number for a size."""
        size = self.facts.size(code)
        if is_atom(size):
            return size
        name = self.once(size, "n")
        self.facts.equal(name, size)
        return name

    def same(self, a: str, b: str) -> bool:
        """Whether two sizes are known to be equal."""
        return self.facts.size(a) == self.facts.size(b)

    def require_same(self, a: str, b: str, check: str) -> None:
        """Two sizes are equal from here on: a function checks it where it is not known."""
        if not self.same(a, b):
            self.line(f"{check}({self.facts.size(a)}, {self.facts.size(b)})")
            self.facts.equal(a, b)

    @contextmanager
    def nested(self, header: str) -> Iterator[None]:
        self.line(header)
        with self.indented():
            start, mark = len(self.lines), self.facts.mark()
            yield
            self.facts.forget(mark)
            if len(self.lines) == start:
                self.line("pass")

    @contextmanager
    def indented(self) -> Iterator[None]:
        self.indent += 1
        yield
        self.indent -= 1

    @contextmanager
    def captured(self) -> Iterator[list[str]]:
        """Lines that are written elsewhere: of a block of their own."""
        lines, self.lines = self.lines, []
        outer, self.block = self.block, self._new_block()
        mark = self.facts.mark()
        yield self.lines
        self.facts.forget(mark)
        for name in [n for n in self.pending if self.block_of[n] == self.block]:
            del self.pending[name]
        self.lines, self.block = lines, outer

    def _new_block(self) -> int:
        self._blocks += 1
        return self._blocks

    # memory

    def new_root(self, owned: bool) -> int:
        """The number of memory that is the function's own, or somebody else's."""
        self._roots += 1
        if owned:
            self.owned.add(self._roots)
        return self._roots

    def bind(self, name: str, operand: Operand) -> None:
        self.env[name], self.block_of[name] = operand, self.block
        self.pending.pop(name, None)
        if isinstance(operand, Computed) and self.left[name] > 0:
            self.pending[name] = None
        for root in roots_of(operand):
            self._sharing.setdefault(root, set()).add(name)

    def settle(self, name: str) -> None:
        """Compute the array that a name stands for, if it is yet to be."""
        operand = self.env[name]
        if isinstance(operand, Computed):
            self._settling.add(name)
            self.bind(name, self.store(operand, name))
            self._settling.discard(name)

    def live(self, name: str) -> Roots:
        """The memory of what may still be read through a name."""
        operand = self.env[name]
        if name in self._settling:
            return NOTHING
        if self.pinned[name] or self.left[name] > 0:
            return roots_of(operand)
        if isinstance(operand, Group):
            items = [i for k, i in enumerate(operand.items) if self.left[name, k] > 0]
            return NOTHING.union(*map(roots_of, items))
        return NOTHING

    def claimable(self, operand: Stored | Listed) -> bool:
        """Whether nothing else will read the memory of a value, so that it can be written into."""
        return self._claims(operand) is not None

    def claim(self, operand: Stored | Listed, *readers: Operand) -> bool:
        """Take the memory of a value to write into it, if nothing else will read it.

        Values that are yet to be computed from it are computed now. `readers` are what will be written: they
        may read the memory, and no value that is computed now may take it.
        """
        waiting = self._claims(operand)
        if waiting is None:
            return False
        with self.holding(operand, *readers):
            for name in waiting:
                self.settle(name)
        return True

    def _claims(self, operand: Stored | Listed) -> list[str] | None:
        """The names that have to be computed before the memory of a value is free, or None if it is not."""
        memory = frozenset({operand.own}) if isinstance(operand, Listed) else operand.roots
        if not memory or not memory <= self.owned or any(roots_of(h) & memory for h in self.held):
            return None
        sharing = sorted({n for root in memory for n in self._sharing.get(root, ()) if self.live(n) & memory})
        waiting = all(isinstance(self.env[n], Computed) and self.block_of[n] == self.block for n in sharing)
        return sharing if waiting else None

    @contextmanager
    def holding(self, *operands: Operand) -> Iterator[None]:
        self.held += operands
        yield
        del self.held[len(self.held) - len(operands) :]

    # arrays

    def allocate(self, base: str, dtype: str, dims: Sequence[str], how: str = "empty") -> Stored:
        """A new array, of any content or of zeros."""
        sizes = tuple(map(self.size, dims))
        shape = sizes[0] if len(sizes) == 1 else f"({', '.join(sizes)})"
        kind = "" if dtype == "float64" else f", np.{'bool_' if dtype == 'bool' else dtype}"
        name = self.assign(base, f"np.{how}({shape}{kind})")
        return Stored(name, dtype, sizes, frozenset({self.new_root(True)}))

    @contextmanager
    def loops(self, dims: Sequence[str]) -> Iterator[list[str]]:
        """Loops over all indices of an array of these sizes: the names of the indices."""
        start, indices, mark = self.indent, [], self.facts.mark()
        for d in dims:
            if d == "1":
                indices.append("0")
                continue
            indices.append(self.fresh("ijklmn"[len(indices)] if len(indices) < 6 else "i"))
            self.line(f"for {indices[-1]} in range({d}):")
            self.indent += 1
        yield indices
        self.facts.forget(mark)
        self.indent = start

    def store(self, array: ArrayLike, base: str = "t") -> Stored:
        """An array in a variable; one that is computed is computed now."""
        if isinstance(array, Stored):
            return array
        if array.zero:
            return self.allocate(base, array.dtype, array.dims, "zeros")
        result = self._reusable(array) or self.allocate(base, array.dtype, array.dims)
        with self.loops(result.dims) as at:
            self.line(f"{result.code}[{', '.join(at)}] = {array.element(at)}")
        return result

    def _reusable(self, array: Computed) -> Stored | None:
        """An array that is read element by element for the last time, and can take the result."""
        for a in array.aligned if array.shifted is not None else ():
            fits = a.contiguous and a.dtype == array.dtype and all(map(self.same, a.dims, array.dims))
            others = [o for o in array.aligned if o.code != a.code and o.roots & a.roots]
            if fits and not others and not a.roots & (array.shifted or NOTHING) and self.claim(a, array):
                return Stored(a.code, a.dtype, tuple(map(self.size, array.dims)), a.roots)
        return None

    def contiguous(self, array: ArrayLike, base: str = "t") -> Stored:
        """An array in a variable, in C order."""
        found = self.store(array, base)
        return found if found.contiguous else self.copied(found, base)

    def copied(self, array: ArrayLike, base: str = "t") -> Stored:
        """An array of the function's own."""
        if isinstance(array, Computed):
            return self.store(array, base)
        name = self.assign(base, f"{array.code}.copy()")
        return Stored(name, array.dtype, array.dims, frozenset({self.new_root(True)}))

    def own_array(self, array: Stored | Computed) -> Stored:
        """An array that may be written into: itself, where it is one that nothing else reads."""
        if isinstance(array, Stored) and array.contiguous and self.claim(array):
            return array
        return self.copied(array)

    @contextmanager
    def released(self, operand: Operand) -> Iterator[None]:
        """A value that the caller holds does not stand in its own way; held by others as well, it does."""
        held = self.held
        at = max((k for k, h in enumerate(held) if h is operand), default=None)
        self.held = held if at is None else held[:at] + held[at + 1 :]
        yield
        self.held = held

    def settled(self, operand: Operand, deep: bool) -> Operand:
        """A value that later statements do not change: numbers in variables, and arrays if `deep`."""
        if isinstance(operand, Number):
            return Number(self.atom(operand.code), operand.dtype)
        if isinstance(operand, Group):
            items = []
            with self.holding(*operand.items):
                for item in operand.items:
                    with self.released(item):
                        items.append(self.settled(item, deep))
            return Group(tuple(items))
        return self.store(operand) if deep and isinstance(operand, Computed) else operand

    def element(self, array: ArrayLike, index: Sequence[str]) -> Number:
        return Number(element_of(array, index), array.dtype)


def is_atom(code: str) -> bool:
    return bool(_ATOM.fullmatch(code)) and not code.endswith(".shape")


def identifiers(code: str) -> set[str]:
    return set(_IDENTIFIER.findall(code))


def reserved_names(kernels: Sequence[str], functions: Sequence[str]) -> frozenset[str]:
    """Names that mean something in generated code already."""
    return frozenset([*dir(builtins), "np", "math", "low", "place", *kernels, *functions])
