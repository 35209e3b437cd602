"""Calls of functions of the same file: written out, or a forward and a backward function."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "a callee with branches, called twice with other arguments",
        """
        def g(x, y):
            if x > y:
                return x * y
            return x - y * y

        def f(x, y):
            return g(x * 2, y) + g(y, x)
        """,
        (0.3, 0.7),
        (0.9, 0.7),
    ),
    *case(
        "recursion",
        """
        def g(x, n):
            if n == 0:
                return x
            return g(x * np.sin(x), n - 1) + x

        def f(x):
            return g(x, 3) ** 2
        """,
        (0.8,),
    ),
    *case(
        "f calls itself",
        """
        def f(x, n):
            if n <= 0:
                return x
            return np.sin(f(x * 1.1, n - 1)) + x
        """,
        (0.8, 3),
        (0.8, 0),
        wrt=("x",),
    ),
    *case(
        "a small callee with two results",
        """
        def g(x, n):
            y = x * 2
            z = y * y
            return z + n, y

        def f(x):
            a, b = g(np.sin(x), 3)
            return a * b
        """,
        (0.8,),
    ),
    *case(
        "a callee with a loop and two results",
        """
        def g(x, n):
            y = x * 2
            for i in range(n):
                y = y * np.cos(y)
            return y, y * y

        def f(x):
            a, b = g(np.sin(x), 3)
            return a * b
        """,
        (0.8,),
    ),
    *case(
        "a callee with a loop, called in a loop",
        """
        def g(x, n):
            y = x * 2
            for i in range(n):
                y = y * np.cos(y)
            return y, y * y

        def f(x):
            s = 0.0
            for i in range(3):
                a, b = g(np.sin(x) * i, 3)
                s = s + a * b
            return s
        """,
        (0.8,),
    ),
    *case(
        "keyword arguments and defaults",
        """
        def scale(x, by=2.0, *, shift=0.5):
            return x * by + shift

        def f(x, y):
            return scale(x) * scale(y, shift=x) + scale(by=y, x=x)
        """,
        (0.3, 0.7),
    ),
    *case(
        "a callee whose locals are called like the caller's",
        """
        def g(u):
            t = u * u
            x = t + u
            return x * t

        def f(x):
            t = np.sin(x)
            return g(t) + t * x
        """,
        (normal(3),),
    ),
    *case(
        "a callee that assigns its parameter",
        """
        def g(u, v):
            u = u * v
            v = v + u
            return u * v

        def f(u, v):
            return g(u, v) + u * v
        """,
        (0.3, normal(2)),
    ),
    *case(
        "small functions in small functions",
        """
        def square(x):
            return x * x

        def distance(x, y):
            return np.sqrt(square(x) + square(y))

        def f(x, y):
            return distance(x - 1, y) * distance(y, x)
        """,
        (0.3, 0.7),
    ),
    *case(
        "a call in a branch, a condition and a conditional expression",
        """
        def g(x):
            if x > 1:
                return x - 1
            return x * x

        def f(x):
            if g(x) > 0.5:
                y = g(2 * x)
            else:
                y = x
            return y * (g(y) if y > 1 else g(x))
        """,
        (0.3,),
        (0.8,),
    ),
    *case(
        "calls with constants only stay as they are",
        """
        def table(n):
            s = 1.0
            for i in range(n):
                s = s * 0.9
            return s

        def f(x):
            return x * table(3)
        """,
        (normal(3),),
    ),
    *case(
        "a callee that returns its parameter",
        """
        def pick(a, b, first):
            if first:
                return a
            return b

        def f(x, y):
            return pick(x, y, True) * pick(x, y, False)
        """,
        (0.3, 0.7),
    ),
    *case(
        "a callee that reads a global and is defined after its caller",
        """
        def f(x):
            return g(x) + g(2 * x)

        def g(x):
            return np.exp(-RATE * x) * x

        RATE = 0.3
        """,
        (normal(3),),
    ),
    *case(
        "mutual recursion",
        """
        def even(x, n):
            if n == 0:
                return x
            return odd(x * x, n - 1)

        def odd(x, n):
            if n == 0:
                return -x
            return np.sin(even(x, n - 1))

        def f(x):
            return even(x, 3) + odd(x, 2)
        """,
        (0.8,),
    ),
    *case(
        "three results, of which one is left unused",
        """
        def parts(x):
            total = 0.0
            for e in x:
                total = total + e * e
            return total, x * total, np.sum(x)

        def f(x):
            total, scaled, rest = parts(x)
            return scaled * total
        """,
        (normal(3),),
    ),
    *case(
        "statistics: log-sum-exp of a mixture of two normals",
        """
        def logpdf(x, mu, sigma):
            return -0.5 * ((x - mu) / sigma) ** 2 - np.log(sigma)

        def logsumexp(a, b):
            m = np.maximum(a, b)
            return m + np.log(np.exp(a - m) + np.exp(b - m))

        def f(p, mu1, mu2, sigma, x):
            first = np.log(p) + logpdf(x, mu1, sigma)
            second = np.log(1 - p) + logpdf(x, mu2, sigma)
            return np.sum(logsumexp(first, second))
        """,
        (0.3, -1.0, 1.2, 0.8, normal(6)),
    ),
    *case(
        "physics: symplectic steps of a force",
        """
        def force(q):
            r2 = q @ q
            return -q / (r2 * np.sqrt(r2))

        def f(q, p, dt, steps):
            for _ in range(steps):
                p = p + 0.5 * dt * force(q)
                q = q + dt * p
                p = p + 0.5 * dt * force(q)
            return 0.5 * (p @ p) - 1 / np.sqrt(q @ q)
        """,
        (np.array([1.0, 0.1]), np.array([0.1, 0.9]), 0.1, 4),
    ),
    *case(
        "physics: symplectic steps, in position and momentum",
        """
        def force(q):
            r2 = q @ q
            return -q / (r2 * np.sqrt(r2))

        def f(q, p):
            for _ in range(3):
                p = p + 0.05 * force(q)
                q = q + 0.1 * p
                p = p + 0.05 * force(q)
            return q, p
        """,
        (positive(2), normal(2)),
    ),
    *case(
        "numerics: adaptive Simpson's rule, recursive",
        """
        def g(x, a):
            return np.exp(-a * x * x)

        def simpson(lo, hi, a, depth):
            mid = 0.5 * (lo + hi)
            whole = (hi - lo) / 6 * (g(lo, a) + 4 * g(mid, a) + g(hi, a))
            if depth == 0:
                return whole
            return simpson(lo, mid, a, depth - 1) + simpson(mid, hi, a, depth - 1)

        def f(lo, hi, a):
            return simpson(lo, hi, a, 2)
        """,
        (0.1, 1.3, 0.8),
    ),
    *case(
        "learning: layers with an activation of one's own",
        """
        def gelu(x):
            return 0.5 * x * (1 + np.tanh(0.79788456 * (x + 0.044715 * x**3)))

        def layer(x, w, b):
            return gelu(x @ w + b)

        def f(w1, b1, w2, b2, x, y):
            h = layer(x, w1, b1)
            out = layer(h, w2, b2)
            return np.mean((out - y) ** 2)
        """,
        (normal(2, 3), normal(3), normal(3, 1), normal(1), normal(4, 2), normal(4, 1)),
    ),
    *case(
        "geometry: Rodrigues' rotation with a cross product of one's own",
        """
        def cross(a, b):
            return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])

        def f(v, k, angle):
            c = np.cos(angle)
            return v * c + cross(k, v) * np.sin(angle) + k * (k @ v) * (1 - c)
        """,
        (normal(3), normal(3), 0.7),
    ),
]
