"""Augmented assignment of names that surely have their value for themselves."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "a copy, changed twice",
        """
        def f(x):
            y = x.copy()
            y += 1.0
            y *= x
            return y
        """,
        (normal(3),),
    ),
    *case(
        "all operators on a number",
        """
        def f(x):
            total = 1.0
            total += np.sum(x)
            total *= total
            total -= x[0]
            total /= x[1] ** 2 + 1
            total **= 2
            return total
        """,
        (normal(3),),
    ),
    *case(
        "a fresh array, changed after it was read",
        """
        def f(x):
            y = np.sin(x)
            z = np.sum(y * y)
            y *= z
            return y + z
        """,
        (normal(3),),
    ),
    *case(
        "an accumulator that is a number first and an array after",
        """
        def f(xs):
            total = 0.0
            for x in xs:
                total += x * x
            return total
        """,
        (normal(3),),
        (normal(3, 2),),
    ),
    *case(
        "an array that broadcasts into its accumulator",
        """
        def f(x, b):
            y = x * 2.0
            y += b
            return y * y
        """,
        (normal(2, 3), normal(3)),
        (normal(2, 3), 0.4),
    ),
    *case(
        "in a branch, in a loop",
        """
        def f(x, n):
            s = 0.5
            for i in range(n):
                if i % 2:
                    s *= x
                else:
                    s += x * x
            return s
        """,
        (0.7, 0),
        (0.7, 1),
        (0.7, 4),
    ),
    *case(
        "a parameter that is a float by annotation",
        """
        def f(x: float, y: float):
            x += y * y
            y -= x
            x *= y
            return x
        """,
        (0.7, 0.4),
    ),
    *case(
        "an annotated assignment",
        """
        def f(x):
            y: float = x * 2
            z: float
            z = y * x
            return z
        """,
        (0.7,),
    ),
    *case(
        "an array that a loop updates, and whose values the adjoint reads",
        """
        def f(x, n: int):
            u = np.sin(x)
            for t in range(n):
                u += 0.1 * u * u * x
                u *= np.cos(u)
            return np.sum(u * u)
        """,
        (normal(3), 4),
    ),
    *case(
        "an array that is updated after its value was used",
        """
        def f(x):
            u = np.exp(x)
            y = np.sin(u)
            u += y * u
            z = u * y
            u -= z * z
            return np.sum(u * z)
        """,
        (normal(3),),
    ),
    *case(
        "finance: an order book walked level by level",
        """
        def f(prices, sizes, wanted: float):
            cost = 0.0
            left = wanted
            for p, s in zip(prices, sizes):
                if left <= s:
                    cost += left * p
                    break
                cost += s * p
                left = left - s
            return cost / wanted
        """,
        (positive(4), [0.5, 0.6, 0.7, 0.8], 1.4),
        wrt=("prices", "wanted"),
    ),
]
