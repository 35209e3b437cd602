"""Lists that change in staged loops and branches, on JAX: what Python gives, or a precise error."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad
from tests.staging.test_staged_programs import assert_equal

pytest.importorskip("jax")
pytestmark = pytest.mark.row("A7")
XS = np.random.default_rng(0).normal(size=(70, 3))
W = np.eye(3) * 0.5


def rnn_over_range(xs, w):
    h = np.zeros(3)
    ys = []
    for t in range(xs.shape[0]):
        h = np.tanh(w @ h + xs[t])
        ys.append(h)
    return np.stack(ys), h, ys[-1], len(ys)


def rnn_over_rows(xs, w):
    h = np.zeros(3)
    ys = [h]
    for x in xs:
        h = np.tanh(w @ h + x)
        ys.append(h)
    return np.array(ys), ys[0] + ys[2] + ys[-3]


def list_is_returned(xs, w):
    ys = []
    for x in xs:
        ys.append(x @ w)
    return ys


def there_and_back(xs, w):
    tape = []
    y = xs[0]
    for x in xs:
        tape.append((y, np.sum(x) > 0.0))
        y = np.sin(y) + x
    d = np.ones(3)
    for y, taken in reversed(tape):
        if taken:
            d = d * np.cos(y)
        else:
            d = d @ w
    return d


def popped(xs, w):
    tape = []
    for x in xs:
        tape.append(np.sin(x))
    d = np.zeros(3)
    for x in xs:
        d = d * 0.5 + tape.pop() * x
    return d, len(tape)


def tapes_in_tapes(xs, w):
    tape = []
    y = xs[0]
    for x in xs:
        inner = []
        for v in x:
            inner.append((y, v))
            y = np.sin(y * v)
        tape.append((y, inner))
    total = np.zeros(3)
    for y, inner in reversed(tape):
        total = total + y
        for z, v in reversed(inner):
            total = total * 0.9 + z * v
    return total


def as_much_in_both(xs, w):
    ys = []
    for x in xs:
        if x[0] > 0.0:
            ys.append(x)
        else:
            ys.append(x @ w)
    return np.stack(ys)


def only_in_one(xs, w):
    ys = []
    for x in xs:
        if x[0] > 0.0:
            ys.append(x)
    total = np.zeros(3)
    for i, y in enumerate(ys):
        total = total + i * y
    return total, len(ys), ys[-1]


def several_an_iteration(xs, w):
    ys = []
    for x in xs:
        for v in x:
            ys.append(v)
            if v > 0.5:
                ys.append(-v)
        if x[1] > 0.0:
            ys.pop()
    total = 0.0
    for y in reversed(ys):
        total = total * 0.5 + y
    return total, len(ys)


def written_by_index(xs, w):
    ys = [np.zeros(3), np.ones(3), np.ones(3)]
    for i in range(len(xs)):
        k = i % 3
        ys[k] = ys[k] * 0.5 + xs[i]
    return ys[0], ys[1] + ys[2]


def appended_to_again(xs, w):
    ys = []
    for x in xs:
        ys.append(x)
    for x in xs:
        ys.append(x @ w)
    ys.append(np.zeros(3))
    return np.stack(ys), len(ys)


def a_stack(xs, w):
    stack = [xs[0]]
    total = 0.0
    while len(stack) > 0:
        lsp_ad.loop_options(maximum_iterations=300)
        x = stack.pop()
        total = total + np.sum(x)
        if np.max(np.abs(x)) > 0.2:
            stack.append(x * 0.5)
            stack.append(x * -0.25)
    return total


def zipped(xs, w):
    ys = []
    for x, i, c in zip(xs, range(len(xs)), np.linspace(0.0, 1.0, len(xs)), strict=True):
        ys.append(x * i + c)
    zs = []
    for y, x in zip(ys, reversed(xs), strict=False):
        zs.append(y * x)
    return np.stack(zs, axis=1)


def of_dicts(xs, w):
    history = []
    state = {"h": np.zeros(3), "n": 0}
    for x in xs:
        state = {"h": state["h"] * 0.5 + x, "n": state["n"] + 1}
        history.append(state)
    return history[-1]["h"], history[3]["n"], history[3]["h"]


PROGRAMS = [
    rnn_over_range,
    rnn_over_rows,
    list_is_returned,
    there_and_back,
    popped,
    tapes_in_tapes,
    as_much_in_both,
    only_in_one,
    several_an_iteration,
    written_by_index,
    appended_to_again,
    a_stack,
    zipped,
    of_dicts,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_equal(program):
    assert_equal(lsp_ad.staged(program, backend="jax")(XS, W), program(XS, W))
    assert_equal(lsp_ad.staged(program)(XS, W), program(XS, W))
