"""Powers, extremes of numbers, and functions that move elements about."""

from __future__ import annotations

import math
from collections.abc import Callable, Set

from lsp_ad.rules.elementwise import abs_tangent
from lsp_ad.rules.rule import LINEAR, Adjoint, Bound, Rule, Unsupported, shape_of
from lsp_ad.semantics.shapes import FLOAT, Kind, Opaque, elementwise, is_complex

# --- powers ----------------------------------------------------------------------------------


def _power(bound: Bound) -> dict[str, Adjoint]:
    """d(x1 ** x2) = x2 x1 ** (x2 - 1) dx1 + y log(x1) dx2, with the limits at x1 = 0 and x2 = 0."""
    base, exponent = bound.constant("x1"), bound.constant("x2")
    log = "math.log" if bound.rule.name.startswith("math.") else "np.log"
    right = f"dy * y * {log}(x1 + (x1 == 0))"
    if isinstance(base, (int, float)) and base > 0:
        # as a number: np.log(2.0) is a double, and would make doubles of an array of floats
        right = f"dy * y * {math.log(base)!r}"
    if isinstance(exponent, (int, float)) and not isinstance(exponent, bool):
        left = _constant_power(exponent)
    else:
        left = "dy * x2 * x1 ** (x2 - (x2 != 0))"
    return {"x1": Adjoint(left, elementwise=True), "x2": Adjoint(right, elementwise=True)}


def _constant_power(n: float) -> str:
    if n == 0:
        return "dy * 0.0"
    if n == 1:
        return "dy"
    if n == 2:
        return f"dy * {n!r} * x1"
    if n == 0.5:
        return "dy * 0.5 / y"
    if n == -1:
        return "-dy * y * y"
    return f"dy * {n!r} * x1 ** {n - 1!r}" if n > 0 else f"dy * ({n!r}) * x1 ** ({n - 1!r})"


def _power_kind(bound: Bound) -> Kind:
    kind = elementwise(bound.kind("x1"), bound.kind("x2"))
    return FLOAT if bound.rule.name.startswith("math.") else kind


# --- clip, extremes of numbers ---------------------------------------------------------------


def _clip(bound: Bound) -> dict[str, Adjoint]:
    """min(max(x, a_min), a_max); at a bound, the derivative belongs to x."""
    low, high = bound.has("a_min"), bound.has("a_max")
    if low and high:
        texts = {
            "x": "dy * ((x >= a_min) & (x <= a_max))",
            "a_min": "dy * ((x < a_min) & (a_min <= a_max))",
            "a_max": "dy * (np.maximum(x, a_min) > a_max)",
        }
    elif low:
        texts = {"x": "dy * (x >= a_min)", "a_min": "dy * (x < a_min)"}
    elif high:
        texts = {"x": "dy * (x <= a_max)", "a_max": "dy * (x > a_max)"}
    else:
        texts = {"x": "dy"}
    return {p: Adjoint(text, elementwise=True) for p, text in texts.items()}


def _clip_kind(bound: Bound) -> Kind:
    return elementwise(*(bound.kind(p) for p in ("x", "a_min", "a_max") if bound.has(p)))


def _extreme_kind(bound: Bound) -> Kind:
    """max and min compare with `<`, which must be one truth value: both are numbers, or arrays of one
    element."""
    a, b = bound.kind("x1"), bound.kind("x2")
    numbers = a.is_scalar and b.is_scalar
    return Kind("number" if numbers else "numeric", elementwise(a, b).dtype, () if numbers else None)


def _extreme(sign: str) -> Callable[[Bound], dict[str, Adjoint]]:
    """max(x1, x2) is x2 if x2 > x1, and else x1: also where one of them is no number."""

    def adjoints(bound: Bound) -> dict[str, Adjoint]:
        return {
            "x1": Adjoint(f"dy * (not x2 {sign} x1)", elementwise=True),
            "x2": Adjoint(f"dy * (x2 {sign} x1)", elementwise=True),
        }

    return adjoints


def _builtin_abs(bound: Bound) -> dict[str, Adjoint]:
    is_complex = bound.kind("x").dtype == "complex"
    text = "dy * x / (y + (y == 0.0))" if is_complex else "dy * np.sign(x)"
    return {"x": Adjoint(text, elementwise=True)}


def _abs_kind(bound: Bound) -> Kind:
    kind = _same_kind(bound)
    return kind._replace(dtype="float") if kind.dtype == "complex" else kind


# --- moving elements -------------------------------------------------------------------------


def _reshape(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("np.reshape(dy, np.shape(x))")}


def _reshape_kind(bound: Bound) -> Kind:
    kind, shape = bound.kind("x"), bound.constant("shape")
    if isinstance(shape, int):
        shape = (shape,)
    known = shape if isinstance(shape, tuple) and -1 not in shape else None
    return Kind("array" if known else "numeric", kind.dtype, known)


def _ravel_kind(bound: Bound) -> Kind:
    return Kind("array", bound.kind("x").dtype)


def _transpose(bound: Bound) -> dict[str, Adjoint]:
    if not bound.has("axes") and bound.constant("axes") is None:
        rank = bound.kind("x").rank
        return {"x": Adjoint("dy.T" if rank is not None and rank > 0 else "np.transpose(dy)")}
    order = bound.constant("axes")
    if not isinstance(order, tuple) or not all(isinstance(i, int) for i in order):
        raise Unsupported("axes that are not constants")
    back = tuple(sorted(range(len(order)), key=lambda i: order[i] % len(order)))
    return {"x": Adjoint(f"np.transpose(dy, {back!r})")}


def _transpose_kind(bound: Bound) -> Kind:
    kind, order = bound.kind("x"), bound.constant("axes")
    if isinstance(kind.shape, tuple) and order is None:
        return Kind(kind.type, kind.dtype, kind.shape[::-1])
    rank = kind.rank or 0
    known = isinstance(order, tuple) and all(isinstance(i, int) and -rank <= i < rank for i in order)
    if isinstance(kind.shape, tuple) and isinstance(order, tuple) and known and len(order) == rank:
        return Kind(kind.type, kind.dtype, tuple(kind.shape[i] for i in order))
    return Kind("numeric", kind.dtype)


def _identity(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("dy", elementwise=True)}


def _as_float_kind(bound: Bound) -> Kind:
    """What np.float64 makes: of an array of this type it hands back a view."""
    return _same_kind(bound)._replace(fresh=bound.kind("x").shape == ())


def _same_kind(bound: Bound) -> Kind:
    kind = bound.kind("x")
    return Kind(kind.type if kind.type != "number" else "numeric", kind.dtype, kind.shape, fresh=True)


def _array_kind(bound: Bound) -> Kind:
    kind = bound.kind("x")
    if kind.type in ("list", "tuple"):
        inner = kind.items or ()
        if inner and all(k.is_scalar for k in inner):
            return Kind("array", elementwise(*inner).dtype, (len(inner),), fresh=True)
        return Kind("array", "complex" if is_complex(kind) else None, None, fresh=True)
    return Kind("numeric", kind.dtype, kind.shape, fresh=True)


def _with_dtype(kind_of: Callable[[Bound], Kind], dtype: str = "float") -> Callable[[Bound], Kind]:
    """The kind where a `dtype` is given."""

    def kind(bound: Bound) -> Kind:
        found = kind_of(bound)
        return found._replace(dtype=dtype) if bound.has("dtype") else found

    return kind


def _asarray_kind(bound: Bound) -> Kind:
    kind = _array_kind(bound)
    return kind._replace(fresh=kind.fresh and bound.kind("x").type in ("list", "tuple"))


def _converted(bound: Bound, wrt: Set[str]) -> str:
    return "np.array(dx, dtype)"


def _math_log(bound: Bound) -> dict[str, Adjoint]:
    if not bound.has("base"):
        return {"x": Adjoint("dy / x", elementwise=True)}
    return {
        "x": Adjoint("dy / (x * math.log(base))", elementwise=True),
        "base": Adjoint("-dy * y / (base * math.log(base))", elementwise=True),
    }


def _float_kind(bound: Bound) -> Kind:
    return FLOAT


def _fill(bound: Bound) -> dict[str, Adjoint]:
    return {"fill_value": _summed(bound, "fill_value")}


def _broadcast_to(bound: Bound) -> dict[str, Adjoint]:
    return {"x": _summed(bound, "x")}


def _summed(bound: Bound, name: str) -> Adjoint:
    """The adjoint of what was repeated to the shape of the result."""
    return Adjoint("np.sum(dy)" if bound.kind(name).is_scalar else f"unbroadcast(dy, {name})")


def _fill_kind(bound: Bound) -> Kind:
    value = bound.kind("fill_value")
    shape = shape_of(bound)
    kind = "numeric" if isinstance(shape, Opaque) else "array"
    return Kind(kind, "float" if bound.has("dtype") else value.dtype, shape, fresh=True)


def _cumsum(bound: Bound) -> dict[str, Adjoint]:
    """The sums from the other end."""
    rank, axis = bound.kind("x").rank, bound.constant("axis")
    if rank == 1:
        return {"x": Adjoint("np.cumsum(dy[::-1])[::-1]")}
    if axis is None:
        return {"x": Adjoint("np.reshape(np.cumsum(dy[::-1])[::-1], np.shape(x))")}
    if axis == 0:
        return {"x": Adjoint(_like_x("np.cumsum(dy[::-1], axis=0)[::-1]", rank))}
    text = "np.flip(np.cumsum(np.flip(dy, axis), axis=axis), axis)"
    return {"x": Adjoint(_like_x(text, rank))}


def _like_x(text: str, rank: int | None) -> str:
    """NumPy takes a number for a vector of one element here."""
    return text if rank else f"np.reshape({text}, np.shape(x))"


def _cumsum_kind(bound: Bound) -> Kind:
    kind = bound.kind("x")
    same = kind.rank and (kind.rank == 1 or bound.constant("axis") is not None)
    return Kind("array", kind.dtype, kind.shape if same else None, fresh=True)


def _diff(bound: Bound) -> dict[str, Adjoint]:
    if bound.constant("n") != 1 or isinstance(bound.constant("n"), bool):
        raise Unsupported("an `n` other than 1")
    return {"x": Adjoint("diff_adjoint(dy, x, axis)")}


def _moved(text: str) -> Callable[[Bound], dict[str, Adjoint]]:
    return lambda bound: {"x": Adjoint(text)}


def _roll(bound: Bound) -> dict[str, Adjoint]:
    shift = bound.constant("shift")
    if isinstance(shift, tuple):
        back = repr(tuple(-n for n in shift))
    elif isinstance(shift, int) and not isinstance(shift, bool):
        back = repr(-shift)
    elif bound.kind("shift").is_scalar:
        back = "-shift"
    else:
        raise Unsupported("a `shift` that is not a number")
    axis = ", axis" if bound.constant("axis") is not None else ""
    return {"x": Adjoint(f"np.roll(dy, {back}{axis})")}


def _flip(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("np.flip(dy, axis)" if bound.constant("axis") is not None else "np.flip(dy)")}


def _view_kind(bound: Bound) -> Kind:
    return Kind("numeric", bound.kind("x").dtype)


def _view_of_same_shape(bound: Bound) -> Kind:
    kind = bound.kind("x")
    return Kind(kind.type if kind.type == "array" else "numeric", kind.dtype, kind.shape)


def _rolled_kind(bound: Bound) -> Kind:
    return _view_of_same_shape(bound)._replace(fresh=True)


def _concatenate_kind(bound: Bound) -> Kind:
    axis = bound.constant("axis")
    kinds = bound.kind("arrays").items or ()
    ranks = {k.rank for k in kinds}
    dtype = elementwise(*kinds).dtype if kinds else None
    if isinstance(axis, int) and len(ranks) == 1 and (rank := ranks.pop()):
        at = axis % rank
        shape = []
        for i in range(rank):
            dims = [k.shape[i] for k in kinds]  # type: ignore[index]
            if i != at:
                shape.append(dims[0])
            elif all(isinstance(d, int) for d in dims):
                shape.append(sum(dims))
            else:
                shape.append("+".join(map(str, dims)))
        return Kind("array", dtype, tuple(shape), fresh=True)
    return Kind("array", dtype, None, fresh=True)


def _stack_kind(bound: Bound) -> Kind:
    axis = bound.constant("axis")
    kinds = bound.kind("arrays").items or ()
    shapes = {k.shape for k in kinds}
    dtype = elementwise(*kinds).dtype if kinds else None
    if isinstance(axis, int) and len(shapes) == 1 and isinstance(shape := shapes.pop(), tuple):
        at = axis % (len(shape) + 1)
        return Kind("array", dtype, (*shape[:at], len(kinds), *shape[at:]), fresh=True)
    return Kind("array", dtype, None, fresh=True)


# Conversions to complex numbers, see resolve.py.
VARIANTS = [
    Rule.of(
        "numpy.array of complex", "x, dtype", _identity, _with_dtype(_array_kind, "complex"), tangent=LINEAR
    ),
    Rule.of(
        "numpy.asarray of complex",
        "x, dtype",
        _identity,
        _with_dtype(_asarray_kind, "complex"),
        tangent=LINEAR,
    ),
    Rule.of(
        "numpy.astype of complex", "x, dtype", _identity, _with_dtype(_same_kind, "complex"), tangent=LINEAR
    ),
]

_AXES_BACK = "np.moveaxis(dy, destination, source)"

RULES = [
    Rule.of("**", "x1, x2", _power, _power_kind, "x1 x2"),
    Rule.of("numpy.power", "x1, x2", _power, _power_kind, "x1 x2"),
    Rule.of("math.log", "x, base=None", _math_log, lambda b: FLOAT, "x base"),
    Rule.of("math.pow", "x1, x2", _power, _power_kind, "x1 x2"),
    Rule.of("builtins.pow", "x1, x2", _power, _power_kind, "x1 x2"),
    Rule.of("numpy.clip", "x, a_min=None, a_max=None", _clip, _clip_kind, "x a_min a_max"),
    Rule.of("builtins.max", "x1, x2", _extreme(">"), _extreme_kind, "x1 x2"),
    Rule.of("builtins.min", "x1, x2", _extreme("<"), _extreme_kind, "x1 x2"),
    Rule.of("builtins.abs", "x", _builtin_abs, _abs_kind, tangent=abs_tangent),
    Rule.of("builtins.float", "x", _identity, _float_kind, tangent=LINEAR),
    Rule.of("numpy.float64", "x", _identity, _as_float_kind, tangent=LINEAR),
    Rule.of("numpy.reshape", "x, shape", _reshape, _reshape_kind, tangent=LINEAR),
    Rule.of("numpy.ravel", "x", _reshape, _ravel_kind, tangent=LINEAR),
    Rule.of("numpy.squeeze", "x, axis=None", _reshape, _view_kind, tangent=LINEAR),
    Rule.of("numpy.expand_dims", "x, axis", _reshape, _ravel_kind, tangent=LINEAR),
    Rule.of("numpy.atleast_1d", "x", _reshape, _ravel_kind, tangent=LINEAR),
    Rule.of("numpy.atleast_2d", "x", _reshape, _ravel_kind, tangent=LINEAR),
    Rule.of("numpy.transpose", "x, axes=None", _transpose, _transpose_kind, tangent=LINEAR),
    Rule.of(
        "numpy.swapaxes",
        "x, axis1, axis2",
        _moved("np.swapaxes(dy, axis1, axis2)"),
        _view_kind,
        tangent=LINEAR,
    ),
    Rule.of("numpy.moveaxis", "x, source, destination", _moved(_AXES_BACK), _view_kind, tangent=LINEAR),
    Rule.of("numpy.flip", "x, axis=None", _flip, _view_of_same_shape, tangent=LINEAR),
    Rule.of("numpy.fliplr", "x", _moved("np.fliplr(dy)"), _view_of_same_shape, tangent=LINEAR),
    Rule.of("numpy.flipud", "x", _moved("np.flipud(dy)"), _view_of_same_shape, tangent=LINEAR),
    Rule.of("numpy.roll", "x, shift, axis=None", _roll, _rolled_kind, tangent=LINEAR),
    Rule.of("numpy.cumsum", "x, axis=None", _cumsum, _cumsum_kind, tangent=LINEAR),
    Rule.of("numpy.diff", "x, n=1, axis=-1", _diff, _ravel_kind, tangent=LINEAR),
    Rule.of("numpy.copy", "x", _identity, _same_kind, tangent=LINEAR),
    Rule.of("numpy.array", "x, dtype=None", _identity, _with_dtype(_array_kind), tangent=LINEAR),
    Rule.of("numpy.asarray", "x, dtype=None", _identity, _with_dtype(_asarray_kind), tangent=LINEAR),
    Rule.of("numpy.astype", "x, dtype", _identity, _with_dtype(_same_kind), tangent=_converted),
    Rule.of("numpy.full", "shape, fill_value, dtype=None", _fill, _fill_kind, "fill_value", tangent=LINEAR),
    Rule.of("numpy.broadcast_to", "x, shape", _broadcast_to, _view_kind, tangent=LINEAR),
    Rule.of("numpy.concatenate", "arrays, axis=0", None, _concatenate_kind, "arrays", tangent=LINEAR),
    Rule.of("numpy.stack", "arrays, axis=0", None, _stack_kind, "arrays", tangent=LINEAR),
]
