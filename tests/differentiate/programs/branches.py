"""Branches: `if`, conditional expressions, `and` and `or`, early returns."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "a return inside a branch that may go on",
        """
        def f(x):
            if x > 1:
                if x > 2:
                    return x * x
                y = 3 * x
            else:
                y = x**3
            z = y * np.exp(-y)
            return z + x
        """,
        (2.3,),
        (1.3,),
        (0.3,),
    ),
    *case(
        "a branch that only one side of assigns anew",
        """
        def f(x, y):
            if x.sum() > 0:
                z = x * y
            else:
                z = y
            return z
        """,
        (positive(3), normal(3)),
    ),
    *case(
        "the same operand in both branches, broadcast in one",
        """
        def f(x, y):
            if x.sum() > 0:
                z = x * y
            else:
                z = x - y
            return z
        """,
        (positive(3), 2.0),
        (positive(3), 0.5),
    ),
    *case(
        "a conditional expression",
        """
        def f(x):
            y = x if x > 0 else -x * x
            return y * 3
        """,
        (-0.8,),
        (0.8,),
    ),
    *case(
        "conditional expressions inside one another and inside calls",
        """
        def f(x, y):
            return np.sin(x if x > y else (y if y > 0 else x * y)) * (2 if x > 0 else 3)
        """,
        (0.8, 0.2),
        (0.1, 0.2),
        (-0.5, -0.2),
    ),
    *case(
        "and, or with active values",
        """
        def f(x):
            y = x or 3.0
            z = x and x * x
            return y * 3 + z
        """,
        (-0.8,),
    ),
    *case(
        "a flag with a default",
        """
        def f(x, flag=True):
            if flag is None or not flag:
                return x
            y = z = x * x
            return y * z
        """,
        (normal(3), True),
        (normal(3), False),
        (normal(3), None),
    ),
    *case(
        "elif: which piece of a spline",
        """
        def f(t, a, b):
            if t < 1:
                return a * t**2
            elif t < 2:
                s = t - 1
                return a + b * s - s**3
            elif t < 3:
                s = 3 - t
            else:
                s = 0.5 * t
            return s * a * b
        """,
        (0.4, 1.1, 0.7),
        (1.4, 1.1, 0.7),
        (2.4, 1.1, 0.7),
        (3.4, 1.1, 0.7),
    ),
    *case(
        "a chained comparison and a membership of ints",
        """
        def f(x, k):
            if 0 < x < 1 and k in (1, 2):
                return x**2
            return 3 * x
        """,
        (0.4, 1),
        (0.4, 3),
        (1.4, 1),
        wrt=("x",),
    ),
    *case(
        "branches that leave by raising",
        """
        def f(x):
            if x <= 0:
                raise ValueError(f"x must be positive, not {x}")
            y = math.log(x)
            assert y < 100, "too large"
            return y * x
        """,
        (0.4,),
    ),
    *case(
        "an old value read in one branch only",
        """
        def f(x, y):
            z = x * y
            if x > 0.5:
                z = np.sin(z) * z
                y = z + y
            return z * y
        """,
        (0.8, 0.7),
        (0.3, 0.7),
    ),
    *case(
        "names swapped in a branch",
        """
        def f(a, b):
            if a < b:
                a, b = b, a
            return a * a - b
        """,
        (0.3, 0.7),
        (0.9, 0.7),
    ),
    *case(
        "statistics: Huber's loss of each kind of residual",
        """
        def f(r, delta):
            size = abs(r)
            if size <= delta:
                return 0.5 * r**2
            else:
                return delta * (size - 0.5 * delta)
        """,
        (0.3, 0.7),
        (-1.3, 0.7),
    ),
    *case(
        "finance: income tax by brackets",
        """
        def f(income, rate):
            tax = 0.0
            if income > 1.0:
                tax = tax + (min(income, 2.0) - 1.0) * rate
            if income > 2.0:
                tax = tax + (income - 2.0) * rate * 2
            if not income > 3.0:
                return tax
            return tax + (income - 3.0) ** 2
        """,
        (0.5, 0.2),
        (1.5, 0.2),
        (2.5, 0.2),
        (3.5, 0.2),
    ),
    *case(
        "engineering: friction factor, laminar or turbulent",
        """
        def f(v, d, nu):
            re = v * d / nu
            if re < 2300:
                friction = 64 / re
            else:
                friction = 0.316 * re**-0.25
            return friction * v**2 / (2 * d)
        """,
        (1.0, 0.5, 0.01),
        (50.0, 0.5, 0.01),
    ),
    *case(
        "learning: clipped policy objective",
        """
        def f(logp, old, advantage, eps):
            ratio = np.exp(logp - old)
            clipped = np.clip(ratio, 1 - eps, 1 + eps)
            if advantage > 0:
                return np.mean(np.minimum(ratio, clipped)) * advantage
            return np.mean(np.maximum(ratio, clipped)) * advantage
        """,
        (normal(5), normal(5), 0.7, 0.2),
        (normal(5), normal(5), -0.7, 0.2),
    ),
]
