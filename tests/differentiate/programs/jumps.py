"""`break`, `continue` and `return` out of loops."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "continue",
        """
        def f(xs, ys):
            s = 1.0
            for x, y in zip(xs, ys[::-1]):
                if x > 0:
                    continue
                s = s * x + y
            return s
        """,
        (normal(4), normal(4)),
        (normal(6), normal(6)),
    ),
    *case(
        "break",
        """
        def f(xs, ys):
            s = 1.0
            for x, y in zip(xs, reversed(ys)):
                if x > 0:
                    break
                s = s * x + y
            return s
        """,
        (np.array([-0.4, -0.3, 0.2, -1.0]), normal(4)),
        (np.array([-0.4, -0.3, -0.2, -1.0]), normal(4)),
        (np.array([0.4, -0.3, -0.2, -1.0]), normal(4)),
    ),
    *case(
        "return from an inner loop",
        """
        def f(x):
            for i in range(10):
                x = x * 0.7
                for j in range(3):
                    if x < 0.5 and j == 1:
                        return x * x * i
                    x = x - 0.01 * x * x
            return x
        """,
        (2.3,),
        (0.3,),
        (100.0,),
    ),
    *case(
        "continue deep inside, and break behind it",
        """
        def f(x, n):
            y = x
            for i in range(n):
                if i % 2 == 0:
                    if i == 4:
                        continue
                    y = y * y
                y = np.sin(y) + x
                if i > 5:
                    break
                y = y * 1.1
            return y
        """,
        (0.3, 10),
        (0.3, 5),
        (0.3, 0),
    ),
    *case(
        "break of an inner loop",
        """
        def f(x):
            s = x
            for i in range(2):
                for j in range(3):
                    if j == i:
                        break
                    s = s * s * 0.5 + x
                last = s
                s = s + last * x
            return s
        """,
        (0.5,),
    ),
    *case(
        "break, continue and return in one branch",
        """
        def f(x, n):
            s = x
            for i in range(n):
                if i > 1:
                    if s > 3.0:
                        return s * x
                    elif s > 2.0:
                        break
                    elif s < 0.5:
                        continue
                    s = s + 0.4
                s = s * 1.2 + 0.1 * x
            return s - x
        """,
        (0.1, 6),
        (0.6, 6),
        (1.5, 6),
        (2.5, 6),
    ),
    *case(
        "continue as the first thing, in a while",
        """
        def f(x):
            k = 0
            while k < 6:
                k += 1
                if k % 3 == 0:
                    continue
                x = x * np.cos(x) + 0.1 * k
            return x
        """,
        (0.4,),
    ),
    *case(
        "return in both branches of an endless loop",
        """
        def f(x, k):
            while True:
                x = np.sin(x) + 0.2
                k = k - 1
                if k < 0:
                    if x > 0.9:
                        return x
                    else:
                        return x * x
        """,
        (0.4, 2),
        (1.4, 0),
        wrt=("x",),
    ),
    *case(
        "numerics: Newton's method until the step is small",
        """
        def f(a, tol=1e-10):
            x = a
            for _ in range(50):
                step = (x**3 - a) / (3 * x**2)
                x = x - step
                if abs(step) < tol:
                    break
            return x
        """,
        (1.7, 1e-10),
    ),
    *case(
        "numerics: a series summed until its terms vanish",
        """
        def f(x):
            term = 1.0
            total = 1.0
            k = 1
            while True:
                term = term * x / k
                if abs(term) < 1e-12:
                    break
                total += term
                k += 1
            return total
        """,
        (0.8,),
    ),
    *case(
        "graphics: marching along a ray to a sphere",
        """
        def f(origin, direction, radius):
            t = 0.0
            for _ in range(60):
                p = origin + t * direction
                distance = np.sqrt(np.sum(p * p)) - radius
                if distance < 1e-9:
                    return t
                t = t + distance
            return t
        """,
        (np.array([0.1, 0.2, -2.0]), np.array([0.0, 0.0, 1.0]), 0.9),
    ),
    *case(
        "graphics: an escape time that is smooth",
        """
        def f(cx, cy):
            x = 0.0
            y = 0.0
            for n in range(30):
                x, y = x * x - y * y + cx, 2 * x * y + cy
                r2 = x * x + y * y
                if r2 > 100.0:
                    return n - np.log(np.log(r2))
            return 0.0
        """,
        (0.5, 0.6),
    ),
    *case(
        "a gate over the events of a list",
        """
        def f(times, values, until):
            total = 0.0
            for t, v in zip(times, values):
                if t > until:
                    break
                if v < 0:
                    continue
                total += v * np.exp(-t)
            else_total = total * 2
            return else_total
        """,
        (positive(5), normal(5), 1.4),
        wrt=("times", "values"),
    ),
]
