"""Gradients compiled by Lantern against `jax.jit(jax.grad(f))`.

`python tests/benchmarks/lantern.py [WORD ...]` prints, for each program (whose title has a word), the time to
compile and the time of a call, the median of many that take turns. `source`: `staged(grad(f), backend="lantern")`
of the Python functions below; `text`: a gradient in the intermediate language, written by hand as a sweep that
fills a list, and one that empties it.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import lsp_ad
from lsp_ad.staging.lantern.compiler.driver import Compiled
from lsp_ad.staging.lantern.parsing import parse


def scalar(x, n):
    y = x
    for _ in range(n):
        y = np.sin(y * x) - 0.1 * y
    return y


def stencil(u, r, steps):
    """u: (n,)"""
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += r * (u[2:] - 2.0 * u[1:-1] + u[:-2]) - 0.1 * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u * u)


def joined(u, r, steps):
    """u: (n,)"""
    for _ in range(steps):
        mid, left, right = u[1:-1], u[:-2], u[2:]
        flux = r * (right - 2.0 * mid + left) - 0.1 * mid * (right - left)
        u = np.concatenate([u[:1], mid + flux, u[-1:]])
    return np.sum(u * u)


def heat(u, r, steps):
    """u: (n,)"""
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += r * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm(xs, w, u, b):
    """xs: (t, f), w: (m, f), u: (m, n), b: (m,)"""
    n = u.shape[1]
    h = np.zeros(n)
    c = np.zeros(n)
    for t in range(xs.shape[0]):
        z = w @ xs[t] + u @ h + b
        i, f, o = sigmoid(z[:n]), sigmoid(z[n : 2 * n]), sigmoid(z[2 * n : 3 * n])
        c = f * c + i * np.tanh(z[3 * n :])
        h = o * np.tanh(c)
    return np.sum(h * h)


SCALAR = """
(program slope
  (def slope ((x float64) (n int64)) float64
    (let ((forward
            (while ((i 0) (y x) (tape (list-new :item (tuple float64))))
              (< i n)
              (tuple (+ i 1) (- (sin (* y x)) (* 0.1 y)) (list-append tape (tuple y)))))
          (backward
            (while ((i n) (dy 1.0) (dx 0.0) (tape (item forward 2)))
              (> i 0)
              (let ((popped (list-pop tape))
                    (y (item (item popped 1) 0))
                    (inner (* dy (cos (* y x)))))
                (tuple (- i 1) (- (* inner x) (* 0.1 dy)) (+ dx (* inner y)) (item popped 0))))))
      (+ (item backward 1) (item backward 2)))))
"""


STENCIL = """
(program slope
  (def slope ((u (array float64 1)) (r float64) (steps int64)) (array float64 1)
    (let ((forward
            (while ((k 0) (u u) (tape (list-new :item (array float64 1))))
              (< k steps)
              (let ((mid (get u [(: 1 -1)]))
                    (left (get u [(: _ -2)]))
                    (right (get u [(: 2)]))
                    (flux (- (* r (+ (- right (* 2.0 mid)) left)) (* 0.1 (* mid (- right left))))))
                (tuple (+ k 1) (set u [(: 1 -1)] (+ mid flux)) (list-append tape u)))))
          (backward
            (while ((k steps) (du (* 2.0 (item forward 1))) (tape (item forward 2)))
              (> k 0)
              (let ((popped (list-pop tape))
                    (u (item popped 1))
                    (mid (get u [(: 1 -1)]))
                    (left (get u [(: _ -2)]))
                    (right (get u [(: 2)]))
                    (d (get du [(: 1 -1)]))
                    (dmid (* d (- (- 1.0 (* 2.0 r)) (* 0.1 (- right left)))))
                    (dright (* d (- r (* 0.1 mid))))
                    (dleft (* d (+ r (* 0.1 mid))))
                    (du2 (set du [(: 1 -1)] dmid))
                    (du3 (add-at du2 [(: 2)] dright))
                    (du4 (add-at du3 [(: _ -2)] dleft)))
                (tuple (- k 1) du4 (item popped 0))))))
      (item backward 1))))
"""


LSTM = """
(program slope
  (def logistic ((x (array float64 1))) (array float64 1)
    (/ 1.0 (+ 1.0 (exp (neg x)))))
  (def slope ((xs (array float64 2)) (w (array float64 2)) (u (array float64 2)) (b (array float64 1)))
      (tuple (array float64 2) (array float64 2) (array float64 1))
    (let ((n (size u :axis 1))
          (steps (size xs :axis 0))
          (forward
            (while ((t 0) (h (zeros n :dtype float64)) (c (zeros n :dtype float64))
                    (tape (list-new :item (tuple (array float64 1) (array float64 1) (array float64 1) (array float64 1)
                                                 (array float64 1) (array float64 1) (array float64 1)))))
              (< t steps)
              (let ((z (+ (+ (matmul w (get xs [t])) (matmul u h)) b))
                    (i (call logistic (get z [(: _ n)])))
                    (f (call logistic (get z [(: n (* 2 n))])))
                    (o (call logistic (get z [(: (* 2 n) (* 3 n))])))
                    (g (tanh (get z [(: (* 3 n))])))
                    (c2 (+ (* f c) (* i g)))
                    (s (tanh c2)))
                (tuple (+ t 1) (* o s) c2 (list-append tape (tuple h c i f o g s))))))
          (backward
            (while ((t steps) (dh (* 2.0 (item forward 1))) (dc (zeros n :dtype float64))
                    (dw (zeros (* 4 n) (size w :axis 1) :dtype float64)) (du (zeros (* 4 n) n :dtype float64))
                    (db (zeros (* 4 n) :dtype float64)) (tape (item forward 3)))
              (> t 0)
              (let ((popped (list-pop tape))
                    (e (item popped 1))
                    (h (item e 0)) (c (item e 1)) (i (item e 2)) (f (item e 3)) (o (item e 4)) (g (item e 5)) (s (item e 6))
                    (do (* dh s))
                    (dc (+ dc (* (* dh o) (- 1.0 (* s s)))))
                    (di (* dc g))
                    (dg (* dc i))
                    (df (* dc c))
                    (dz (concatenate (* di (* i (- 1.0 i))) (* df (* f (- 1.0 f))) (* do (* o (- 1.0 o))) (* dg (- 1.0 (* g g))) :axis 0))
                    (x (get xs [(- t 1)])))
                (tuple (- t 1) (matmul (transpose u) dz) (* dc f)
                  (+ dw (* (get dz [: newaxis]) x))
                  (+ du (* (get dz [: newaxis]) h))
                  (+ db dz)
                  (item popped 0))))))
      (tuple (item backward 3) (item backward 4) (item backward 5)))))
"""


def lstm_inputs(n: int, features: int, steps: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    return (
        rng.normal(size=(steps, features)),
        rng.normal(size=(4 * n, features)) / np.sqrt(features),
        rng.normal(size=(4 * n, n)) / np.sqrt(n),
        rng.normal(size=4 * n),
    )


def jax_versions() -> dict[str, Callable[..., Any]]:
    import jax
    import jax.numpy as jnp
    from jax import lax

    jax.config.update("jax_enable_x64", True)

    def scalar_loss(x, n):
        return lax.scan(lambda y, _: (jnp.sin(y * x) - 0.1 * y, None), x, None, length=n)[0]

    def stencil_loss(u, r, steps):
        def step(u, _):
            mid, left, right = u[1:-1], u[:-2], u[2:]
            flux = r * (right - 2.0 * mid + left) - 0.1 * mid * (right - left)
            return u.at[1:-1].set(mid + flux), None

        u = lax.scan(step, u, None, length=steps)[0]
        return (u * u).sum()

    def heat_loss(u, r, steps):
        def step(u, _):
            return u.at[1:-1].add(r * (u[2:] - 2.0 * u[1:-1] + u[:-2])), None

        u = lax.scan(step, u, None, length=steps)[0]
        return (u * u).sum()

    def lstm_loss(xs, w, u, b):
        n = u.shape[1]

        def step(state, x):
            h, c = state
            z = w @ x + u @ h + b
            i, f, o = (1.0 / (1.0 + jnp.exp(-z[k * n : (k + 1) * n])) for k in range(3))
            c = f * c + i * jnp.tanh(z[3 * n :])
            return (o * jnp.tanh(c), c), None

        (h, _), _ = lax.scan(step, (jnp.zeros(n), jnp.zeros(n)), xs)
        return (h * h).sum()

    return {
        "scalar": jax.jit(jax.grad(scalar_loss), static_argnums=1),
        "stencil": jax.jit(jax.grad(stencil_loss), static_argnums=2),
        "heat": jax.jit(jax.grad(heat_loss), static_argnums=2),
        "lstm": jax.jit(jax.grad(lstm_loss, argnums=(1, 2, 3))),
    }


def medians(functions: dict[str, Callable[[], Any]], seconds: float = 5.0) -> dict[str, float]:
    """The median time of each function, in seconds; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}


# title: the function and what to differentiate with respect to, JAX's version, the text, the arguments
WAVE, LONG_WAVE = (np.sin(np.linspace(0, 3, n)) for n in (1000, 100_000))
CASES: dict[str, tuple[Callable[..., Any], Any, str, str | None, tuple[Any, ...]]] = {
    # here adjoints become subnormal numbers, which cost processors more: JAX computes with zeros in their place
    "scalar loop, 10000 steps": (scalar, "x", "scalar", SCALAR, (1.3, 10_000)),
    "scalar loop, adjoints that stay": (scalar, "x", "scalar", SCALAR, (2.5, 10_000)),
    "stencil, 1000 points, 200 steps": (stencil, "u", "stencil", STENCIL, (WAVE, 0.2, 200)),
    "stencil, 100000 points, 20 steps": (stencil, "u", "stencil", STENCIL, (LONG_WAVE, 0.2, 20)),
    "stencil, joined, 1000 points": (joined, "u", "stencil", None, (WAVE, 0.2, 200)),
    "heat equation, 1000 points": (heat, "u", "heat", None, (WAVE, 0.2, 200)),
    "LSTM, hidden 32, 50 steps": (lstm, ("w", "u", "b"), "lstm", LSTM, lstm_inputs(32, 16, 50)),
    "LSTM, hidden 256, 50 steps": (lstm, ("w", "u", "b"), "lstm", LSTM, lstm_inputs(256, 64, 50)),
}


def main() -> None:
    import jax

    jaxes = jax_versions()
    compiled: dict[str, Compiled] = {}
    staged: dict[Any, Callable[..., Any]] = {}
    for title, (function, wrt, name, text, args) in CASES.items():
        if sys.argv[1:] and not any(word in title for word in sys.argv[1:]):
            continue
        # a Python int would be known when tracing
        given = [np.int64(a) if isinstance(a, int) else a for a in args]
        on_device = [jax.numpy.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
        made = staged.setdefault(function, lsp_ad.staged(lsp_ad.grad(function, wrt), backend="lantern"))
        start = time.process_time()
        made(*given)
        compiling = time.process_time() - start
        contenders = {
            "source": lambda: made(*given),  # noqa: B023
            "jax": lambda: jax.block_until_ready(jaxes[name](*on_device)),  # noqa: B023
        }
        if text is not None:
            program = compiled.setdefault(text, Compiled(parse(text)))
            contenders["text"] = lambda: program(*args)  # noqa: B023
        results = [r if isinstance(r, tuple) else (r,) for r in (run() for run in contenders.values())]
        for found in results[1:]:
            for a, b in zip(found, results[0], strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)
        middle = medians(contenders)
        times = ", ".join(f"{k} {1e6 * v:.0f} us" for k, v in middle.items())
        ratio = middle["jax"] / middle["source"]
        print(f"{title:34} {times}; jax / source {ratio:.2f}  compiled in {compiling:.1f} s", flush=True)


if __name__ == "__main__":
    main()
