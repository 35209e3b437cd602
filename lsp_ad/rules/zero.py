"""Functions whose result carries no derivative: counts, shapes, predicates, constants, steps."""

from __future__ import annotations

from collections.abc import Callable

import gast

from lsp_ad.rules.rule import Bound, Rule, literal, shape_of, signature
from lsp_ad.semantics.shapes import BOOL, INT, STR, UNKNOWN, Kind, Opaque, Shape, elementwise


def _filled(bound: Bound) -> Kind:
    shape = shape_of(bound) or _lengths(bound.given.get("shape"), bound)
    kind = "numeric" if isinstance(shape, Opaque) else "array"
    return Kind(kind, _dtype(bound, "float"), shape, fresh=True)


def _lengths(node: gast.expr | None, bound: Bound) -> Shape:
    """The shape that integers give: of known rank, with lengths that are equal to nothing else."""
    if isinstance(node, (gast.Tuple, gast.List)):
        if all(bound.kind_of(e) == INT for e in node.elts):
            return tuple(map(_length, node.elts))
    elif node is not None and bound.kind_of(node) == INT:
        return (f"@{id(node)}",)
    return None


def _dtype(bound: Bound, default: str | None) -> str | None:
    node = bound.given.get("dtype")
    if node is None or literal(node) is None:
        return default
    names = {gast.Name: "id", gast.Attribute: "attr", gast.Constant: "value"}
    name = str(getattr(node, names.get(type(node), ""), ""))
    for dtype in ("float", "int", "bool", "complex"):
        if name.startswith(dtype):
            return dtype
    return None


def _like(bound: Bound) -> Kind:
    kind = bound.kind("x")
    known = kind.type if kind.type in ("array", "number") else "numeric"
    return Kind(known, _dtype(bound, kind.dtype), kind.shape, fresh=True)


def _eye(bound: Bound) -> Kind:
    rows = bound.given["N" if "N" in bound.given else "n"]
    columns = bound.given["M"] if bound.has("M") else rows
    return Kind("array", _dtype(bound, "float"), (_length(rows), _length(columns)), fresh=True)


def _length(node: gast.expr) -> int | str:
    """The length that an integer gives, which is equal to no other if it is not written out."""
    return node.value if isinstance(node, gast.Constant) else f"@{id(node)}"


def _vector(dtype: str | None):
    return lambda bound: Kind("array", dtype, None, fresh=True)


def _of_dtype(bound: Bound) -> Kind:
    return Kind("array", _dtype(bound, None), None, fresh=True)


def _counted(bound: Bound) -> Kind:
    """Integers between integers."""
    ends = [bound.kind(p).dtype for p in bound.given if p != "dtype"]
    default = "int" if all(dtype in ("int", "bool") for dtype in ends) else None
    return Kind("array", _dtype(bound, default), None, fresh=True)


def _between(bound: Bound) -> Kind:
    is_complex = elementwise(bound.kind("start"), bound.kind("stop")).dtype == "complex"
    return Kind("array", "complex" if is_complex else "float", None, fresh=True)


def _int(bound: Bound) -> Kind:
    return INT


def _bool(bound: Bound) -> Kind:
    return BOOL


def _elementwise(dtype: str | None):
    return lambda bound: elementwise(*(bound.kind_of(v) for v in bound.given.values()), dtype=dtype)


def _index(bound: Bound) -> Kind:
    return INT if bound.constant("axis") is None else Kind("numeric", "int", None, fresh=True)


def _truth(bound: Bound) -> Kind:
    return BOOL if bound.constant("axis") is None else Kind("numeric", "bool", None, fresh=True)


def _converted(dtype: str | None):
    def kind(bound: Bound) -> Kind:
        given = bound.kind("x")
        known = dtype or _dtype(bound, None)
        if given.type in ("list", "tuple"):
            return Kind("array", known)
        return Kind(given.type if given.type == "array" else "numeric", known, given.shape)

    return kind


def _itself(bound: Bound) -> Kind:
    kind = bound.kind("x")
    return kind._replace(fresh=kind.type == "number")


_TABLE = [
    ("builtins.len", "x", _int),
    ("builtins.int", "x=0", _int),
    ("builtins.round", "x, ndigits=None", lambda b: Kind("number", None, ())),
    ("builtins.bool", "x", _bool),
    ("builtins.isinstance", "x, types", _bool),
    ("builtins.getattr", "x, name, default", lambda b: UNKNOWN),
    ("builtins.type", "x", lambda b: UNKNOWN),
    ("builtins.slice", "a, b=None, c=None", lambda b: Kind("other")),
    ("builtins.range", "a, b=None, c=None", lambda b: Kind("tuple", "int")),
    ("builtins.str", "x", lambda b: STR),
    ("builtins.type", "x", lambda b: UNKNOWN),
    ("builtins.all", "x", _bool),
    ("builtins.any", "x", _bool),
    ("numpy.zeros", "shape, dtype=None", _filled),
    ("numpy.ones", "shape, dtype=None", _filled),
    ("numpy.empty", "shape, dtype=None", _filled),
    ("numpy.zeros_like", "x, dtype=None", _like),
    ("numpy.ones_like", "x, dtype=None", _like),
    ("numpy.empty_like", "x, dtype=None", _like),
    ("numpy.full_like", "x, fill_value, dtype=None", _like),
    ("numpy.eye", "N, M=None, k=0, dtype=None", _eye),
    ("numpy.identity", "n, dtype=None", _eye),
    ("numpy.arange", "start, stop=None, step=None, dtype=None", _counted),
    *[(f"numpy.fft.{n}", "n, d=1.0", _vector("float")) for n in ("fftfreq", "rfftfreq")],
    *[(f"numpy.{n}", "x", _bool) for n in ("iscomplexobj", "isrealobj")],
    ("numpy.argmax", "x, axis=None", _index),
    ("numpy.argmin", "x, axis=None", _index),
    ("numpy.argsort", "x, axis=-1", _vector("int")),
    ("numpy.searchsorted", "a, v, side='left'", lambda b: Kind("numeric", "int")),
    ("numpy.count_nonzero", "x, axis=None", _index),
    ("numpy.size", "x", _int),
    ("numpy.ndim", "x", _int),
    ("numpy.result_type", "x1, x2", lambda b: UNKNOWN),
    ("numpy.shape", "x", lambda b: Kind("tuple", "int")),
    ("numpy.all", "x, axis=None, *, keepdims=False", _truth),
    ("numpy.any", "x, axis=None, *, keepdims=False", _truth),
    ("numpy.allclose", "a, b, rtol=1e-05, atol=1e-08", _bool),
    ("numpy.array_equal", "x1, x2", _bool),
    ("numpy.isin", "x1, x2", lambda b: Kind("numeric", "bool", b.kind("x1").shape, fresh=True)),
    ("numpy.lexsort", "x, axis=-1", _vector("int")),
    *[(f"numpy.{n}", "x", _elementwise(None)) for n in ("floor", "ceil", "rint", "trunc", "fix", "sign")],
    ("numpy.round", "x, decimals=0", lambda b: elementwise(b.kind("x"))),
    ("numpy.around", "x, decimals=0", lambda b: elementwise(b.kind("x"))),
    ("numpy.heaviside", "x1, x2", _elementwise(None)),
    ("numpy.floor_divide", "x1, x2", _elementwise(None)),
    *[
        (f"numpy.{n}", "x", _elementwise("bool"))
        for n in ("isnan", "isinf", "isfinite", "signbit", "logical_not")
    ],
    *[
        (f"numpy.{n}", "x1, x2", _elementwise("bool"))
        for n in (
            "greater",
            "greater_equal",
            "less",
            "less_equal",
            "equal",
            "not_equal",
            "logical_and",
            "logical_or",
            "logical_xor",
            "isclose",
        )
    ],
    ("lsp_ad.stop_gradient", "x", _itself),
    *[(f"math.{n}", "x", _int) for n in ("floor", "ceil", "trunc")],
    *[(f"math.{n}", "x", _bool) for n in ("isnan", "isinf", "isfinite")],
]

# Known functions of constants only: a derivative through them is not known here, so an active argument is
# refused. The names of those that stand for a call with certain options say so.
_PASSIVE = [
    ("builtins.divmod", "x1, x2", lambda b: Kind("tuple", None, None, (_elementwise(None)(b),) * 2)),
    ("builtins.ord", "x", _int),
    *[(f"numpy.{n}", "M", _vector("float")) for n in ("hanning", "hamming", "blackman", "bartlett")],
    *[(f"numpy.{n}", "x1, x2", _vector(None)) for n in ("setdiff1d", "intersect1d", "union1d")],
    ("numpy.unique", "x", _vector(None)),
    ("numpy.indices", "dimensions", _vector("int")),
    ("numpy.linspace", "start, stop, num=50, endpoint=True", _between),
    ("numpy.arange from start", "start, stop=None, step=None, dtype=None", _vector(None)),
    ("numpy.array of another dtype", "x, dtype=None", _converted(None)),
    ("numpy.asarray of another dtype", "x, dtype=None", _converted(None)),
    ("numpy.astype of another dtype", "x, dtype", _converted(None)),
    ("numpy.full_like of a value", "x, fill_value, dtype=None", _like),
    ("numpy.full of another dtype", "shape, fill_value, dtype=None", _of_dtype),
]

# Rounding to integers or truth values is a step.
_ROUNDED = [
    ("numpy.array of int", "x, dtype=None", _converted("int")),
    ("numpy.asarray of int", "x, dtype=None", _converted("int")),
    ("numpy.astype of int", "x, dtype", _converted("int")),
    ("numpy.full of int", "shape, fill_value, dtype=None", _vector("int")),
]


def _zero(name: str, text: str, kind: Callable[[Bound], Kind], constant_only: bool = False) -> Rule:
    names, defaults, only = signature(text)
    return Rule(name, names, defaults, kind=kind, keyword_only=only, constant_only=constant_only)


RULES = [_zero(name, text, kind) for name, text, kind in _TABLE]
VARIANTS = [_zero(name, text, kind) for name, text, kind in _ROUNDED]
CONSTANT_ONLY = [_zero(name, text, kind, constant_only=True) for name, text, kind in _PASSIVE]

__all__ = ["CONSTANT_ONLY", "RULES", "VARIANTS"]
