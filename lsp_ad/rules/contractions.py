"""Products that sum over axes: einsum, tensordot, inner, vdot, kron, cross."""

from __future__ import annotations

from collections.abc import Callable

from lsp_ad.rules.rule import EACH, Adjoint, Bound, Rule, Unsupported
from lsp_ad.semantics.shapes import Kind, elementwise

_OPERANDS = ("x1", "x2", "x3", "x4")


def _subscripts(bound: Bound) -> tuple[list[str], str]:
    """The indices of each operand and of the result."""
    text = bound.constant("subscripts")
    if not isinstance(text, str):
        raise Unsupported("a string of subscripts that is not a constant")
    left, arrow, right = text.replace(" ", "").partition("->")
    inputs = left.split(",")
    if not (left.replace(",", "") + right).isalpha() and left.replace(",", "") + right:
        raise Unsupported("`...` among the subscripts")
    if any(len(set(i)) < len(i) for i in inputs):
        raise Unsupported("a diagonal among the subscripts")
    if not arrow:
        right = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    if len(inputs) != sum(p in bound.given for p in _OPERANDS):
        raise Unsupported("another number of operands than of subscripts")
    return inputs, right


def _einsum(bound: Bound) -> dict[str, Adjoint]:
    """An operand takes the place of the result."""
    inputs, result = _subscripts(bound)
    found = {}
    for position, own in enumerate(inputs):
        others = [(s, p) for k, (s, p) in enumerate(zip(inputs, _OPERANDS, strict=False)) if k != position]
        if set(own) - set(result) - {c for s, _ in others for c in s}:
            others.append((own, f"np.ones_like({_OPERANDS[position]})"))  # an index that only it has
        subscripts = ",".join([result, *(s for s, _ in others)]) + "->" + own
        arguments = ", ".join(["dy", *(p for _, p in others)])
        found[_OPERANDS[position]] = Adjoint(f"np.einsum({subscripts!r}, {arguments})")
    return found


def _einsum_kind(bound: Bound) -> Kind:
    kinds = [bound.kind(p) for p in _OPERANDS if p in bound.given]
    dtype = elementwise(*kinds).dtype
    fresh = len(kinds) > 1  # of one operand it may hand back a view: a diagonal, a transpose
    try:
        inputs, result = _subscripts(bound)
    except Unsupported:
        return Kind("numeric", dtype, None, fresh=fresh)
    sizes = {
        c: d
        for s, kind in zip(inputs, kinds, strict=True)
        if isinstance(kind.shape, tuple) and len(kind.shape) == len(s)
        for c, d in zip(s, kind.shape, strict=True)
    }
    known = tuple(sizes[c] for c in result) if all(c in sizes for c in result) else None
    return Kind("number" if not result else "array", dtype, known, fresh=fresh or not result)


def _helpers(name: str, options: str = "") -> Callable[[Bound], dict[str, Adjoint]]:
    def adjoints(bound: Bound) -> dict[str, Adjoint]:
        arguments = f"(dy, x1, x2{options})"
        sides = {"x1": "left", "x2": "right"}
        return {p: Adjoint(f"{name}_adjoint_{side}{arguments}") for p, side in sides.items()}

    return adjoints


def _vdot(bound: Bound) -> dict[str, Adjoint]:
    return {
        "x1": Adjoint("np.reshape(dy * np.ravel(x2), np.shape(x1))"),
        "x2": Adjoint("np.reshape(dy * np.ravel(x1), np.shape(x2))"),
    }


def _cross(bound: Bound) -> dict[str, Adjoint]:
    """x1 . (x2 x x3) is the same under a cyclic exchange."""
    return {
        "x1": Adjoint("unbroadcast(np.cross(x2, dy), x1)"),
        "x2": Adjoint("unbroadcast(np.cross(dy, x1), x2)"),
    }


def _kind(bound: Bound) -> Kind:
    return Kind("numeric", elementwise(bound.kind("x1"), bound.kind("x2")).dtype, None, fresh=True)


def _number(bound: Bound) -> Kind:
    return Kind("number", elementwise(bound.kind("x1"), bound.kind("x2")).dtype, (), fresh=True)


def _rule(name: str, text: str, adjoints, kind, differentiable: str = "x1 x2") -> Rule:
    return Rule.of(f"numpy.{name}", text, adjoints, kind, differentiable, EACH)


RULES = [
    _rule(
        "einsum",
        "subscripts, x1, x2=None, x3=None, x4=None, *, optimize=False",
        _einsum,
        _einsum_kind,
        " ".join(_OPERANDS),
    ),
    _rule("tensordot", "x1, x2, axes=2", _helpers("tensordot", ", axes"), _kind),
    _rule("inner", "x1, x2", _helpers("inner"), _kind),
    _rule("vdot", "x1, x2", _vdot, _number),
    _rule("kron", "x1, x2", _helpers("kron"), _kind),
    _rule("cross", "x1, x2", _cross, _kind),
]
