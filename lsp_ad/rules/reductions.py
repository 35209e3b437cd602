"""Sums, means, extremes and products along axes."""

from __future__ import annotations

from lsp_ad.rules.rule import UNKNOWN_VALUE, Adjoint, Bound, Rule, Unsupported, signature
from lsp_ad.semantics.shapes import Kind

_SIGNATURE = "x, axis=None, *, keepdims=False"


def axes(bound: Bound) -> tuple[int, ...] | None:
    """The constant axes of a reduction, None for all of them; anything else is not supported."""
    axis = bound.constant("axis")
    if axis is None:
        return None
    if isinstance(axis, int) and not isinstance(axis, bool):
        return (axis,)
    if isinstance(axis, tuple) and all(isinstance(a, int) for a in axis):
        return axis
    raise Unsupported("an axis that is not a constant")


def keeps(bound: Bound) -> bool:
    value = bound.constant("keepdims")
    if not isinstance(value, bool):
        raise Unsupported("a `keepdims` that is not a constant")
    return value


def reduced(bound: Bound) -> Kind:
    """The kind of the result of a reduction of `x`."""
    kind = bound.kind("x")
    try:
        over, keep = axes(bound), keeps(bound)
    except Unsupported:
        return Kind("numeric", kind.dtype, fresh=True)
    if over is None and not keep:
        return Kind("number", kind.dtype, (), fresh=True)
    if kind.rank is None or isinstance(kind.shape, type(None)):
        return Kind("numeric", kind.dtype, None, fresh=True)
    rank = kind.rank
    gone = set(range(rank)) if over is None else {a % rank for a in over if -rank <= a < rank}
    if keep:
        shape = tuple(1 if i in gone else d for i, d in enumerate(kind.shape))
    else:
        shape = tuple(d for i, d in enumerate(kind.shape) if i not in gone)
    return Kind("array" if shape else "number", kind.dtype, shape, fresh=True)


def _spread(bound: Bound) -> tuple[str, bool]:
    """`dy` so that it broadcasts to x, and whether that works for a dy that only broadcasts to y."""
    over = axes(bound)
    if over is None or keeps(bound):
        return "dy", True
    return "np.expand_dims(dy, axis)", False


def _sum(bound: Bound) -> dict[str, Adjoint]:
    text, any_shape = _spread(bound)
    return {"x": Adjoint(text, spread=True, any_shape=any_shape)}


def _mean(bound: Bound) -> dict[str, Adjoint]:
    text, any_shape = _spread(bound)
    over = axes(bound)
    if over is None:
        count = "np.size(x)"
    else:
        count = " / ".join(f"np.shape(x)[{a}]" for a in over)
    return {"x": Adjoint(f"{text} / {count}", spread=True, any_shape=any_shape)}


def _extreme(bound: Bound) -> dict[str, Adjoint]:
    """The derivative goes to the extreme element; where several are equal, in equal parts."""
    over = axes(bound)
    if over is None:
        return {"x": Adjoint("mask = x == y\ndy * mask / np.sum(mask)", any_shape=True)}
    if keeps(bound):
        return {"x": Adjoint("mask = x == y\ndy * mask / np.sum(mask, axis=axis, keepdims=True)", any_shape=True)}
    return {"x": Adjoint("mask = x == np.expand_dims(y, axis)\n"
                         "np.expand_dims(dy, axis) * mask / np.sum(mask, axis=axis, keepdims=True)")}


def _prod(bound: Bound) -> dict[str, Adjoint]:
    over = axes(bound)
    if over is not None and len(over) != 1:
        raise Unsupported("a product over several axes")
    text = _spread(bound)[0]
    return {"x": Adjoint(f"{text} * product_of_others(x, {'None' if over is None else 'axis'})", any_shape=over is None)}


def _builtin_sum(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("dy", spread=True, any_shape=True)}


def _builtin_sum_kind(bound: Bound) -> Kind:
    kind = bound.kind("x")
    if kind.rank:
        return Kind("array" if kind.rank > 1 else "number", kind.dtype, kind.shape[1:], fresh=True)  # type: ignore[index]
    return Kind("numeric", kind.dtype, None, fresh=True)


def _mean_kind(bound: Bound) -> Kind:
    kind = reduced(bound)
    return Kind(kind.type, "complex" if kind.dtype == "complex" else "float", kind.shape, fresh=True)


def _reduction(name: str, adjoints, kind=reduced, text: str = _SIGNATURE) -> Rule:
    names, defaults, only = signature(text)
    return Rule(name, names, defaults, adjoints=adjoints, kind=kind, differentiable=("x",), keyword_only=only)


RULES = [
    _reduction("numpy.sum", _sum),
    _reduction("numpy.mean", _mean, _mean_kind),
    _reduction("numpy.max", _extreme),
    _reduction("numpy.min", _extreme),
    _reduction("numpy.amax", _extreme),
    _reduction("numpy.amin", _extreme),
    _reduction("numpy.prod", _prod),
    _reduction("builtins.sum", _builtin_sum, _builtin_sum_kind, "x"),
    _reduction("math.fsum", _builtin_sum, _builtin_sum_kind, "x"),
]

__all__ = ["RULES", "UNKNOWN_VALUE", "axes", "keeps", "reduced"]
