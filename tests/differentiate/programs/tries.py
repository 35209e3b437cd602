"""try: which path was taken is followed."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case, normal

CASES = [
    *case(
        "no handler, only finally",
        """
        def f(x):
            try:
                y = x * x
                y = y * x
            finally:
                print("done")
            return y
        """,
        (0.7,),
    ),
    *case(
        "a division by zero",
        """
        def f(x):
            try:
                y = 1 / x
            except ZeroDivisionError:
                y = 0.0 * x
            return y * y
        """,
        (0.2,),
    ),
    *case(
        "returns from body and handler",
        """
        def f(x, k):
            try:
                return x[k] * 2
            except IndexError:
                return x[0] * x[0]
        """,
        (np.array([0.4, 1.2, -0.3]), 1),
        (np.array([0.4, 1.2, -0.3]), 7),
        wrt=("x",),
    ),
    *case(
        "a singular matrix",
        """
        def f(a, b):
            try:
                x = np.linalg.solve(a, b)
            except np.linalg.LinAlgError:
                x = b
            return np.sum(x * x)
        """,
        (np.array([[2.0, 0.3], [0.1, 1.0]]), np.array([1.0, 2.0])),
        (np.array([[2.0, 0.3], [4.0, 0.6]]), np.array([1.0, 2.0])),
        wrt=("b",),
    ),
    *case(
        "else and finally",
        """
        def f(x, k):
            try:
                y = x[k]
            except (IndexError, TypeError) as e:
                y = x[0] * 2
            else:
                y = y * y
            finally:
                print('done')
            return y * x[1]
        """,
        (np.array([0.4, 1.2, -0.3]), 1),
        (np.array([0.4, 1.2, -0.3]), 7),
        wrt=("x",),
    ),
    *case(
        "a break in a handler",
        """
        def f(x):
            s = 0.0
            for k in range(5):
                try:
                    v = x[k]
                except IndexError:
                    break
                s = s * v + v
            return s
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "a handler that raises",
        """
        def f(x, k):
            try:
                v = x[k]
            except IndexError:
                raise ValueError('bad')
            return v * v
        """,
        (np.array([0.4, 1.2, -0.3]), 1),
        wrt=("x",),
    ),
    *case(
        "two handlers",
        """
        def f(x, k):
            try:
                y = x[k] / k
            except IndexError:
                y = x[0] * x[1]
            except (ZeroDivisionError, TypeError) as error:
                print(error)
                y = x[1] * x[1]
            return y * x[0]
        """,
        (np.array([0.4, 1.2, -0.3]), 1),
        (np.array([0.4, 1.2, -0.3]), 7),
        (np.array([0.4, 1.2, -0.3]), None),
        wrt=("x",),
    ),
    *case(
        "a handler that goes on with the loop",
        """
        def f(x):
            s = 1.0
            for k in (1, 0, 9, 2):
                try:
                    v = x[k] * s
                except IndexError:
                    continue
                s = s + v * v
            return s
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "a loop inside the body",
        """
        def f(x, n):
            s = 1.0
            try:
                t = 1.0
                for k in range(n):
                    t = t * x[k]
            except IndexError:
                s = x[0] * x[1]
            else:
                s = t * t
            return s * x[2]
        """,
        (np.array([0.4, 1.2, -0.3]), 2),
        (np.array([0.4, 1.2, -0.3]), 5),
        (np.array([0.4, 1.2, -0.3]), 0),
        wrt=("x",),
    ),
    *case(
        "a try inside another",
        """
        def f(x, k):
            try:
                try:
                    y = x[k] * x[0]
                except IndexError:
                    y = x[k - 5] * 3
            except (IndexError, ValueError):
                y = x[1] * x[1]
            return y * x[2]
        """,
        (np.array([0.4, 1.2, -0.3]), 1),
        (np.array([0.4, 1.2, -0.3]), 7),
        (np.array([0.4, 1.2, -0.3]), 20),
        wrt=("x",),
    ),
    *case(
        "a callee that raises",
        """
        def solve(a, x):
            for _ in range(20):
                step = (x * x - a) / (2 * x)
                x = x - step
                if abs(step) < 1e-9:
                    return x
            raise RuntimeError("no convergence")


        def f(a, x):
            try:
                r = solve(a, x)
            except RuntimeError:
                r = a * x
            return r * a
        """,
        (2.0, 1.0),
        (-2.0, 1.3),
    ),
    *case(
        "a value that only decides the path",
        """
        def f(x, k):
            try:
                y = x[k]
                y = x[0] * x[1]
            except IndexError:
                y = x[0] * x[0]
            return y
        """,
        (np.array([0.4, 1.2, -0.3]), 1),
        (np.array([0.4, 1.2, -0.3]), 7),
        wrt=("x",),
    ),
    *case(
        "a handler that raises again",
        """
        def f(x):
            try:
                y = 1 / x
            except ZeroDivisionError as e:
                print("zero", e)
                raise
            return y * x * y
        """,
        (1.5,),
    ),
    *case(
        "a state that the handler keeps",
        """
        def f(x):
            state = x[0]
            for k in range(4):
                try:
                    state = state * x[k] + 1.0
                except IndexError:
                    pass
            return state
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "a try inside a with",
        """
        def f(x, k):
            with np.errstate(all='ignore'):
                try:
                    return np.log(x[k]) * x[0]
                except IndexError:
                    y = x[0]
                return y * x[1]
        """,
        (np.array([0.4, 1.2, 0.3]), 1),
        (np.array([0.4, 1.2, -0.3]), 7),
        wrt=("x",),
    ),
    *case(
        "an exception that the body raises by itself",
        """
        def f(x: float, w):
            try:
                if x <= 0.0:
                    raise ValueError("no logarithm")
                y = np.log(x) * w
                if np.sum(w) < -9.0:
                    raise ArithmeticError("too far")
                z = y * w
            except ValueError:
                z = -10.0 + x * w
            return z
        """,
        (0.4, normal(3)),
        (-0.4, normal(3)),
    ),
    *case(
        "a body that raises or returns",
        """
        def log(x):
            try:
                if x <= 0.0:
                    raise ValueError("no logarithm")
                return np.log(x)
            except ValueError:
                return -10.0 + x

        def f(xs):
            total = 0.0
            for x in xs:
                total = total + log(x) * x
            return total
        """,
        (normal(4),),
    ),
]

# A body that is more than assignments: forward mode does not know it.
REVERSE_ONLY = ("a loop inside the body", "a try inside another", "a callee that raises")
