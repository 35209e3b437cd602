"""Elementwise functions and operators: one line of mathematics each.

A line names the function, its parameters, and the adjoint of each, in the parameters, the result
`y` and its adjoint `dy`. At a kink the convention is: abs has slope 0 at 0; of two equal arguments
`maximum` and `minimum` pass the derivative to the second; inside `clip`, the bounds belong to x.
"""

from __future__ import annotations

from collections.abc import Set

from lsp_ad.rules.rule import EACH, LINEAR, Bound, Rule, Tangent, signature


def _quotient(bound: Bound, wrt: Set[str]) -> str:
    """d(x1 / x2) = (dx1 - y dx2) / x2."""
    if "x2" not in wrt:
        return "dx1 / x2"
    return "(dx1 - y * dx2) / x2" if "x1" in wrt else "-y * dx2 / x2"


def abs_tangent(bound: Bound, wrt: Set[str]) -> str:
    if bound.kind("x").dtype == "complex":
        return "np.real(dx * np.conj(x)) / (y + (y == 0.0))"
    return "dx * np.sign(x)"


_OPERATORS = [
    ("+", "x1, x2", "dy", "dy"),
    ("-", "x1, x2", "dy", "-dy"),
    ("*", "x1, x2", "dy * x2", "dy * x1"),
    ("/", "x1, x2", "q = dy / x2\nq", "q = dy / x2\n-q * y"),
    ("%", "x1, x2", "dy", "-dy * (x1 // x2)"),
    ("u-", "x", "-dy"),
    ("u+", "x", "dy"),
]

_NUMPY = [
    ("add", "x1, x2", "dy", "dy"),
    ("subtract", "x1, x2", "dy", "-dy"),
    ("multiply", "x1, x2", "dy * x2", "dy * x1"),
    ("divide", "x1, x2", "q = dy / x2\nq", "q = dy / x2\n-q * y"),
    ("true_divide", "x1, x2", "q = dy / x2\nq", "q = dy / x2\n-q * y"),
    ("mod", "x1, x2", "dy", "-dy * (x1 // x2)"),
    ("remainder", "x1, x2", "dy", "-dy * (x1 // x2)"),
    ("fmod", "x1, x2", "dy", "-dy * np.trunc(x1 / x2)"),
    ("negative", "x", "-dy"),
    ("positive", "x", "dy"),
    ("exp", "x", "dy * y"),
    ("expm1", "x", "dy * (y + 1.0)"),
    ("exp2", "x", "dy * y * {log2}"),
    ("log", "x", "dy / x"),
    ("log2", "x", "dy / (x * {log2})"),
    ("log10", "x", "dy / (x * {log10})"),
    ("log1p", "x", "dy / (1.0 + x)"),
    ("sqrt", "x", "dy * 0.5 / y"),
    ("cbrt", "x", "dy / (3.0 * y ** 2)"),
    ("square", "x", "dy * 2.0 * x"),
    ("reciprocal", "x", "-dy * y * y"),
    ("abs", "x", "dy * np.sign(x)"),
    ("absolute", "x", "dy * np.sign(x)"),
    ("fabs", "x", "dy * np.sign(x)"),
    ("sin", "x", "dy * np.cos(x)"),
    ("cos", "x", "-dy * np.sin(x)"),
    ("tan", "x", "dy * (1.0 + y * y)"),
    ("arcsin", "x", "dy / np.sqrt(1.0 - x * x)"),
    ("arccos", "x", "-dy / np.sqrt(1.0 - x * x)"),
    ("arctan", "x", "dy / (1.0 + x * x)"),
    ("arctan2", "x1, x2", "q = dy / (x1 * x1 + x2 * x2)\nq * x2", "q = dy / (x1 * x1 + x2 * x2)\n-q * x1"),
    ("sinh", "x", "dy * np.cosh(x)"),
    ("cosh", "x", "dy * np.sinh(x)"),
    ("tanh", "x", "dy * (1.0 - y * y)"),
    ("arcsinh", "x", "dy / np.sqrt(x * x + 1.0)"),
    ("arccosh", "x", "dy / np.sqrt(x * x - 1.0)"),
    ("arctanh", "x", "dy / (1.0 - x * x)"),
    ("hypot", "x1, x2", "dy * x1 / y", "dy * x2 / y"),
    ("logaddexp", "x1, x2", "dy * np.exp(x1 - y)", "dy * np.exp(x2 - y)"),
    ("logaddexp2", "x1, x2", "dy * np.exp2(x1 - y)", "dy * np.exp2(x2 - y)"),
    ("deg2rad", "x", "dy * {radian}"),
    ("radians", "x", "dy * {radian}"),
    ("rad2deg", "x", "dy / {radian}"),
    ("degrees", "x", "dy / {radian}"),
    ("maximum", "x1, x2", "dy * (y > x2)", "dy * (y <= x2)"),
    ("minimum", "x1, x2", "dy * (y < x2)", "dy * (y >= x2)"),
    ("fmax", "x1, x2", "dy * ((x1 > x2) | np.isnan(x2))", "dy * ((x1 <= x2) | np.isnan(x1))"),
    ("fmin", "x1, x2", "dy * ((x1 < x2) | np.isnan(x2))", "dy * ((x1 >= x2) | np.isnan(x1))"),
    ("copysign", "x1, x2", "dy * np.sign(x1) * np.sign(y)", None),
    ("where", "condition, x1, x2", None, "np.where(condition, dy, 0.0)", "np.where(condition, 0.0, dy)"),
    ("sinc", "x", "dy * sinc_slope(x)"),
]

_MATH = [
    ("exp", "x", "dy * y"),
    ("expm1", "x", "dy * (y + 1.0)"),
    ("exp2", "x", "dy * y * {log2}"),
    ("log2", "x", "dy / (x * {log2})"),
    ("log10", "x", "dy / (x * {log10})"),
    ("log1p", "x", "dy / (1.0 + x)"),
    ("sqrt", "x", "dy * 0.5 / y"),
    ("cbrt", "x", "dy / (3.0 * y ** 2)"),
    ("fabs", "x", "dy * ((x > 0.0) - (x < 0.0))"),
    ("sin", "x", "dy * math.cos(x)"),
    ("cos", "x", "-dy * math.sin(x)"),
    ("tan", "x", "dy * (1.0 + y * y)"),
    ("asin", "x", "dy / math.sqrt(1.0 - x * x)"),
    ("acos", "x", "-dy / math.sqrt(1.0 - x * x)"),
    ("atan", "x", "dy / (1.0 + x * x)"),
    ("atan2", "x1, x2", "q = dy / (x1 * x1 + x2 * x2)\nq * x2", "q = dy / (x1 * x1 + x2 * x2)\n-q * x1"),
    ("sinh", "x", "dy * math.cosh(x)"),
    ("cosh", "x", "dy * math.sinh(x)"),
    ("tanh", "x", "dy * (1.0 - y * y)"),
    ("asinh", "x", "dy / math.sqrt(x * x + 1.0)"),
    ("acosh", "x", "dy / math.sqrt(x * x - 1.0)"),
    ("atanh", "x", "dy / (1.0 - x * x)"),
    ("hypot", "x1, x2", "dy * x1 / y", "dy * x2 / y"),
    ("fmod", "x1, x2", "dy", "-dy * math.trunc(x1 / x2)"),
    ("radians", "x", "dy * {radian}"),
    ("degrees", "x", "dy / {radian}"),
    ("erf", "x", "dy * {erf} * math.exp(-x * x)"),
    ("erfc", "x", "-dy * {erf} * math.exp(-x * x)"),
]

# scipy.special: Abramowitz and Stegun, chapters 4 and 7
_SPECIAL = [
    ("expit", "x", "dy * y * (1.0 - y)"),
    ("logit", "x", "dy / (x * (1.0 - x))"),
    ("log_expit", "x", "dy * (1.0 - np.exp(y))"),
    ("erf", "x", "dy * {erf} * np.exp(-x * x)"),
    ("erfc", "x", "-dy * {erf} * np.exp(-x * x)"),
    ("xlogy", "x1, x2", "dy * np.log(x2)", "dy * x1 / x2"),
    ("xlog1py", "x1, x2", "dy * np.log1p(x2)", "dy * x1 / (1.0 + x2)"),
    ("entr", "x", "-dy * (np.log(x) + 1.0)"),
]

# ln 2, ln 10, pi / 180 and 2 / sqrt(pi), to the last bit of a double
_CONSTANTS = {
    "log2": "0.6931471805599453",
    "log10": "2.302585092994046",
    "radian": "0.017453292519943295",
    "erf": "1.1283791670955126",
}

# Where the sum of the adjoint expressions is not how one writes the tangent.
_TANGENTS: dict[str, Tangent] = {
    **dict.fromkeys(("*", "numpy.multiply"), EACH),
    **dict.fromkeys(("/", "numpy.divide", "numpy.true_divide"), _quotient),
    "numpy.where": LINEAR,
    **dict.fromkeys(("numpy.abs", "numpy.absolute"), abs_tangent),
}


def _elementwise(name: str, parameters: str, adjoints: tuple[str | None, ...], scalar: bool) -> Rule:
    names, defaults, _ = signature(parameters)
    lines = {p: a.format_map(_CONSTANTS) for p, a in zip(names, adjoints, strict=True) if a is not None}
    of_complex = {"x": "dy * x / (y + (y == 0.0))"} if name in ("numpy.abs", "numpy.absolute") else None
    return Rule(
        name,
        names,
        defaults,
        elementwise=lines,
        tangent=_TANGENTS.get(name),
        scalar=scalar,
        differentiable=tuple(lines),
        of_complex=of_complex,
    )


_TABLES: list[tuple[list, str, bool]] = [
    (_OPERATORS, "", False),
    (_NUMPY, "numpy.", False),
    (_MATH, "math.", True),
    (_SPECIAL, "scipy.special.", False),
]

RULES = [
    _elementwise(f"{prefix}{name}", parameters, tuple(adjoints), scalar)
    for table, prefix, scalar in _TABLES
    for name, parameters, *adjoints in table
]
