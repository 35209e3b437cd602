"""Complex numbers between real input and output: which rules hold for them, and the rules of their parts.

The adjoint of a complex z = a + ib is dL/da + i dL/db. A holomorphic y = f(z) hands on dz = dy conj(f'(z)):
the text of its rule with the conjugates of the arguments and of the result, as all functions in these texts
have f(conj(z)) = conj(f(z)). To an argument that is real goes the real part. Rules that are not named here
are refused for complex numbers.
"""

from __future__ import annotations

from collections.abc import Set

from lsp_ad.rules.rule import LINEAR, Adjoint, Bound, Rule, Tangent, Unsupported
from lsp_ad.semantics.shapes import Kind

_OPERATORS = ("+", "-", "*", "/", "**", "@", "u-", "u+", "builtins.sum")
_HOLOMORPHIC = """add subtract multiply divide true_divide negative positive exp expm1 exp2 log log2 log10
    log1p sqrt square reciprocal sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh
    sinc power where sum mean prod matmul dot outer inner tensordot kron einsum linalg.inv linalg.det
    linalg.solve cross cumprod"""
_HELPERS = "matmul_adjoint_left matmul_adjoint_right dot_adjoint_left dot_adjoint_right solve_adjoint_right"
_CONJUGATED = (
    frozenset(_OPERATORS)
    | {f"numpy.{name}" for name in _HOLOMORPHIC.split()}
    | {f"lsp_ad.runtime.{name}" for name in (*_HELPERS.split(), "solve_adjoint_left")}
)

# No argument's value stands in these texts but the one whose own it is: nothing is to be conjugated.
_MOVING = """concatenate stack reshape ravel squeeze expand_dims atleast_1d atleast_2d transpose swapaxes
    moveaxis flip fliplr flipud roll cumsum diff copy array asarray astype full broadcast_to trace
    diagonal diag tril triu var std linalg.norm abs absolute real imag conj conjugate angle fft.fft
    fft.ifft fft.fft2 fft.ifft2 fft.fftn fft.ifftn fft.rfft fft.irfft fft.rfft2 fft.irfft2 fft.fftshift
    fft.ifftshift take take_along_axis compress extract repeat tile delete append pad rot90 hstack vstack
    dstack column_stack trapezoid gradient"""
_PLAIN = frozenset(
    {f"numpy.{name}" for name in _MOVING.split()}
    | {f"numpy.{name} of complex" for name in ("array", "asarray", "astype")}
    | {
        f"lsp_ad.runtime.{n}"
        for n in ("sum_adjoint", "unbroadcast", "diff_adjoint", "diagonal_adjoint", "diag_adjoint")
    }
    | {"builtins.abs", "builtins.complex"}
)

# Of a complex argument they make a real result; NumPy's sign is the direction of a complex number, no step.
_REAL_VALUED = """abs absolute real imag conj conjugate angle var std linalg.norm sign linalg.cholesky
    fft.irfft fft.irfft2 vdot"""
REAL_VALUED = frozenset({f"numpy.{name}" for name in _REAL_VALUED.split()} | {"builtins.abs"})


def is_conjugated(name: str) -> bool | None:
    """Whether a rule takes the conjugates of complex operands; None where it does not hold for them."""
    return True if name in _CONJUGATED else False if name in _PLAIN else None


def _real(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint("dy", elementwise=True)}


def _known(bound: Bound, text: str) -> dict[str, Adjoint]:
    if bound.kind("x").dtype != "complex":
        raise Unsupported("a number that is not known to be complex")
    return {"x": Adjoint(text, elementwise=True)}


def _imag(bound: Bound) -> dict[str, Adjoint]:
    return _known(bound, "1j * dy")


def _angle(bound: Bound) -> dict[str, Adjoint]:
    """d angle = Re(conj(i z) dz) / |z| ** 2."""
    return _known(bound, "dy * 1j * x / np.abs(x) ** 2")


def _conj(bound: Bound) -> dict[str, Adjoint]:
    text = "dy.conjugate()" if bound.kind("x").dtype == "complex" else "dy"
    return {"x": Adjoint(text, elementwise=True)}


def _parts(bound: Bound) -> dict[str, Adjoint]:
    return {p: Adjoint(f"np.{p}(dy)", elementwise=True) for p in ("real", "imag")}


def _real_kind(bound: Bound) -> Kind:
    """A part of a complex number is a view of it."""
    kind = bound.kind("x")
    return Kind(kind.type, "float" if kind.dtype == "complex" else kind.dtype, kind.shape)


def _angle_kind(bound: Bound) -> Kind:
    kind = bound.kind("x")
    return Kind(kind.type, "float", kind.shape, fresh=True)


def _same_kind(bound: Bound) -> Kind:
    kind = bound.kind("x")
    return Kind(kind.type, kind.dtype, kind.shape, fresh=kind.dtype == "complex")


def _complex_kind(bound: Bound) -> Kind:
    return Kind("number", "complex", (), fresh=True)


def _angle_tangent(bound: Bound, wrt: Set[str]) -> str:
    return "np.imag(dx / x)"


def _rule(name: str, text: str, adjoints, kind, differentiable: str = "x", tangent: Tangent = LINEAR) -> Rule:
    return Rule.of(name, text, adjoints, kind, differentiable, tangent)


RULES = [
    _rule("numpy.real", "x", _real, _real_kind),
    _rule("numpy.imag", "x", _imag, _real_kind),
    _rule("numpy.angle", "x", _angle, _angle_kind, tangent=_angle_tangent),
    _rule("numpy.conj", "x", _conj, _same_kind),
    _rule("numpy.conjugate", "x", _conj, _same_kind),
    _rule("builtins.complex", "real, imag=0.0", _parts, _complex_kind, "real imag"),
]
