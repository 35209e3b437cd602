"""The flags of loops: none where a `break` begins the body of a `while` loop, one for all jumps of a loop."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
pytestmark = pytest.mark.row("A4", "A7")


def halved(x):
    while x > 1.0:
        if x < 3.0:
            break
        x = x * 0.5
    return x


def endless(x):
    while True:
        if abs(x) < 3.0:
            break
        x = x * 0.5
    return x


def in_the_middle(x):
    while x > 1.0:
        x = x * 0.5
        if x < 3.0:
            break
    return x


def asks(x):
    return x < 3.0


def asked(x):
    while x > 1.0:
        if asks(x):
            break
        x = x * 0.5
    return x


def with_else(x):
    while x > 1.0:
        if x < 3.0:
            break
        x = x * 0.5
    else:
        x = -x
    return x


def for_else(x):
    for k in range(4):
        if x > k + 18.5:
            y = x - k
            break
    else:
        y = 0.0
    return y


def returns(x):
    for k in range(4):
        if x < k:
            return x + k
    return -x


def returns_inside(x):
    for _ in range(3):
        while x > 1.0:
            x = x * 0.5
            if x < 3.0:
                return x
        x = x + 0.25
    return -x


def breaks_and_returns(x):
    while x > 1.0:
        x = x * 0.5
        if 3.0 < x < 6.0:
            break
        if x < 3.0:
            return 10.0 * x
    else:
        x = -x
    return x


def one_after_the_other(x):
    for k in range(3):
        if x < k:
            return x + k
    for k in range(3):
        if x > k + 18.5:
            return x - k
    return -x


def popped(x, stack):
    while stack:
        if stack.pop() > 2:
            break
        x = x * 0.5
    return x, len(stack)


def shadowed(x, abs):
    while x > 1.0:
        if abs(x):
            break
        x = x * 0.5
    return x


FLAGS = {
    halved: 0,
    endless: 0,
    in_the_middle: 1,
    asked: 1,
    with_else: 1,
    for_else: 1,
    returns: 1,
    returns_inside: 1,
    breaks_and_returns: 2,
    one_after_the_other: 2,
}


@pytest.mark.parametrize("function", list(FLAGS))
@pytest.mark.parametrize("x", [20.0, 2.0, 0.5])
def test_same_as_python(function, x):
    expected = float(function(x))
    assert float(lsp_ad.staged(function)(x)) == expected
    np.testing.assert_allclose(jax.jit(lsp_ad.staged(function))(x), expected, rtol=1e-6)


@pytest.mark.parametrize(("function", "flags"), FLAGS.items())
def test_flag_where_one_is_needed(function, flags):
    text = lsp_ad.to_code(function)
    assert text.count("= False") == flags
    assert ("no_break" in text) == (function in (halved, endless))


def test_condition_that_changes_something_stays_in_the_body():
    stack, other = [3, 1, 1], [3, 1, 1]
    assert lsp_ad.staged(popped)(8.0, stack) == popped(8.0, other)
    assert stack == other


def test_name_of_the_users_is_no_function_of_python():
    assert "no_break" not in lsp_ad.to_code(shadowed)
    assert lsp_ad.staged(shadowed)(20.0, asks) == shadowed(20.0, asks)


def test_report_has_the_if():
    report = lsp_ad.staging_report(halved, 20.0, backend="jax")
    lines = halved.__code__.co_firstlineno
    assert [(d.construct, d.line - lines, d.outcome) for d in report] == [
        ("if", 2, "staged"),
        ("while", 1, "staged"),
    ]


def test_condition_of_python_ends_the_loop():
    def f(x, n):
        while n > 0:
            if n == 2:
                break
            x = x * n
            n -= 1
        return x

    report = lsp_ad.staging_report(f, 1.5, 5, backend="jax")
    assert [(d.outcome, d.count) for d in report.of("while")] == [("unrolled", 3)]
    assert [d.outcome for d in report.of("if")] == ["decided in Python"]
    assert lsp_ad.staged(f, backend="jax")(1.5, 5) == f(1.5, 5)


def test_error_in_the_condition_is_at_its_line():
    def f(x, table):
        while x > 1.0:
            if x < table["no"]:
                break
            x = x * 0.5
        return x

    with pytest.raises(KeyError) as caught:
        lsp_ad.staged(f, backend="jax")(20.0, {})
    lines = [
        entry.lineno + 1 - f.__code__.co_firstlineno
        for entry in caught.traceback
        if entry.path.name == "test_loop_flags.py"
    ]
    assert lines[-1] == 2


def test_truth_values_are_computed_without_a_branch():
    text = str(jax.make_jaxpr(lsp_ad.staged(halved))(jnp.asarray(20.0)))
    assert "cond[" not in text and "while[" in text


def test_gradient_of_a_choice_is_not_touched():
    def f(x):
        y = jnp.zeros(3)
        if (x > 0.0 and jnp.log(x) > -3.0) or x < -5.0:
            y = y + jnp.sqrt(jnp.abs(x))
        return jnp.sum(y)

    gradient = jax.jit(jax.grad(lsp_ad.staged(f)))
    np.testing.assert_allclose(gradient(4.0), 0.75, rtol=1e-6)
    np.testing.assert_allclose(gradient(0.0), 0.0)
