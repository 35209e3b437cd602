"""Names that hold now a number and now an array, now an int and now a float; arrays without axes, and empty ones."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case, normal

CASES = [
    *case(
        "a number on one path, an array on the other",
        """
        def f(x, n):
            y = 0.0
            if n > 0:
                y = x * x
            return np.sum(y * x)
        """,
        (normal(3), 1),
        (normal(3), 0),
        wrt=("x",),
    ),
    *case(
        "an element on one path, the array on the other",
        """
        def f(x, flag):
            if flag:
                y = x[0] * 2.0
            else:
                y = x * 3.0
            z = y * y + x
            return np.sum(z)
        """,
        (normal(3), True),
        (normal(3), False),
        wrt=("x",),
    ),
    *case(
        "a number that a loop makes an array",
        """
        def f(x, n):
            s = 1.0
            for i in range(n):
                s = s * x + i
            return np.sum(s * x)
        """,
        (normal(3), 0),
        (normal(3), 3),
        (0.7, 0),
        (0.7, 2),
        wrt=("x",),
    ),
    *case(
        "an array that becomes a number under its name",
        """
        def f(x):
            y = x * x
            y = np.sum(y)
            y = y * x[0]
            return y
        """,
        (normal(3),),
    ),
    *case(
        "an int that becomes a float in a loop",
        """
        def f(x):
            k = 1
            for i in range(3):
                k = k * x
            return k + x
        """,
        (0.7,),
    ),
    *case(
        "an int, or a float on one path",
        """
        def f(x):
            k = 2
            if x > 0:
                k = x * 1.5
            return k * x
        """,
        (0.7,),
        (-0.7,),
    ),
    *case(
        "a count that becomes a share",
        """
        def f(x):
            n = 0
            for v in x:
                if v > 0:
                    n += 1
            n = n / len(x)
            return np.sum(x * x) * n
        """,
        (normal(4),),
    ),
    *case(
        "None until there is a value",
        """
        def f(x):
            best = None
            for v in x:
                if best is None or v > best:
                    best = v * v
            return best * x[0]
        """,
        (normal(3),),
    ),
    *case(
        "a vector that is made a matrix where it is one",
        """
        def f(x, w):
            h = x
            if h.ndim == 1:
                h = h[None, :]
            return np.sum((h @ w) ** 2)
        """,
        (normal(3), normal(3, 2)),
        (normal(4, 3), normal(3, 2)),
    ),
    *case(
        "an array without axes as the argument",
        """
        def f(x):
            return np.sin(x) * x
        """,
        (np.array(0.7),),
        (0.7,),
        (normal(2),),
    ),
    *case(
        "arrays without axes on the way",
        """
        def f(x):
            y = np.sum(x * x)
            z = np.array(y) * x[0]
            u = np.squeeze(x[:1])
            return z.reshape(1)[0] * y + u * u * x[1]
        """,
        (normal(3),),
    ),
    *case(
        "sums of nothing",
        """
        def f(x):
            return np.sum(x * x) + np.sum(x[:0]) + np.sum(x[x > 99.0] ** 2)
        """,
        (normal(3),),
        (normal(0),),
        (normal(2, 0),),
    ),
    *case(
        "a result without elements",
        """
        def f(x):
            return np.exp(x) * x
        """,
        (normal(0),),
        (normal(0, 3),),
    ),
    *case(
        "a loop over an empty array",
        """
        def f(x):
            s = 0.0
            for v in x:
                s = s * v + np.sin(v)
            return s
        """,
        (normal(0),),
        (normal(3),),
    ),
    *case(
        "sums along an axis of an empty matrix",
        """
        def f(x):
            return np.sum(x * x, axis=0)
        """,
        (normal(0, 3),),
        (normal(3, 0),),
    ),
    *case(
        "a product with nothing between",
        """
        def f(x, w):
            return x @ w
        """,
        (normal(2, 0), normal(0, 3)),
    ),
    *case(
        "joined with nothing",
        """
        def f(x):
            return np.concatenate([x[:0], x * x, x[3:]])
        """,
        (normal(3),),
    ),
    *case(
        "writes into no elements",
        """
        def f(x):
            y = x * 1.0
            y[3:] = 2.0
            y[5:] *= 3.0
            return np.sum(y * x)
        """,
        (normal(3),),
    ),
    *case(
        "a list that stays empty",
        """
        def f(x):
            ys = []
            for v in x:
                if v > 99:
                    ys.append(v * v)
            return sum(ys) + np.sum(x)
        """,
        (normal(3),),
    ),
]
