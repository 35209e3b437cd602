"""with blocks, raise, assert, print, del, declarations, imports."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case

CASES = [
    *case(
        "np.errstate",
        """
        def f(x):
            with np.errstate(divide='ignore'):
                y = x * x
                z = y * x
            return z * 2
        """,
        (1.2,),
    ),
    *case(
        "a return inside np.errstate",
        """
        def f(x):
            with np.errstate(all='ignore'):
                return np.sum(np.log(x) * x)
        """,
        (np.array([0.16000000000000003, 1.44, 0.09]),),
    ),
    *case(
        "warnings.catch_warnings",
        """
        import warnings


        def f(x):
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                y = x * x
            return y * 2
        """,
        (1.2,),
    ),
    *case(
        "a break inside np.errstate in a loop",
        """
        def f(x):
            s = 1.0
            for i in range(3):
                with np.errstate(divide='ignore'):
                    s = s * x + i
                    if s > 5:
                        break
            return s
        """,
        (1.2,),
        (3.0,),
    ),
    *case(
        "np.errstate that raises",
        """
        def f(x):
            with np.errstate(all='raise'):
                y = x * np.exp(x)
            return y * y
        """,
        (1.2,),
    ),
    *case(
        "a return in a branch inside np.errstate",
        """
        def f(x):
            with np.errstate(divide='ignore', invalid='ignore'):
                y = x * x
                if y > 1:
                    return y * x
                y = y + x
            return y * y
        """,
        (1.2,),
        (0.2,),
    ),
    *case(
        "two managers",
        """
        import contextlib


        def f(x):
            with np.errstate(over='ignore'), contextlib.nullcontext():
                y = np.exp(x)
                y = y * x
            return y * y
        """,
        (1.2,),
    ),
    *case(
        "a loop with return inside np.errstate",
        """
        def f(x, n):
            with np.errstate(divide='ignore'):
                for i in range(n):
                    x = x * x + 0.1
                    if x > 2:
                        return x * i
            return x
        """,
        (1.2, 3),
        (0.2, 3),
        (0.1, 0),
        wrt=("x",),
    ),
    *case(
        "assert",
        """
        def f(x):
            assert x > 0, f"bad {x}"
            y = x * x
            assert y > 0
            return y * x
        """,
        (1.2,),
    ),
    *case(
        "raise in several shapes",
        """
        def f(x):
            if x < 0:
                raise ValueError
            elif x > 100:
                raise ValueError(f'too big {x}') from None
            else:
                y = x * x
            if y > 1000:
                raise RuntimeError('a', y)
            return y
        """,
        (1.2,),
    ),
    *case(
        "raise in a loop",
        """
        def f(x):
            for i in range(4):
                if x < 0:
                    raise ValueError('neg')
                x = x * 1.1
                if x > 50:
                    raise ValueError
                else:
                    x = x + x * x
            return x
        """,
        (0.2,),
    ),
    *case(
        "raise in an else",
        """
        def f(x):
            if x > 0:
                y = x * x
            else:
                raise ValueError
            return y
        """,
        (0.2,),
    ),
    *case(
        "raise at the end",
        """
        def f(x, k):
            if k == 1:
                return x * x
            if k == 2:
                return x
            raise NotImplementedError(k)
        """,
        (0.2, 1),
        (0.2, 2),
        wrt=("x",),
    ),
    *case(
        "del",
        """
        def f(x):
            y = x * x
            z = np.sin(y)
            del y
            return z * x
        """,
        (0.2,),
    ),
    *case(
        "del, and the name again",
        """
        def f(x):
            y = x * x
            z = np.sin(y)
            del y
            y = z * x
            return y
        """,
        (0.2,),
    ),
    *case(
        "annotations, pass, docstring",
        """
        def f(x: float) -> float:
            \"\"\"doc\"\"\"
            y: float
            z: float = 1.0
            y = x * z
            pass
            z += y
            return z * x
        """,
        (0.2,),
    ),
    *case(
        "annotated arrays",
        """
        def f(x: np.ndarray) -> float:
            y: np.ndarray = x * 2
            return np.sum(y * x)
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "global that is only read",
        """
        G = 4 * np.pi**2
        K = 3
        TABLE = [1.0, 2.0]


        def f(x):
            global G
            return x * G * K * TABLE[1]
        """,
        (0.2,),
    ),
    *case(
        "constants of the file",
        """
        G = 4 * np.pi**2
        K = 3
        TABLE = [1.0, 2.0]


        def f(x):
            return x * G * K * TABLE[1] * x
        """,
        (0.2,),
    ),
    *case(
        "constants of the file, unpacked",
        """
        A, B = 2.0, 3.0
        def f(x):
            return x * A * x + B
        """,
        (0.2,),
    ),
    *case(
        "an annotated constant of the file",
        """
        C: float = 2.0
        def f(x):
            return x * C * x
        """,
        (0.2,),
    ),
    *case(
        "an import inside the function",
        """
        def f(x):
            import numpy as np
            return np.sin(x) * x
        """,
        (0.2,),
    ),
    *case(
        "imports under other names inside the function",
        """
        def f(x):
            import numpy as xp
            from math import exp, sin as s
            return xp.sin(x) * x * exp(x) * s(x)
        """,
        (0.2,),
    ),
    *case(
        "checks of types",
        """
        def f(x):
            if not isinstance(x, (float, np.ndarray)):
                raise TypeError(type(x).__name__)
            return x * x
        """,
        (1.2,),
    ),
    *case(
        "a mode in any case",
        """
        def f(x, kind="relu"):
            if kind.lower() == "relu":
                return x * (x > 0)
            return x
        """,
        (1.2,),
    ),
    *case(
        "chained and nested assignment",
        """
        def f(x):
            a = b = x * x
            a, (b, c) = b, (a * x, x)
            return a * b * c
        """,
        (1.2,),
    ),
    *case(
        "strings and ellipsis as statements",
        """
        def f(x):
            y = x * x
            "a string"
            ...
            return y
        """,
        (0.2,),
    ),
    *case(
        "two statements on a line",
        """
        def f(x):
            y = x * x; z = y * x
            return z
        """,
        (0.2,),
    ),
    *case(
        "asserts on an array",
        """
        def f(x):
            assert x.ndim == 1 and x.shape[0] > 1
            assert np.all(np.isfinite(x)), x
            return np.sum(x * x)
        """,
        (np.array([0.4, 1.2, -0.3]),),
    ),
    *case(
        "a warning",
        """
        import warnings


        def f(x):
            if x > 1:
                warnings.warn("large")
            return x * x
        """,
        (0.2,),
    ),
]
