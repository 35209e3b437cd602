"""match on constants."""

from __future__ import annotations

from tests.differentiate.programs.case import case

CASES = [
    *case(
        "constants and a choice of them",
        """
        def f(x, mode):
            match mode:
                case 'sq':
                    y = x * x
                case 'cube' | 'third':
                    y = x**3
                case None:
                    y = x
                case _:
                    y = 2 * x
            return y * x
        """,
        (1.2, "sq"),
        (1.2, "third"),
        (1.2, None),
        (1.2, 3),
        wrt=("x",),
    ),
    *case(
        "returns, guards and a name for the subject",
        """
        def f(x, mode):
            match mode:
                case 1:
                    return x * x
                case 2 if x > 1:
                    return x**3
                case n:
                    return 2 * x * n
        """,
        (1.2, 1),
        (1.2, 2),
        (0.2, 2),
        (1.2, 3),
        wrt=("x",),
    ),
    *case(
        "a subject that is computed",
        """
        def f(x, mode):
            match mode.strip():
                case 'sq':
                    y = x * x
                case _ if x > 1:
                    y = x
                case _:
                    y = 3 * x
            return y * x
        """,
        (1.2, " sq"),
        (1.2, "b"),
        (0.2, "b"),
        wrt=("x",),
    ),
    *case(
        "a choice under a name",
        """
        def f(x, k):
            match k:
                case 1 | 2 as n:
                    y = x**n
                case -1:
                    y = x
                case True:
                    y = x + 1
                case n:
                    return x * n * x
            return y * x
        """,
        (1.2, 2),
        (1.2, -1),
        (0.2, 5),
        wrt=("x",),
    ),
    *case(
        "a match in a loop",
        """
        def f(x, ops):
            for op in ops:
                match op:
                    case '+':
                        x = x + 1
                    case '*':
                        x = x * x
                    case 'stop':
                        break
                    case _:
                        continue
                x = np.sin(x)
            return x
        """,
        (1.2, ["+", "*", "?", "*", "stop", "*"]),
        (1.2, []),
        wrt=("x",),
    ),
]
