"""Extremes that only shift what is exponentiated: no derivative goes through them where they cancel."""

from __future__ import annotations

import numpy as np
import pytest

from tests import oracle

pytestmark = pytest.mark.row("T25")
HEAD = "import math\n\nimport numpy as np\n\n\ndef f(x, w=1.0):\n"

CANCELLED = {
    "log-sum-exp": """
        m = np.max(x, axis=1, keepdims=True)
        return m + np.log(np.sum(np.exp(x - m), axis=1, keepdims=True))
    """,
    "softmax, the extreme without a name": """
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)
    """,
    "softmax of numbers taken together": """
        e = np.exp(x - np.max(x))
        return w * e / e.sum()
    """,
    "log-softmax": """
        z = x - np.amax(x, axis=0, keepdims=True)
        return z - np.log(np.exp(z).sum(axis=0, keepdims=True))
    """,
    "the mean, with math": """
        m = np.min(x)
        return m - math.log(np.mean(np.exp(m - x)))
    """,
    "a factor": """
        m = np.max(x, axis=1, keepdims=True)
        z = (x - m) * 2.0
        return np.log(np.sum(np.exp(z), axis=1, keepdims=True)) / 2.0 + m
    """,
    "a weighted sum of exponentials": """
        m = np.max(x)
        return np.sum(x * np.exp(x - m)) / np.sum(np.exp(x - m) * w)
    """,
    "in a loop, of what the loop changes": """
        for i in range(2):
            m = np.max(x, axis=1, keepdims=True)
            e = np.exp(x - m)
            x = e / np.sum(e, axis=1, keepdims=True)
        return x
    """,
    "in a branch": """
        y = x
        if w > 0.5:
            m = np.max(y, axis=1, keepdims=True)
            e = np.exp(y - m)
            y = e / np.sum(e, axis=1, keepdims=True)
        return y * y
    """,
}

NEEDED = {
    "another weight": """
        m = np.max(x, axis=1, keepdims=True)
        return 2.0 * m + np.log(np.sum(np.exp(x - m), axis=1, keepdims=True))
    """,
    "another sign": """
        m = np.max(x)
        return np.log(np.sum(np.exp(x - m))) - m
    """,
    "another axis": """
        m = np.max(x, axis=0, keepdims=True)
        return m + np.log(np.sum(np.exp(x - m), axis=1, keepdims=True))
    """,
    "the sum of all": """
        m = np.max(x, axis=1, keepdims=True)
        return m + np.log(np.sum(np.exp(x - m)))
    """,
    "another axis, as there is one more": """
        m = np.max(x, axis=0, keepdims=True)
        y = x * np.ones((2, 1, 1))
        return m + np.log(np.sum(np.exp(y - m), axis=0, keepdims=True))
    """,
    "an axis that is not kept": """
        m = np.max(x, axis=1, keepdims=True)
        return m + np.log(np.sum(np.exp(x - m), axis=1))
    """,
    "returned too": """
        m = np.max(x, axis=1, keepdims=True)
        return m + np.log(np.sum(np.exp(x - m), axis=1, keepdims=True)), m
    """,
    "the exponentials returned": """
        e = np.exp(x - np.max(x, axis=1, keepdims=True))
        s = np.sum(e, axis=1, keepdims=True)
        return np.log(s) + e
    """,
    "a sum with a constant": """
        m = np.max(x, axis=1, keepdims=True)
        return m + np.log(1.0 + np.sum(np.exp(x - m), axis=1, keepdims=True))
    """,
    "of two extremes": """
        m = np.max(x, axis=1, keepdims=True)
        n = np.min(x, axis=1, keepdims=True)
        return n + np.log(np.sum(np.exp(x - m), axis=1, keepdims=True))
    """,
    "an element changed between": """
        m = np.max(x, axis=1, keepdims=True)
        e = np.exp(x - m)
        e[0] = 1.0
        return m + np.log(np.sum(e, axis=1, keepdims=True))
    """,
    "the extreme of the iteration before": """
        m = 0.0
        y = x
        for i in range(2):
            e = np.exp(y - m)
            m = np.max(y, axis=1, keepdims=True)
            y = e / np.sum(e, axis=1, keepdims=True) + e
        return y
    """,
    "a branch that may not run": """
        m = np.zeros((3, 1))
        if w > 0.5:
            m = np.max(x, axis=1, keepdims=True)
        return 2.0 * m + np.log(np.sum(np.exp(x - m), axis=1, keepdims=True))
    """,
    "multiplied by what has a derivative": """
        m = np.max(x)
        return np.log(np.sum(np.exp((x - m) * w))) + m * w
    """,
}


def written(body: str) -> str:
    return HEAD + "".join(line[4:] + "\n" for line in body.strip("\n").splitlines())


def check(source: str) -> None:
    x = np.random.default_rng(0).normal(size=(3, 4))
    oracle.assert_gradient(source, x, 0.7, wrt=("x",), all_modes=True)
    oracle.assert_jvp(source, x, 0.7, wrt=("x",))


@pytest.mark.parametrize("name", CANCELLED)
def test_no_derivative_goes_through_what_cancels(name):
    source = written(CANCELLED[name])
    assert "mask" not in oracle.generate(source, "f", ["x"])[1]
    check(source)


@pytest.mark.parametrize("name", NEEDED)
def test_the_derivative_goes_through_an_extreme_that_does_not_cancel(name):
    source = written(NEEDED[name])
    assert "mask" in oracle.generate(source, "f", ["x"])[1]
    check(source)


def test_the_largest_of_a_row_may_be_infinite():
    source = written(CANCELLED["log-sum-exp"])
    gradient = oracle.run(oracle.generate(source, "f", ["x"])[1])["f_grad"]
    x = np.array([[0.0, -np.inf, 1.0]])
    np.testing.assert_allclose(gradient(x, 1.0, np.ones((1, 1))), np.exp(x) / np.sum(np.exp(x)))
