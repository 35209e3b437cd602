"""Functions, methods, operators and indices of NumPy on arrays of TensorFlow, each against NumPy itself."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad

pytest.importorskip("tensorflow")
from lsp_ad.staging.backends.tensorflow import BACKEND
from lsp_ad.staging.backends.tensorflow.functions import FUNCTIONS

pytestmark = pytest.mark.row("A8", "A15")
X = np.array([[0.3, -1.2, 2.5], [1.7, 0.9, -0.4]])
Y = np.array([[1.1, 0.2, -0.7], [0.5, -2.0, 1.3]])
P = np.abs(X) + 0.1
V = np.array([0.5, -1.5, 2.0])
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
K = np.array([[1, -2, 3], [4, 0, 6]])
B = np.array([[True, False, True], [False, True, True]])
F = np.array([1.5, -2.5, 3.5], np.float32)
C = np.array([1 + 2j, -0.5j, 3.0])
I = np.array([2, 0, -1])  # noqa: E741

UNARY = [
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "arctan",
    "arcsinh",
    "exp",
    "exp2",
    "expm1",
    "deg2rad",
    "radians",
    "rad2deg",
    "degrees",
    "sinc",
    "square",
    "sign",
    "conj",
    "positive",
    "floor",
    "ceil",
    "rint",
    "trunc",
    "fix",
    "real",
    "imag",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "negative",
    "abs",
    "fabs",
    "logical_not",
    "round",
    "nan_to_num",
    "sum",
    "prod",
    "mean",
    "max",
    "min",
    "any",
    "all",
    "argmax",
    "argmin",
    "cumsum",
    "cumprod",
    "sort",
    "argsort",
    "var",
    "std",
    "ptp",
    "count_nonzero",
    "ravel",
    "transpose",
    "squeeze",
    "flip",
    "flipud",
    "fliplr",
    "zeros_like",
    "ones_like",
    "empty_like",
    "nonzero",
    "flatnonzero",
    "diff",
    "ndim",
    "size",
    "shape",
    "copy",
    "atleast_1d",
    "atleast_2d",
    "average",
    "median",
]
POSITIVE = ["log", "log2", "log10", "log1p", "sqrt", "cbrt", "reciprocal", "arccosh"]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "true_divide",
    "floor_divide",
    "mod",
    "remainder",
    "fmod",
    "maximum",
    "minimum",
    "arctan2",
    "hypot",
    "logaddexp",
    "copysign",
    "heaviside",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "isclose",
    "allclose",
    "array_equal",
]


def assert_same(found, expected):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
        return
    expected = np.asarray(expected)
    found = np.asarray(found)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    tolerance = 1e-5 if expected.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def check(function, *arguments):
    assert_same(BACKEND.compile(function)(*(np.array(a) for a in arguments)), function(*arguments))


@pytest.mark.parametrize("name", [n for n in UNARY if n in FUNCTIONS])
def test_unary(name):
    function = getattr(np, name)
    if name == "empty_like":
        check(lambda x: 0.0 * function(x), X)
        return
    check(function, X)
    check(function, K)
    check(function, F[None])


@pytest.mark.parametrize("name", POSITIVE)
def test_positive(name):
    check(getattr(np, name), P + 1.0)


@pytest.mark.parametrize("name", ["arcsin", "arccos", "arctanh"])
def test_small(name):
    check(getattr(np, name), X / 4.0)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    function = getattr(np, name)
    check(function, X, Y)
    check(function, X, V)
    check(lambda x: function(x, 2.0), X)
    check(lambda x: function(3.0, x), X)
    if name not in ("fmod", "mod", "remainder", "floor_divide"):  # by zero
        check(function, K, K[:, ::-1])
        check(function, F, np.float64(2.0))
    check(lambda x: function(x, 2), F)


CASES = {
    "reduce axis": lambda x: (
        x.sum(0),
        x.mean(axis=1, keepdims=True),
        x.max(-1),
        np.min(x, 0),
        x.prod((0, 1)),
    ),
    "var": lambda x: (x.var(0), x.std(1, ddof=1), np.var(x), np.ptp(x, 1), np.average(x, 0)),
    "args": lambda x: (x.argmax(1), np.argmin(x, 0), np.argsort(x, 0), np.sort(x, None), x.argmax()),
    "scan": lambda x: (np.cumsum(x, 0), x.cumsum(1), np.cumprod(x, 1), np.diff(x, axis=0), np.diff(x, 2)),
    "count": lambda x: (
        np.sum(x > 0),
        np.any(x > 2, 0),
        np.all(x < 9, 1),
        (x > 0).mean(),
        np.count_nonzero(x > 0, 1),
    ),
    "reshape": lambda x: (
        x.reshape(3, 2),
        x.reshape((-1,)),
        np.reshape(x, (3, -1)),
        x.T,
        x.ravel(),
        x.reshape(6),
    ),
    "axes": lambda x: (
        np.swapaxes(x, 0, 1),
        np.moveaxis(x[None], 0, 2),
        np.transpose(x[None], (2, 0, 1)),
        x.swapaxes(-1, 0),
    ),
    "expand": lambda x: (
        np.expand_dims(x, 1),
        np.expand_dims(x, (0, -1)),
        x[:, None].squeeze(1),
        x[None].squeeze(),
    ),
    "join": lambda x: (
        np.concatenate([x, 2 * x], 1),
        np.stack((x, x), -1),
        np.vstack([x, x[0]]),
        np.hstack([x, x]),
    ),
    "join 1": lambda x: (
        np.hstack([x[0], 1.0]),
        np.column_stack([x[0], x[1]]),
        np.append(x[0], 3.0),
        np.concatenate((x, x), None),
    ),
    "split": lambda x: (*np.split(x, 3, 1), *np.split(x[0], [1, 2])),
    "repeat": lambda x: (
        np.tile(x, 2),
        np.tile(x[0], (2, 1)),
        np.repeat(x, 2),
        np.repeat(x, 2, 0),
        x.repeat(3, axis=1),
    ),
    "flip": lambda x: (
        np.flip(x, 1),
        x[::-1],
        x[:, ::-1],
        np.roll(x, 1),
        np.roll(x, 1, 0),
        np.roll(x, (1, 2), (0, 1)),
    ),
    "broadcast": lambda x: (np.broadcast_to(x[0], (4, 3)), np.broadcast_to(x, (2, 2, 3))),
    "full": lambda x: (
        np.full_like(x, 3),
        np.ones_like(x, dtype=int),
        np.zeros_like(x, shape=(2,)),
        np.full_like(x, x[0, 0]),
    ),
    "where": lambda x: (
        np.where(x > 0, x, 0.0),
        np.where(x > 0, 1, 2),
        np.clip(x, 0, 1),
        x.clip(-1.0, None),
        np.where(x > 0),
    ),
    "near diagonal": lambda x: (
        np.tril(x),
        np.triu(x, 1),
        np.diag(x),
        np.diag(x[0]),
        np.diagonal(x),
        np.trace(x),
    ),
    "take": lambda x: (
        np.take(x, [0, 2], 1),
        np.take(x, 4),
        np.take_along_axis(x, np.argsort(x, 1), 1),
        x.take([1]),
    ),
    "round": lambda x: (np.round(x, 1), x.round(), np.around(x, 2)),
    "pad": lambda x: (
        np.pad(x, 1),
        np.pad(x, ((0, 1), (2, 0)), constant_values=2.0),
        np.pad(x, 1, mode="reflect"),
    ),
    "meshgrid": lambda x: (*np.meshgrid(x[0], x[1], indexing="ij"), *np.meshgrid(x[0], x[1])),
    "sorted place": lambda x: (np.searchsorted(np.sort(x[0]), x[1]), np.searchsorted(np.sort(x[0]), 0.1)),
    "matrix": lambda x: (
        x @ x.T,
        x @ x[0],
        x[:, 0] @ x,
        x[0] @ x[1],
        np.dot(x, x.T),
        np.inner(x, x),
        np.outer(x, x),
        np.vdot(x, x),
    ),
    "tensor": lambda x: (
        np.tensordot(x, x, ([0], [0])),
        np.einsum("ij,kj->ik", x, x),
        np.kron(x, x),
        np.cross(x, x[::-1]),
    ),
    "norm": lambda x: (
        np.linalg.norm(x),
        np.linalg.norm(x, axis=1),
        np.linalg.norm(x[0]),
        np.linalg.norm(x, axis=0, keepdims=True),
    ),
    "operators": lambda x: (
        x + 1,
        2 - x,
        x / 2,
        1 / x,
        x // 0.5,
        x % 0.7,
        x**2,
        2.0**x,
        abs(x),
        -x,
        +x,
        x > 1,
        x == x,
        x != 0.3,
    ),
    "power": lambda x: (abs(x) ** 0.5, abs(x) ** -1, x**3, np.power(2.0, x), np.float64(2) ** x),
    "casts": lambda x: (
        x.astype(int),
        x.astype(np.float32),
        x.astype(bool),
    ),
    "sizes": lambda x: (x.shape, x.ndim, x.size, len(x), np.shape(x), np.size(x, 0)),
    "array first": lambda x: (V * x, V - x, V @ x.T, np.float64(3.0) * x, x < V, np.maximum(V, x)),
    "iterate": lambda x: [row.sum() for row in x],
    "item": lambda x: (x[0, 0].item(), x.item(1, 2)),
}


@pytest.mark.parametrize("case", CASES)
def test_functions(case):
    check(CASES[case], X)


@pytest.mark.parametrize(
    "case", ["reduce axis", "count", "args", "operators", "full", "where", "matrix", "sizes"]
)
def test_integers(case):
    if case == "operators":
        check(
            lambda k: (
                k + 1,
                2 - k,
                k / 2,
                k // 2,
                k % 3,
                k**2,
                abs(k),
                -k,
                k & 3,
                k | 1,
                k ^ 2,
                ~k,
                k << 1,
                k > 0,
            ),
            K,
        )
    else:
        check(CASES[case], K)


def test_bools():
    check(
        lambda b: (
            b & b[::-1],
            b | ~b,
            b ^ b,
            b + b,
            b * 2,
            b * 1.5,
            b.sum(),
            b.max(0),
            b.mean(),
            b == b[::-1],
        ),
        B,
    )


def test_complex():
    check(
        lambda z: (
            z * z,
            z.conj(),
            np.abs(z),
            z.real,
            z.imag,
            np.angle(z),
            np.exp(z),
            z + 1.0,
            z.sum(),
            np.vdot(z, z),
        ),
        C,
    )


def test_linear_algebra():
    check(lambda s: (np.linalg.solve(s, V), np.linalg.solve(s, s), np.linalg.inv(s), np.linalg.det(s)), S)
    check(
        lambda s: (
            np.linalg.cholesky(s),
            *np.linalg.slogdet(s),
            np.linalg.matrix_power(s, 3),
            np.linalg.eigh(s)[0],
        ),
        S,
    )


def test_mixed_types():
    check(lambda x, k: (x * k, k * 1.0, k / k.max(), np.mean(k), k + np.float32(1), np.sum(k, 0)), X, K)
    check(lambda f: (f + 1, f * 0.5, f + np.float64(1.0), np.sin(f), f / 3, f**2, np.sum(f), f.mean()), F)
    check(lambda k: (k + 300, k * 2, k / 2, np.sin(k), k.sum()), np.array([1, 2, 3], np.int32))


INDICES = [
    lambda a, i: a[0],
    lambda a, i: a[-1, 2],
    lambda a, i: a[:, 1],
    lambda a, i: a[0:1, ::2],
    lambda a, i: a[..., 0],
    lambda a, i: a[None, :, None],
    lambda a, i: a[:, [2, 0]],
    lambda a, i: a[np.array([1, 0, -1])],
    lambda a, i: a[[0, 1], [2, -1]],
    lambda a, i: a[[[0], [1]], [[0, 2]]],
    lambda a, i: a[1, [0, 2]],
    lambda a, i: a[a > 0],
    lambda a, i: a[:, a[0] > 0],
    lambda a, i: a[a[:, 0] > 1, 1:],
    lambda a, i: a[None][:, [0, 1], [1, 2]],
    lambda a, i: a[None][[0], :, [1]],
    lambda a, i: a[None][..., [0, -1]],
    lambda a, i: a[:, i],
    lambda a, i: a[0, i[0]],
    lambda a, i: a[i[1] :, : i[0]],
    lambda a, i: a[0][i],
    lambda a, i: a[-2:, -2:],
    lambda a, i: a[5:],
    lambda a, i: a[i[2]],
]


@pytest.mark.parametrize("number", range(len(INDICES)))
def test_reads(number):
    check(INDICES[number], X, I)


def write(index, value, change=False):
    def function(a, i):
        a = a.copy()
        picked = index(i)
        if isinstance(a, np.ndarray):
            if change:
                np.add.at(a, picked, value(a))
            else:
                a[picked] = value(a)
            return a
        if change:
            return BACKEND.add_at(a, picked, value(a))
        return BACKEND.set_item(a, picked, value(a))

    return function


WRITES = [
    (lambda i: 0, lambda a: a[1]),
    (lambda i: (1, 2), lambda a: 5),
    (lambda i: (slice(None), 1), lambda a: a[:, 0]),
    (lambda i: (0, slice(None, None, -1)), lambda a: a[1]),
    (lambda i: (slice(None), slice(1, None)), lambda a: 2.0 * a[:, 1:]),
    (lambda i: Ellipsis, lambda a: 0.0),
    (lambda i: slice(0, 1), lambda a: a[1:2]),
    (lambda i: [1, 0], lambda a: a + 1.0),
    (lambda i: [1], lambda a: a[0] + 1.0),
    (lambda i: ([0, 1], [2, 0]), lambda a: a[0, :2]),
    (lambda i: (slice(None), i), lambda a: 2.0 * a),
    (lambda i: i[1], lambda a: a[1]),
    (lambda i: (-1, i[2]), lambda a: a[0, 0]),
    (lambda i: (slice(i[1], i[0]), 0), lambda a: 7.0),
    (lambda i: (slice(None), slice(i[1], i[0])), lambda a: a[:, 1:]),
    (lambda i: (1, [0, 2]), lambda a: a[0, 1:]),
    (lambda i: (slice(None), slice(None)), lambda a: a[0]),
    (lambda i: (slice(None), None), lambda a: a[:, None] * 2.0),
    (lambda i: (slice(None), None, slice(1, None)), lambda a: a[:, None, :2]),
    (lambda i: (None, 0), lambda a: a[1][None]),
]


@pytest.mark.parametrize("number", range(len(WRITES)))
def test_writes(number):
    check(write(*WRITES[number]), X, I)


def test_masked_write():
    def function(a):
        a = a.copy()
        if isinstance(a, np.ndarray):
            a[a > 0] = -1.0
            return a
        return BACKEND.set_item(a, a > 0, -1.0)

    check(function, X)


def test_repeated_addition():
    check(write(lambda i: ([0, 0, 1], [1, 1, 2]), lambda a: a[0], change=True), X, I)
    check(write(lambda i: (slice(None), i), lambda a: a, change=True), X, I)


def test_constructors():
    def made(x):
        return (
            np.array([x[0, 0], 2, x[1, 1]]),
            np.array([[x[0, 0], 0.0], [1.0, x[0, 1]]]),
            np.float32(x[0, 0]),
            np.int64(x[1, 1]),
            np.asarray([x[0], x[1]]),
        )

    assert_same(lsp_ad.staged(made, backend="tensorflow")(X), made(X))


def test_unknown_function():
    with pytest.raises(TypeError, match=r"no `np\.median`"):
        BACKEND.compile(np.median)(X)
