"""Elementwise operations: on numbers at once, on arrays element by element where they are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lsp_ad.staging.lantern.compiler.operands import (
    NOTHING,
    UNSURE,
    ArrayLike,
    Computed,
    Number,
    Operand,
    Roots,
    Stored,
    element_of,
    reindexed,
    roots_of,
)
from lsp_ad.staging.lantern.compiler.scalars import applied, may_raise
from lsp_ad.staging.lantern.compiler.writer import Writer
from lsp_ad.staging.lantern.dtypes import dtype_of
from lsp_ad.staging.lantern.ir import Type

DEEPEST = 40
Index = Callable[[Sequence[str]], list[str]]


def elementwise(w: Writer, name: str, operands: list[Operand], result: Type) -> Operand:
    """One operation, over all elements if any operand is an array."""
    dtype = dtype_of(result)
    numbers = [o for o in operands if isinstance(o, Number)]
    if len(numbers) == len(operands):
        if (
            name == "=="
            and numbers[0].dtype == numbers[1].dtype == "int64"
            and w.same(*(n.code for n in numbers))
        ):
            return Number("True", "bool")
        return applied(w, name, numbers, dtype)
    operands = [_fixed(w, o) for o in operands]
    dims, parts = broadcast(w, operands)

    def element(at: Sequence[str]) -> str:
        return applied(w, name, [p(at) for p in parts], dtype, in_loop=True).code

    risky = may_raise(name, operands, dtype) or any(isinstance(o, Computed) and o.risky for o in operands)
    aligned, shifted = _reads(operands, len(dims))
    roots = NOTHING.union(*map(roots_of, operands))
    depth = 1 + max((o.depth for o in operands if isinstance(o, Computed)), default=0)
    return Computed(dtype, dims, element, roots, risky=risky, aligned=aligned, shifted=shifted, depth=depth)


def _reads(operands: Sequence[Operand], rank: int) -> tuple[tuple[Stored, ...], Roots]:
    """Which arrays an elementwise operation reads at the index of its result, and what it reads elsewhere."""
    aligned: list[Stored] = []
    shifted = NOTHING
    for o in operands:
        if isinstance(o, Stored) and len(o.dims) == rank:
            aligned.append(o)
        elif isinstance(o, Computed) and len(o.dims) == rank and o.shifted is not None:
            aligned += o.aligned
            shifted |= o.shifted
        else:
            shifted |= roots_of(o)
    return tuple(aligned), shifted


def _fixed(w: Writer, operand: Operand) -> Operand:
    """Numbers are computed once, not in every iteration, and so is what would make a loop too long."""
    if isinstance(operand, Computed) and operand.depth >= DEEPEST:
        return w.store(operand)
    return w.settled(operand, deep=False)


def broadcast(
    w: Writer, operands: Sequence[Operand]
) -> tuple[tuple[str, ...], list[Callable[[Sequence[str]], Number]]]:
    """The sizes that operands have together, and for each its element at an index of these sizes."""
    arrays = [o for o in operands if isinstance(o, Stored | Computed)]
    dims: tuple[str, ...] = ()
    for a in arrays:
        dims = common_dims(w, dims, a.dims)
    parts: list[Callable[[Sequence[str]], Number]] = []
    for o in operands:
        parts.append(_element(w, o, dims))
    return dims, parts


def _element(w: Writer, operand: Operand, dims: tuple[str, ...]) -> Callable[[Sequence[str]], Number]:
    if isinstance(operand, Number):
        number = operand
        return lambda at: number
    assert isinstance(operand, Stored | Computed)
    if isinstance(operand, Computed) and not operand.cheap and repeats(operand.dims, dims):
        operand = w.store(operand)
    array, index = operand, stretched(w, operand.dims, dims)
    return lambda at: w.element(array, index(at))


def common_dims(w: Writer, a: Sequence[str], b: Sequence[str]) -> tuple[str, ...]:
    """The sizes of two arrays broadcast together; what is not known to fit is checked when it runs."""
    rank = max(len(a), len(b))
    found = []
    for one, other in zip(["1"] * (rank - len(a)) + list(a), ["1"] * (rank - len(b)) + list(b), strict=True):
        if other == "1" or w.same(one, other):
            found.append(one)
        elif one == "1":
            found.append(other)
        elif w.stretching:
            found.append(w.once(f"broadcast_size({one}, {other})", "n"))
        else:
            w.require_same(one, other, "check_equal")
            found.append(one)
    return tuple(found)


def repeats(own: Sequence[str], dims: Sequence[str]) -> bool:
    """Whether broadcasting to these sizes certainly repeats elements."""
    missing = len(dims) - len(own)
    inner = zip(own, dims[missing:], strict=True)
    return any(d != "1" for d in dims[:missing]) or any(o == "1" and d != "1" for o, d in inner)


def stretched(w: Writer, own: Sequence[str], dims: Sequence[str]) -> Index:
    """From an index of these sizes to one of an array that is broadcast to them."""
    missing = len(dims) - len(own)
    kinds = [(o, w.same(o, d)) for o, d in zip(own, dims[missing:], strict=True)]

    def index(at: Sequence[str]) -> list[str]:
        found = []
        for (o, fits), i in zip(kinds, at[missing:], strict=True):
            known = fits or i == "0" or i[0] == UNSURE
            found.append("0" if o == "1" else i if known else f"{UNSURE}{i}")
        return found

    return index


def fit(w: Writer, own: Sequence[str], dims: Sequence[str]) -> None:
    """Check that an array fits into these sizes of as many axes, repeated if need be."""
    for o, d in zip(own, dims, strict=True):
        if o == "1" or w.same(o, d):
            continue
        if w.stretching:
            w.check(f"check_fits({o}, {d})")
        else:
            w.require_same(o, d, "check_fits_exactly")


def broadcast_to(w: Writer, array: ArrayLike, dims: Sequence[str]) -> Computed:
    """An array repeated to sizes that it has to fit."""
    missing = len(dims) - len(array.dims)
    fit(w, array.dims, dims[missing:])
    if isinstance(array, Computed) and not array.cheap and repeats(array.dims, dims):
        array = w.store(array)
    return reindexed(array, dims, stretched(w, array.dims, dims))


def constant_array(code: str, dtype: str, dims: Sequence[str]) -> Computed:
    zero = code in ("0", "0.0", "False")
    return Computed(dtype, tuple(dims), lambda at: code, NOTHING, cheap=True, zero=zero)


__all__ = ["broadcast", "broadcast_to", "constant_array", "element_of", "elementwise", "stretched"]
