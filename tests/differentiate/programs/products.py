"""Products: powers of one name, with literals among the factors, in complex numbers, loops and branches."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "powers written out, with literals on either side",
        """
        def f(x):
            return 3.0 * x * x - x * x * x * 0.5 + 0.1 * (x * -2.0) * x - 1.0 * x * x + 0.5 * x * x
        """,
        (normal(3),),
        (0.7,),
    ),
    *case(
        "kinetic energies",
        """
        def f(m, v):
            return 0.5 * m * v * v + v * m * v * v - m * (2.0 * m) * v
        """,
        (positive(3), normal(3)),
        (positive(2, 1), normal(3)),
        (positive(3), 0.7),
        (1.3, normal(3)),
        (1.3, 0.7),
    ),
    *case(
        "a list that is repeated, by a square",
        """
        def f(xs, n: int):
            ys = n * n * [xs[0], xs[1]] + [xs[0] * xs[0] * xs[1]]
            return ys[0] * ys[3] + ys[-1]
        """,
        ([0.7, 1.3], 2),
    ),
    *case(
        "a power times a truth value",
        """
        def f(x):
            return True * x * x + x * x * False * x
        """,
        (normal(3),),
    ),
    *case(
        "powers of a complex number",
        """
        def f(x, y):
            z = x + 1j * y
            w = 3.0 * z * z * z + 1j * z * z
            return w.real + w.imag
        """,
        (normal(3), normal(3)),
    ),
    *case(
        "powers of what a loop changes",
        """
        def f(x, n):
            s = 0.0
            for i in range(n):
                s = s + 2.0 * x * x * x
                x = x - 0.1 * s * s
            return s * s
        """,
        (normal(2), 3),
        (0.4, 2),
    ),
    *case(
        "the reciprocal of what is broadcast",
        """
        def f(x, y):
            return 1.0 / (x + y) + 1 / y - 2.0 / x
        """,
        (positive(2, 3), positive(3)),
        (1.2, positive(3)),
    ),
    *case(
        "factors that meet again in the derivative",
        """
        def f(x):
            return np.sum(np.sqrt(np.mean(0.5 * x * x) * 4.0) * 2.0 * x) / 0.5 * 2.0
        """,
        (positive(4),),
    ),
]
