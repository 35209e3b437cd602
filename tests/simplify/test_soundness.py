"""Simplified code computes what the code before simplification does: for NaN, infinities, zeros, and in every shape."""

from __future__ import annotations

import textwrap
import warnings

import numpy as np
import pytest

from lsp_ad.differentiate import Options, differentiate, insertion
from lsp_ad.source import edits
from tests import oracle

pytestmark = pytest.mark.row("T25")

HEAD = "import numpy as np\n\n\n"
EDGES = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan])
BODIES = {
    "zero times": "return 0 * x + 0.0 * y",
    "times zero": "return x * 0 + y * x",
    "a zero that is computed": "k = 1.0 - 1.0\nreturn k * x * y",
    "one times": "return 1 * x * 1.0 + y / 1",
    "minus itself": "return (x - x) * y",
    "by itself": "return x / x + y",
    "to the power of zero": "return x**0 * y",
    "to the power of one": "return x**1 + y**2",
    "plus zero": "return x + 0.0 + y * 0.0",
    "minus zero": "return -(x * -y) - 0.0",
    "signs": "return -(-x * y) + -(-y)",
    "a chain": "z = x * y\nz = z * x\nz = -z\nz = z + x\nreturn z * 2.0",
    "sums of contributions": "return x * y + x * x - x + y * x",
    "what is not read": "z = np.exp(x)\nz = x * 2.0\nw = z / y\nreturn z * y",
    "chosen": "return np.where(x > 0, x * y, 0.0)",
    "chosen by NaN": "return np.where(x == x, x, y) * y",
    "extremes": "return np.maximum(x, y) + np.minimum(x, 0.0)",
    "a constant array": "return np.zeros(1) * x + np.ones(1) * y",
    "a branch": "if np.sum(x) > 0:\n    z = x * 0.0\nelse:\n    z = x * y\nreturn z + y",
    "a loop": "z = x\nfor i in range(3):\n    z = z * y + 0 * i\nreturn z",
    "a loop that never runs": "z = x * 0.0\nfor i in range(0):\n    z = z * y\nreturn z + y",
    "exponentials": "return np.exp(x) * y + np.exp(x) * np.exp(-x)",
    "a square root": "return np.sqrt(x * x) + np.abs(y)",
    "sums": "return np.sum(x) * 0.0 + np.sum(x * y) * x",
    "means": "return np.mean(x * y) * np.ones_like(x) * 1.0",
    "writes": "z = x * 1.0\nz *= 0.0\nz += y\nz[...] = z * x\nreturn z",
}
# pairs of arguments, of one shape or of shapes that broadcast
ARGUMENTS = {
    "edges": (EDGES, EDGES[::-1].copy()),
    "edges with each other": (EDGES[:, None] + np.zeros(7), EDGES + np.zeros((7, 1))),
    "empty": (np.zeros(0), np.zeros(0)),
    "no rows": (np.zeros((0, 3)), np.zeros((0, 3))),
    "one element": (np.array([np.nan]), np.array([np.inf])),
    "no axes": (np.array(np.inf), np.array(0.0)),
    "spread": (EDGES[:, None], EDGES[:3]),
    "spread over nothing": (np.zeros((0, 1)), np.ones(3)),
}
WRITES = ("writes",)  # an array does not grow when it is written, and a number cannot be


def derivatives(source: str, mode: str):
    """(namespace, derivative) of the code as it is, and of that before simplification."""
    program = oracle.program(source)
    for optimized in (True, False):
        found, problems = differentiate(program, "f", None, mode, Options(optimized=optimized))
        assert found is not None, problems
        yield oracle.run(edits.apply(source, insertion(program, found))), found


@pytest.mark.parametrize("mode", ["vjp", "jvp"])
@pytest.mark.parametrize("body", BODIES)
def test_simplified_code_is_equal_at_the_edges(body, mode):
    source = HEAD + "def f(x, y):\n" + textwrap.indent(BODIES[body], "    ") + "\n"
    (simple, one), (plain, other) = derivatives(source, mode)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the mean of nothing
        for name, (x, y) in ARGUMENTS.items():
            if body in WRITES and (x.shape != y.shape or not x.shape):
                continue
            value = plain["f"](x.copy(), y.copy())
            for seed in (1.0, 0.0, np.inf, np.nan):
                seeds = [np.full_like(value, seed)] if mode == "vjp" else [x * 0 + seed, np.ones_like(y)]
                found = simple[one.name](x.copy(), y.copy(), *seeds)
                want = plain[other.name](x.copy(), y.copy(), *seeds)
                shapes = [x.shape, y.shape] if mode == "vjp" else [value.shape] * 2
                assert [np.shape(g) for g in found] == shapes, (name, one.text)
                for g, w in zip(found, want, strict=True):
                    np.testing.assert_allclose(g, w, rtol=1e-13, err_msg=f"{name}\n{one.text}\n{other.text}")
                if mode == "jvp":
                    np.testing.assert_array_equal(found[0], value)


@pytest.mark.parametrize("optimized", [True, False])
def test_zero_times_infinity_is_not_a_number(optimized):
    """In the derivative as in the function: the factor stays."""
    source = HEAD + "def f(x, y):\n    return np.sum(0 * x * y)\n"
    program = oracle.program(source)
    derivative, _ = differentiate(program, "f", ["x"], "value_and_grad", Options(optimized=optimized))
    namespace = oracle.run(edits.apply(source, insertion(program, derivative)))
    x, y = np.array([1.0, 2.0]), np.array([np.inf, 3.0])
    with np.errstate(invalid="ignore"):
        value, gradient = namespace[derivative.name](x, y)
    assert np.isnan(value)
    np.testing.assert_array_equal(gradient, [np.nan, 0.0])


def test_a_zero_adjoint_has_the_shape_of_its_parameter():
    source = HEAD + "def f(x, y):\n    return np.sum(0 * x) + np.sum(y)\n"
    derivative, text = oracle.generate(source)
    gradients = oracle.run(text)[derivative.name](np.ones((2, 3)), np.ones((4, 0)))
    assert [g.shape for g in gradients] == [(2, 3), (4, 0)]
    np.testing.assert_array_equal(gradients[0], np.zeros((2, 3)))
