"""Staged code against hand-written `lax.cond`, `lax.while_loop`, `lax.fori_loop` and `lax.scan`, interleaved.

    PYTHONPATH=. python tests/benchmarks/staging_jax.py [rounds]

Prints the lines of both programs that go to XLA, and the medians of the rounds, in which each version runs
once. Compile time is not in it.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import lsp_ad

CALLS = 20  # in a round: one takes microseconds


def recurrence(xs, w, u):
    state = jnp.zeros((32, 64))
    total = jnp.zeros((32, 64))
    for x in xs:
        state = jnp.tanh(x @ u + state @ w)
        total = total + state * state
    return jnp.sum(total) + jnp.sum(state)


def recurrence_by_hand(xs, w, u):
    def body(carry, x):
        state, total = carry
        state = jnp.tanh(x @ u + state @ w)
        return (state, total + state * state), None

    start = jnp.zeros((32, 64))
    (state, total), _ = lax.scan(body, (start, start), xs)
    return jnp.sum(total) + jnp.sum(state)


def newton(a, n):
    x, steps, i = a, 0, 0
    while i < n:
        if x * x > a:
            x = 0.5 * (x + a / x)
            steps += 1
        else:
            x = x * 1.5
        i += 1
    return x + steps


def newton_by_hand(a, n):
    def body(carry):
        i, x, steps = carry
        x, steps = lax.cond(
            x * x > a, lambda: (0.5 * (x + a / x), steps + 1), lambda: (x * 1.5, steps)
        )
        return i + 1, x, steps

    _, x, steps = lax.while_loop(lambda carry: carry[0] < n, body, (0, a, 0))
    return x + steps


def search(scores, limit):
    i, best, at = jnp.asarray(0), scores[0], 0
    while i < len(scores):
        if scores[i] > limit:
            break
        if scores[i] > best:
            best, at = scores[i], i
        i += 1
    return best * at


def search_by_hand(scores, limit):
    def test(carry):
        i, _, _, stopped = carry
        return (i < len(scores)) & ~stopped

    def go_on(i, best, at):
        return lax.cond(scores[i] > best, lambda: (scores[i], i), lambda: (best, at))

    def body(carry):
        i, best, at, _ = carry
        stopped = scores[i] > limit
        best, at = lax.cond(stopped, lambda: (best, at), lambda: go_on(i, best, at))
        return i + 1, best, at, stopped

    _, best, at, _ = lax.while_loop(test, body, (0, scores[0], 0, False))
    return best * at


def stencil(u, n):
    for _ in range(n):
        u = u + 0.1 * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1))
    return jnp.sum(u * u)


def stencil_by_hand(u, n):
    def step(_, u):
        return u + 0.1 * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1))

    u = lax.fori_loop(0, n, step, u)
    return jnp.sum(u * u)


def measure(versions: list[Callable[..., Any]], arguments: tuple, rounds: int) -> list[float]:
    times: list[list[float]] = [[] for _ in versions]
    for number in range(rounds + 2):
        for version, each in zip(versions, times, strict=True):
            start = time.perf_counter()
            for _ in range(CALLS):
                jax.block_until_ready(version(*arguments))
            if number > 1:
                each.append((time.perf_counter() - start) / CALLS)
    return [statistics.median(each) * 1e6 for each in times]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    rng = np.random.default_rng(0)
    weights = [jnp.asarray(rng.normal(size=s), jnp.float32) for s in ((100, 32, 64), (64, 64), (64, 64))]
    scores, u = jnp.asarray(rng.normal(size=1000)), jnp.asarray(rng.normal(size=1000))
    programs = [
        ("recurrence", recurrence, recurrence_by_hand, tuple(weights), True),
        ("newton", newton, newton_by_hand, (jnp.asarray(7.0), jnp.asarray(1000)), False),
        ("search", search, search_by_hand, (scores, jnp.asarray(10.0)), False),
        ("stencil", stencil, stencil_by_hand, (u, jnp.asarray(500)), False),
    ]
    print(f"{'':24}{'lines':>12}{'by hand, us':>14}{'staged':>10}{'ratio':>8}")
    for name, function, by_hand, arguments, reverse in programs:
        for label in ("", " with gradient") if reverse else ("",):
            wrap = jax.value_and_grad if label else lambda f: f
            hand = jax.jit(wrap(by_hand))
            staged = jax.jit(wrap(lsp_ad.staged(function)))
            jax.tree.map(
                lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4), hand(*arguments), staged(*arguments)
            )
            lines = [len(f.lower(*arguments).as_text().splitlines()) for f in (hand, staged)]
            times = measure([hand, staged], arguments, rounds)
            ratio = f"{times[1] / times[0]:.2f}"
            print(f"{name + label:24}{f'{lines[0]} / {lines[1]}':>12}{times[0]:14.1f}{times[1]:10.1f}{ratio:>8}", flush=True)


if __name__ == "__main__":
    main()
