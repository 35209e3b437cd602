"""Parts of arrays, read and written, with the indices that NumPy knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from lsp_ad.staging.lantern.compiler.elementwise import broadcast, fit, stretched
from lsp_ad.staging.lantern.compiler.operands import (
    NOTHING,
    ArrayLike,
    Computed,
    Number,
    Operand,
    Roots,
    Stored,
    reindexed,
    roots_of,
    sure,
)
from lsp_ad.staging.lantern.compiler.scalars import converted
from lsp_ad.staging.lantern.compiler.writer import Writer


@dataclass(frozen=True)
class Cut:
    """A slice; its parts are codes of integers."""

    start: str = ""
    stop: str = ""
    step: str = ""

    @property
    def code(self) -> str:
        return f"{self.start}:{self.stop}:{self.step}" if self.step else f"{self.start}:{self.stop}"


@dataclass(frozen=True)
class New:
    """A new axis."""


WHOLE = Cut()
T = TypeVar("T")
# An index whose expressions are evaluated.
Entry = Number | Stored | Computed | Cut | New


@dataclass(frozen=True)
class Place:
    """A part of an array: its sizes, and where in `source`, the array or a view of it, its elements are.

    `whole`: the part is all of the source. `gathered`: integer arrays pick it, in memory with these `roots`.
    """

    source: Stored
    dims: tuple[str, ...]
    index: Callable[[Sequence[str]], Sequence[str]]
    whole: bool
    gathered: bool = False
    roots: Roots = NOTHING


def get(w: Writer, array: ArrayLike, entries: list[Entry]) -> Operand:
    if isinstance(array, Computed) and array.risky:
        array = w.store(array)
    numbers = [e for e in entries if isinstance(e, Number)]
    if len(numbers) == len(array.dims) == len(entries):
        index = [_at(w, e, d) for e, d in zip(numbers, array.dims, strict=True)]
        return Number(w.assign("t", w.element(array, index).code), array.dtype)
    place = _place(w, w.store(array), entries)
    if place.whole:
        return place.source
    found = reindexed(place.source, place.dims, place.index)
    if not place.gathered:
        return found
    return replace(found, roots=found.roots | place.roots, cheap=False, risky=True)


def update(w: Writer, kind: str, array: ArrayLike, entries: list[Entry], new: Operand) -> Stored:
    """The array with a part of it changed: the array itself, where nothing else reads it."""
    with w.holding(array, new):
        entries = [_apart(w, e, array) for e in entries]
    arrays = [e for e in entries if isinstance(e, Stored | Computed)]
    with w.holding(*arrays):
        if isinstance(array, Stored) and array.contiguous and w.claimable(array):
            with w.holding(array, new):
                place = None if arrays else _place(w, array, entries)
                in_step = place is not None and _in_step(w, new, place)
            if in_step and place is not None and w.claim(array, new):
                _write(w, kind, place, new)
                return array
            with w.holding(array):
                new = _apart(w, new, array)
        with w.holding(new):
            target = w.own_array(array)
            with w.holding(target):
                _write(w, kind, _place(w, target, entries), new)
    return target


def _in_step(w: Writer, new: Operand, place: Place) -> bool:
    """Whether an element of what is written reads only its own place in the array that it is written into."""
    source = place.source
    if not (place.whole and isinstance(new, Computed) and len(new.dims) == len(place.dims)):
        return False
    read = [a for a in new.aligned if a.roots & source.roots]
    if (
        not read
        or new.shifted is None
        or new.shifted & source.roots
        or {a.code for a in read} != {source.code}
    ):
        return False
    fit(w, new.dims, place.dims)
    return all(map(w.same, new.dims, place.dims))


def _apart(w: Writer, operand: T, array: ArrayLike) -> T | Stored:
    """A value that reads nothing of an array, so that the array can be written into."""
    if isinstance(operand, Stored | Computed) and operand.roots & array.roots:
        return w.copied(operand)
    return operand


def _write(w: Writer, kind: str, place: Place, new: Operand) -> None:
    operator = "=" if kind == "set" else "+="
    if isinstance(new, Number):
        new = Number(w.atom(new.code), new.dtype)
        index = None
    else:
        assert isinstance(new, Stored | Computed)
        fit(w, new.dims, place.dims[len(place.dims) - len(new.dims) :])
        index = stretched(w, new.dims, place.dims)
    with w.loops(place.dims) as at:
        value = new if index is None else w.element(new, index(at))  # type: ignore[arg-type]
        assert isinstance(value, Number)
        code = converted(value, place.source.dtype).code
        w.line(f"{place.source.code}[{', '.join(place.index(at))}] {operator} {code}")


def _at(w: Writer, number: Number, dim: str) -> str:
    return w.once(f"at({number.code}, {dim})", "i")


def _place(w: Writer, array: Stored, entries: list[Entry]) -> Place:
    entries = _without_masks(w, array, entries)
    missing = len(array.dims) - sum(not isinstance(e, New) for e in entries)
    entries = [*entries, *[WHOLE] * missing]
    if any(isinstance(e, Stored | Computed) for e in entries):
        return _gathered(w, array, entries)
    axes = [e for e in entries if not isinstance(e, New)]
    parts = [_at(w, e, d) if isinstance(e, Number) else e.code for e, d in zip(axes, array.dims, strict=True)]  # type: ignore[union-attr]
    if not any(isinstance(e, Cut) for e in axes):
        dims = tuple("1" for e in entries if isinstance(e, New))
        return Place(array, dims, lambda at: parts, False)
    source = _view(w, array, parts)
    kinds = [isinstance(e, New) for e in entries if not isinstance(e, Number)]
    if not any(kinds):
        return Place(source, source.dims, lambda at: at, True)
    sizes = iter(source.dims)
    dims = tuple("1" if new else next(sizes) for new in kinds)
    kept = [k for k, new in enumerate(kinds) if not new]
    return Place(source, dims, lambda at: [at[k] for k in kept], False)


def _view(w: Writer, array: Stored, parts: list[str]) -> Stored:
    """The view of an array that integers and slices make."""
    while parts and parts[-1] == ":":
        parts = parts[:-1]
    if not parts:
        return array
    code = w.once(f"{array.code}[{', '.join(parts)}]", "view")
    cuts = [k for k, p in enumerate(parts) if ":" in p]
    rank = len(cuts) + len(array.dims) - len(parts)
    # Numba knows this of integers, and then at most one slice without a step.
    dense = not cuts or (cuts == [len(parts) - 1] and parts[-1].count(":") == 1)
    dims = tuple(f"{code}.shape[{k}]" for k in range(rank))
    return Stored(code, array.dtype, dims, array.roots, array.contiguous and dense)


def _without_masks(w: Writer, array: Stored, entries: list[Entry]) -> list[Entry]:
    """Masks as the integer arrays that they stand for, one an axis."""
    found: list[Entry] = []
    axis = 0
    for e in entries:
        if isinstance(e, Stored | Computed) and e.dtype == "bool":
            rank = len(e.dims)
            for own, wanted in zip(e.dims, array.dims[axis : axis + rank], strict=True):
                w.require_same(own, wanted, "check_mask")
            found += _mask_indices(w, e)
            axis += rank
        else:
            found.append(e)
            axis += not isinstance(e, New)
    return found


def _mask_indices(w: Writer, mask: ArrayLike) -> list[Entry]:
    source = w.contiguous(mask)
    flat = source.code if len(source.dims) == 1 else w.assign("flat", f"{source.code}.reshape(-1)")
    code = w.assign("places", f"positions({flat})")
    places = Stored(code, "int64", (f"{code}.shape[0]",), frozenset({w.new_root(True)}))
    if len(source.dims) == 1:
        return [places]
    return [_coordinate(places, source.dims, k) for k in range(len(source.dims))]


def _coordinate(places: Stored, dims: Sequence[str], axis: int) -> Computed:
    """The indices along one axis of elements whose places in the flat array are known."""
    stride, count = " * ".join(dims[axis + 1 :]) or "1", places.dims[0]

    def element(at: Sequence[str]) -> str:
        return f"{places.code}[{sure(at[0], count)}] // ({stride}) % {dims[axis]}"

    return Computed("int64", places.dims, element, places.roots, cheap=True)


def _gathered(w: Writer, array: Stored, entries: list[Entry]) -> Place:
    """A part that integer arrays pick, as NumPy orders its axes."""
    axes = [e for e in entries if not isinstance(e, New)]
    source = _view(w, array, [e.code if isinstance(e, Cut) else ":" for e in axes])
    picking = [k for k, e in enumerate(entries) if isinstance(e, Number | Stored | Computed)]
    together, picks = broadcast(w, [entries[k] for k in picking])  # type: ignore[misc]
    adjacent = picking == list(range(picking[0], picking[-1] + 1))
    first = sum(isinstance(e, Cut | New) for e in entries[: picking[0]]) if adjacent else 0
    sizes = [d for e, d in zip(axes, source.dims, strict=True) if isinstance(e, Cut)]
    kinds = [isinstance(e, New) for e in entries if isinstance(e, Cut | New)]
    left = iter(sizes)
    outer = ["1" if new else next(left) for new in kinds]
    dims = (*outer[:first], *together, *outer[first:])

    def index(at: Sequence[str]) -> list[str]:
        inner = at[first : first + len(together)]
        others = [*at[:first], *at[first + len(together) :]]
        plain = iter([i for i, new in zip(others, kinds, strict=True) if not new])
        chosen = iter(picks)
        found = []
        for e, d in zip(axes, source.dims, strict=True):
            found.append(next(plain) if isinstance(e, Cut) else f"at({next(chosen)(inner).code}, {d})")
        return found

    roots = NOTHING.union(*(roots_of(entries[k]) for k in picking))  # type: ignore[arg-type]
    return Place(source, dims, index, False, True, roots)


def nonzero(w: Writer, mask: ArrayLike) -> Stored:
    """The indices of what is true in a vector."""
    code = w.assign("places", f"positions({w.contiguous(mask).code})")
    return Stored(code, "int64", (f"{code}.shape[0]",), frozenset({w.new_root(True)}))
