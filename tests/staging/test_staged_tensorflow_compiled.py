"""NumPy programs compiled by `staged(f, backend="tensorflow")`: signatures, types, derivatives, errors."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging import StagingError

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.row("A3", "A15")
HERE = "test_staged_tensorflow_compiled.py"


def compiled(function):
    return lsp_ad.staged(function, backend="tensorflow")


def same(found, expected):
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
        return
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert np.shape(found) == np.shape(expected)
    assert np.asarray(found).dtype == np.asarray(expected).dtype


def test_one_trace_for_each_signature():
    traces = []

    def function(x, n):
        traces.append(n)
        return x * n

    made = compiled(function)
    assert made(2.0, 3) == 6.0
    assert made(5.0, 3) == 15.0
    assert made(np.ones(2), 3).tolist() == [3.0, 3.0]
    assert made(2.0, 4) == 8.0
    assert traces == [3, 3, 4]


def test_results_are_of_numpy():
    def function(x):
        return x, np.sum(x), {"a": [x[0], 3]}

    array, total, rest = compiled(function)(np.arange(3.0))
    assert type(array) is np.ndarray
    assert array.dtype == np.float64
    assert type(total) is np.float64
    assert type(rest["a"][0]) is np.float64
    assert rest["a"][1] == 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.complex128])
def test_types_stay(dtype):
    def function(x):
        y = x * 2
        if np.abs(y[0]) > 1:
            y = y + 1
        for v in x:
            y = y * v
        return y, y.sum()

    x = np.array([1, 2, 3], dtype)
    same(compiled(function)(x), function(x))


def test_python_numbers_are_weak():
    def function(x, c):
        total = 0
        for v in x:
            total = total + v * c
        return total, c * 2

    x = np.array([1.5, 2.5], np.float32)
    found = compiled(function)(x, 0.5)
    assert found[0] == 2.0
    assert found[0].dtype == np.float32
    assert found[1] == 1.0


def test_closures_and_globals():
    weights = np.array([1.0, 2.0, 3.0])

    def function(x):
        def inner(v):
            return v @ weights if np.sum(v) > 0 else -(v @ weights)

        return inner(x) + weights[0]

    for x in (np.ones(3), -np.ones(3)):
        same(compiled(function)(x), np.float64(function(x)))


def test_tensors_in_tensors_out():
    def function(x):
        y = x
        while np.sum(y) < 100.0:
            y = y * x
        return np.sum(y)

    made = compiled(function)
    x = tf.constant([2.0, 3.0], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = made(x)
    assert tf.is_tensor(y)
    assert y.numpy() == 2.0**5 + 3.0**5
    np.testing.assert_allclose(tape.gradient(y, x), [5 * 2.0**4, 5 * 3.0**4])


def test_inside_a_function_of_the_users():
    made = compiled(lambda x: np.where(x > 0, x, 0.0).sum())
    outer = tf.function(lambda x: made(x) * 2.0, autograph=False)
    assert outer(tf.constant([1.0, -2.0, 3.0])).numpy() == 8.0


@pytest.mark.row("A10")
def test_a_false_assertion():
    def function(x):
        assert x > 0, f"not positive: {x}"
        return np.sqrt(x)

    made = compiled(function)
    assert made(4.0) == 2.0
    with pytest.raises(AssertionError, match=rf"{HERE}:\d+: not positive"):
        made(-4.0)


@pytest.mark.row("A10")
def test_an_error_at_run_time_names_the_line():
    def function(a, i):
        b = a * 2.0
        if np.sum(b) > 0.0:
            b = b + 1.0
            b = b * a[i]
        return b

    made = tf.function(lsp_ad.staged(function), autograph=False)
    line = function.__code__.co_firstlineno + 4
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf'(?s){HERE}", line {line}.*out of bounds'):
        made(tf.constant([1.0, 2.0]), tf.constant(5))


@pytest.mark.row("A10")
def test_an_error_of_staging_names_the_line():
    def function(x):
        y = x
        return float(y) if x.tolist() else y

    with pytest.raises(Exception, match="tolist"):
        compiled(function)(np.ones(2))


def test_print(capsys):
    def function(x):
        print("x is", x, 3, sep=": ")
        if x > 1.0:
            print("large")
            print(f"x = {x:.2f}")
        return x

    made = compiled(function)
    made(2.0)
    assert capsys.readouterr().out.splitlines() == ["x is: 2.0: 3", "large", "x = 2.00"]


@pytest.mark.row("A4", "A14")
@pytest.mark.parametrize("rounds", [3, 100])
def test_a_loop_over_an_array_that_it_writes_into(rounds):
    def function(x):
        v = x.copy()
        total = 0.0
        for e in v:
            total = total * 0.5 + e
            for i in range(2):
                v[i] = v[i + 1]
        return total

    def over_a_copy(x):
        v = x.copy()
        total = 0.0
        for e in v.copy():
            total = total * 0.5 + e
            v = v * 2.0
            v[0] = total
        return total, v

    x = np.linspace(0.0, 1.0, rounds)
    with pytest.raises(StagingError, match="written into by a loop that goes over it"):
        compiled(function)(x)
    same(compiled(over_a_copy)(x[:30]), over_a_copy(x[:30]))


# derivatives: differentiate, then stage


def polynomial(x):
    y = 1.0
    for i in range(4):
        y = y * x + i
    return y


def loss(w, x, y):
    h = np.tanh(x @ w)
    e = h - y
    return np.sum(e * e) / x.shape[0]


def piecewise(x):
    s = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0:
            s = s + x[i] ** 2
        else:
            s = s - np.sin(x[i])
    return s


def stencil(u):
    v = u.copy()
    for _ in range(6):
        v[1:-1] = v[1:-1] + 0.1 * (v[2:] - 2.0 * v[1:-1] + v[:-2])
    return np.sum(v * v)


def layers(x):
    hs = [x]
    for _ in range(5):
        hs.append(np.tanh(hs[-1] * 1.5))
    return np.sum(np.stack(hs))


def picked(x, i):
    return np.sum(x[i] ** 3)


def early(x):
    for row in x:
        for e in row:
            if e > 1.0:
                return e * e
    return np.sum(x)


def recurrence(x):
    h = np.zeros(3)
    for t in range(x.shape[0]):
        h = np.tanh(x[t] + 0.5 * h)
    return np.sum(h)


RNG = np.random.default_rng(0)
DERIVATIVES = [
    (polynomial, (1.3,)),
    (loss, (RNG.normal(size=(3, 2)), RNG.normal(size=(5, 3)), RNG.normal(size=(5, 2)))),
    (piecewise, (RNG.normal(size=5),)),
    (piecewise, (RNG.normal(size=100),)),
    (stencil, (RNG.normal(size=8),)),
    (layers, (RNG.normal(size=3),)),
    (picked, (RNG.normal(size=5), np.array([0, 2, 2]))),
    (early, (RNG.normal(size=(3, 4)),)),
    (recurrence, (RNG.normal(size=(5, 3)),)),
    (recurrence, (RNG.normal(size=(100, 3)),)),
]


@pytest.mark.row("A17")
@pytest.mark.parametrize(("function", "arguments"), DERIVATIVES)
def test_differentiate_then_stage(function, arguments):
    gradient = lsp_ad.grad(function)
    expected = gradient(*copy.deepcopy(arguments))
    found = compiled(gradient)(*arguments)
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)


@pytest.mark.row("A17")
@pytest.mark.parametrize(("function", "arguments"), DERIVATIVES[:1] + DERIVATIVES[2:7])
def test_stage_then_differentiate(function, arguments):
    expected = lsp_ad.grad(function)(*copy.deepcopy(arguments))
    x, *rest = arguments
    x = tf.constant(x, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = compiled(function)(x, *rest)
    found = tape.gradient(y, x)
    np.testing.assert_allclose(tf.convert_to_tensor(found), expected, rtol=1e-10)
