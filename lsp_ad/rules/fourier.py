"""Discrete Fourier transforms.

The transform is symmetric: its adjoint is the inverse without the factor 1 / n, and what scales the one way
scales the other way back. A real transform leaves out frequencies, which are zero on the way back.
"""

from __future__ import annotations

from collections.abc import Callable

from lsp_ad.rules.rule import LINEAR, Adjoint, Bound, Rule, Unsupported
from lsp_ad.semantics.shapes import Kind

_BACK = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _norm(bound: Bound) -> str:
    """The option that makes the transform back the adjoint."""
    norm = bound.constant("norm")
    if norm is not None and norm not in _BACK:
        raise Unsupported("a `norm` that is not a constant")
    return f'norm="{_BACK[norm]}"'


def _axis(bound: Bound) -> str:
    """The axis as an option, where it is not the last."""
    return "" if bound.constant("axis") == -1 else ", axis=axis"


def _length(bound: Bound) -> str:
    """The length of x along the axis."""
    axis = bound.constant("axis")
    return f"np.shape(x)[{axis}]" if isinstance(axis, int) else "np.shape(x)[axis]"


def _one(back: str) -> Callable[[Bound], dict[str, Adjoint]]:
    def adjoints(bound: Bound) -> dict[str, Adjoint]:
        text = f"np.fft.{back}(dy{_axis(bound)}, {_norm(bound)})"
        return {"x": Adjoint(f"fitted_adjoint({text}, x)" if bound.has("n") else text)}

    return adjoints


def _rfft(bound: Bound) -> dict[str, Adjoint]:
    if bound.has("n"):
        return {"x": Adjoint(f"fitted_adjoint(np.real(np.fft.ifft(dy, n{_axis(bound)}, {_norm(bound)})), x)")}
    return {"x": Adjoint(f"np.real(np.fft.ifft(dy, {_length(bound)}{_axis(bound)}, {_norm(bound)}))")}


def _irfft(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint(_part(bound, f"irfft_adjoint(dy, x, axis, {_norm(bound)})"))}


def _part(bound: Bound, text: str) -> str:
    """A complex adjoint, or the real part of it where x is real."""
    return text if bound.kind("x").dtype == "complex" else f"np.real({text})"


def _whole(bound: Bound, *, last: bool = False) -> None:
    """Only transforms of whole axes are known; `last`: only those of the last two axes."""
    if bound.has("s"):
        raise Unsupported("the option `s`")
    if last and bound.constant("axes") != (-2, -1):
        raise Unsupported("the option `axes`")


def _several(back: str) -> Callable[[Bound], dict[str, Adjoint]]:
    def adjoints(bound: Bound) -> dict[str, Adjoint]:
        _whole(bound)
        plain = bound.constant("axes") == bound.rule.defaults["axes"]
        return {"x": Adjoint(f"np.fft.{back}(dy{'' if plain else ', axes=axes'}, {_norm(bound)})")}

    return adjoints


def _rfft2(bound: Bound) -> dict[str, Adjoint]:
    _whole(bound, last=True)
    return {"x": Adjoint(f"np.real(np.fft.ifft2(dy, np.shape(x)[-2:], {_norm(bound)}))")}


def _irfft2(bound: Bound) -> dict[str, Adjoint]:
    _whole(bound, last=True)
    norm = _norm(bound)
    text = f"np.fft.fft(irfft_adjoint(dy, x, -1, {norm}), axis=-2, {norm})"
    return {"x": Adjoint(_part(bound, text))}


def _shift(back: str) -> Callable[[Bound], dict[str, Adjoint]]:
    return lambda bound: {"x": Adjoint(f"np.fft.{back}(dy{', axes' if bound.has('axes') else ''})")}


def _complex_kind(bound: Bound) -> Kind:
    kind = bound.kind("x")
    return Kind("array", "complex", None if bound.has("n") or bound.has("s") else kind.shape, fresh=True)


def _half_kind(bound: Bound) -> Kind:
    return Kind("array", "complex", None, fresh=True)


def _real_kind(bound: Bound) -> Kind:
    return Kind("array", "float", None, fresh=True)


def _shift_kind(bound: Bound) -> Kind:
    kind = bound.kind("x")
    return Kind("array", kind.dtype, kind.shape, fresh=True)


def _rule(name: str, text: str, adjoints, kind) -> Rule:
    return Rule.of(f"numpy.fft.{name}", text, adjoints, kind, tangent=LINEAR)


_ONE = "x, n=None, axis=-1, norm=None"
_TWO = "x, s=None, axes=(-2, -1), norm=None"
_SEVERAL = "x, s=None, axes=None, norm=None"

RULES = [
    _rule("fft", _ONE, _one("ifft"), _complex_kind),
    _rule("ifft", _ONE, _one("fft"), _complex_kind),
    _rule("rfft", _ONE, _rfft, _half_kind),
    _rule("irfft", _ONE, _irfft, _real_kind),
    _rule("fft2", _TWO, _several("ifft2"), _complex_kind),
    _rule("ifft2", _TWO, _several("fft2"), _complex_kind),
    _rule("fftn", _SEVERAL, _several("ifftn"), _complex_kind),
    _rule("ifftn", _SEVERAL, _several("fftn"), _complex_kind),
    _rule("rfft2", _TWO, _rfft2, _half_kind),
    _rule("irfft2", _TWO, _irfft2, _real_kind),
    _rule("fftshift", "x, axes=None", _shift("ifftshift"), _shift_kind),
    _rule("ifftshift", "x, axes=None", _shift("fftshift"), _shift_kind),
]
