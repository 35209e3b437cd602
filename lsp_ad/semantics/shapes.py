"""Kinds of values, with dtype and symbolic shape.

A shape is a tuple of dimensions where the rank is known (each an int or the name of a
dimension: equal names are equal sizes), an `Opaque` where only its identity is known ("the shape of
the argument x"), or None. Two equal shapes that are not None are equal when the program runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Opaque:
    """A shape of unknown rank that keeps its identity: that of an argument, or of one computed value.

    `parts` holds the shapes that were broadcast together, if it is the result of a broadcast.
    """

    key: str
    parts: frozenset = frozenset()


Shape = tuple | Opaque | None


class Kind(NamedTuple):
    """What is known of a value.

    `type`: "number" (a Python or NumPy scalar), "array", "numeric" (either), "list", "tuple", "dict", "str",
    "none", "mixed" (different things on different paths), "other" (known to be nothing numeric) or "bottom"
    (not computed yet). `dtype`: "float", "int", "bool", "complex" or None. `items`: the kinds in a tuple or
    list of known length, or of the values of a dict with known `keys`. `fresh`: the value shares its memory
    with no other name. `element`: what all items of a list, tuple or dict of unknown length have in common.
    """

    type: str = "numeric"
    dtype: str | None = None
    shape: Shape = None
    items: tuple[Kind, ...] | None = None
    fresh: bool = False
    element: Kind | None = None
    keys: tuple | None = None

    @property
    def rank(self) -> int | None:
        return len(self.shape) if isinstance(self.shape, tuple) else None

    @property
    def is_scalar(self) -> bool:
        return self.shape == ()

    @property
    def is_structure(self) -> bool:
        return self.type in STRUCTURES

    @property
    def may_be_list(self) -> bool:
        """Whether nothing is known that a list would not be."""
        return self.type == "numeric" and not isinstance(self.shape, tuple)

    @property
    def may_be_real(self) -> bool:
        """Whether a derivative with respect to it can exist."""
        if self.is_structure and self.items:
            return any(k.may_be_real for k in self.items)
        if self.is_structure and self.element is not None:
            return self.element.may_be_real
        known = self.type in ("number", "array", "numeric") or self.is_structure
        return known and self.dtype not in ("int", "bool", "complex")


STRUCTURES = ("list", "tuple", "dict")
DEEPEST = 6  # levels of lists in lists whose items are told apart
BOTTOM = Kind("bottom")
UNKNOWN = Kind()
FLOAT = Kind("number", "float", (), fresh=True)
INT = Kind("number", "int", (), fresh=True)
BOOL = Kind("number", "bool", (), fresh=True)
COMPLEX = Kind("number", "complex", (), fresh=True)
STR = Kind("str")
NONE = Kind("none")
OTHER = Kind("other")
MIXED = Kind("mixed")  # of different kinds on different paths: nothing is known, and nothing may be assumed


def of_constant(value: object) -> Kind:
    """The kind of a literal."""
    for kind_type, kind in ((bool, BOOL), (int, INT), (float, FLOAT), (complex, COMPLEX), (str, STR)):
        if isinstance(value, kind_type):
            return kind
    return NONE if value is None else OTHER


def is_complex(kind: Kind) -> bool:
    """Whether a value, or an item of a tuple or list, is known to be complex."""
    if kind.dtype == "complex":
        return True
    if kind.items is None and kind.element is None:
        return False
    inner = (*(kind.items or ()), *([kind.element] if kind.element is not None else ()))
    return any(is_complex(item) for item in inner)


def join(a: Kind, b: Kind) -> Kind:
    """The kind of a value that is of kind `a` on one path and `b` on another."""
    if a == b or b is BOTTOM:
        return a
    if a is BOTTOM:
        return b
    # None stands for "no value yet": whoever computes with the name has made sure that it is not None
    if "none" in (a.type, b.type):
        return b if a.type == "none" else a
    dtype = a.dtype if a.dtype == b.dtype else _mixed(a.dtype, b.dtype)
    shape = a.shape if a.shape == b.shape else None
    numeric = {"number", "array", "numeric"}
    fresh = a.fresh and b.fresh
    if a.type == b.type and a.is_structure:
        return _joined_structures(a, b, dtype, fresh)
    if a.type == b.type:
        return Kind(a.type, dtype, shape, None, fresh)
    if a.type in numeric and b.type in numeric:
        return Kind("numeric", dtype, shape, fresh=fresh)
    return MIXED


def _joined_structures(a: Kind, b: Kind, dtype: str | None, fresh: bool) -> Kind:
    if a.items is not None and b.items is not None and len(a.items) == len(b.items) and a.keys == b.keys:
        items = tuple(join(x, y) for x, y in zip(a.items, b.items, strict=True))
        return Kind(a.type, dtype, None, items, fresh, None, a.keys)
    inner = join(element_kind(a), element_kind(b))
    return Kind(a.type, dtype, None, None, fresh, inner)


def element_kind(kind: Kind) -> Kind:
    """What all items of a list, tuple or dict have in common: BOTTOM where it surely has none."""
    if kind.items is not None:
        found = BOTTOM
        for item in kind.items:
            found = join(found, item)
        return found
    if kind.element is not None:
        return kind.element
    return INT if kind.dtype == "int" else UNKNOWN


def growing(kind: Kind) -> Kind:
    """The kind of a list or dict that may come to hold any number of such items."""
    return Kind(kind.type, None, None, None, kind.fresh, lasting(element_kind(kind)))


def lasting(kind: Kind) -> Kind:
    """A kind without the shapes of values computed in the function: the next iteration may compute others."""
    if kind.items is not None:
        return kind._replace(items=tuple(lasting(i) for i in kind.items))
    if kind.element is not None:
        return kind._replace(element=lasting(kind.element))
    return kind._replace(shape=None) if transient(kind.shape) else kind


def transient(shape: Shape) -> bool:
    """Whether a shape is that of a value computed in the function: the next iteration may compute another."""
    if isinstance(shape, Opaque):
        return "@" in shape.key or any(transient(p) for p in shape.parts)
    return isinstance(shape, tuple) and any(isinstance(d, str) and "@" in d for d in shape)


def _depth(kind: Kind) -> int:
    inner = kind.items or ((kind.element,) if kind.element is not None else ())
    return 1 + max(map(_depth, inner), default=0) if kind.is_structure else 0


def structure(type_: str, items: tuple[Kind, ...], keys: tuple | None = None) -> Kind:
    """The kind of a list, tuple or dict that is written out."""
    if any(i is BOTTOM for i in items):
        return BOTTOM
    deep = max(map(_depth, items), default=0) >= DEEPEST
    return Kind(type_) if deep else Kind(type_, None, None, items, False, None, keys)


def _mixed(a: str | None, b: str | None) -> str | None:
    """int on one path and float on another is taken as float: it may carry a derivative.
    What is complex on one path is taken for complex.
    """
    return "complex" if "complex" in (a, b) else "float" if {a, b} == {"int", "float"} else None


def broadcast(*shapes: Shape) -> Shape:
    """The shape of an elementwise result.

    >>> broadcast(("n", "d"), ("d",)), broadcast((), Opaque("x"))
    (('n', 'd'), Opaque(key='x', parts=frozenset()))
    """
    result: Shape = ()
    for shape in shapes:
        result = _broadcast(result, shape)
    return result


def _broadcast(a: Shape, b: Shape) -> Shape:
    if a is None or b is None:
        return None
    if a == b or b == ():
        return a
    if a == ():
        return b
    if isinstance(a, tuple) and isinstance(b, tuple):
        return _broadcast_dims(a, b)
    parts = (a.parts or frozenset([a])) if isinstance(a, Opaque) else frozenset([a])
    parts |= (b.parts or frozenset([b])) if isinstance(b, Opaque) else frozenset([b])
    return Opaque("broadcast", parts)


def _broadcast_dims(a: tuple, b: tuple) -> Shape:
    longest = max(len(a), len(b))
    a, b = (1,) * (longest - len(a)) + a, (1,) * (longest - len(b)) + b
    dims = []
    for x, y in zip(a, b, strict=True):
        if x == y or y == 1:
            dims.append(x)
        elif x == 1:
            dims.append(y)
        elif isinstance(x, int):
            dims.append(x)  # y must be x or 1 for the primal to run
        elif isinstance(y, int):
            dims.append(y)
        else:
            dims.append("*".join(sorted({*x.split("*"), *y.split("*")})))
    return tuple(dims)


def fits(small: Shape, big: Shape) -> bool:
    """Whether a value of shape `small` surely broadcasts to `big` without making it larger."""
    return small is not None and big is not None and (small == () or broadcast(small, big) == big)


def elementwise(*kinds: Kind, dtype: str | None = None) -> Kind:
    """The kind of an elementwise operation on values of these kinds."""
    shape = broadcast(*(k.shape for k in kinds))
    if dtype is None:
        dtypes = [k.dtype for k in kinds]
        for strong in ("complex", "float", None, "int", "bool"):
            if strong in dtypes:
                dtype = strong
                break
    # bool arithmetic gives int
    if shape == ():
        kind = "number"
    elif any(k.type == "array" for k in kinds):
        kind = "array"
    else:
        kind = "numeric"
    return Kind(kind, dtype, shape, fresh=True)


def shaped(kind: Kind, shape: Shape, dtype: str | None = None) -> Kind:
    """A fresh array (or number, if the shape is known to be empty) with the dtype of another value."""
    return Kind(
        "number" if shape == () else "array" if isinstance(shape, tuple) else "numeric",
        dtype or kind.dtype,
        shape,
        fresh=True,
    )


def aliased(kind: Kind) -> Kind:
    return kind._replace(fresh=False) if kind.fresh and kind.type not in ("number",) else kind
