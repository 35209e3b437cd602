"""The else of loops."""

from __future__ import annotations

from tests.differentiate.programs.case import case

CASES = [
    *case(
        "else of a for with a break",
        """
        def f(x, n):
            for i in range(n):
                if x > 2:
                    y = x * x
                    break
                x = x * 1.5
            else:
                y = 3 * x
            return y * x
        """,
        (1.5, 1),
        (1.5, 5),
        (1.5, 0),
        wrt=("x",),
    ),
    *case(
        "else of a for with a return",
        """
        def f(x, n):
            for i in range(n):
                if x > 2:
                    return x * x
                x = x * 1.5
            else:
                x = 3 * x
            return x * x
        """,
        (1.5, 1),
        (1.5, 5),
        (1.5, 0),
        wrt=("x",),
    ),
    *case(
        "else of a for without a break",
        """
        def f(x):
            for i in range(3):
                x = x * 1.5
            else:
                x = 3 * x
            return x * x
        """,
        (1.5,),
    ),
    *case(
        "else of a while that returns",
        """
        def f(x):
            k = 0
            while k < 4:
                k += 1
                x = np.sin(x) + 0.5
                if x > 1.2:
                    break
            else:
                return x * 2
            return x * x
        """,
        (1.5,),
        (0.1,),
    ),
    *case(
        "else of a for that raises",
        """
        def f(x):
            for i in range(50):
                y = x - (x * x - 2) / (2 * x)
                if abs(y - x) < 1e-8:
                    break
                x = y
            else:
                raise ValueError('no convergence')
            return y * x
        """,
        (1.5,),
    ),
    *case(
        "else of an inner for, with continue",
        """
        def f(x):
            s = 0.0
            for i in range(3):
                for j in range(i):
                    if j == 1:
                        break
                    s = s + x * j
                else:
                    s = s * x + 1
                    continue
                s = s + x
            return s
        """,
        (1.5,),
    ),
]
