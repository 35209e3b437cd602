"""Functions that choose, repeat, join, sort or pad elements: all linear in what they move."""

from __future__ import annotations

from collections.abc import Callable, Set

from lsp_ad.rules.rule import LINEAR, Adjoint, Bound, Rule, Tangent, Unsupported
from lsp_ad.semantics.shapes import INT, Kind, elementwise


def _text(text: str) -> Callable[[Bound], dict[str, Adjoint]]:
    return lambda bound: {"x": Adjoint(text)}


def _repeat(bound: Bound) -> dict[str, Adjoint]:
    n = "np.size(x)" if not bound.has("axis") else "np.shape(x)[axis]"
    return {"x": Adjoint(f"take_adjoint(dy, x, np.repeat(np.arange({n}), repeats), axis)")}


def _delete(bound: Bound) -> dict[str, Adjoint]:
    n = "np.size(x)" if not bound.has("axis") else "np.shape(x)[axis]"
    return {"x": Adjoint(f"take_adjoint(dy, x, np.delete(np.arange({n}), obj), axis)")}


def _append(bound: Bound) -> dict[str, Adjoint]:
    both = "split_like(dy, (x, values), axis)"
    return {"x": Adjoint(f"{both}[0]"), "values": Adjoint(f"{both}[1]")}


def _append_tangent(bound: Bound, wrt: Set[str]) -> str:
    parts = [f"d{p}" if p in wrt else f"np.zeros_like({p})" for p in ("x", "values")]
    return f"np.append({', '.join(parts)}, axis)"


def _pad(bound: Bound) -> dict[str, Adjoint]:
    if bound.constant("mode") != "constant":
        raise Unsupported("a `mode` other than constant")
    return {"x": Adjoint("unpadded(dy, x, pad_width)")}


def _pad_tangent(bound: Bound, wrt: Set[str]) -> str:
    _pad(bound)
    return "np.pad(dx, pad_width)"


def _sort(bound: Bound) -> dict[str, Adjoint]:
    if bound.constant("axis") is None:
        raise Unsupported("sorting all elements (`axis=None`)")
    return {"x": Adjoint("take_along_adjoint(dy, x, np.argsort(x, axis), axis)")}


def _sort_tangent(bound: Bound, wrt: Set[str]) -> str:
    _sort(bound)
    return "np.take_along_axis(dx, np.argsort(x, axis), axis)"


def _rot90(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("np.rot90(dy, -k, axes)")}


def _array(bound: Bound) -> Kind:
    return Kind("array", bound.kind("x").dtype, None, fresh=True)


def _numeric(bound: Bound) -> Kind:
    return Kind("numeric", bound.kind("x").dtype, None, fresh=True)


def _same(bound: Bound) -> Kind:
    return _array(bound)._replace(shape=bound.kind("x").shape)


def _view(bound: Bound) -> Kind:
    return Kind("array", bound.kind("x").dtype)


def _both(bound: Bound) -> Kind:
    return Kind("array", elementwise(bound.kind("x"), bound.kind("values")).dtype, None, fresh=True)


def _joined(bound: Bound) -> Kind:
    kinds = bound.kind("arrays").items or ()
    return Kind("array", elementwise(*kinds).dtype if kinds else None, None, fresh=True)


def _rule(name: str, text: str, adjoints, kind, tangent: Tangent = LINEAR, differentiable: str = "x") -> Rule:
    return Rule.of(f"numpy.{name}", text, adjoints, kind, differentiable, tangent)


# Functions that join arrays, and the axis of the result along which they do; vectors have one axis only.
JOINS = {"numpy.hstack": 1, "numpy.vstack": 0, "numpy.dstack": 2, "numpy.column_stack": 1}

RULES = [
    _rule("take", "x, indices, axis=None", _text("take_adjoint(dy, x, indices, axis)"), _numeric),
    _rule(
        "take_along_axis",
        "x, indices, axis=-1",
        _text("take_along_adjoint(dy, x, indices, axis)"),
        _array,
    ),
    _rule(
        "compress",
        "condition, x, axis=None",
        _text("take_adjoint(dy, x, np.flatnonzero(condition), axis)"),
        _array,
    ),
    _rule("extract", "condition, x", _text("take_adjoint(dy, x, np.flatnonzero(condition), None)"), _array),
    _rule("repeat", "x, repeats, axis=None", _repeat, _array),
    _rule("tile", "x, reps", _text("untiled(dy, x, reps)"), _array),
    _rule("delete", "x, obj, axis=None", _delete, _array),
    _rule("append", "x, values, axis=None", _append, _both, _append_tangent, differentiable="x values"),
    _rule("pad", "x, pad_width, mode='constant', *, constant_values=0", _pad, _array, _pad_tangent),
    _rule("sort", "x, axis=-1", _sort, _same, _sort_tangent),
    _rule("rot90", "x, k=1, axes=(0, 1)", _rot90, _view),
    *[_rule(name.removeprefix("numpy."), "arrays", None, _joined, LINEAR, "arrays") for name in JOINS],
]


def _zero(name: str, text: str, kind: Kind) -> Rule:
    return Rule.of(name, text, None, lambda bound: kind, "")


_INTEGERS = Kind("array", "int", None, fresh=True)
_INDEX = Kind("tuple", element=_INTEGERS)

# What makes an index.
ZERO = [
    _zero("numpy.nonzero", "x", _INDEX),
    _zero("numpy.flatnonzero", "x", _INTEGERS),
    _zero("numpy.argwhere", "x", _INTEGERS),
    _zero("numpy.argpartition", "x, kth, axis=-1", _INTEGERS),
    _zero("numpy.triu_indices", "n, k=0, m=None", _INDEX),
    _zero("numpy.tril_indices", "n, k=0, m=None", _INDEX),
    _zero("numpy.diag_indices", "n, ndim=2", _INDEX),
    _zero("numpy.diag_indices_from", "x", _INDEX),
    _zero("numpy.tril_indices_from", "x, k=0", _INDEX),
    _zero("numpy.triu_indices_from", "x, k=0", _INDEX),
    _zero("numpy.unravel_index", "indices, shape", Kind("tuple", element=INT)),
    _zero("numpy.ix_", "a, b=None, c=None, d=None", _INDEX),
    _zero("numpy.digitize", "x, bins, right=False", Kind("numeric", "int")),
]
RULES += ZERO

__all__ = ["JOINS", "RULES"]
