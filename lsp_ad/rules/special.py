"""Special functions of SciPy, and logarithms of densities: Abramowitz and Stegun; NIST Digital Library.

`special.` in a text stands for what the file calls scipy.special.
"""

from __future__ import annotations

from collections.abc import Callable, Set

from lsp_ad.rules.declared import MODULE
from lsp_ad.rules.rule import Adjoint, Bound, Rule, Unsupported, signature
from lsp_ad.semantics.shapes import Kind, elementwise

# sqrt(pi) / 2 and 1 / sqrt(2 pi), to the last bit of a double
_HALF, _NORMAL = "0.886226925452758", "0.3989422804014327"

_TABLE: list[tuple] = [
    ("gammaln", "x", "dy * special.digamma(x)"),
    ("gamma", "x", "dy * y * special.digamma(x)"),
    ("rgamma", "x", "-dy * y * special.digamma(x)"),
    ("digamma", "x", "dy * special.zeta(2.0, x)"),
    ("psi", "x", "dy * special.zeta(2.0, x)"),
    ("polygamma", "n, x", None, "dy * special.polygamma(n + 1, x)"),
    (
        "betaln",
        "x1, x2",
        "dy * (special.digamma(x1) - special.digamma(x1 + x2))",
        "dy * (special.digamma(x2) - special.digamma(x1 + x2))",
    ),
    (
        "beta",
        "x1, x2",
        "dy * y * (special.digamma(x1) - special.digamma(x1 + x2))",
        "dy * y * (special.digamma(x2) - special.digamma(x1 + x2))",
    ),
    (
        "gammainc",
        "a, x",
        None,
        "dy * np.exp((a - 1.0) * np.log(x) - x - special.gammaln(a * np.ones_like(x)))",
    ),
    (
        "gammaincc",
        "a, x",
        None,
        "-dy * np.exp((a - 1.0) * np.log(x) - x - special.gammaln(a * np.ones_like(x)))",
    ),
    (
        "betainc",
        "a, b, x",
        None,
        None,
        "n = np.ones_like(x)\n"
        "q = special.gammaln(a * n) + special.gammaln(b * n) - special.gammaln((a + b) * n)\n"
        "dy * np.exp((a - 1.0) * np.log(x) + (b - 1.0) * np.log1p(-x) - q)",
    ),
    ("erfinv", "x", f"dy * {_HALF} * np.exp(y * y)"),
    ("erfcinv", "x", f"-dy * {_HALF} * np.exp(y * y)"),
    ("erfcx", "x", "dy * (2.0 * x * y - 1.1283791670955126)"),
    ("ndtr", "x", f"dy * {_NORMAL} * np.exp(-0.5 * x * x)"),
    ("log_ndtr", "x", f"dy * {_NORMAL} * np.exp(-0.5 * x * x - y)"),
    ("ndtri", "x", f"dy / {_NORMAL} * np.exp(0.5 * y * y)"),
    ("i0", "x", "dy * special.i1(x)"),
    ("i1", "x", "dy * (special.i0(x) - special.i1e(x) * np.exp(np.abs(x)) / x)"),
    ("j0", "x", "-dy * special.j1(x)"),
    ("j1", "x", "dy * (special.j0(x) - y / x)"),
    ("rel_entr", "x1, x2", "dy * (np.log(x1 / x2) + 1.0)", "-dy * x1 / x2"),
    ("kl_div", "x1, x2", "dy * np.log(x1 / x2)", "dy * (1.0 - x1 / x2)"),
    ("exp10", "x", "dy * y * 2.302585092994046"),
    ("exprel", "x", "dy * (np.exp(x) - y) / x"),
]


def _normal(text: dict[str, str]) -> Callable[[Bound], dict[str, Adjoint]]:
    """The adjoints of x, mean and deviation from the slope in z = (x - loc) / scale."""

    def adjoints(bound: Bound) -> dict[str, Adjoint]:
        z = "x - loc" if bound.has("loc") and bound.constant("loc") != 0 else "x"
        scaled = "scale" in bound.given
        first = f"z = ({z}) / scale" if scaled else f"z = {z}"
        slope = f"q = {text['slope']}{' / scale' if scaled else ''}"
        found = {
            "x": Adjoint(f"{first}\n{slope}\nq", elementwise=True),
            "loc": Adjoint(f"{first}\n{slope}\n-q", elementwise=True),
            "scale": Adjoint(f"{first}\n{slope}\n-q * z{text['scale']}", elementwise=True),
        }
        return {p: a for p, a in found.items() if p in bound.given}

    return adjoints


_NORMALS = {
    "logpdf": {"slope": "-dy * z", "scale": " - dy / scale"},
    "pdf": {"slope": "-dy * y * z", "scale": " - dy * y / scale"},
    "cdf": {"slope": f"dy * {_NORMAL} * np.exp(-0.5 * z * z)", "scale": ""},
    "sf": {"slope": f"-dy * {_NORMAL} * np.exp(-0.5 * z * z)", "scale": ""},
    "logcdf": {"slope": f"dy * {_NORMAL} * np.exp(-0.5 * z * z - y)", "scale": ""},
    "logsf": {"slope": f"-dy * {_NORMAL} * np.exp(-0.5 * z * z - y)", "scale": ""},
}


def _over(bound: Bound) -> str:
    """The options of a sum along the axis of a softmax."""
    axis = bound.constant("axis")
    if axis is None:
        return ""
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise Unsupported("an axis that is not one constant")
    return ", axis=axis, keepdims=True"


def _softmax(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint(f"y * (dy - np.sum(dy * y{_over(bound)}))")}


def _softmax_tangent(bound: Bound, wrt: Set[str]) -> str:
    return f"y * (dx - np.sum(dx * y{_over(bound)}))"


def _log_softmax(bound: Bound) -> dict[str, Adjoint]:
    return {"x": Adjoint(f"dy - np.exp(y) * np.sum(dy{_over(bound)})")}


def _log_softmax_tangent(bound: Bound, wrt: Set[str]) -> str:
    return f"dx - np.sum(dx * np.exp(y){_over(bound)})"


def _same(bound: Bound) -> Kind:
    kind = bound.kind("x")
    return Kind(kind.type, "float", kind.shape, fresh=True)


def _all(bound: Bound) -> Kind:
    kind = elementwise(*(bound.kind(p) for p in bound.given))
    return Kind(kind.type, "float", kind.shape, fresh=True)


def _elementwise(name: str, parameters: str, adjoints: tuple[str | None, ...]) -> Rule:
    names, defaults, _ = signature(parameters)
    special = f"{MODULE}scipy__special."
    lines = {p: a.replace("special.", special) for p, a in zip(names, adjoints, strict=True) if a is not None}
    return Rule(f"scipy.special.{name}", names, defaults, elementwise=lines, differentiable=tuple(lines))


RULES = [
    *[_elementwise(name, parameters, tuple(lines)) for name, parameters, *lines in _TABLE],
    *[
        Rule(
            f"scipy.stats.norm.{name}",
            ("x", "loc", "scale"),
            {"loc": 0, "scale": 1},
            adjoints=_normal(text),
            kind=_all,
            differentiable=("x", "loc", "scale"),
        )
        for name, text in _NORMALS.items()
    ],
    *[
        Rule(
            f"scipy.special.{name}",
            ("x", "axis"),
            {"axis": None},
            adjoints=adjoints,
            tangent=tangent,
            kind=_same,
            differentiable=("x",),
        )
        for name, adjoints, tangent in (
            ("softmax", _softmax, _softmax_tangent),
            ("log_softmax", _log_softmax, _log_softmax_tangent),
        )
    ],
]
