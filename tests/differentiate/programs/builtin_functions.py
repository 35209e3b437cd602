"""Built-in functions of numbers and texts."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case

CASES = [
    *case(
        "pow",
        """
        def f(x, y):
            return pow(x, y) + pow(x, 2)
        """,
        (1.2, 0.7),
    ),
    *case(
        "divmod, unpacked",
        """
        def f(x):
            q, r = divmod(x, 0.5)
            return r * q * x
        """,
        (1.2,),
    ),
    *case(
        "an item of divmod",
        """
        def f(x):
            return divmod(x, 0.5)[1] * x
        """,
        (1.2,),
    ),
    *case(
        "divmod of integers",
        """
        def f(x, n):
            s = 0.0
            for k in range(n):
                i, j = divmod(k, 2)
                s = s * x[i] + x[j]
            return s
        """,
        (np.array([0.4, 1.2, -0.3]), 5),
        wrt=("x",),
    ),
    *case(
        "abs and round",
        """
        def f(x):
            return abs(x) * round(x, 1) * round(x)
        """,
        (1.23,),
    ),
    *case(
        "max and min of several numbers",
        """
        def f(x, y):
            return max(x, y, 0.5) * min(x, y)
        """,
        (1.2, 0.7),
    ),
    *case(
        "float and bool",
        """
        def f(x):
            y = float(x)
            if bool(y > 1):
                return y * y
            return y
        """,
        (1.2,),
    ),
    *case(
        "int, floor division, remainder",
        """
        def f(x):
            k = int(x)
            return x * k * x // 1 + x % 1
        """,
        (2.3,),
    ),
    *case(
        "texts",
        """
        def f(x):
            s = f"{x:.3f}"
            t = "%s" % x
            u = "{}".format(x)
            print(s + t, u, len(s))
            return x * x
        """,
        (1.2,),
    ),
    *case(
        "a default that is a constant of the file",
        """
        G = 4 * np.pi**2


        def f(x, g=G):
            return x * g * x
        """,
        (0.2,),
        (0.2, 3.0),
        wrt=("x",),
    ),
    *case(
        "constants made of constants",
        """
        G = 4 * np.pi**2
        H = -G / 3
        ROOT = math.sqrt(2)


        def f(x):
            return np.sum(x * G) * H + ROOT * x[0]
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
]
