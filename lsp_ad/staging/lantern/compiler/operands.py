"""What a value is in generated code: a number, an array in a variable, an array yet to be computed, ..."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from lsp_ad.staging.lantern.ir import Array, List, Scalar, Tuple, Type, ranked

# Memory that values may share, by number.
Roots = frozenset[int]
NOTHING: Roots = frozenset()


@dataclass(frozen=True)
class Number:
    """A scalar: a Python expression without effects."""

    code: str
    dtype: str


@dataclass(frozen=True)
class Stored:
    """An array in a Python variable. `contiguous`: Numba knows that it is, in C order."""

    code: str
    dtype: str
    dims: tuple[str, ...]
    roots: Roots
    contiguous: bool = True


@dataclass(frozen=True)
class Computed:
    """An array that is computed element by element where it is needed.

    `element` gives the code of one element from those of its indices; it may write statements. `roots` is the
    memory that this reads. `cheap`: an element is no more than a place in memory or a constant. `transposed`:
    the stored matrix that this is the transpose of. `zero`: all elements are zero. `risky`: an element may
    raise an error, so that all are computed even if few are needed. `aligned`: the arrays of which an element
    reads the same element; `shifted`: the memory of which it reads others. `depth`: how many operations
    follow one another.
    """

    dtype: str
    dims: tuple[str, ...]
    element: Callable[[Sequence[str]], str]
    roots: Roots
    cheap: bool = False
    transposed: Stored | None = None
    zero: bool = False
    risky: bool = False
    aligned: tuple[Stored, ...] = ()
    shifted: Roots | None = None
    depth: int = 1


@dataclass(frozen=True)
class Listed:
    """A list in a Python variable: `own` is its memory, `roots` that and the memory of its items."""

    code: str
    type: List
    own: int
    roots: Roots


@dataclass(frozen=True)
class Group:
    """A tuple: it is nowhere in the code, its items are."""

    items: tuple[Operand, ...]


Operand = Number | Stored | Computed | Listed | Group
ArrayLike = Stored | Computed


def code_of(operand: Operand) -> str:
    """The code of a value that is in a variable, or is a number."""
    assert isinstance(operand, Number | Stored | Listed)
    return operand.code


def roots_of(operand: Operand) -> Roots:
    if isinstance(operand, Group):
        return NOTHING.union(*map(roots_of, operand.items))
    return NOTHING if isinstance(operand, Number) else operand.roots


def leaves(operand: Operand) -> Iterator[Operand]:
    """What a value consists of, tuples taken apart."""
    if isinstance(operand, Group):
        for item in operand.items:
            yield from leaves(item)
    else:
        yield operand


def leaf_types(t: Type) -> Iterator[Scalar | Array | List]:
    if isinstance(t, Tuple):
        for item in t.items:
            yield from leaf_types(item)
    elif isinstance(t, Scalar | Array | List):
        yield t


def rebuilt(t: Type, parts: Iterator[Operand]) -> Operand:
    """The value of a type that consists of these parts."""
    if isinstance(t, Tuple):
        return Group(tuple(rebuilt(item, parts) for item in t.items))
    return next(parts)


def type_of(operand: Operand) -> Type:
    match operand:
        case Number(_, dtype):
            return Scalar(dtype)
        case Listed(_, t):
            return t
        case Group(items):
            return Tuple(tuple(map(type_of, items)))
        case Stored(_, dtype, dims) | Computed(dtype, dims):
            return ranked(dtype, len(dims))


def stored(code: str, t: Array, roots: Roots, contiguous: bool = True) -> Stored:
    """An array in a variable that knows its sizes itself."""
    return Stored(code, t.dtype, tuple(f"{code}.shape[{k}]" for k in range(t.rank)), roots, contiguous)


def reindexed(
    array: ArrayLike, dims: Sequence[str], index: Callable[[Sequence[str]], Sequence[str]]
) -> Computed:
    """An array whose elements are those of another in other places."""
    cheap, risky = (True, False) if isinstance(array, Stored) else (array.cheap, array.risky)
    return Computed(
        array.dtype, tuple(dims), lambda at: element_of(array, index(at)), array.roots, cheap, risky=risky
    )


# In front of an index of an axis that may be broadcast: where the axis has size 1, the index is 0.
UNSURE = "?"


def element_of(array: ArrayLike, index: Sequence[str]) -> str:
    """The code of an element."""
    if isinstance(array, Computed):
        return array.element(index)
    return f"{array.code}[{', '.join(map(sure, index, array.dims))}]"


def sure(index: str, dim: str) -> str:
    """An index within the size of an axis."""
    return f"{index[1:]} if {dim} != 1 else 0" if index[0] == UNSURE else index


def with_roots(operand: Operand, roots: Roots) -> Operand:
    """The same value, of which it is known only that it shares memory with more."""
    if isinstance(operand, Group):
        return Group(tuple(with_roots(i, roots) for i in operand.items))
    return operand if isinstance(operand, Number) else replace(operand, roots=operand.roots | roots)
