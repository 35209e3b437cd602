"""Staged code against hand-written `tf.cond` and `tf.while_loop`: nodes of the graph, time, interleaved.

    PYTHONPATH=. python tests/benchmarks/staging_tensorflow.py [rounds]

Each program is run forwards and with its gradient by a tape; `eager` is the same program, not staged. The
numbers are medians of the rounds, in which each version runs once.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

import lsp_ad


def recurrence(xs, w, u):
    count = tf.shape(xs)[0]
    state = tf.zeros([32, 64])
    outputs = tf.TensorArray(tf.float32, size=count, element_shape=[32, 64])
    for i in tf.range(count):
        state = tf.tanh(tf.matmul(xs[i], u) + tf.matmul(state, w))
        outputs = outputs.write(i, state)
    return tf.reduce_sum(outputs.stack()) + tf.reduce_sum(state)


def recurrence_by_hand(xs, w, u):
    count = tf.shape(xs)[0]

    def body(i, state, outputs):
        state = tf.tanh(tf.matmul(xs[i], u) + tf.matmul(state, w))
        return i + 1, state, outputs.write(i, state)

    start = tf.TensorArray(tf.float32, size=count, element_shape=[32, 64])
    _, state, outputs = tf.while_loop(lambda i, *_: i < count, body, [0, tf.zeros([32, 64]), start])
    return tf.reduce_sum(outputs.stack()) + tf.reduce_sum(state)


def newton(a, n):
    x, steps, i = a, 0, 0
    while i < n:
        if x * x > a:
            x = 0.5 * (x + a / x)
            steps += 1
        else:
            x = x * 1.5
        i += 1
    return x + tf.cast(steps, tf.float32)


def newton_by_hand(a, n):
    def body(i, x, steps):
        x, steps = tf.cond(x * x > a, lambda: (0.5 * (x + a / x), steps + 1), lambda: (x * 1.5, steps))
        return i + 1, x, steps

    _, x, steps = tf.while_loop(lambda i, *_: i < n, body, [0, a, 0])
    return x + tf.cast(steps, tf.float32)


def search(scores, limit):
    best, at = scores[0], 0
    for i in tf.range(tf.shape(scores)[0]):
        if scores[i] > limit:
            break
        if scores[i] > best:
            best, at = scores[i], i
    return best * tf.cast(at, tf.float32)


def search_by_hand(scores, limit):
    count = tf.shape(scores)[0]

    def test(i, _best, _at, stopped):
        return tf.logical_and(i < count, tf.logical_not(stopped))

    def go_on(i, best, at):
        return tf.cond(scores[i] > best, lambda: (scores[i], i), lambda: (best, at))

    def body(i, best, at, _):
        stopped = scores[i] > limit
        best, at = tf.cond(stopped, lambda: (best, at), lambda: go_on(i, best, at))
        return i + 1, best, at, stopped

    _, best, at, _ = tf.while_loop(test, body, [0, scores[0], 0, False])
    return best * tf.cast(at, tf.float32)


def with_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(x, *rest):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, *rest)
        return tape.gradient(y, x)

    return run


def nodes(function: Any, arguments: tuple) -> int:
    definition = function.get_concrete_function(*arguments).graph.as_graph_def()
    return len(definition.node) + sum(len(part.node_def) for part in definition.library.function)


def measure(versions: list[Callable[..., Any]], arguments: tuple, rounds: int) -> list[float]:
    times: list[list[float]] = [[] for _ in versions]
    for number in range(rounds + 2):
        for position, version in enumerate(versions):
            start = time.perf_counter()
            tf.nest.map_structure(np.asarray, version(*arguments))
            if number > 1:
                times[position].append(time.perf_counter() - start)
    return [statistics.median(each) * 1e3 for each in times]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    rng = np.random.default_rng(0)
    weights = [
        tf.constant(rng.normal(size=s).astype(np.float32)) for s in ((100, 32, 64), (64, 64), (64, 64))
    ]
    scores = tf.constant(rng.normal(size=1000).astype(np.float32))
    programs = [
        ("recurrence", recurrence, recurrence_by_hand, tuple(weights)),
        ("newton", newton, newton_by_hand, (tf.constant(7.0), tf.constant(1000))),
        ("search", search, search_by_hand, (scores, tf.constant(10.0))),
    ]
    print(f"{'':22}{'nodes':>14}{'by hand':>10}{'staged':>10}{'ratio':>8}{'eager':>10}")
    for name, function, by_hand, arguments in programs:
        for label, wrap in (("", lambda f: f), (" with gradient", with_gradient)):
            hand = tf.function(wrap(by_hand), autograph=False)
            staged = tf.function(wrap(lsp_ad.staged(function)), autograph=False)
            np.testing.assert_allclose(hand(*arguments), staged(*arguments), rtol=1e-4)
            counts = f"{nodes(hand, arguments)} / {nodes(staged, arguments)}"
            first, second = measure([hand, staged], arguments, rounds)
            eager = measure([wrap(function)], arguments, 1)[0]
            row = f"{first:8.2f}ms{second:8.2f}ms{second / first:8.2f}{eager:8.1f}ms"
            print(f"{name + label:22}{counts:>14}{row}")


if __name__ == "__main__":
    main()
