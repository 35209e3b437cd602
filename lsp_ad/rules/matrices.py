"""Products of matrices, linear algebra, and functions of rows, columns and diagonals.

The derivatives of inverse, solution, determinant and Cholesky factor are those of M. Giles, Collected matrix
derivative results for forward and reverse mode algorithmic differentiation (2008).
"""

from __future__ import annotations

from collections.abc import Callable, Set

from lsp_ad.rules.rule import EACH, LINEAR, Adjoint, Bound, Rule, Unsupported
from lsp_ad.semantics.shapes import Kind, Shape, broadcast, elementwise

# By the ranks of x1 and x2. A product of two vectors is a number, whose adjoint may stay one.
_PRODUCTS = {
    (1, 1): ("dy * x2", "dy * x1"),
    (1, 2): ("x2 @ dy", "np.outer(x1, dy)"),
    (2, 1): ("np.outer(dy, x2)", "x1.T @ dy"),
    (2, 2): ("dy @ x2.T", "x1.T @ dy"),
}


def _product(bound: Bound, name: str) -> dict[str, Adjoint]:
    a, b = bound.kind("x1").rank, bound.kind("x2").rank
    general = (f"{name}_adjoint_left(dy, x1, x2)", f"{name}_adjoint_right(dy, x1, x2)")
    left, right = general if a is None or b is None else _PRODUCTS.get((a, b), general)
    wide = name == "matmul"
    return {
        "x1": Adjoint(left, wide=wide and left == general[0]),
        "x2": Adjoint(right, wide=wide and right == general[1]),
    }


def _matmul(bound: Bound) -> dict[str, Adjoint]:
    if bound.kind("x1").is_scalar or bound.kind("x2").is_scalar:
        raise Unsupported("a number as an operand")
    return _product(bound, "matmul")


def _matmul_kind(bound: Bound) -> Kind:
    a, b = bound.kind("x1"), bound.kind("x2")
    shape = _product_shape(a.shape, b.shape)
    kind = "numeric" if not isinstance(shape, tuple) else "array" if shape else "number"
    return Kind(kind, elementwise(a, b).dtype, shape, fresh=True)


def _product_shape(a: Shape, b: Shape) -> Shape:
    if not isinstance(a, tuple) or not isinstance(b, tuple) or not a or not b:
        return None
    if len(a) > 2 or len(b) > 2:
        if len(a) < 2 or len(b) < 2:
            return None
        batch = broadcast(a[:-2], b[:-2])
        return (*batch, a[-2], b[-1]) if isinstance(batch, tuple) else None
    return a[:-1] + (b[1:] if len(b) == 2 else ())


def _dot(bound: Bound) -> dict[str, Adjoint]:
    if bound.kind("x1").is_scalar or bound.kind("x2").is_scalar:
        return {"x1": Adjoint("dy * x2", elementwise=True), "x2": Adjoint("dy * x1", elementwise=True)}
    return _product(bound, "dot")


def _dot_kind(bound: Bound) -> Kind:
    a, b = bound.kind("x1"), bound.kind("x2")
    if a.is_scalar or b.is_scalar:
        return elementwise(a, b)
    if (a.rank or 9) <= 2 and (b.rank or 9) <= 2:
        return _matmul_kind(bound)
    return Kind("numeric", elementwise(a, b).dtype, None, fresh=True)


def _outer(bound: Bound) -> dict[str, Adjoint]:
    left, right = "dy @ np.ravel(x2)", "np.ravel(x1) @ dy"
    flat_left, flat_right = bound.kind("x1").rank == 1, bound.kind("x2").rank == 1
    if flat_right:
        left = "dy @ x2"
    if flat_left:
        right = "x1 @ dy"
    return {
        "x1": Adjoint(left if flat_left else f"np.reshape({left}, np.shape(x1))"),
        "x2": Adjoint(right if flat_right else f"np.reshape({right}, np.shape(x2))"),
    }


def _outer_kind(bound: Bound) -> Kind:
    a, b = bound.kind("x1"), bound.kind("x2")
    vectors = isinstance(a.shape, tuple) and isinstance(b.shape, tuple) and len(a.shape) == len(b.shape) == 1
    shape = (*a.shape, *b.shape) if vectors else None  # type: ignore[misc]
    return Kind("array", elementwise(a, b).dtype, shape, fresh=True)


# --- linear algebra --------------------------------------------------------------------------


def _is_matrix(bound: Bound, name: str) -> bool:
    return bound.kind(name).rank == 2


def _turned(bound: Bound, name: str) -> str:
    """`.T` for a matrix, where that makes another."""
    return "" if name in bound.symmetric else ".T"


def _inv(bound: Bound) -> dict[str, Adjoint]:
    """d inv(X) = -Y dX Y."""
    if _is_matrix(bound, "x"):
        turned = "y" + _turned(bound, "x")
        return {"x": Adjoint(f"-({turned} @ dy @ {turned})")}
    return {"x": Adjoint("q = np.swapaxes(y, -1, -2)\n-(q @ dy @ q)")}


def _inv_tangent(bound: Bound, wrt: Set[str]) -> str:
    return "-(y @ dx @ y)"


def _det(bound: Bound) -> dict[str, Adjoint]:
    """d det(X) = y tr(inv(X) dX)."""
    if _is_matrix(bound, "x"):
        return {"x": Adjoint(f"dy * y * np.linalg.inv(x){_turned(bound, 'x')}")}
    return {"x": Adjoint("np.expand_dims(dy * y, (-2, -1)) * np.swapaxes(np.linalg.inv(x), -1, -2)")}


def _det_tangent(bound: Bound, wrt: Set[str]) -> str:
    if _is_matrix(bound, "x"):
        return "y * np.sum(np.linalg.inv(x).T * dx)"
    return "y * np.sum(np.swapaxes(np.linalg.inv(x), -1, -2) * dx, axis=(-2, -1))"


def _solve(bound: Bound) -> dict[str, Adjoint]:
    """X1 Y = X2: dX2 += q and dX1 -= q Y^T, where q solves X1^T q = dY."""
    if _is_matrix(bound, "x1") and bound.kind("x2").rank in (1, 2):
        q = f"q = np.linalg.solve(x1{_turned(bound, 'x1')}, dy)"
        outer = "-np.outer(q, y)" if bound.kind("x2").rank == 1 else "-(q @ y.T)"
        return {"x1": Adjoint(f"{q}\n{outer}"), "x2": Adjoint(f"{q}\nq")}
    q = "q = solve_adjoint_right(dy, x1)"
    return {"x1": Adjoint(f"{q}\nsolve_adjoint_left(q, y)"), "x2": Adjoint(f"{q}\nq")}


def _solve_tangent(bound: Bound, wrt: Set[str]) -> str:
    """X1 dY = dX2 - dX1 Y."""
    if "x1" not in wrt:
        return "np.linalg.solve(x1, dx2)"
    return "np.linalg.solve(x1, dx2 - dx1 @ y)" if "x2" in wrt else "-np.linalg.solve(x1, dx1 @ y)"


def _solve_kind(bound: Bound) -> Kind:
    kind = bound.kind("x2")
    dtype = _float_or_complex(bound.kind("x1"), kind)
    return Kind("array", dtype, kind.shape if _is_matrix(bound, "x1") else None, fresh=True)


def _cholesky(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("cholesky_adjoint(dy, y)")}


def _cholesky_tangent(bound: Bound, wrt: Set[str]) -> str:
    return "cholesky_tangent(dx, y)"


def _float_or_complex(*kinds: Kind) -> str:
    return "complex" if any(k.dtype == "complex" for k in kinds) else "float"


def _square_kind(bound: Bound) -> Kind:
    return Kind("array", _float_or_complex(bound.kind("x")), bound.kind("x").shape, fresh=True)


def _det_kind(bound: Bound) -> Kind:
    shape = bound.kind("x").shape
    known = shape[:-2] if isinstance(shape, tuple) else None
    dtype = _float_or_complex(bound.kind("x"))
    return Kind("number" if known == () else "numeric", dtype, known, fresh=True)


# --- diagonals and triangles -----------------------------------------------------------------


def _trace(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("diagonal_adjoint(np.expand_dims(dy, -1), x, offset)")}


def _diagonal(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("diagonal_adjoint(dy, x, offset)")}


def _diag(bound: Bound) -> dict[str, Adjoint]:
    """Of a vector a matrix, of a matrix its diagonal."""
    rank = bound.kind("x").rank
    text = {1: "np.diagonal(dy, k).copy()", 2: "diagonal_adjoint(dy, x, k)"}
    return {"x": Adjoint(text.get(rank or 0, "diag_adjoint(dy, x, k)"))}


def _triangle(name: str) -> Callable[[Bound], dict[str, Adjoint]]:
    def adjoints(bound: Bound) -> dict[str, Adjoint]:
        text = f"np.{name}(dy, k)" if bound.has("k") and bound.constant("k") != 0 else f"np.{name}(dy)"
        return {"x": Adjoint(text if (bound.kind("x").rank or 0) >= 2 else f"unbroadcast({text}, x)")}

    return adjoints


def _triangle_kind(bound: Bound) -> Kind:
    kind = bound.kind("x")
    return Kind("array", kind.dtype, kind.shape if (kind.rank or 0) >= 2 else None, fresh=True)


def _unknown_kind(bound: Bound) -> Kind:
    return Kind("numeric", bound.kind("x").dtype, None, fresh=True)


def _diagonal_kind(bound: Bound) -> Kind:
    """A diagonal is a view."""
    return Kind("array", bound.kind("x").dtype)


RULES = [
    Rule.of("@", "x1, x2", _matmul, _matmul_kind, "x1 x2", tangent=EACH),
    Rule.of("numpy.matmul", "x1, x2", _matmul, _matmul_kind, "x1 x2", tangent=EACH),
    Rule.of("numpy.dot", "x1, x2", _dot, _dot_kind, "x1 x2", tangent=EACH),
    Rule.of("numpy.outer", "x1, x2", _outer, _outer_kind, "x1 x2", tangent=EACH),
    Rule.of("numpy.linalg.inv", "x", _inv, _square_kind, tangent=_inv_tangent),
    Rule.of("numpy.linalg.det", "x", _det, _det_kind, tangent=_det_tangent),
    Rule.of("numpy.linalg.solve", "x1, x2", _solve, _solve_kind, "x1 x2", tangent=_solve_tangent),
    Rule.of("numpy.linalg.cholesky", "x", _cholesky, _square_kind, tangent=_cholesky_tangent),
    Rule.of("numpy.trace", "x, offset=0", _trace, _unknown_kind, tangent=LINEAR),
    Rule.of("numpy.diagonal", "x, offset=0", _diagonal, _diagonal_kind, tangent=LINEAR),
    Rule.of("numpy.diag", "x, k=0", _diag, _diagonal_kind, tangent=LINEAR),
    Rule.of("numpy.tril", "x, k=0", _triangle("tril"), _triangle_kind, tangent=LINEAR),
    Rule.of("numpy.triu", "x, k=0", _triangle("triu"), _triangle_kind, tangent=LINEAR),
]
