"""Conditions and conditional values in every place: is, in, not, and, or, if else."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case

CASES = [
    *case(
        "not in, is not",
        """
        def f(x, mode='a', n=None):
            if mode not in ('a', 'b'):
                return x
            if n is not None:
                x = x * n
            return x * x
        """,
        (0.5,),
        (0.5, "c"),
        (0.5, "b", 2),
    ),
    *case(
        "conditional expressions in a list, an index, a range and a return",
        """
        def f(x, n):
            xs = [x if x > 0 else 2 * x, x * x]
            s = xs[0 if n > 1 else 1]
            for i in range(3 if x > 1 else 2):
                s += (x if i % 2 else x * x) * i
            return s if s > 0 else (x if n else s * s)
        """,
        (0.5, 1),
        (1.5, 2),
        (-1.5, 2),
        wrt=("x",),
    ),
    *case(
        "a conditional expression in a test",
        """
        def f(x):
            if (x if x > 0 else -x) > 1:
                return x * x
            return x
        """,
        (0.5,),
        (-1.5,),
    ),
    *case(
        "a conditional expression as an index",
        """
        def f(x, k):
            return x[k if k < 2 else 0] * x[1]
        """,
        (np.array([0.4, 1.2, -0.3]), 1),
        wrt=("x",),
    ),
    *case(
        "conditional expressions as arguments",
        """
        def g(a, b):
            if a > b:
                return a * b
            return a
        def f(x, k):
            return g(x if k else x * x, b=2 if k else x)
        """,
        (1.5, 1),
        (1.5, 0),
        wrt=("x",),
    ),
    *case(
        "and, or of numbers of which one is zero",
        """
        def f(x, y):
            return (x and y * x) + (x or y) * 2 + ((x > 0 and y) or x)
        """,
        (0.0, 1.5),
        (1.5, 2.5),
        wrt=("y",),
    ),
    *case(
        "or with a default of None",
        """
        def f(x, scale=None):
            s = scale or 2.0
            return x * s
        """,
        (1.5,),
        (1.5, 3.0),
        wrt=("x",),
    ),
    *case(
        "not in a conditional expression",
        """
        def f(x, flag):
            return x * x if not flag else x
        """,
        (1.5, 0),
        (1.5, 1),
        wrt=("x",),
    ),
    *case(
        "truth values in arithmetic",
        """
        def f(x):
            return x * (x > 0) + (not x > 0) * x * x
        """,
        (1.5,),
        (-1.5,),
    ),
    *case(
        "is None in a conditional expression",
        """
        def f(x, n=None):
            y = x if n is None else n * x
            return y * y
        """,
        (1.2,),
        (1.2, 2.0),
        wrt=("x",),
    ),
    *case(
        "isinstance",
        """
        def f(x):
            if isinstance(x, float):
                return x * x
            return x
        """,
        (1.2,),
    ),
    *case(
        "bounds that may be None",
        """
        def f(x, lo=None, hi=None):
            if lo is not None and x < lo:
                return lo * x
            if hi is not None and x > hi:
                return x * hi * x
            return x * x
        """,
        (0.2,),
        (0.2, 1.0),
        (1.2, 0.1, 1.0),
        wrt=("x",),
    ),
    *case(
        "a while with and, not",
        """
        def f(x):
            while x < 10 and not x < 0:
                x = x * 1.5
            return x
        """,
        (0.2,),
    ),
    *case(
        "if and while on one line",
        """
        def f(x):
            if x > 0: return x * x
            while x < 3: x = x + x * x if x > 0 else x + 1
            return x
        """,
        (0.2,),
        (-1.3,),
    ),
    *case(
        "None on a path that is not taken",
        """
        def f(x, w):
            return None if w is None else x * w
        """,
        (0.2, 3.0),
        wrt=("x",),
    ),
    *case(
        "a list that only one branch has, under one condition twice",
        """
        def f(x):
            if x > 0:
                y = x * x
            else:
                hs = []
                for i in range(3):
                    hs.append(x * i)
            if x > 0:
                z = y
            else:
                z = hs[1] * hs[2]
            return z
        """,
        (0.7,),
        (-0.7,),
    ),
]
