"""What a for goes over: literals, iterators under a name, lists of iterators, whole tuples as elements."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case

CASES = [
    *case(
        "while True with break",
        """
        def f(x):
            while True:
                x = x * x
                if x > 10:
                    break
            return x
        """,
        (1.5,),
    ),
    *case(
        "while 1 with return",
        """
        def f(x):
            while 1:
                x = x * x
                if x > 10:
                    return x
        """,
        (1.5,),
    ),
    *case(
        "return from a nested loop",
        """
        def f(x, n):
            for i in range(n):
                for j in range(i):
                    x = x * 1.1 + j
                    if x > 3:
                        return x * i
                x = x + 0.1
            return x
        """,
        (1.5, 4),
        (0.1, 2),
        (1.0, 0),
        wrt=("x",),
    ),
    *case(
        "literal tuple and list",
        """
        def f(x):
            s = 0.0
            for c in (1.0, 2.0, 3.0):
                s = s * x + c
            for y in [x, x * x, 2.0]:
                s = s + y * s
            return s
        """,
        (1.5,),
    ),
    *case(
        "a literal list of pairs",
        """
        def f(x, z):
            s = 1.0
            for a, b in [(x, 1.0), (z, 2.0), (x * z, 3.0)]:
                s = s * a + b * x
            return s
        """,
        (1.5, 0.3),
    ),
    *case(
        "a literal tuple of constant pairs",
        """
        def f(x):
            s = 1.0
            for a, b in ((1, 2.0), (2, 3.0)):
                s = s * x**a + b
            return s
        """,
        (1.5,),
    ),
    *case(
        "a range under a name",
        """
        def f(x):
            it = range(3)
            s = 0.0
            for i in it:
                s = s + x * i
            return s * x
        """,
        (1.5,),
    ),
    *case(
        "a range under a name, gone through twice",
        """
        def f(x):
            it = range(len(x))
            s = 0.0
            for i in it:
                s = s + x[i] * i
            for i in it:
                s = s * x[i]
            return s
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "a zip under a name",
        """
        def f(a, b):
            it = zip(a, b)
            s = 0.0
            for u, v in it:
                s = s + u * v * s + u
            return s
        """,
        (np.array([0.4, 1.2, -0.3]), np.array([-0.3, 1.2, 0.4])),
    ),
    *case(
        "an enumerate under a name",
        """
        def f(a):
            pairs = enumerate(a)
            s = 0.0
            for i, v in pairs:
                s = s + v * v * i
            return s
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "elements of zip by index",
        """
        def f(a, b):
            s = 0.0
            for p in zip(a, b):
                s = s + p[0] * p[1] * p[1]
            return s
        """,
        (np.array([0.4, 1.2, -0.3]), np.array([-0.3, 1.2, 0.4])),
    ),
    *case(
        "elements of enumerate by index",
        """
        def f(a):
            s = 0.0
            for p in enumerate(a):
                s = s + p[1] * p[1] * p[0]
            return s
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "a whole pair inside enumerate",
        """
        def f(a, b):
            s = 0.0
            for i, p in enumerate(zip(a, b)):
                s = s + p[1] * p[0] * i
            return s
        """,
        (np.array([0.4, 1.2, -0.3]), np.array([-0.3, 1.2, 0.4])),
    ),
    *case(
        "a pair unpacked in the body",
        """
        def f(a, b):
            s = 0.0
            for p in zip(a, b):
                u, v = p
                s = s + u * v * v
            return s
        """,
        (np.array([0.4, 1.2, -0.3]), np.array([-0.3, 1.2, 0.4])),
    ),
    *case(
        "reversed of a list of enumerate",
        """
        def f(a):
            s = 1.0
            for i, v in reversed(list(enumerate(a))):
                s = s * v + i
            return s
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "reversed of a list of zip",
        """
        def f(a, b):
            s = 1.0
            for u, v in reversed(list(zip(a, b))):
                s = s * v + u
            return s
        """,
        (np.array([0.4, 1.2, -0.3]), np.array([-0.3, 1.2, 0.4])),
    ),
    *case(
        "a list of zip",
        """
        def f(a, b):
            s = 1.0
            for u, v in list(zip(a, b)):
                s = s * v + u
            return s
        """,
        (np.array([0.4, 1.2, -0.3]), np.array([-0.3, 1.2, 0.4])),
    ),
    *case(
        "reversed of an array",
        """
        def f(a):
            s = 1.0
            for v in reversed(a):
                s = s * v + 1
            return s
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "enumerate of reversed",
        """
        def f(a):
            s = 1.0
            for i, v in enumerate(reversed(a)):
                s = s * v + i
            return s
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "zip of an array and its reverse",
        """
        def f(xs):
            s = 0.0
            for a, b in zip(xs, xs[::-1]):
                s = s * a + b
            return s
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "zip of two slices",
        """
        def f(xs):
            s = 0.0
            for a, b in zip(xs[:-1], xs[1:]):
                s = s * a + b * b
            return s
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "enumerate with a start",
        """
        def f(xs):
            s = 0.0
            for i, a in enumerate(xs, start=1):
                s = s + a**i
            for i, a in enumerate(xs, 2):
                s = s + a * s * i
            return s
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "ranges with negative and variable steps",
        """
        def f(x, k):
            s = 0.0
            for i in range(5, 0, -2):
                s = s * x + i
            for i in range(0, 6, k):
                s = s + x * i
            for i in range(len([1, 2]) - 1, -1, -1):
                s = s * x + i
            return s
        """,
        (0.7, 2),
        wrt=("x",),
    ),
    *case(
        "position and element read after a loop that does nothing",
        """
        def f(xs):
            for i, a in enumerate(xs):
                pass
            return a * i * a
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "position read after the loop",
        """
        def f(x, n):
            s = 0.
            for i in range(n):
                s = s + x * i
            return s * i * x
        """,
        (1.2, 3),
        wrt=("x",),
    ),
    *case(
        "element read after the loop",
        """
        def f(xs):
            s = 0.0
            for a in xs:
                s = s + a * a
            return s * a
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "a name first bound in the loop",
        """
        def f(x, n):
            for i in range(n):
                y = x * i
                x = x + y
            return y * x
        """,
        (1.2, 3),
        wrt=("x",),
    ),
    *case(
        "a name bound and read under one condition",
        """
        def f(x, flag):
            if flag:
                y = x * x
            z = x + 1
            if flag:
                z = z * y
            return z
        """,
        (1.2, 1),
        (1.2, 0),
        wrt=("x",),
    ),
    *case(
        "a name bound on every path that does not raise",
        """
        def f(x, mode):
            if mode == 'a':
                y = x * x
            elif mode == 'b':
                y = x
            else:
                raise ValueError(mode)
            return y * x
        """,
        (1.2, "a"),
        (1.2, "b"),
    ),
    *case(
        "a name bound where it is read",
        """
        def f(x, flag):
            if flag:
                y = x * x
            return y
        """,
        (1.2, 1),
        wrt=("x",),
    ),
    *case(
        "reversed of a list of enumerate of zip",
        """
        def f(a, b):
            s = 1.0
            for i, (u, v) in reversed(list(enumerate(zip(a, b), start=2))):
                s = s * v + u * i
            return s * i
        """,
        (np.array([0.4, 1.2, -0.3]), np.array([-0.3, 1.2, 0.4])),
        (np.array([0.4, 1.2, -0.3]), np.array([0.4, 1.2])),
    ),
    *case(
        "a whole pair read after the loop",
        """
        def f(a, b):
            s = 0.0
            for p in zip(a, b):
                s = s + p[0] * p[1]
            u, v = p
            return s * u * v
        """,
        (np.array([0.4, 1.2, -0.3]), np.array([-0.3, 1.2, 0.4])),
    ),
    *case(
        "a position bound before the loop, too",
        """
        def f(xs):
            i = 7
            s = 0.0
            for i, a in enumerate(xs):
                s = s + a * a * i
            return s * i
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
]
