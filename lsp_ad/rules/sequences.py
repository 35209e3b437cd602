"""Functions of values along an axis: interpolation, differences, integrals, running products, convolution;
the pieces of an array."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from lsp_ad.rules.reductions import axes, is_open, plain, reduced
from lsp_ad.rules.rule import EACH, LINEAR, Adjoint, Bound, Rule, Tangent, Unsupported
from lsp_ad.semantics.shapes import Kind, elementwise


def _interp(bound: Bound) -> dict[str, Adjoint]:
    """A line through two points: its slope, and its weights."""
    return {
        "x": Adjoint("dy * interp_slope(x, xp, fp)"),
        "fp": Adjoint("interp_adjoint(dy, x, xp, fp)"),
    }


def _interp_tangent(bound: Bound, wrt: Set[str]) -> str:
    terms = {"x": "dx * interp_slope(x, xp, fp)", "fp": "np.interp(x, xp, dfp)"}
    return " + ".join(terms[p] for p in terms if p in wrt)


def _gradient(bound: Bound) -> dict[str, Adjoint]:
    axis = bound.constant("axis")
    if bound.kind("x").rank != 1 and (not isinstance(axis, int) or isinstance(axis, bool)):
        raise Unsupported("the gradient along several axes (give `axis`)")
    if "spacing" in bound.given and not bound.kind("spacing").is_scalar:
        raise Unsupported("a spacing that is not known to be a number")
    along = "axis" if isinstance(axis, int) else "0"
    return {"x": Adjoint(f"gradient_adjoint(dy, x, {along}) / spacing")}


def _gradient_tangent(bound: Bound, wrt: Set[str]) -> str:
    _gradient(bound)
    return "np.gradient(dx, spacing, axis=axis)"


def _trapezoid(bound: Bound) -> dict[str, Adjoint]:
    return {"f": Adjoint("trapezoid_adjoint(dy, f, x, dx, axis)")}


def _convolve(bound: Bound) -> dict[str, Adjoint]:
    if bound.constant("mode") not in ("full", "same", "valid"):
        raise Unsupported("a `mode` that is not a constant")
    return {
        "x1": Adjoint("convolve_adjoint(dy, x1, x2, mode)"),
        "x2": Adjoint("convolve_adjoint(dy, x2, x1, mode)"),
    }


def _cumprod(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("cumprod_adjoint(dy, x, y, axis)")}


def _cumprod_tangent(bound: Bound, wrt: Set[str]) -> str:
    return "cumprod_tangent(dx, x, y, axis)"


def _nansum(bound: Bound) -> dict[str, Adjoint]:
    spread = "dy" if plain(bound) else "np.expand_dims(dy, axis)"
    return {"x": Adjoint(f"{spread} * (np.ones_like(x) * ~np.isnan(x))", any_shape=plain(bound))}


def _nansum_tangent(bound: Bound, wrt: Set[str]) -> str:
    over = "" if not is_open(bound) and axes(bound) is None else ", axis=axis"
    return f"np.sum(np.where(np.isnan(x), 0.0, dx){over}, keepdims=keepdims)"


def _like(bound: Bound) -> Kind:
    kind = bound.kind("x")
    return Kind(kind.type, "float", kind.shape, fresh=True)


def _array(bound: Bound) -> Kind:
    return Kind("array", bound.kind("x").dtype, None, fresh=True)


def _same(bound: Bound) -> Kind:
    return Kind("array", "float", bound.kind("x").shape, fresh=True)


def _integral(bound: Bound) -> Kind:
    rank = bound.kind("f").rank
    return Kind(
        "number" if rank == 1 else "numeric", bound.kind("f").dtype, () if rank == 1 else None, fresh=True
    )


def _product(bound: Bound) -> Kind:
    return Kind("array", elementwise(bound.kind("x1"), bound.kind("x2")).dtype, None, fresh=True)


def _pieces(bound: Bound) -> Kind:
    """Views of the array: as many as a number says, or one more than there are places to cut at."""
    at = bound.constant("indices_or_sections")
    count = len(at) + 1 if isinstance(at, tuple) else at
    piece = Kind("array", bound.kind("x").dtype)
    if isinstance(count, int) and 0 < count < 20:
        return Kind("list", items=(piece,) * count)
    return Kind("list", element=piece)


def _rule(name: str, text: str, adjoints, tangent: Tangent, kind, differentiable: str = "x") -> Rule:
    return Rule.of(f"numpy.{name}", text, adjoints, kind, differentiable, tangent)


def _splitting(name: str, text: str, back: str) -> Rule:
    """The pieces of an array: their adjoints are the items of a list, and joined again by `back`."""
    rule = _rule(name, text, lambda bound: {"x": Adjoint(back)}, LINEAR, _pieces)
    return replace(rule, passive=("indices_or_sections", "axis"))


RULES = [
    _rule("interp", "x, xp, fp", _interp, _interp_tangent, _like, "x fp"),
    _rule("gradient", "x, spacing=1.0, *, axis=None", _gradient, _gradient_tangent, _same),
    _rule("trapezoid", "f, x=None, dx=1.0, axis=-1", _trapezoid, LINEAR, _integral, "f"),
    _rule("convolve", "x1, x2, mode='full'", _convolve, EACH, _product, "x1 x2"),
    _rule("cumprod", "x, axis=None", _cumprod, _cumprod_tangent, _array),
    _splitting("split", "x, indices_or_sections, axis=0", "np.concatenate(dy, axis=axis)"),
    _splitting("array_split", "x, indices_or_sections, axis=0", "np.concatenate(dy, axis=axis)"),
    _splitting("hsplit", "x, indices_or_sections", "np.hstack(dy)"),
    _splitting("vsplit", "x, indices_or_sections", "np.vstack(dy)"),
    _splitting("dsplit", "x, indices_or_sections", "np.dstack(dy)"),
    _rule("nansum", "x, axis=None, *, keepdims=False", _nansum, _nansum_tangent, reduced),
]
