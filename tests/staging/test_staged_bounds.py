"""Options of loops that a derivative hands on, as bounds: its tapes have room on JAX, which needs to know."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad
from tests.staging.test_staged_programs import assert_equal

pytest.importorskip("jax")
pytestmark = pytest.mark.row("A9", "A17")


def root(a, tolerance):
    x = a
    while abs(x * x - a) > tolerance:
        lsp_ad.loop_options(maximum_iterations=40)
        x = 0.5 * (x + a / x)
    return x


def cooled(x, w):
    total = 0.0
    for i in range(len(w)):
        y = x * w[i]
        while True:
            lsp_ad.loop_options(maximum_iterations=2 * len(w))
            y = np.sin(y) * 0.9
            if y < 0.3:
                break
        total += y * x
    return total


def checkpointed(x):
    with lsp_ad.checkpoint(every=5):
        while x > 1.0:
            lsp_ad.loop_options(maximum_iterations=40)
            x = x * 0.9
    return x * x


def lowered(x, n):
    while x > 1.0:
        lsp_ad.loop_options(maximum_iterations=n)
        x = x * 0.9
    return x


def of_callees(x, n):
    return lowered(x * 2.0, n) * lowered(x * 3.0, 2 * n)


PROGRAMS = [
    (root, (7.0, 1e-9)),
    (cooled, (1.5, np.arange(1.0, 80.0))),
    (checkpointed, (20.0,)),
    (of_callees, (9.0, 45)),
]


@pytest.mark.parametrize("program, arguments", PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_gradients(program, arguments):
    gradient = lsp_ad.grad(program, 0)
    assert_equal(lsp_ad.staged(gradient, backend="jax")(*arguments), gradient(*arguments))


@pytest.mark.parametrize("program, arguments", PROGRAMS[:2], ids=lambda value: getattr(value, "__name__", ""))
def test_products(program, arguments):
    product = lsp_ad.hvp(program, 0)
    found = lsp_ad.staged(product, backend="jax")(*arguments, 1.0)
    np.testing.assert_allclose(found, product(*arguments, 1.0), rtol=1e-10)


def powers(x, w):
    y = x * np.arange(1.0, 4.0)
    while np.sum(y) > 1.0:
        lsp_ad.loop_options(maximum_iterations=40)
        y = y * y * w / (1.0 + np.sum(y))
    return np.sum(y * np.sin(y))


def nested(x, w):
    for _ in range(5):
        y = x
        while y > 1.0:
            lsp_ad.loop_options(maximum_iterations=40)
            y = y * np.sin(y) * w
        x = x * w + y
    return x


SECOND = [(root, (7.0, 1e-9)), (powers, (3.0, 0.3)), (nested, (3.0, 0.3))]


@pytest.mark.parametrize("program, arguments", SECOND, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("backend", ["jax", "lantern", "tensorflow"])
def test_gradients_of_gradients(program, arguments, backend):
    pytest.importorskip({"lantern": "numba"}.get(backend, backend))
    second = lsp_ad.grad(lsp_ad.grad(program, 0), 0)
    found = lsp_ad.staged(second, backend=backend)(*arguments)
    np.testing.assert_allclose(found, second(*arguments), rtol=1e-10)


def test_a_bound_that_is_too_small():
    gradient = lsp_ad.grad(lowered, "x")
    with pytest.raises(AssertionError, match="runs more than 3 times"):
        lsp_ad.staged(gradient, backend="jax")(9.0, 3)


def again(x):
    tape = []
    while x > 1.0:
        lsp_ad.loop_options(maximum_iterations=40)
        tape.append(x)
        x = x * 0.9
    ys = []
    for i, (x, y) in enumerate(zip(reversed(tape), tape, strict=False)):
        ys.append(x * i - y)
    return ys


def test_a_loop_over_a_list_is_bounded_by_its_room():
    assert_equal(lsp_ad.staged(again, backend="jax")(9.0), again(9.0))


def of_inner(x, n):
    return lsp_ad.grad(lowered, "x")(x, n) * x


def inside_a_loop(x, n):
    for _ in range(3):
        x = x + 0.1 * of_inner(x, n)
    return x * x


@pytest.mark.parametrize("program", [of_inner, inside_a_loop])
@pytest.mark.parametrize("derivative", [lsp_ad.grad, lsp_ad.hvp])
def test_derivatives_of_what_calls_a_derivative(program, derivative):
    made = derivative(program, "x")
    arguments = (3.0, 40, 1.0)[: 2 + (derivative is lsp_ad.hvp)]
    found = lsp_ad.staged(made, backend="jax")(*arguments)
    np.testing.assert_allclose(found, made(*arguments), rtol=1e-10)


def test_a_derivative_that_is_made_in_staged_code():
    assert_equal(lsp_ad.staged(inside_a_loop, backend="jax")(3.0, 40), inside_a_loop(3.0, 40))


def summed(x):
    kept = []
    while x > 1.0:
        lsp_ad.loop_options(maximum_iterations=40)
        kept.append(x)
        x = x * 0.5
    total = 0.0
    for v in reversed(kept):
        total = total * 0.5 + v
    return total


def test_lists_without_64_bits():
    import jax

    found = jax.jit(lsp_ad.staged(summed))(30.0)
    np.testing.assert_allclose(found, summed(30.0), rtol=1e-6)
    gradient = jax.jit(lsp_ad.staged(lsp_ad.grad(summed, "x")))
    np.testing.assert_allclose(gradient(30.0), lsp_ad.grad(summed, "x")(30.0), rtol=1e-6)


def unrolled(x, w):
    for i in range(100):
        lsp_ad.loop_options(unroll=True)
        x = x + 0.01 * w * np.sin(x) * i
    return x


def not_unrolled(x, w):
    for _ in range(5):
        lsp_ad.loop_options(unroll=False, parallel_iterations=1)
        x = w * x * np.sin(x)
    for _ in range(5):
        lsp_ad.loop_options(unroll=False)
        x = 0.9 * x
    while x > 0.1:
        lsp_ad.loop_options(unroll=False, maximum_iterations=20)
        x = 0.5 * x * x
    return x


def long_and_linear(x, w):
    for _ in range(100):
        x = 0.99 * x
    return x * w


@pytest.mark.parametrize("backend", ["jax", "tensorflow", "lantern"])
@pytest.mark.parametrize(
    ("program", "outcome"), [(unrolled, "unrolled"), (not_unrolled, "staged"), (long_and_linear, "staged")]
)
def test_loops_of_a_derivative_are_staged_as_those_of_the_function(program, outcome, backend):
    pytest.importorskip({"lantern": "numba"}.get(backend, backend))
    gradient = lsp_ad.grad(program, "x")
    found = lsp_ad.staged(gradient, backend=backend)(2.0, 0.9)
    np.testing.assert_allclose(found, gradient(2.0, 0.9), rtol=1e-10)
    report = lsp_ad.staging_report(gradient, 2.0, 0.9, backend=backend)
    assert {d.outcome for d in [*report.of("for"), *report.of("while")]} == {outcome}


def test_a_directive_is_heard_under_jit():
    import jax

    text = str(jax.make_jaxpr(lsp_ad.staged(lsp_ad.grad(not_unrolled, "x")))(2.0, 0.9))
    assert text.count("scan[") == 4  # forwards and backwards


def test_what_is_left_of_a_reversed_range():
    def f(x):
        order = reversed(range(100))
        x = x + next(order)
        for i in order:
            x = x * 0.9 + i
        return x

    assert_equal(lsp_ad.staged(f, backend="jax")(2.0), f(2.0))
    assert_equal(lsp_ad.staged(f)(2.0), f(2.0))


def totals(x):
    total, kept, pairs = 0, [], []
    while total < 10.0:
        lsp_ad.loop_options(maximum_iterations=40)
        kept.append(total)
        pairs.append((total, [total * 2]))
        total = total + x
    for before in kept:
        total = total + before
    return total + pairs[-1][1][0] + len(kept)


@pytest.mark.parametrize("backend", ["jax", "tensorflow", "lantern"])
def test_items_that_begin_as_whole_numbers(backend):
    pytest.importorskip({"lantern": "numba"}.get(backend, backend))
    assert_equal(lsp_ad.staged(totals, backend=backend)(1.5), totals(1.5))
