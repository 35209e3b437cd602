"""A function without a result is differentiated in the parameters that it writes into, in their order."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from lsp_ad.differentiate import differentiate
from tests import oracle

pytestmark = pytest.mark.row("T14")

ONE = """
import numpy as np

def f(u, a):
    for i in range(1, len(u)):
        u[i] = a * u[i] + np.sin(u[i - 1])
"""
TWO = """
import numpy as np

def f(u, v, dt):
    if dt == 0.0:
        return
    v[1:] -= dt * u[:-1]
    u[:] = u + dt * v
"""
RNG = np.random.default_rng(3)


@pytest.mark.parametrize(
    ("source", "args", "written"),
    [
        (ONE, (RNG.normal(size=5), 0.7), (0,)),
        (ONE, (RNG.normal(size=1), 0.7), (0,)),
        (TWO, (RNG.normal(size=4), RNG.normal(size=4), 0.1), (0, 1)),
        (TWO, (RNG.normal(size=4), RNG.normal(size=4), 0.0), (0, 1)),
    ],
)
def test_the_seed_belongs_to_the_values_after_the_call(source, args, written):
    derivative, text = oracle.generate(source, "f", [0], "vjp")
    namespace = oracle.run(text)

    def after(*given):
        given = copy.deepcopy(given)
        assert namespace["f"](*given) is None
        return [given[i] for i in written]

    seeds = [RNG.normal(size=np.shape(args[i])) for i in written]
    given = copy.deepcopy(args)
    gradient = namespace[derivative.name](*given, seeds[0] if len(seeds) == 1 else tuple(seeds))
    for before, now in zip(args, given, strict=True):
        assert np.array_equal(before, now)
    direction = RNG.normal(size=args[0].shape)
    sides = [after(args[0] + sign * 1e-6 * direction, *args[1:]) for sign in (1, -1)]
    want = sum(np.sum(s * (p - m)) for s, p, m in zip(seeds, *sides, strict=True)) / 2e-6
    assert np.sum(gradient * direction) == pytest.approx(want, rel=1e-6, abs=1e-8)


def test_a_function_that_gives_and_writes_nothing_is_refused():
    derivative, problems = differentiate(oracle.program("def f(x):\n    y = x * x\n"), "f")
    assert derivative is None
    assert [p.code for p in problems] == ["AD104"]


def test_a_parameter_that_is_written_and_assigned_anew_is_refused():
    source = "def f(x):\n    x[0] = 1.0\n    x = x * x\n"
    derivative, problems = differentiate(oracle.program(source), "f")
    assert derivative is None
    assert [p.code for p in problems] == ["AD302"]


@pytest.mark.parametrize(
    "body",
    {
        "one array for two parameters": "def g(u, v):\n    u[0] = 2.0 * v[0]\n    v[1] = u[0] * 3.0\n\n"
        "def f(x):\n    y = x * x\n    g(y, y)\n    return y * x\n",
        "parts that overlap": "def g(u, v):\n    for i in range(len(u)):\n        u[i] = u[i] * v[i]\n\n"
        "def f(x):\n    y = x * x\n    g(y[1:], y[:-1])\n    return y * x\n",
        "a second name": "def g(u, v):\n    u[0] = v[1] * v[0]\n    u[1] = v[0]\n\n"
        "def f(x):\n    y = x * x\n    z = y.T\n    g(y, z)\n    return y * x\n",
        "the array is returned": "def g(u):\n    u[0] = u[1] * 2.0\n    return u\n\n"
        "def f(x):\n    y = x * x\n    z = g(y)\n    z[1] = 5.0 * z[0]\n    return y * x\n",
    }.values(),
)
def test_a_callee_that_writes_where_another_name_reads_is_refused(body):
    derivative, problems = differentiate(oracle.program("import numpy as np\n\n" + body), "f")
    assert derivative is None
    assert [p.code for p in problems] == ["AD302"]
    assert problems[0].way_out
