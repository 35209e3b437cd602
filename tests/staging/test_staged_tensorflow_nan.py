"""NaN, infinities, -0.0 and large integers on TensorFlow: what NumPy does with them, or an error."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.row("A14")
ODD = np.array([1.5, np.nan, -2.0, np.inf, -0.0, -np.inf, 0.0, np.nan, -3.5])


def negated(x):
    return [not v > 0.0 for v in x], ~(x > 0.0), np.logical_not(x <= 0.0), [not (v >= 0.0) for v in x]


def ordered(x):
    table = x[:6].reshape(2, 3)
    return np.sort(x), np.argsort(x, kind="stable"), np.sort(table, axis=0), np.argsort(table, kind="stable")


def extremes(x):
    table = x[:6].reshape(3, 2)
    return np.argmax(x), np.argmin(x), x[2:7].argmax(), np.argmin(table, axis=0), np.argmax(table, axis=1)


def elementwise(x):
    return (
        x // 2.0,
        np.copysign(1.0, x),
        np.signbit(x),
        np.heaviside(x, 0.5),
        np.hypot(x, 1e300),
        np.hypot(x * 1e200, x * 1e200),
        np.logaddexp(x, x),
        np.logaddexp(x, 0.0),
    )


@pytest.mark.parametrize("f", [negated, ordered, extremes, elementwise], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_odd_numbers(f, dtype):
    if f is elementwise and dtype == np.float32:
        pytest.skip("1e300 is infinite there")
    x = ODD.astype(dtype)
    with np.errstate(all="ignore"):
        expected = f(x)
    for got, wanted in zip(lsp_ad.staged(f, backend="tensorflow")(x), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-14 if dtype == np.float64 else 1e-6)


def test_a_condition_of_the_users_tensors():
    @tf.function(autograph=False)
    @lsp_ad.staged
    def f(x):
        if not x > 0.0:
            return 1.0
        return 2.0

    assert [float(f(tf.constant(v))) for v in (np.nan, 1.0, -1.0)] == [1.0, 2.0, 1.0]


def test_a_sort_is_differentiable():
    x = tf.constant([3.0, 1.0, 2.0])
    ordered = tf.function(lsp_ad.staged(lambda v: np.sort(v)), autograph=False)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(ordered(x) * tf.constant([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(tape.gradient(y, x), [3.0, 1.0, 2.0])


def test_integers_of_more_than_64_bits_are_refused():
    f = lsp_ad.staged(lambda x: x + 2**63, backend="tensorflow")
    with pytest.raises(
        lsp_ad.StagingError, match=r"test_staged_tensorflow_nan.py:\d+: 9223372036854775808 is no number"
    ):
        f(np.array([1, 2]))
