"""Types and shapes of arguments: float32 stays float32, integers are taken for the real numbers that they are, and
a gradient has the shape of its parameter."""

from __future__ import annotations

import copy
import itertools
import re

import numpy as np
import pytest

from tests import oracle
from tests.differentiate.programs import arrays, everything, products, straight

HEAD = "import numpy as np\n\n\n"
# Loops that end when a double has converged do not end in single precision, or go elsewhere for integers.
PROGRAMS = [c for c in everything.CASES if "while" not in c.source]


def changed(value, f):
    """A structure with each number and array replaced."""
    if isinstance(value, dict):
        return {k: changed(v, f) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(changed(v, f) for v in value)
    return f(value)


def leaves(value) -> list:
    if isinstance(value, dict):
        return [leaf for v in value.values() for leaf in leaves(v)]
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, (list, tuple)) else [value]


def is_array(v) -> bool:
    return isinstance(v, np.ndarray) and v.dtype == np.float64


VARIANTS = {
    "arrays of integers": lambda v: np.rint(2 * v).astype(int) if is_array(v) else v,
    "integers": lambda v: round(2 * v) or 1 if type(v) is float else v,
    "numbers of NumPy": lambda v: np.float64(v) if type(v) is float else v,
    "arrays without axes": lambda v: np.array(v) if type(v) is float else v,
    "arrays in single precision": lambda v: v.astype(np.float32) if is_array(v) else v,
}


def real(v):
    """The same number as Python has it, the same array in double precision."""
    if isinstance(v, np.ndarray) and v.ndim and v.dtype.kind in "if":
        return v.astype(float)
    return float(v) if isinstance(v, (np.floating, np.ndarray)) or type(v) is int else v


@pytest.mark.row("T27")
@pytest.mark.parametrize("kind", VARIANTS)
def test_every_program(kind):
    """The gradient is that of the same real numbers, in the shape of the parameter, and of float type."""
    checked = 0
    for case in PROGRAMS:
        try:
            derivative, text = oracle.generate(case.source, wrt=case.wrt, mode="vjp")
        except oracle.Refused:
            continue
        space = oracle.run(text)
        f, vjp = space["f"], space[derivative.name]
        names = f.__code__.co_varnames[: f.__code__.co_argcount]
        given = [
            changed(a, VARIANTS[kind]) if p in derivative.wrt else a
            for p, a in zip(names, case.args, strict=False)
        ]
        plain = [changed(a, real) if p in derivative.wrt else a for p, a in zip(names, given, strict=False)]
        try:
            value, expected = f(*copy.deepcopy(given)), f(*copy.deepcopy(plain))
        except (IndexError, TypeError, ValueError, ZeroDivisionError):
            continue  # the program is not for such arguments
        pairs = list(zip(leaves(value), leaves(expected), strict=True))
        if not all(
            np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-4, equal_nan=True) for a, b in pairs
        ):
            continue  # nor is this: it computes something else for them
        rng = np.random.default_rng(0)
        seed = oracle.random_like(expected, rng)
        want = vjp(*copy.deepcopy(plain), **{derivative.seed: seed})
        found = vjp(*copy.deepcopy(given), **{derivative.seed: seed})
        parameters = [given[names.index(p)] for p in derivative.wrt]
        structures = (parameters, [found] if len(derivative.wrt) == 1 else list(found), want)
        for a, g, w in zip(*map(leaves, structures), strict=True):
            assert np.shape(g) == np.shape(a), (case.name, text)
            assert np.asarray(g).dtype.kind == "f", (case.name, text)
            np.testing.assert_allclose(g, w, rtol=2e-3, atol=1e-4, err_msg=f"{case.name}\n{text}")
        checked += 1
    assert checked > 100


@pytest.mark.row("T27")
def test_single_precision_in_programs():
    """Where a program keeps to single precision, its gradient does."""
    checked = 0
    for case in (*straight.CASES, *products.CASES, *arrays.CASES):
        try:
            derivative, text = oracle.generate(case.source, wrt=case.wrt, mode="vjp")
        except oracle.Refused:
            continue
        space = oracle.run(text)
        given = [changed(a, VARIANTS["arrays in single precision"]) for a in case.args]
        value = space["f"](*copy.deepcopy(given))
        if any(isinstance(v, (np.ndarray, np.generic)) and v.dtype == np.float64 for v in leaves(value)):
            continue
        seed = changed(value, lambda v: np.ones_like(v) if np.ndim(v) else 1.0)
        found = space[derivative.name](*given, **{derivative.seed: seed})
        names = list(space["f"].__code__.co_varnames)
        parameters = [given[names.index(p)] for p in derivative.wrt]
        for a, g in zip(
            leaves(parameters), leaves([found] if len(derivative.wrt) == 1 else list(found)), strict=True
        ):
            if isinstance(a, np.ndarray) and a.dtype == np.float32:
                assert g.dtype == np.float32, (case.name, text)
                checked += 1
    assert checked > 20


SHAPES = [(), (1,), (3,), (1, 1), (1, 3), (2, 1), (2, 3), (4, 1, 3), (1, 2, 1), (4, 2, 3), (0,), (2, 0)]
BINARY = """x + y; x - y; x * y; x / y; x ** y; x % y; np.maximum(x, y); np.minimum(x, y); np.fmax(x, y); np.arctan2(x, y)
    np.hypot(x, y); np.where(x > y, x, y); np.logaddexp(x, y); np.clip(x, y, 3.0)"""


@pytest.mark.row("T15")
@pytest.mark.parametrize("operation", [o.strip() for o in BINARY.replace("\n", ";").split(";")])
def test_broadcasting(operation):
    """Every pair of shapes, in both modes: the result returned, and used further."""
    rng = np.random.default_rng(0)
    for body in (f"    return {operation}\n", f"    z = {operation}\n    return np.sum(z * x)\n"):
        source = f"{HEAD}def f(x, y):\n{body}"
        reverse, both = oracle.generate(source, mode="vjp")
        forward, text = oracle.generate(source, mode="jvp")
        f, vjp, jvp = oracle.run(both)["f"], oracle.run(both)[reverse.name], oracle.run(text)[forward.name]
        for a, b in itertools.product(SHAPES, SHAPES):
            x, y = (rng.uniform(0.5, 2.0, size=s) if s else rng.uniform(0.5, 2.0) for s in (a, b))
            dx, dy = oracle.random_like((x, y), rng)
            try:
                value = f(x, y)
            except ValueError:
                continue  # the shapes do not fit
            seed = oracle.random_like(value, rng)
            gradients = vjp(x, y, seed)
            assert (np.shape(gradients[0]), np.shape(gradients[1])) == (a, b), both
            sides = [np.asarray(f(x + e * dx, y + e * dy)) for e in (1e-6, -1e-6)]
            _, tangent = jvp(x, y, dx, dy)
            assert np.shape(tangent) == np.shape(value), text
            np.testing.assert_allclose(
                tangent, (sides[0] - sides[1]) / 2e-6, rtol=1e-5, atol=1e-5, err_msg=text
            )
            along = np.sum(gradients[0] * dx) + np.sum(gradients[1] * dy)
            np.testing.assert_allclose(along, np.sum(seed * tangent), rtol=1e-9, atol=1e-12, err_msg=both)


VECTOR = """x[0]; x[-1]; x[1:3]; x[::2]; x[::-1]; x[-3:-1]; x[None]; x[np.newaxis, :]; x[...]; x[..., 0]; x[[0, 2, 2]]
    x[np.array([0, 2, 2, -1])]; x[x > 0]; x[-1:0:-2]; x[()]; x[[True, False, True, True, False, True]]; x[:0]; x[10:]
    x[np.argsort(x)]; x[np.argmax(x)]; x[[[0, 1], [2, 2]]]; x[x > 0][1:]; x[1:][::2][0]; x[np.flatnonzero(x > 0)]
    x[np.nonzero(x > 0)]; x[(x > 0) & (x < 1)]; x[~(x > 0)]; x[-np.arange(1, 4)]; x.take([0, 1, 1]); x[None, None]"""
MATRIX = """x[0]; x[1, 2]; x[1][2]; x[:, 0]; x[0, 1:3]; x[1:, ::2]; x[::-1, ::-1]; x[0, ...]; x[:, None]; x[:, None, 1:]
    x[[0, 1], [1, 2]]; x[[0, 0], [1, 1]]; x[[0, 1]][:, [1, 1]]; x[[0, 1], 1:]; x[1:, [0, 0, 1]]; x[x > 0]
    x[x[:, 0] > 0]; x[x[:, 0] > 0, 1:]; x[x[:, 0] > 0, 1]; x[:, x[0] > 0]; x[np.ix_([0, 1], [2, 2, 3])]
    x[[0, 2]][:, None]; x[np.arange(4), np.argmax(x, axis=1)]; x[np.triu_indices(4)]; x.T[1:]; x.ravel()[3]
    x[1:3, 1:3][0][1]; x[[]]; x[[[0], [1]], [0, 1]]; x[None, [0, 1], 1:]; x[[0, 1], None, [2, 2]]; x[1:, None, [0, 0]]
    np.take_along_axis(x, np.argsort(x, axis=1), axis=1); np.take(x, [0, 7, 7]); x.reshape(2, 10)[1, ::3]"""
CUBE = """x[0, ..., 1]; x[..., 1, :]; x[[0, 1], :, [0, 1]]; x[:, [0, 1], [0, 1]]; x[0, [0, 1], 1:]; x[x[:, :, 0] > 0]
    x[:, x[0, :, 0] > 0, 1:]; x[1, x[1] > 0]; x[[0, 1]][..., 0]; x[:, ::-1, None, 0]; x[..., [0, 0], :]"""


@pytest.mark.row("T13")
@pytest.mark.parametrize(
    ("index", "shape"),
    [
        (index.strip(), shape)
        for text, shape in ((VECTOR, (6,)), (MATRIX, (4, 5)), (CUBE, (3, 4, 5)))
        for index in text.replace("\n", ";").split(";")
    ],
)
def test_indexing(index, shape):
    x = np.random.default_rng(1).normal(size=shape)
    source = f"{HEAD}def f(x):\n    y = {index}\n    return np.sum(y * y * 0.5) + np.sum(y)\n"
    oracle.assert_gradient(source, x, all_modes=False)
    oracle.assert_jvp(source, x)


@pytest.mark.row("T13")
@pytest.mark.parametrize(
    ("index", "values"),
    [
        ("x[i]", ([0, 2, 2],)),
        ("x[i][:, None]", ([0, 2, 2],)),
        ("x[i, 1:]", ([True, False, True, True],)),
        ("x[i, 1:]", ([0, 2, 2],)),
        ("x[1:, i]", ([0, 2, 2],)),
        ("x[i]", (1,)),
        ("x[i, j]", (1, 2)),
        ("x[i:j]", (1, 3)),
        ("x[i, j]", (1, [0, 0, 2])),
    ],
)
def test_indices_that_are_parameters(index, values):
    x = np.random.default_rng(1).normal(size=(4, 5))
    given = [np.array(v) if isinstance(v, list) else v for v in values]
    names = ["i", "j"][: len(given)]
    source = f"{HEAD}def f(x, {', '.join(names)}):\n    y = {index}\n    return np.sum(y * y)\n"
    oracle.assert_gradient(source, x, *given, wrt=["x"])


@pytest.mark.row("T24")
def test_what_does_not_depend_on_wrt_gets_no_derivative_code():
    """Twenty statements about the rest, five parameters, and counts: the backward sweep is that of one line."""
    rest = "".join(f"    c = np.tanh(c @ a) + {k}.0\n" for k in range(20))
    source = (
        f"{HEAD}def f(x, a, c, n, flags):\n{rest}    k = int(n) + 3\n    hits = np.sum(flags & (c > 0))\n"
    )
    source += "    y = np.sum(x * c) * k + hits\n    return y\n"
    derivative, _ = oracle.generate(source, wrt=["x"])
    backward = [line for line in derivative.lines if line.sweep == "backward"]
    assert len(backward) <= 2, derivative.text
    assert not re.search(r"\bd[ac]\b", derivative.text)
    with_c, _ = oracle.generate(source, wrt=["c"])
    assert len([line for line in with_c.lines if line.sweep == "backward"]) > 20
