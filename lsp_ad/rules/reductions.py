"""Sums, means, extremes, products and other reductions along axes."""

from __future__ import annotations

from collections.abc import Set

from lsp_ad.rules.rule import LINEAR, UNKNOWN_VALUE, Adjoint, Bound, Rule, Tangent, Unsupported
from lsp_ad.semantics.shapes import FLOAT, Kind

_SIGNATURE = "x, axis=None, *, keepdims=False"
_SPREAD = "np.expand_dims(dy, axis)"


def axes(bound: Bound) -> tuple[int, ...] | None:
    """The constant axes of a reduction, None for all of them; anything else is not supported."""
    axis = bound.constant("axis")
    if axis is None:
        return None
    if isinstance(axis, int) and not isinstance(axis, bool):
        return (axis,)
    if axis == ():
        raise Unsupported("an empty axis")
    if isinstance(axis, tuple) and all(isinstance(a, int) for a in axis):
        return axis
    raise Unsupported("an axis that is not a constant")


def keeps(bound: Bound) -> bool:
    value = bound.constant("keepdims")
    if not isinstance(value, bool):
        raise Unsupported("a `keepdims` that is not a constant")
    return value


def is_open(bound: Bound) -> bool:
    """Whether the axes are known at run time only, and kept, so that the result broadcasts to x anyway."""
    return bound.constant("axis") is UNKNOWN_VALUE and keeps(bound)


def reduced(bound: Bound) -> Kind:
    """The kind of the result of a reduction of `x`."""
    kind = bound.kind("x")
    try:
        over, keep = axes(bound), keeps(bound)
    except Unsupported:
        return Kind("numeric", kind.dtype, fresh=True)
    if over is None and not keep:
        return Kind("number", kind.dtype, (), fresh=True)
    if kind.rank is None or not isinstance(kind.shape, tuple):
        return Kind("numeric", kind.dtype, None, fresh=True)
    rank = kind.rank
    gone = set(range(rank)) if over is None else {a % rank for a in over if -rank <= a < rank}
    if keep:
        shape = tuple(1 if i in gone else d for i, d in enumerate(kind.shape))
    else:
        shape = tuple(d for i, d in enumerate(kind.shape) if i not in gone)
    return Kind("array" if shape else "number", kind.dtype, shape, fresh=True)


def plain(bound: Bound) -> bool:
    """Whether a value of the shape of the result broadcasts to x: the reduced axes lead, or are kept."""
    if is_open(bound):
        return True
    over = axes(bound)
    if over is None or keeps(bound):
        return True
    if rank := bound.kind("x").rank:
        over = tuple(a % rank for a in over)
    return sorted(over) == list(range(len(over)))


def options(bound: Bound) -> str:
    """The options of an inner reduction whose result broadcasts to x."""
    if is_open(bound):
        return ", axis=axis, keepdims=True"
    if axes(bound) is None:
        return ""
    return ", axis=axis" if plain(bound) and not keeps(bound) else ", axis=axis, keepdims=True"


def count(bound: Bound, between: str) -> str:
    """How many elements each element of the result comes from, as factors."""
    if is_open(bound):
        return "(np.size(x) / (np.size(y) or 1))"
    over = axes(bound)
    return "np.size(x)" if over is None else between.join(f"np.shape(x)[{a}]" for a in over)


def _spread(bound: Bound, text: str = "dy") -> str:
    """A value of the shape of the result so that it broadcasts to x."""
    return text if plain(bound) else f"np.expand_dims({text}, axis)"


def _reduced(bound: Bound, text: str) -> str:
    """The sum of an expression in the shape of x over the axes of the reduction."""
    given = [f", {p}={p}" for p in ("axis", "keepdims") if bound.has(p) and bound.constant(p) is not False]
    return f"np.sum({text}{''.join(given)})"


def _sum(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint(_spread(bound), spread=True, any_shape=plain(bound))}


def _mean(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint(f"{_spread(bound)} / {count(bound, ' / ')}", spread=True, any_shape=plain(bound))}


def _mask(bound: Bound) -> str:
    """Where the extreme elements are, in the float type of x: a sum of truth values would be an integer of
    64 bits."""
    return f"mask = np.ones_like(x) * (x == {_spread(bound, 'y')})"


def _extreme_tangent(bound: Bound, wrt: Set[str]) -> str:
    return f"{_mask(bound)}\n{_reduced(bound, 'dx * mask')} / {_reduced(bound, 'mask')}"


def _extreme(bound: Bound) -> dict[str, Adjoint]:
    """The derivative goes to the extreme element; where several are equal, in equal parts."""
    mask = _mask(bound)
    share = f"{_spread(bound)} * mask / np.sum(mask{options(bound)})"
    return {"x": Adjoint(f"{mask}\n{share}", any_shape=plain(bound))}


def _prod(bound: Bound) -> dict[str, Adjoint]:
    over = axes(bound)
    if over is not None and len(over) != 1:
        raise Unsupported("a product over several axes")
    others = f"product_of_others(x, {'None' if over is None else 'axis'})"
    return {"x": Adjoint(f"{_spread(bound)} * {others}", any_shape=plain(bound))}


def _prod_tangent(bound: Bound, wrt: Set[str]) -> str:
    _prod(bound)  # raises Unsupported for what has no derivative here
    others = f"product_of_others(x, {'None' if axes(bound) is None else 'axis'})"
    return _reduced(bound, f"dx * {others}")


def _ddof(bound: Bound) -> str:
    """The divisor of a variance."""
    ddof = bound.constant("ddof")
    if not isinstance(ddof, (int, float)) or isinstance(ddof, bool):
        raise Unsupported("a `ddof` that is not a constant")
    n = count(bound, " * ")
    return f"({n} - {ddof!r})" if ddof else f"({n})" if "*" in n else n


def _var(bound: Bound) -> dict[str, Adjoint]:
    """d var = 2 / (n - ddof) sum (x - mean) dx: the mean itself moves without effect."""
    text = f"{_spread(bound)} * 2.0 / {_ddof(bound)} * (x - np.mean(x{options(bound)}))"
    return {"x": Adjoint(text, any_shape=plain(bound))}


def _product(bound: Bound, factor: str) -> str:
    """The real product of the tangent with another complex number."""
    return f"np.real(dx * np.conj({factor}))" if bound.kind("x").dtype == "complex" else f"dx * {factor}"


def _var_tangent(bound: Bound, wrt: Set[str]) -> str:
    return f"2.0 * {_reduced(bound, _product(bound, f'(x - np.mean(x{options(bound)}))'))} / {_ddof(bound)}"


def _std(bound: Bound) -> dict[str, Adjoint]:
    """The square root of the variance."""
    text = f"{_spread(bound, 'dy / y')} / {_ddof(bound)} * (x - np.mean(x{options(bound)}))"
    return {"x": Adjoint(text, any_shape=plain(bound))}


def _std_tangent(bound: Bound, wrt: Set[str]) -> str:
    return f"{_reduced(bound, _product(bound, f'(x - np.mean(x{options(bound)}))'))} / {_ddof(bound)} / y"


def _average(bound: Bound) -> dict[str, Adjoint]:
    """The mean of all elements, or that with weights in the shape of x."""
    if not bound.has("weights"):
        return _mean(bound)
    if axes(bound) is not None or keeps(bound):
        raise Unsupported("weights along an axis")
    adjoints = {"x": "dy / np.sum(weights) * weights", "weights": "dy / np.sum(weights) * (x - y)"}
    return {p: Adjoint(text, any_shape=True) for p, text in adjoints.items()}


def _average_tangent(bound: Bound, wrt: Set[str]) -> str:
    if not bound.has("weights"):
        return _reduced(bound, "dx") + f" / {count(bound, ' / ')}"
    _average(bound)  # raises Unsupported for what has no derivative here
    parts = {"x": "weights * dx", "weights": "(x - y) * dweights"}
    return f"np.sum({' + '.join(parts[p] for p in parts if p in wrt)}) / np.sum(weights)"


def _logsumexp_tangent(bound: Bound, wrt: Set[str]) -> str:
    return _reduced(bound, f"dx * np.exp(x - {_spread(bound, 'y')})")


def _logsumexp(bound: Bound) -> dict[str, Adjoint]:
    text = f"{_spread(bound)} * np.exp(x - {_spread(bound, 'y')})"
    return {"x": Adjoint(text, any_shape=plain(bound))}


def _norm(bound: Bound) -> dict[str, Adjoint]:
    """The Euclidean norm of a vector, the Frobenius norm of a matrix: x / y."""
    order, over = bound.constant("ord"), axes(bound)
    whole = order == "fro" and (over is None or len(over) == 2)
    of_vectors = order == 2 and (len(over) == 1 if over is not None else bound.kind("x").rank == 1)
    if order is not None and not whole and not of_vectors:
        raise Unsupported("a norm other than the Euclidean one (`ord`)")
    return {"x": Adjoint(f"{_spread(bound, 'dy / y')} * x", any_shape=plain(bound))}


def _norm_tangent(bound: Bound, wrt: Set[str]) -> str:
    _norm(bound)  # raises Unsupported for what has no derivative here
    return f"{_reduced(bound, _product(bound, 'x'))} / y"


def _builtin_sum(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("dy", spread=True, any_shape=True)}


def _builtin_sum_kind(bound: Bound) -> Kind:
    kind = bound.kind("x")
    if isinstance(kind.shape, tuple) and kind.shape:
        return Kind("array" if len(kind.shape) > 1 else "number", kind.dtype, kind.shape[1:], fresh=True)
    return Kind("numeric", kind.dtype, None, fresh=True)


def _float_kind(bound: Bound) -> Kind:
    """A reduction that makes floats of integers."""
    kind = reduced(bound)
    return Kind(kind.type, "complex" if kind.dtype == "complex" else "float", kind.shape, fresh=True)


def _real_kind(bound: Bound) -> Kind:
    """A reduction that makes real numbers of all."""
    return _float_kind(bound)._replace(dtype="float")


def _reduction(name: str, adjoints, tangent: Tangent, kind=reduced, text: str = _SIGNATURE) -> Rule:
    return Rule.of(name, text, adjoints, kind, tangent=tangent)


RULES = [
    _reduction("numpy.sum", _sum, LINEAR),
    _reduction("numpy.mean", _mean, LINEAR, _float_kind),
    _reduction("numpy.max", _extreme, _extreme_tangent),
    _reduction("numpy.min", _extreme, _extreme_tangent),
    _reduction("numpy.amax", _extreme, _extreme_tangent),
    _reduction("numpy.amin", _extreme, _extreme_tangent),
    _reduction("numpy.prod", _prod, _prod_tangent),
    _reduction("numpy.var", _var, _var_tangent, _real_kind, "x, axis=None, *, ddof=0, keepdims=False"),
    _reduction("numpy.std", _std, _std_tangent, _real_kind, "x, axis=None, *, ddof=0, keepdims=False"),
    _reduction(
        "numpy.linalg.norm", _norm, _norm_tangent, _real_kind, "x, ord=None, axis=None, keepdims=False"
    ),
    Rule.of(
        "numpy.average",
        "x, axis=None, weights=None, *, keepdims=False",
        _average,
        _float_kind,
        "x weights",
        _average_tangent,
    ),
    _reduction("scipy.special.logsumexp", _logsumexp, _logsumexp_tangent, _float_kind),
    _reduction("builtins.sum", _builtin_sum, LINEAR, _builtin_sum_kind, "x"),
    _reduction("math.fsum", _builtin_sum, LINEAR, lambda bound: FLOAT, "x"),
]

__all__ = ["RULES", "axes", "is_open", "keeps", "reduced"]
