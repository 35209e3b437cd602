"""Loops over staged things on JAX: arrays, ranges, zips, reversals; dicts and tuples in Python."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad
from tests.staging.test_staged_programs import assert_equal

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.row("A4", "A8")
X = np.linspace(-1.0, 2.0, 7)
M = np.arange(12.0).reshape(4, 3) / 10.0


def over_rows(m):
    total = np.zeros(3)
    for row in m:
        total = total * 0.5 + np.sin(row)
    return total


def enumerated(x):
    total = 0.0
    for i, v in enumerate(x, start=2):
        total = total + i * v
    return total


def backwards(x):
    total = 0.0
    for v in reversed(x):
        total = total * 0.5 + v
    for i, v in enumerate(reversed(x)):
        total = total + i * v
    return total


def side_by_side(m):
    total = 0.0
    for i, (row, column) in enumerate(zip(m, m[:, :2], strict=True)):
        total = total + i * np.sum(row) * np.prod(column)
    for row, k, w in zip(m, range(3), [0.1, 0.2, 0.3, 0.4]):  # noqa: B905
        total = total * 0.9 + w * k * row[0]
    return total


def mapped(x):
    total = 0.0
    for v in map(lambda t: t * t, x):  # noqa: C417
        total = total + v
    for v in map(lambda a, b: a * b, x, x[1:]):
        total = total + v
    return total


def in_python(x):
    weights = {"a": 2.0, "b": 3.0}
    total = 0.0
    for key, w in weights.items():
        total = total + w * x[len(key)]
    for a, b in ((x[0], 1.0), (x[1], 2.0)):
        total = total + a * b
    return total


def bound_in_the_loop(x):
    for v in x:
        last = v * 2.0
        square = last * last
    return last + square


def nested(m):
    total = 0.0
    for row in m:
        part = 0.0
        for v in row:
            if v > 0.5:
                continue
            part = part + v
        if part > 1.0:
            break
        total = total + part
    return total


def number_of_steps(x):
    n = 0
    for v in x:
        if v > 0:
            n = n + 1
    total = 0.0
    for i in range(n):
        total = total + x[i]
    for i in range(1, n, 2):
        total = total * 0.5 + x[i]
    for i in range(n, 0, -1):
        total = total * 0.5 + i
    return total


def an_accumulator_that_becomes_an_array(m):
    total = 0.0
    best = None
    for row in m:
        total = total + row
        best = row if best is None else np.maximum(best, row)
    return total, best


def parameters_by_a_staged_index(x):
    layers = [x[0], x[1], x[2]]
    total = 0.0
    for i in range(70):
        total = total * 0.5 + layers[i % 3]
    return total


def an_iterator(x):
    total = 0.0
    for v, w in zip(x, iter([1.0, 2.0])):  # noqa: B905
        total = total + v * w
    return total


PROGRAMS = [
    (an_iterator, X),
    (over_rows, M),
    (enumerated, X),
    (backwards, X),
    (side_by_side, M),
    (mapped, X),
    (in_python, X),
    (bound_in_the_loop, X),
    (nested, M),
    (number_of_steps, X),
    (an_accumulator_that_becomes_an_array, M),
    (parameters_by_a_staged_index, X),
]


@pytest.mark.parametrize(("program", "argument"), PROGRAMS)
def test_equal(program, argument):
    assert_equal(lsp_ad.staged(program, backend="jax")(argument), program(argument))
    assert_equal(lsp_ad.staged(program)(argument), program(argument))


def test_a_loop_over_an_array_is_one_scan():
    text = str(jax.make_jaxpr(lsp_ad.staged(over_rows))(M.astype("f4")))
    assert text.count("scan[") == 1 and "while" not in text and "dynamic_slice" not in text


def filtered(x):
    total = 0.0
    for v in filter(lambda t: t > 0, x):
        total = total + v
    return total


def test_the_number_of_items_that_filter_keeps():
    with pytest.raises(lsp_ad.StagingError, match="`filter`"):
        lsp_ad.staged(filtered, backend="jax")(X)


def test_the_flag_of_a_break_is_the_condition():
    """No conditional gives it as a result, and where the body begins it is not set."""

    def first_above(xs, limit):
        at = 0.0
        for x in xs:
            if x > limit:
                break
            at = at + x
        return at

    xs = np.arange(5.0)
    assert_equal(lsp_ad.staged(first_above, backend="jax")(xs, 2.5), first_above(xs, 2.5))
    code = jax.make_jaxpr(lsp_ad.staged(first_above))(xs.astype(np.float32), 2.5)
    body = next(e for e in code.eqns if e.primitive.name == "while").params["body_jaxpr"]
    conditionals = [e for e in body.jaxpr.eqns if e.primitive.name == "cond"]
    assert len(conditionals) == 1 and [v.aval.dtype.kind for v in conditionals[0].outvars] == ["f"]


def first_above(x):
    for k, v in enumerate(x):  # noqa: B007
        if v > 1.0:
            break
    return k


def mixed(x, n):
    total = 0
    for i in range(n):
        if x > i:
            total += x
        else:
            total -= i
    return total


def weighted(x):
    total = x[0] * 0
    for i in range(100):
        total = total + x[i % 3] * i
    return total, x.sum() / len(x), x * x.size


def test_a_variable_of_a_loop_that_runs_has_a_value_after_a_break():
    f = lsp_ad.staged(first_above, backend="jax")
    for x in (np.arange(30.0) / 10.0, np.zeros(30), np.array([2.0])):
        assert f(x) == first_above(x)
    with pytest.raises(Exception, match="'k'"):
        f(np.zeros(0))


@pytest.mark.parametrize("backend", ["jax", "lantern"])
def test_the_index_of_a_range_is_a_number_of_python(backend):
    if backend == "lantern":
        pytest.importorskip("numba")
    for n in (3, 80):
        assert lsp_ad.staged(mixed, backend=backend)(1.5, n) == mixed(1.5, n)
    x = np.array([0.5, 1.0, 2.0], np.float32)
    for got, expected in zip(lsp_ad.staged(weighted, backend=backend)(x), weighted(x), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6)
        assert got.dtype == expected.dtype
