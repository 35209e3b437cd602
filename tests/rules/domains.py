"""Where each rule is smooth, and how it is called: the table that the harness of test_rules.py goes through.

An elementwise function with one or two parameters needs an interval for each parameter only, and none if
it is smooth in (-2, 2); its calls are generated. Every other rule gets its calls: the text between the
parentheses with its parameters as the rule names them, and the shape of each argument.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lsp_ad.rules import RULES, Rule

Interval = tuple[float, float]
Shapes = dict[str, tuple[int, ...]]

ANY, POSITIVE, ABOVE_ONE, INSIDE = (-2.0, 2.0), (0.4, 2.5), (1.2, 3.0), (-0.8, 0.8)
BETWEEN = (0.1, 0.9)

UNARY_SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 3), (2, 1, 3)]
BINARY_SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((), ()),
    ((3,), ()),
    ((), (2, 3)),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((1, 3), (2, 3)),
    ((2, 1), (1, 3)),
    ((3,), (4, 2, 3)),
    ((4, 1, 3), (2, 1)),
]


@dataclass(frozen=True)
class Call:
    """The arguments of one call as text, and the shapes of the parameters of the function around it."""

    text: str
    shapes: Shapes


def call(text: str, **shapes: tuple[int, ...]) -> Call:
    return Call(text, shapes)


@dataclass(frozen=True)
class Domain:
    """Intervals of arguments (ANY for those not named), calls, and arguments of a kind (`matrix`: well
    away from singular, `spd`: symmetric positive definite). `real`: what makes a complex result `{r}` real."""

    intervals: dict[str, Interval] = field(default_factory=dict)
    calls: tuple[Call, ...] | None = None
    special: dict[str, str] = field(default_factory=dict)
    real: str = "{r}"


def on(
    *calls: Call, special: dict[str, str] | None = None, real: str = "{r}", **intervals: Interval
) -> Domain:
    return Domain(intervals, calls or None, special or {}, real)


def reductions(*more: Call) -> tuple[Call, ...]:
    return (
        call("x", x=()),
        call("x", x=(4,)),
        call("x", x=(2, 3)),
        call("x, axis=0", x=(4,)),
        call("x, 0", x=(2, 3)),
        call("x, axis=-1", x=(2, 3)),
        call("x, axis=1, keepdims=True", x=(2, 3)),
        call("x, axis=(0, -1)", x=(2, 3, 2)),
        call("x, axis=(0, 2), keepdims=True", x=(2, 3, 2)),
        call("x, axis=-2", x=(2, 3, 2)),
        call("x, axis=None, keepdims=True", x=(2, 3)),
        call("x, axis=[0][0]", x=(2, 3)),
        *more,
    )


def one_axis() -> tuple[Call, ...]:
    """The reductions over all axes or one."""
    return tuple(c for c in reductions() if "(" not in c.text)


PRODUCTS = (
    call("x1, x2", x1=(3,), x2=(3,)),
    call("x1, x2", x1=(2, 3), x2=(3,)),
    call("x1, x2", x1=(3,), x2=(3, 2)),
    call("x1, x2", x1=(2, 3), x2=(3, 4)),
    call("x1, x2", x1=(2, 2, 3), x2=(3,)),
    call("x1, x2", x1=(3,), x2=(2, 3, 2)),
    call("x1, x2", x1=(2, 2, 3), x2=(2, 3, 2)),
    call("x1, x2", x1=(2, 3), x2=(4, 3, 2)),
    call("x1, x2", x1=(2, 1, 2, 3), x2=(4, 3, 2)),
)
_DOT = (
    call("x1, x2", x1=(), x2=()),
    call("x1, x2", x1=(), x2=(2, 3)),
    call("x1, x2", x1=(2, 3), x2=()),
    *(c for c in PRODUCTS if max(map(len, c.shapes.values())) < 3),
    call("x1, x2", x1=(2, 2, 3), x2=(3,)),
    call("x1, x2", x1=(3,), x2=(2, 3, 2)),
    call("x1, x2", x1=(2, 3), x2=(2, 3, 2)),
    call("x1, x2", x1=(2, 2, 3), x2=(4, 3, 2)),
)
_POWERS = (
    tuple(call(f"x1, {n}", x1=(2, 3)) for n in ("0", "1", "2", "3", "-1", "-2", "0.5", "1.5", "-0.5"))
    + tuple(call("x1, x2", x1=a, x2=b) for a, b in BINARY_SHAPES)
    + (call("2.0, x2", x2=(3,)), call("2, x2", x2=()))
)
_MATH_POWERS = (
    *(call(f"x1, {n}", x1=()) for n in ("0", "1", "2", "3", "-1", "0.5", "1.5")),
    call("x1, x2", x1=(), x2=()),
    call("2.0, x2", x2=()),
)

DOMAINS: dict[str, Domain] = {
    # operators and functions of one or two arguments: where not everything is smooth
    "/": on(x2=POSITIVE),
    "%": on(x2=(0.7, 1.4)),
    "**": on(*_POWERS, x1=POSITIVE),
    "@": on(*PRODUCTS),
    "builtins.pow": on(*_POWERS, x1=POSITIVE),
    "math.pow": on(*_MATH_POWERS, x1=POSITIVE),
    "math.log": on(
        call("x", x=()),
        call("x, base", x=(), base=()),
        call("x, 3.0", x=()),
        call("2.0, base", base=()),
        x=POSITIVE,
        base=ABOVE_ONE,
    ),
    "math.fsum": on(call("x", x=(4,))),
    "builtins.sum": on(call("x", x=(4,)), call("x", x=(2, 3)), call("x", x=(2, 3, 2))),
    "builtins.max": on(call("x1, x2", x1=(), x2=()), call("x1, 0.1", x1=()), call("0.1, x2", x2=())),
    "builtins.min": on(call("x1, x2", x1=(), x2=()), call("x1, 0.1", x1=()), call("0.1, x2", x2=())),
    "builtins.abs": on(*(call("x", x=s) for s in UNARY_SHAPES)),
    "builtins.float": on(call("x", x=())),
    **{f"numpy.{n}": on(x2=POSITIVE) for n in ("divide", "true_divide")},
    **{f"numpy.{n}": on(x2=(0.7, 1.4)) for n in ("mod", "remainder", "fmod")},
    **{f"numpy.{n}": on(x=POSITIVE) for n in ("log", "log2", "log10", "log1p", "sqrt", "cbrt", "reciprocal")},
    **{f"numpy.{n}": on(x=INSIDE) for n in ("arcsin", "arccos", "arctanh", "tan")},
    "numpy.arccosh": on(x=ABOVE_ONE),
    "numpy.arctan2": on(x1=POSITIVE),
    "numpy.hypot": on(x1=POSITIVE),
    **{f"math.{n}": on(x=POSITIVE) for n in ("log2", "log10", "log1p", "sqrt", "cbrt")},
    **{f"math.{n}": on(x=INSIDE) for n in ("asin", "acos", "atanh", "tan")},
    "math.acosh": on(x=ABOVE_ONE),
    "math.atan2": on(x1=POSITIVE),
    "math.hypot": on(x1=POSITIVE),
    "math.fmod": on(x2=(0.7, 1.4)),
    "numpy.copysign": on(*(call("x1, c", x1=a, c=b) for a, b in BINARY_SHAPES)),
    "numpy.where": on(
        *(
            call("c > 0.0, x1, x2", x1=a, x2=b, c=c)
            for (a, b), c in zip(
                BINARY_SHAPES, [(), (3,), (3,), (2, 3), (), (2, 1), (), (4, 2, 3), (3,)], strict=True
            )
        ),
        call("c > 0.0, x1, 0.5", c=(2, 3), x1=(2, 3)),
        call("c > 0.0, 0.5, x2", c=(2, 3), x2=()),
    ),
    # reductions
    **{f"numpy.{n}": on(*reductions()) for n in ("sum", "mean", "max", "min", "amax", "amin")},
    "numpy.prod": on(*one_axis()),
    # products and powers
    "numpy.matmul": on(*PRODUCTS),
    "numpy.dot": on(*_DOT),
    "numpy.outer": on(
        call("x1, x2", x1=(2,), x2=(3,)), call("x1, x2", x1=(2, 2), x2=(3,)), call("x1, x2", x1=(), x2=(3, 2))
    ),
    "numpy.power": on(*_POWERS, x1=POSITIVE),
    "numpy.clip": on(
        call("x, -1.0, 1.0", x=(2, 3)),
        call("x, a_min, a_max", x=(2, 3), a_min=(), a_max=()),
        call("x, None, a_max", x=(3,), a_max=()),
        call("x, min=a_min, max=None", x=(4,), a_min=(4,)),
        call("x, a_min, a_max", x=(2, 3), a_min=(3,), a_max=(2, 1)),
        call("x, a_min, a_max", x=(), a_min=(), a_max=()),
        call("x, -0.5, a_max", x=(), a_max=(3,)),
        a_min=(-1.0, 0.3),
        a_max=(0.2, 1.0),
    ),
    # moving elements about
    "numpy.var": on(
        *reductions(call("x, ddof=1", x=(4,)), call("x, axis=1, ddof=1.5, keepdims=True", x=(2, 3)))
    ),
    "numpy.std": on(*reductions(call("x, ddof=1", x=(4,)), call("x, axis=(0, 2), ddof=1", x=(2, 3, 2)))[1:]),
    "numpy.linalg.norm": on(
        *(c for c in reductions() if c.text != "x, 0"),
        call("x, 2, 0", x=(2, 3)),
        call("x, ord=2, axis=-1, keepdims=True", x=(2, 3)),
        call("x, 'fro'", x=(2, 3)),
    ),
    "numpy.average": on(
        *reductions(),
        call("x, weights=weights", x=(4,), weights=(4,)),
        call("x, None, weights", x=(2, 3), weights=(2, 3)),
        weights=POSITIVE,
    ),
    "scipy.special.logsumexp": on(*reductions()),
    **{f"scipy.special.{n}": on(x=BETWEEN) for n in ("logit", "entr")},
    "scipy.special.xlogy": on(x2=POSITIVE),
    "scipy.special.xlog1py": on(x2=POSITIVE),
    # helpers of generated code
    "lsp_ad.runtime.unbroadcast": on(
        call("d, x", d=(), x=()),
        call("d, x", d=(3,), x=()),
        call("d, x", d=(2, 3), x=(3,)),
        call("d, x", d=(4, 2, 3), x=(2, 1)),
        call("d, x", d=(2, 3), x=(2, 3)),
    ),
    "lsp_ad.runtime.matmul_adjoint_left": on(
        call("d, x1, x2", d=(), x1=(3,), x2=(3,)),
        call("d, x1, x2", d=(2,), x1=(2, 3), x2=(3,)),
        call("d, x1, x2", d=(2,), x1=(3,), x2=(3, 2)),
        call("d, x1, x2", d=(2, 4), x1=(2, 3), x2=(3, 4)),
        call("d, x1, x2", d=(4, 2, 2), x1=(2, 3), x2=(4, 3, 2)),
    ),
    "lsp_ad.runtime.matmul_adjoint_right": on(
        call("d, x1, x2", d=(), x1=(3,), x2=(3,)),
        call("d, x1, x2", d=(2,), x1=(2, 3), x2=(3,)),
        call("d, x1, x2", d=(2,), x1=(3,), x2=(3, 2)),
        call("d, x1, x2", d=(2, 4), x1=(2, 3), x2=(3, 4)),
        call("d, x1, x2", d=(4, 2, 2), x1=(2, 3), x2=(4, 3, 2)),
    ),
    "lsp_ad.runtime.dot_adjoint_left": on(
        call("d, x1, x2", d=(), x1=(3,), x2=(3,)),
        call("d, x1, x2", d=(2,), x1=(2, 3), x2=(3,)),
        call("d, x1, x2", d=(2,), x1=(3,), x2=(3, 2)),
        call("d, x1, x2", d=(2, 4), x1=(2, 3), x2=(3, 4)),
    ),
    "lsp_ad.runtime.dot_adjoint_right": on(
        call("d, x1, x2", d=(), x1=(3,), x2=(3,)),
        call("d, x1, x2", d=(2,), x1=(2, 3), x2=(3,)),
        call("d, x1, x2", d=(2,), x1=(3,), x2=(3, 2)),
        call("d, x1, x2", d=(2, 4), x1=(2, 3), x2=(3, 4)),
    ),
    "lsp_ad.runtime.solve_adjoint_right": on(
        call("d, x1", d=(3,), x1=(3, 3)), call("d, x1", d=(3, 2), x1=(3, 3)), special={"x1": "matrix"}
    ),
    "lsp_ad.runtime.solve_adjoint_left": on(
        call("d, y2", d=(3,), y2=(3,)), call("d, y2", d=(3, 2), y2=(3, 2))
    ),
    "lsp_ad.runtime.sum_adjoint": on(call("d", d=()), call("d", d=(3,)), call("d", d=(2, 3))),
    "lsp_ad.runtime.diff_adjoint": on(call("d, x, -1", d=(3,), x=(4,)), call("d, x, 0", d=(2, 3), x=(3, 3))),
    "lsp_ad.runtime.diagonal_adjoint": on(
        call("d, x, 0", d=(3,), x=(3, 3)),
        call("d, x, 1", d=(2,), x=(3, 3)),
        call("d, x, 0", d=(1,), x=(2, 3)),
        call("d, x, -1", d=(4, 1), x=(2, 3, 4)),
    ),
    "lsp_ad.runtime.copy_of": on(call("d", d=(2, 3)), call("d", d=())),
    "lsp_ad.runtime.part_of_sum": on(call("d, x", d=(2, 3), x=(3,)), call("d, x", d=(), x=())),
    "lsp_ad.runtime.sum_of": on(call("d, e", d=(2, 3), e=(2, 3)), call("d, e", d=(), e=())),
    "lsp_ad.runtime.joined_like": on(call("d, x", d=(2, 3), x=(2, 3))),
    "lsp_ad.runtime.like": on(call("d, x", d=(2, 3), x=(2, 3))),
    "lsp_ad.runtime.filled": on(call("d, x", d=(2, 3), x=(2, 3))),
    "lsp_ad.runtime.diag_adjoint": on(call("d, x, 1", d=(3, 3), x=(2,)), call("d, x, 0", d=(3,), x=(3, 3))),
    # linear algebra
    **{
        f"numpy.linalg.{n}": on(call("x", x=(3, 3)), call("x", x=(2, 2, 2)), special={"x": "matrix"})
        for n in ("inv", "det")
    },
    "numpy.linalg.cholesky": on(call("x", x=(3, 3)), call("x", x=(2, 2, 2)), special={"x": "spd"}),
    "numpy.linalg.solve": on(
        call("x1, x2", x1=(3, 3), x2=(3,)), call("x1, x2", x1=(3, 3), x2=(3, 2)), special={"x1": "matrix"}
    ),
    "numpy.trace": on(
        *(call(f"x{o}", x=s) for o in ("", ", 1", ", offset=-2", ", 7") for s in ((3, 3), (2, 3))),
        call("x", x=(2, 3, 4)),
    ),
    "numpy.diagonal": on(
        *(call(f"x{o}", x=s) for o in ("", ", 1", ", offset=-1") for s in ((3, 3), (2, 3))),
        call("x, 1", x=(2, 3, 4)),
    ),
    "numpy.diag": on(*(call(f"x{o}", x=s) for o in ("", ", 1", ", k=-1") for s in ((3,), (3, 3), (2, 3)))),
    **{
        f"numpy.{n}": on(
            *(call(f"x{o}", x=s) for o in ("", ", 1", ", k=-1") for s in ((3,), (2, 3), (2, 3, 3)))
        )
        for n in ("tril", "triu")
    },
    "numpy.swapaxes": on(call("x, 0, 1", x=(2, 3)), call("x, -1, 0", x=(2, 3, 4))),
    "numpy.moveaxis": on(call("x, 0, -1", x=(2, 3, 4)), call("x, (0, 1), (-1, 0)", x=(2, 3, 4))),
    "numpy.flip": on(call("x", x=(2, 3)), call("x, 0", x=(3,)), call("x, axis=(0, -1)", x=(2, 3, 4))),
    "numpy.fliplr": on(call("x", x=(2, 3))),
    "numpy.flipud": on(call("x", x=(2, 3)), call("x", x=(3,))),
    "numpy.roll": on(
        call("x, 1", x=(3,)),
        call("x, -2", x=(2, 3)),
        call("x, 1, axis=0", x=(2, 3)),
        call("x, (1, -1), (0, 1)", x=(2, 3)),
        call("x, len(x)", x=(2, 3)),
    ),
    "numpy.cumsum": on(
        call("x", x=()),
        call("x", x=(4,)),
        call("x", x=(2, 3)),
        call("x, 0", x=(4,)),
        call("x, axis=0", x=(2, 3)),
        call("x, axis=-1", x=(2, 3)),
        call("x, 1", x=(2, 3, 2)),
    ),
    "numpy.diff": on(
        call("x", x=(4,)), call("x, axis=0", x=(2, 3)), call("x, n=1", x=(2, 3)), call("x, 1, 1", x=(2, 3, 2))
    ),
    "numpy.full": on(
        call("3, fill_value", fill_value=()),
        call("(2, 3), fill_value", fill_value=()),
        call("(2, 3), fill_value=fill_value, dtype=float", fill_value=(3,)),
        call("c.shape, fill_value", c=(2,), fill_value=()),
    ),
    "numpy.broadcast_to": on(
        call("x, (2, 3)", x=(3,)), call("x, (2, 3)", x=()), call("x, c.shape", c=(2, 3), x=(2, 1))
    ),
    "numpy.astype": on(
        call("x, float", x=(3,)), call("x, 'float64'", x=(2, 3)), call("x, float", x=(1, 2, 3))
    ),
    "numpy.float64": on(call("x", x=()), call("x", x=(3,))),
    "numpy.reshape": on(
        call("x, (3, 2)", x=(2, 3)),
        call("x, -1", x=(2, 3)),
        call("x, 6", x=(2, 3)),
        call("x, (1, -1)", x=(3,)),
        call("x, x.shape + (1,)", x=(2, 3)),
        call("x, (1,)", x=()),
    ),
    **{
        f"numpy.{n}": on(*(call("x", x=s) for s in UNARY_SHAPES))
        for n in ("ravel", "squeeze", "atleast_1d", "atleast_2d", "transpose", "copy", "array", "asarray")
    },
    "numpy.expand_dims": on(call("x, 0", x=()), call("x, -1", x=(2, 3)), call("x, axis=(0, 2)", x=(2, 3))),
}
_PARTS = tuple(
    call(text, x=s) for text in ("(1.0 + 2.0j) * x + 1j", "np.exp(2j * x)") for s in ((), (3,), (2, 3))
)
_REAL = "np.real((1.0 - 2.0j) * {r})"
_NORMS = ("", ', norm="ortho"', ', norm="forward"', ', norm="backward"')
_TRANSFORMS = (
    *(call(f"x{norm}", x=s) for norm in _NORMS for s in ((4,), (5,))),
    *(call(f"x{o}", x=(2, 5)) for o in ("", ", axis=0", ", axis=-2")),
    *(call(f"x, {n}", x=s) for n in (2, 3, 6, 7) for s in ((4,), (5,))),
    call("x, n=7, axis=1, norm='ortho'", x=(2, 5)),
    call("x + 1j * x * x, axis=1", x=(2, 4)),
)
_REAL_TRANSFORMS = tuple(c for c in _TRANSFORMS if "1j" not in c.text)
_SHIFTS = (call("x", x=(5,)), call("x", x=(2, 3)), call("x, axes=1", x=(2, 5)), call("x, (0,)", x=(3, 5)))
DOMAINS |= {
    **{f"numpy.{n}": on(*_PARTS) for n in ("real", "imag", "angle")},
    **{f"numpy.{n}": on(*_PARTS, call("x", x=(3,)), real=_REAL) for n in ("conj", "conjugate")},
    "builtins.complex": on(
        call("real, imag", real=(), imag=()),
        call("real", real=()),
        call("1.0, imag", imag=()),
        real="((2.0 - 1.0j) * {r}).imag",
    ),
    **{f"numpy.fft.{n}": on(*_TRANSFORMS, real=_REAL) for n in ("fft", "ifft")},
    "numpy.fft.rfft": on(*_REAL_TRANSFORMS, real=_REAL),
    "numpy.fft.irfft": on(*_TRANSFORMS),
    **{
        f"numpy.fft.{n}": on(
            call("x", x=(3, 4)),
            call("x, axes=(0, 1), norm='ortho'", x=(3, 4, 2)),
            call("x * 1j, norm='forward'", x=(2, 3, 4)),
            real=_REAL,
        )
        for n in ("fft2", "ifft2")
    },
    **{
        f"numpy.fft.{n}": on(
            call("x", x=(4,)),
            call("x", x=(2, 3, 4)),
            call("x, axes=(0, 2)", x=(2, 3, 4)),
            call("x * 1j, norm='ortho'", x=(3, 4)),
            real=_REAL,
        )
        for n in ("fftn", "ifftn")
    },
    "numpy.fft.rfft2": on(
        *(call(f"x{norm}", x=s) for norm in _NORMS for s in ((3, 4), (2, 3, 5))), real=_REAL
    ),
    "numpy.fft.irfft2": on(*(call(f"x{norm}", x=s) for norm in _NORMS for s in ((3, 4), (2, 3, 3)))),
    **{f"numpy.fft.{n}": on(*_SHIFTS) for n in ("fftshift", "ifftshift")},
}
DOMAINS |= {
    "numpy.take": on(
        call("x, [0, 2, 2]", x=(4,)),
        call("x, 1", x=(3,)),
        call("x, [0, 5, 5]", x=(2, 3)),
        call("x, [[0, 1], [1, 1]], axis=0", x=(2, 3)),
        call("x, [2, 0, 0], axis=-1", x=(2, 3)),
        call("x, [[1, 1]], 1", x=(2, 3, 2)),
        call("x, -1, axis=1", x=(2, 3)),
    ),
    "numpy.take_along_axis": on(
        call("x, np.argsort(x, axis=1), axis=1", x=(2, 3)),
        call("x, np.argmax(x, axis=0)[None], 0", x=(2, 3)),
        call("x, np.array([[0], [0]]), axis=-1", x=(2, 3)),
    ),
    "numpy.compress": on(
        call("[True, False, True], x, axis=1", x=(2, 3)), call("c > 0.0, x", c=(4,), x=(4,))
    ),
    "numpy.extract": on(call("c > 0.0, x", c=(2, 3), x=(2, 3))),
    "numpy.repeat": on(
        call("x, 2", x=(3,)),
        call("x, 3", x=(2, 3)),
        call("x, [1, 0, 2], axis=1", x=(2, 3)),
        call("x, 2, axis=0", x=(2, 3)),
    ),
    "numpy.tile": on(
        call("x, 2", x=(3,)),
        call("x, (2, 3)", x=(3,)),
        call("x, (2, 1, 2)", x=(2, 3)),
        call("x, 2", x=(2, 3)),
        call("x, (2,)", x=()),
    ),
    "numpy.delete": on(call("x, 1", x=(4,)), call("x, [0, 2], axis=1", x=(2, 3))),
    "numpy.append": on(
        call("x, values", x=(3,), values=(2,)),
        call("x, values", x=(2, 3), values=(2,)),
        call("x, values, axis=1", x=(2, 3), values=(2, 1)),
        call("x, values", x=(3,), values=()),
    ),
    "numpy.pad": on(
        call("x, 2", x=(3,)),
        call("x, (1, 2)", x=(3,)),
        call("x, ((0, 1), (2, 0))", x=(2, 3)),
        call("x, 1, mode='constant', constant_values=3.0", x=(2, 3)),
    ),
    "numpy.sort": on(
        call("x", x=(5,)), call("x", x=(2, 3)), call("x, axis=0", x=(3, 2)), call("x, 1", x=(2, 3, 2))
    ),
    "numpy.rot90": on(call("x", x=(2, 3)), call("x, 2", x=(2, 3)), call("x, k=-1, axes=(1, 2)", x=(2, 3, 4))),
    "numpy.einsum": on(
        call("'i,i->', x1, x2", x1=(3,), x2=(3,)),
        call("'ij,jk->ik', x1, x2", x1=(2, 3), x2=(3, 4)),
        call("'ij, j', x1, x2", x1=(2, 3), x2=(3,)),
        call("'ij->ji', x1", x1=(2, 3)),
        call("'ij->i', x1", x1=(2, 3)),
        call("'ij->', x1", x1=(2, 3)),
        call("'bij,bjk->bik', x1, x2", x1=(2, 3, 2), x2=(2, 2, 3)),
        call("'i,j,ij->', x1, x2, x3", x1=(2,), x2=(3,), x3=(2, 3)),
        call("'i,ij,j->i', x1, x2, x3, optimize=True", x1=(2,), x2=(2, 3), x3=(3,)),
        call("'ij,k->jk', x1, x2", x1=(2, 3), x2=(4,)),
    ),
    "numpy.tensordot": on(
        call("x1, x2", x1=(2, 3), x2=(2, 3)),
        call("x1, x2, 1", x1=(2, 3), x2=(3, 4)),
        call("x1, x2, axes=0", x1=(2,), x2=(3,)),
        call("x1, x2, axes=([0, 1], [1, 0])", x1=(2, 3, 4), x2=(3, 2, 2)),
        call("x1, x2, ((2, 0), (0, 2))", x1=(2, 3, 4), x2=(4, 3, 2)),
        call("x1, x2, axes=(-1, 0)", x1=(2, 3), x2=(3, 4)),
    ),
    "numpy.inner": on(
        call("x1, x2", x1=(3,), x2=(3,)),
        call("x1, x2", x1=(2, 3), x2=(4, 3)),
        call("x1, x2", x1=(), x2=(2, 3)),
        call("x1, x2", x1=(2, 3), x2=()),
        call("x1, x2", x1=(2, 2, 3), x2=(3,)),
    ),
    "numpy.vdot": on(
        call("x1, x2", x1=(3,), x2=(3,)), call("x1, x2", x1=(2, 3), x2=(3, 2)), call("x1, x2", x1=(), x2=())
    ),
    "numpy.kron": on(
        call("x1, x2", x1=(2,), x2=(3,)),
        call("x1, x2", x1=(2, 3), x2=(3, 2)),
        call("x1, x2", x1=(2,), x2=(2, 3)),
    ),
    "numpy.cross": on(
        call("x1, x2", x1=(3,), x2=(3,)),
        call("x1, x2", x1=(2, 3), x2=(3,)),
        call("x1, x2", x1=(2, 1, 3), x2=(4, 3)),
    ),
    "numpy.interp": on(
        call("x, [-3.0, -0.9, 0.2, 3.0], fp", x=(5,), fp=(4,)),
        call("x, [-0.7, 0.0, 0.8], fp", x=(2, 3), fp=(3,)),
        call("x, [-3.0, 3.0], fp", x=(), fp=(2,)),
    ),
    "numpy.gradient": on(
        *(call(f"x{o}, axis=0", x=(5,)) for o in ("", ", 0.5")),
        call("x, 2.0, axis=1", x=(2, 4)),
        call("x, axis=-2", x=(3, 2)),
    ),
    "numpy.trapezoid": on(
        call("f", f=(5,)),
        call("f, dx=0.5", f=(5,)),
        call("f, [0.0, 0.3, 1.0, 1.1]", f=(4,)),
        call("f, axis=0", f=(4, 3)),
        call("f, c, 1.0, 1", f=(2, 3), c=(3,)),
    ),
    "numpy.convolve": on(
        *(
            call(f"x1, x2{mode}", x1=a, x2=b)
            for mode in ("", ", 'same'", ", mode='valid'")
            for a, b in (((5,), (3,)), ((4,), (2,)), ((2,), (5,)), ((3,), (3,)))
        )
    ),
    "numpy.cumprod": on(
        call("x", x=(4,)), call("x", x=(2, 3)), call("x, axis=0", x=(3, 2)), call("x, axis=-1", x=(2, 3))
    ),
    "numpy.nansum": on(*reductions()),
    # factors of matrices
    "numpy.linalg.eigvalsh": on(*(call("x", x=s) for s in ((3, 3), (2, 2, 2)))),
    "numpy.linalg.pinv": on(call("x", x=(3, 2)), call("x", x=(2, 3)), call("x", x=(2, 3, 2))),
    # special functions
    **{
        f"scipy.special.{n}": on(x=POSITIVE)
        for n in ("gammaln", "gamma", "rgamma", "digamma", "psi", "i1", "j1", "exprel")
    },
    "scipy.special.polygamma": on(call("1, x", x=(3,)), call("2, x", x=()), x=POSITIVE),
    **{f"scipy.special.{n}": on(x1=POSITIVE, x2=POSITIVE) for n in ("beta", "betaln", "rel_entr", "kl_div")},
    **{
        f"scipy.special.{n}": on(call("1.5, x", x=(3,)), call("0.7, x", x=()), x=POSITIVE)
        for n in ("gammainc", "gammaincc")
    },
    "scipy.special.betainc": on(call("1.5, 0.7, x", x=(3,)), x=BETWEEN),
    "scipy.special.erfinv": on(x=INSIDE),
    **{f"scipy.special.{n}": on(x=BETWEEN) for n in ("erfcinv", "ndtri")},
    **{
        f"scipy.special.{n}": on(
            call("x", x=(4,)), call("x", x=(2, 3)), call("x, axis=1", x=(2, 3)), call("x, axis=0", x=(3, 2))
        )
        for n in ("softmax", "log_softmax")
    },
    **{
        f"scipy.stats.norm.{n}": on(
            call("x", x=(3,)),
            call("x, loc", x=(2, 3), loc=(3,)),
            call("x, loc, scale", x=(3,), loc=(), scale=(3,)),
            call("x, loc=loc, scale=scale", x=(), loc=(), scale=()),
            call("x, 0, scale", x=(3,), scale=(2, 1)),
            scale=POSITIVE,
        )
        for n in ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf")
    },
}
for _name in ("numpy.array", "numpy.asarray"):
    DOMAINS[_name] = on(
        *DOMAINS[_name].calls, call("x, dtype=float", x=(2, 3)), call("x, dtype=None", x=(3,))
    )
DOMAINS["numpy.squeeze"] = on(
    *DOMAINS["numpy.squeeze"].calls, call("x, 1", x=(2, 1, 3)), call("x, axis=(0, -1)", x=(1, 3, 1))
)
DOMAINS["numpy.transpose"] = on(
    *DOMAINS["numpy.transpose"].calls,
    call("x, (1, 0)", x=(2, 3)),
    call("x, axes=(1, 2, 0)", x=(2, 3, 4)),
    call("x, [0, -1, 1]", x=(2, 3, 4)),
)

# Calls of functions without a derivative, with an array x of shape (3,) whose elements are no integers.
ZERO_CALLS: dict[str, str] = {
    "builtins.getattr": "x, 'ndim', 0",
    "lsp_ad.runtime.zeros_of": "x",
    "builtins.len": "x",
    "builtins.type": "x",
    "builtins.int": "x[0]",
    "builtins.round": "x[0], 1",
    "builtins.bool": "x[0]",
    "builtins.isinstance": "x, int",
    "builtins.all": "x",
    "builtins.any": "x",
    **{f"numpy.{n}": "x.shape" for n in ("zeros", "ones")},
    "numpy.empty": "(0,)",
    **{f"numpy.{n}": "x" for n in ("zeros_like", "ones_like")},
    "numpy.empty_like": "x[:0]",
    **{f"numpy.fft.{n}": "len(x)" for n in ("fftfreq", "rfftfreq")},
    "numpy.full_like": "x, 2.5",
    "numpy.eye": "len(x)",
    "numpy.identity": "len(x)",
    "numpy.arange": "len(x)",
    **{
        f"numpy.{n}": "x"
        for n in ("argmax", "argmin", "argsort", "count_nonzero", "size", "ndim", "all", "any")
    },
    **{f"numpy.{n}": "len(x)" for n in ("triu_indices", "tril_indices", "diag_indices")},
    **{f"numpy.{n}_indices_from": "np.outer(x, x)" for n in ("triu", "tril", "diag")},
    "numpy.argpartition": "x, 1",
    "numpy.ix_": "[0, 1]",
    "numpy.unravel_index": "np.argmax(x), x.shape",
    "numpy.digitize": "x, [0.0, 1.0]",
    "numpy.searchsorted": "x, 0.5",
    "numpy.result_type": "x, 1.0",
    "numpy.shape": "x",
    "numpy.allclose": "x, 0.0",
    "numpy.lexsort": "(x, x)",
    **{f"math.{n}": "x[0]" for n in ("floor", "ceil", "trunc", "isnan", "isinf", "isfinite")},
}


def of(rule: Rule) -> Domain | None:
    """The domain of a rule with a derivative; None where there is neither an entry nor a default."""
    found = DOMAINS.get(rule.name)
    if found is None and rule.elementwise is not None and _plain(rule) in (("x",), ("x1", "x2")):
        found = Domain()
    if found is None or found.calls is not None:
        return found
    return Domain(found.intervals, _generated(rule), found.special, found.real)


def _plain(rule: Rule) -> tuple[str, ...]:
    return rule.parameters if set(rule.parameters) == set(rule.differentiable) else ()


def _generated(rule: Rule) -> tuple[Call, ...]:
    if rule.scalar:
        return (Call(", ".join(rule.parameters), dict.fromkeys(rule.parameters, ())),)
    if len(rule.parameters) == 1:
        return tuple(Call("x", {"x": s}) for s in UNARY_SHAPES)
    return tuple(Call("x1, x2", {"x1": a, "x2": b}) for a, b in BINARY_SHAPES)


def zero_call(rule: Rule) -> str | None:
    """The arguments of a rule without a derivative; elementwise ones take x, or x and a number."""
    if rule.name in ZERO_CALLS:
        return ZERO_CALLS[rule.name]
    plain = [p for p in rule.parameters if p not in rule.defaults]
    return {("x",): "x", ("x1", "x2"): "x, 0.3"}.get(tuple(plain))


assert set(DOMAINS) <= set(RULES), set(DOMAINS) - set(RULES)
