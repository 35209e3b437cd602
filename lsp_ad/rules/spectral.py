"""Factors of matrices: logarithm of the determinant, eigenvalues, singular values, QR; the pseudo-inverse.

The adjoint of a tuple has an item for each of its items. A derivative with respect to a symmetric matrix
belongs to the triangle that NumPy reads.
"""

from __future__ import annotations

from collections.abc import Callable, Set

from lsp_ad.rules.rule import Adjoint, Bound, Rule, Tangent, Unsupported
from lsp_ad.semantics.shapes import Kind

_ARRAY = Kind("array", "float", None, fresh=True)


def _slogdet(bound: Bound) -> dict[str, Adjoint]:
    """d log |det X| = tr(inv(X) dX)."""
    if bound.kind("x").rank == 2:
        turned = "" if "x" in bound.symmetric else ".T"
        return {"x": Adjoint(f"dy[1] * np.linalg.inv(x){turned}")}
    return {"x": Adjoint("np.expand_dims(dy[1], (-2, -1)) * np.swapaxes(np.linalg.inv(x), -1, -2)")}


def _slogdet_tangent(bound: Bound, wrt: Set[str]) -> str:
    return "(np.zeros_like(y[0]), np.trace(np.linalg.solve(x, dx), axis1=-2, axis2=-1))"


def _slogdet_kind(bound: Bound) -> Kind:
    shape = bound.kind("x").shape
    known = shape[:-2] if isinstance(shape, tuple) else None
    part = Kind("number" if known == () else "numeric", "float", known, fresh=True)
    return Kind("tuple", None, None, (part, part))


def _eigh(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("eigh_adjoint(dy[0], dy[1], y[0], y[1])")}


def _eigh_tangent(bound: Bound, wrt: Set[str]) -> str:
    return "eigh_tangent(dx, y[0], y[1])"


def _eigvalsh_tangent(bound: Bound, wrt: Set[str]) -> str:
    return "v = np.linalg.eigh(x)[1]\nnp.sum(v * (symmetric_tangent(dx) @ v), axis=-2)"


def _pinv_tangent(bound: Bound, wrt: Set[str]) -> str:
    return "pinv_tangent(dx, x, y)"


def _eigvalsh(bound: Bound) -> dict[str, Adjoint]:
    return {
        "x": Adjoint(
            "v = np.linalg.eigh(x)[1]\n"
            "lower_adjoint((v * np.expand_dims(dy, -2)) @ np.swapaxes(v, -1, -2))"
        )
    }


def _svd(bound: Bound) -> dict[str, Adjoint]:
    if bound.constant("full_matrices") is not False:
        raise Unsupported("singular vectors of the null space (give `full_matrices=False`)")
    return {"x": Adjoint("svd_adjoint(dy[0], dy[1], dy[2], y[0], y[1], y[2])")}


def _qr(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("qr_adjoint(dy[0], dy[1], y[0], y[1])")}


def _pinv(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("pinv_adjoint(dy, x, y)")}


def _tuple_of(count: int) -> Callable[[Bound], Kind]:
    return lambda bound: Kind("tuple", None, None, (_ARRAY,) * count)


def _array(bound: Bound) -> Kind:
    return _ARRAY


def _rule(name: str, text: str, adjoints, kind, tangent: Tangent | None = None) -> Rule:
    return Rule.of(f"numpy.linalg.{name}", text, adjoints, kind, tangent=tangent)


RULES = [
    _rule("slogdet", "x", _slogdet, _slogdet_kind, _slogdet_tangent),
    _rule("eigh", "x", _eigh, _tuple_of(2), _eigh_tangent),
    _rule("eigvalsh", "x", _eigvalsh, _array, _eigvalsh_tangent),
    _rule("svd", "x, full_matrices=True", _svd, _tuple_of(3)),
    _rule("qr", "x", _qr, _tuple_of(2)),
    _rule("pinv", "x", _pinv, _array, _pinv_tangent),
]
