"""Products of matrices, powers, and functions that move elements about."""

from __future__ import annotations

from lsp_ad.rules.rule import UNKNOWN_VALUE, Adjoint, Bound, Rule, Unsupported, signature
from lsp_ad.semantics.shapes import FLOAT, Kind, Shape, broadcast, elementwise


def _rule(name: str, text: str, adjoints, kind, differentiable: str) -> Rule:
    names, defaults, only = signature(text)
    return Rule(name, names, defaults, adjoints=adjoints, kind=kind, differentiable=tuple(differentiable.split()),
                keyword_only=only)


# --- matrix products -------------------------------------------------------------------------

# By the ranks of x1 and x2. A product of two vectors is a number, whose adjoint may stay one.
_PRODUCTS = {
    (1, 1): ("dy * x2", "dy * x1"),
    (1, 2): ("x2 @ dy", "np.outer(x1, dy)"),
    (2, 1): ("np.outer(dy, x2)", "x1.T @ dy"),
    (2, 2): ("dy @ x2.T", "x1.T @ dy"),
}


def _matmul(bound: Bound) -> dict[str, Adjoint]:
    ranks = (bound.kind("x1").rank, bound.kind("x2").rank)
    if 0 in ranks:
        raise Unsupported("a number as an operand")
    left, right = _PRODUCTS.get(ranks, ("matmul_adjoint_left(dy, x1, x2)", "matmul_adjoint_right(dy, x1, x2)"))  # type: ignore[call-overload]
    return {"x1": Adjoint(left), "x2": Adjoint(right)}


def _matmul_kind(bound: Bound) -> Kind:
    a, b = bound.kind("x1"), bound.kind("x2")
    dtype = elementwise(a, b).dtype
    shape = _product_shape(a.shape, b.shape)
    return Kind("numeric" if shape is None else "array" if shape else "number", dtype, shape, fresh=True)


def _product_shape(a: Shape, b: Shape) -> Shape:
    if not isinstance(a, tuple) or not isinstance(b, tuple) or not a or not b:
        return None
    if len(a) > 2 or len(b) > 2:
        left, right = a[:-2] if len(a) > 1 else (), b[:-2] if len(b) > 1 else ()
        if len(a) < 2 or len(b) < 2:
            return None
        batch = broadcast(left, right)
        return (*batch, a[-2], b[-1]) if isinstance(batch, tuple) else None
    return a[:-1] + (b[1:] if len(b) == 2 else ())


def _dot(bound: Bound) -> dict[str, Adjoint]:
    a, b = bound.kind("x1"), bound.kind("x2")
    if a.rank == 0 or b.rank == 0:
        return {"x1": Adjoint("dy * x2", elementwise=True), "x2": Adjoint("dy * x1", elementwise=True)}
    left, right = _PRODUCTS.get((a.rank, b.rank), ("dot_adjoint_left(dy, x1, x2)", "dot_adjoint_right(dy, x1, x2)"))  # type: ignore[call-overload]
    return {"x1": Adjoint(left), "x2": Adjoint(right)}


def _dot_kind(bound: Bound) -> Kind:
    a, b = bound.kind("x1"), bound.kind("x2")
    if a.rank == 0 or b.rank == 0:
        return elementwise(a, b)
    if (a.rank or 9) <= 2 and (b.rank or 9) <= 2:
        return _matmul_kind(bound)
    return Kind("numeric", elementwise(a, b).dtype, None, fresh=True)


def _outer(bound: Bound) -> dict[str, Adjoint]:
    a, b = bound.kind("x1"), bound.kind("x2")
    left, right = "dy @ np.ravel(x2)", "np.ravel(x1) @ dy"
    if b.rank == 1:
        left = "dy @ x2"
    if a.rank == 1:
        right = "x1 @ dy"
    return {"x1": Adjoint(left if a.rank == 1 else f"np.reshape({left}, np.shape(x1))"),
            "x2": Adjoint(right if b.rank == 1 else f"np.reshape({right}, np.shape(x2))")}


def _outer_kind(bound: Bound) -> Kind:
    a, b = bound.kind("x1"), bound.kind("x2")
    shape = (*a.shape, *b.shape) if a.rank == 1 and b.rank == 1 else None  # type: ignore[misc]
    return Kind("array", elementwise(a, b).dtype, shape, fresh=True)


# --- powers ----------------------------------------------------------------------------------

def _power(bound: Bound) -> dict[str, Adjoint]:
    """d(x1 ** x2) = x2 x1 ** (x2 - 1) dx1 + y log(x1) dx2, with the limits at x1 = 0 and x2 = 0."""
    base, exponent = bound.constant("x1"), bound.constant("x2")
    right = "dy * y * np.log(np.where(x1 > 0, x1, 1.0))"
    if isinstance(base, (int, float)) and base > 0:
        right = "dy * y * np.log(x1)"
    if bound.rule.name.startswith("math."):
        right = right.replace("np.log(np.where(x1 > 0, x1, 1.0))", "(math.log(x1) if x1 > 0 else 0.0)").replace("np.", "math.")
    if isinstance(exponent, (int, float)) and not isinstance(exponent, bool):
        left = _constant_power(exponent)
    elif bound.rule.name.startswith("math."):
        left = "dy * x2 * x1 ** ((x2 - 1) if x2 else 1)"
    else:
        left = "dy * x2 * x1 ** np.where(x2, x2 - 1, 1)"
    return {"x1": Adjoint(left, elementwise=True), "x2": Adjoint(right, elementwise=True)}


def _constant_power(n: float) -> str:
    if n == 0:
        return "dy * 0.0 * x1"
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
    low, high = bound.has("a_min"), bound.has("a_max")
    if not low and not high:
        return {"x": Adjoint("dy", elementwise=True)}
    inside = " & ".join(["(x >= a_min)"] * low + ["(x <= a_max)"] * high)
    found = {"x": Adjoint(f"dy * ({inside})" if low and high else f"dy * {inside}", elementwise=True)}
    if low:
        found["a_min"] = Adjoint("dy * ((x < a_min) & (a_min <= a_max))" if high else "dy * (x < a_min)", elementwise=True)
    if high:
        found["a_max"] = Adjoint("dy * (np.maximum(x, a_min) > a_max)" if low else "dy * (x > a_max)", elementwise=True)
    return found


def _clip_kind(bound: Bound) -> Kind:
    return elementwise(*(bound.kind(p) for p in ("x", "a_min", "a_max") if bound.has(p)))


def _extreme_kind(bound: Bound) -> Kind:
    """max and min compare with `<`, which must be one truth value: both are numbers, or arrays of one element."""
    a, b = bound.kind("x1"), bound.kind("x2")
    return Kind("number" if a.is_scalar and b.is_scalar else "numeric", elementwise(a, b).dtype,
                () if a.is_scalar and b.is_scalar else None)


def _builtin_max(bound: Bound) -> dict[str, Adjoint]:
    return {"x1": Adjoint("dy * (x1 >= x2)", elementwise=True), "x2": Adjoint("dy * (x1 < x2)", elementwise=True)}


def _builtin_min(bound: Bound) -> dict[str, Adjoint]:
    return {"x1": Adjoint("dy * (x1 <= x2)", elementwise=True), "x2": Adjoint("dy * (x1 > x2)", elementwise=True)}


def _builtin_abs(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("dy * np.sign(x)", elementwise=True)}


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
    if isinstance(kind.shape, tuple) and isinstance(order, tuple) and sorted(i % len(order) for i in order) == list(range(len(kind.shape))):
        return Kind(kind.type, kind.dtype, tuple(kind.shape[i] for i in order))
    return Kind("numeric", kind.dtype)


def _identity(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("dy", elementwise=True)}


def _same_kind(bound: Bound) -> Kind:
    kind = bound.kind("x")
    return Kind(kind.type if kind.type != "number" else "numeric", kind.dtype, kind.shape, fresh=True)


def _array_kind(bound: Bound) -> Kind:
    kind = bound.kind("x")
    if kind.type in ("list", "tuple"):
        inner = kind.items or ()
        if inner and all(k.is_scalar for k in inner):
            return Kind("array", elementwise(*inner).dtype, (len(inner),), fresh=True)
        return Kind("array", None, None, fresh=True)
    return Kind("numeric", kind.dtype, kind.shape, fresh=True)


def _math_log(bound: Bound) -> dict[str, Adjoint]:
    if not bound.has("base"):
        return {"x": Adjoint("dy / x", elementwise=True)}
    return {"x": Adjoint("dy / (x * math.log(base))", elementwise=True),
            "base": Adjoint("-dy * y / (base * math.log(base))", elementwise=True)}


def _float_kind(bound: Bound) -> Kind:
    return FLOAT


def _expand_dims(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("np.reshape(dy, np.shape(x))")}


def _joined_axis(bound: Bound) -> int:
    axis = bound.constant("axis")
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise Unsupported("an axis that is not a constant")
    return axis


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


RULES = [
    _rule("@", "x1, x2", _matmul, _matmul_kind, "x1 x2"),
    _rule("numpy.matmul", "x1, x2", _matmul, _matmul_kind, "x1 x2"),
    _rule("numpy.dot", "x1, x2", _dot, _dot_kind, "x1 x2"),
    _rule("numpy.outer", "x1, x2", _outer, _outer_kind, "x1 x2"),
    _rule("**", "x1, x2", _power, _power_kind, "x1 x2"),
    _rule("numpy.power", "x1, x2", _power, _power_kind, "x1 x2"),
    _rule("math.log", "x, base=None", _math_log, lambda b: FLOAT, "x base"),
    _rule("math.pow", "x1, x2", _power, _power_kind, "x1 x2"),
    _rule("numpy.clip", "x, a_min=None, a_max=None", _clip, _clip_kind, "x a_min a_max"),
    _rule("builtins.max", "x1, x2", _builtin_max, _extreme_kind, "x1 x2"),
    _rule("builtins.min", "x1, x2", _builtin_min, _extreme_kind, "x1 x2"),
    _rule("builtins.abs", "x", _builtin_abs, _same_kind, "x"),
    _rule("builtins.float", "x", _identity, _float_kind, "x"),
    _rule("numpy.float64", "x", _identity, _float_kind, "x"),
    _rule("numpy.reshape", "x, shape", _reshape, _reshape_kind, "x"),
    _rule("numpy.ravel", "x", _reshape, _ravel_kind, "x"),
    _rule("numpy.squeeze", "x, axis=None", _reshape, lambda b: Kind("numeric", b.kind("x").dtype), "x"),
    _rule("numpy.expand_dims", "x, axis", _expand_dims, lambda b: Kind("array", b.kind("x").dtype), "x"),
    _rule("numpy.atleast_1d", "x", _reshape, lambda b: Kind("array", b.kind("x").dtype), "x"),
    _rule("numpy.transpose", "x, axes=None", _transpose, _transpose_kind, "x"),
    _rule("numpy.copy", "x", _identity, _same_kind, "x"),
    _rule("numpy.array", "x", _identity, _array_kind, "x"),
    _rule("numpy.asarray", "x", _identity, lambda b: Kind("numeric", b.kind("x").dtype, b.kind("x").shape), "x"),
    _rule("numpy.concatenate", "arrays, axis=0", None, _concatenate_kind, "arrays"),
    _rule("numpy.stack", "arrays, axis=0", None, _stack_kind, "arrays"),
]

__all__ = ["RULES", "UNKNOWN_VALUE", "_joined_axis"]
