"""Assignment expressions: in tests, values, loops, and where they are evaluated only sometimes."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case

CASES = [
    *case(
        "a walrus in a test",
        """
        def f(x):
            if (y := x * x) > 1:
                return y * x
            return y
        """,
        (0.5,),
        (1.5,),
    ),
    *case(
        "a walrus in a value",
        """
        def f(x):
            return (y := x * x) + y * np.sin(y)
        """,
        (0.5,),
    ),
    *case(
        "a walrus in the test of a while",
        """
        def f(x):
            s = 0.0
            while (x := x * 0.5 + 0.1) > 0.3:
                s = s + x * x
            return s * x
        """,
        (2.5,),
        (0.1,),
    ),
    *case(
        "a walrus after and",
        """
        def f(x):
            if x > 0 and (y := x * x) > 1:
                return y
            return x
        """,
        (0.5,),
        (1.5,),
        (-1.0,),
    ),
    *case(
        "a walrus in the test of a conditional expression",
        """
        def f(x):
            return y * 2 if (y := x * x) > 1 else y * 3
        """,
        (0.5,),
        (1.5,),
    ),
    *case(
        "a walrus in an elif",
        """
        def f(x):
            if x > 2:
                return x
            elif (y := x * x) > 1:
                return y * x
            return y
        """,
        (0.5,),
        (1.5,),
        (3.0,),
    ),
    *case(
        "a walrus in a chained comparison",
        """
        def f(x):
            if 0 < (y := np.sin(x)) < 0.5:
                return y * x
            return y
        """,
        (0.2,),
        (1.5,),
    ),
    *case(
        "a walrus in the branches of a conditional expression",
        """
        def f(x):
            a = (u := x * x) * u if x > 0 else (v := 3 * x) + v
            return a * x
        """,
        (0.5,),
        (-0.5,),
    ),
    *case(
        "a walrus in the last part of a chain",
        """
        def f(x):
            y = 2.0
            if 0 < x + 1 < (y := x * x * 4) < 9:
                return x * y
            return x + y
        """,
        (0.9,),
        (-2.0,),
        (0.1,),
    ),
    *case(
        "a walrus that reads its own name",
        """
        def f(x):
            y = x
            z = (y := y * y) * 3 + y
            if z > 1 or (y := y + z) > 0:
                y = y * z
            return y
        """,
        (0.3,),
        (1.5,),
    ),
    *case(
        "a walrus in an argument and in an index",
        """
        def f(x, k):
            s = np.maximum((y := x[(j := k + 1)]), 0.3) * y
            return s * j * x[j]
        """,
        (np.array([0.4, 1.2, -0.3]), 0),
        (np.array([0.4, 1.2, -0.3]), 1),
        wrt=("x",),
    ),
    *case(
        "a walrus in a while with continue and else",
        """
        def f(x):
            k = 0
            while (k := k + 1) < 6:
                if k % 2:
                    continue
                if (y := x * k) > 8:
                    break
                x = x + 0.1 * y * y
            else:
                x = x * x
            return x * k
        """,
        (0.5,),
        (2.5,),
    ),
    *case(
        "a walrus in what a for goes over",
        """
        def f(x):
            s = 0.0
            for v in (w := x * x):
                s = s * v + v
            return s * np.sum(w)
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
]
