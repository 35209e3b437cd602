"""Directives: bounds of loops, unrolled or staged, types of items, decisions that must be staged."""

from __future__ import annotations

import re

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging import decisions
from tests.staging.test_staged_programs import assert_equal

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.row("A9")
X = np.array([1.0, 2.0, 3.0])


def grown(x, n):
    ys = []
    while x[0] < 100.0:
        ys.append(x)
        x = x * 2.0
    return ys


def grown_with_a_bound(x):
    ys = []
    while x[0] < 100.0:
        lsp_ad.loop_options(maximum_iterations=8)
        ys.append(x)
        x = x * 2.0
    return ys


def test_a_list_needs_a_bound():
    with pytest.raises(lsp_ad.StagingError, match=r"`ys` grows .*loop_options\(maximum_iterations=n\)"):
        lsp_ad.staged(grown, backend="jax")(X, 1)
    assert_equal(lsp_ad.staged(grown_with_a_bound, backend="jax")(X), grown_with_a_bound(X))


def test_a_bound_that_is_too_small():
    with pytest.raises(AssertionError, match="runs more than 8 times"):
        lsp_ad.staged(grown_with_a_bound, backend="jax")(X * 1e-3)


def test_bounds_of_lists_are_visible_in_the_code():
    assert "maximum_iterations=8" in lsp_ad.to_code(grown_with_a_bound)


def jaxpr(program, *arguments):
    return str(jax.make_jaxpr(lsp_ad.staged(program))(*arguments))


def unrolled(x):
    for _ in range(100):
        lsp_ad.loop_options(unroll=True)
        x = np.sin(x)
    return x


def rolled(x):
    for _ in range(5):
        lsp_ad.loop_options(unroll=False)
        x = np.sin(x)
    return x


def long(x):
    for _ in range(100):
        x = np.sin(x)
    return x


def short(x):
    for _ in range(5):
        x = np.sin(x)
    return x


@pytest.mark.row("A13")
@pytest.mark.parametrize(
    ("program", "outcome", "count", "why"),
    [
        (unrolled, decisions.UNROLLED, 100, "a directive says so"),
        (rolled, decisions.STAGED, None, "a directive says so"),
        (long, decisions.STAGED, None, "100 iterations are more than 64"),
        (short, decisions.UNROLLED, 5, "Python range"),
    ],
)
def test_loops_over_ranges(program, outcome, count, why):
    assert_equal(lsp_ad.staged(program, backend="jax")(X), program(X))
    assert_equal(lsp_ad.staged(program)(X), program(X))
    (found,) = lsp_ad.staging_report(program, X, backend="jax").of(decisions.FOR)
    assert (found.outcome, found.count) == (outcome, count)
    assert why in found.why


def test_a_loop_that_cannot_be_unrolled():
    def program(x):
        while x[0] < 10.0:
            lsp_ad.loop_options(unroll=True)
            x = x * 2.0
        return x

    with pytest.raises(lsp_ad.StagingError, match="cannot be unrolled"):
        lsp_ad.staged(program, backend="jax")(X)


def test_the_place_of_a_directive():
    def program(x):
        for v in x:
            x = x + v
            lsp_ad.loop_options(unroll=False)
        return x

    with pytest.raises(lsp_ad.ConversionError, match="first statement"):
        lsp_ad.staged(program)


def typed(x):
    ys = []
    lsp_ad.element_type(ys, np.float64, ())
    for v in x:
        if v > 1.5:
            ys.append(1)
    total = 0.0
    for y in ys:
        total = total + y / 2
    return total, len(ys)


def test_types_of_items():
    assert "ag.element_type(ys, np.float64, ())" in lsp_ad.to_code(typed)
    assert_equal(lsp_ad.staged(typed, backend="jax")(X), typed(X))
    assert_equal(lsp_ad.staged(typed)(X), typed(X))


def test_types_of_items_that_differ():
    def program(x):
        ys = [x]
        lsp_ad.element_type(ys, np.float64, (7,))
        return ys

    with pytest.raises(lsp_ad.StagingError, match=re.escape("(7,)")):
        lsp_ad.staged(program, backend="jax")(X)


def flagged(x, flag):
    if lsp_ad.must_stage(flag):
        x = x * 2.0
    return x


@lsp_ad.must_stage
def whole(x, n):
    if x[0] > 0.0:
        x = x * 2.0
    for i in range(n):
        x = x + i
    return x


@lsp_ad.must_stage
def whole_with_a_flag(x, flag):
    if flag:
        x = x * 2.0
    return x


@pytest.mark.row("A13")
def test_decisions_that_must_be_staged():
    staged = lsp_ad.staged(flagged, backend="jax")
    assert_equal(staged(X, np.bool_(True)), X * 2.0)
    for program in (flagged, whole_with_a_flag):
        with pytest.raises(
            lsp_ad.StagingError, match=r"test_directives\.py:\d+: `must_stage` of a Python bool"
        ):
            lsp_ad.staged(program, backend="jax")(X, True)
        with pytest.raises(lsp_ad.StagingError, match="must_stage"):
            jax.jit(lsp_ad.staged(program), static_argnums=1)(X, True)
        assert_equal(lsp_ad.staged(program)(X, True), X * 2.0)  # nothing is traced
        assert_equal(program(X, True), X * 2.0)
    assert_equal(lsp_ad.staged(whole, backend="jax")(X, 3), whole(X, 3))
    report = lsp_ad.staging_report(whole, X, 3, backend="jax")
    assert [d.outcome for d in report.of(decisions.FOR)] == [decisions.STAGED]
