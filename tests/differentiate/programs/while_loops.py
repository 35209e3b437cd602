"""`while`: with counters, with tests of active values, endless ones."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "endless, left by return",
        """
        def f(x):
            while True:
                x = x * 0.5 + 0.1 * np.sin(x)
                if x < 0.3:
                    return x * x
        """,
        (2.3,),
        (0.4,),
    ),
    *case(
        "a counter that goes down, with comments",
        """
        def f(x):
            # three rounds
            k = 3
            while k > 0:
                x = np.sin(x) * k  # damp
                k -= 1
            return x
        """,
        (normal(2),),
    ),
    *case(
        "a test of index and element",
        """
        def f(x):
            i = 0
            y = 0.0
            while i < len(x) and x[i] > -1:
                y += x[i] ** 2
                i += 1
            return y
        """,
        (positive(6),),
    ),
    *case(
        "a loop that never runs",
        """
        def f(x, n):
            y = x
            while n > 0:
                y = y * np.sin(y)
                n = n - 1
            return y * x
        """,
        (0.7, 0),
        (0.7, 3),
        wrt=("x",),
    ),
    *case(
        "a test of the active value",
        """
        def f(x, rate):
            while x > 0.2:
                x = x * rate - 0.01
            return x
        """,
        (2.0, 0.6),
        (0.1, 0.6),
    ),
    *case(
        "while inside for inside while",
        """
        def f(x):
            k = 0
            while k < 2:
                for i in range(2):
                    j = i
                    while j < 2:
                        x = x + 0.1 * np.sin(x) * j
                        j += 1
                k += 1
                x = x * 1.1
            return x
        """,
        (0.7,),
    ),
    *case(
        "numerics: Heron's square root",
        """
        def f(a):
            x = a
            while abs(x * x - a) > 1e-9:
                x = 0.5 * (x + a / x)
            return x
        """,
        (1.7,),
    ),
    *case(
        "numerics: bisection as a smooth function of its bounds",
        """
        def f(lo, hi, c):
            n = 0
            while n < 5:
                mid = 0.5 * (lo + hi)
                if mid**3 > c:
                    hi = mid
                else:
                    lo = mid
                n += 1
            return lo + hi
        """,
        (0.2, 2.0, 0.9),
    ),
    *case(
        "numerics: arithmetic-geometric mean",
        """
        def f(a, b):
            while abs(a - b) > 1e-10:
                a, b = 0.5 * (a + b), np.sqrt(a * b)
            return a
        """,
        (1.3, 0.6),
    ),
    *case(
        "physics: a ball until it falls below the ground",
        """
        def f(v, angle, drag):
            x = 0.0
            y = 0.0
            vx = v * np.cos(angle)
            vy = v * np.sin(angle)
            while y >= 0.0:
                x += 0.05 * vx
                y += 0.05 * vy
                vx -= 0.05 * drag * vx
                vy -= 0.05 * (9.81 + drag * vy)
            return x
        """,
        (3.0, 0.8, 0.1),
    ),
    *case(
        "linear algebra: power iteration",
        """
        def f(a, v):
            k = 0
            while k < 4:
                w = a @ v
                v = w / np.sqrt(w @ w)
                k += 1
            return v @ a @ v
        """,
        (positive(3, 3), positive(3)),
    ),
]
