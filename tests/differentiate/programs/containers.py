"""Tuples and lists: unpacking, swapping, lists of parameters, structured results."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "swaps",
        """
        def f(a, b):
            a, b = b * b, a
            a, b = b, a * b
            return a * b
        """,
        (1.2, 0.7),
        (1.2, normal(3)),
    ),
    *case(
        "a tuple, unpacked and indexed",
        """
        def f(a, b):
            c = (a * b, a + b)
            x, y = c
            return x * y, c[0]
        """,
        (1.2, normal(3)),
    ),
    *case(
        "nested unpacking",
        """
        def f(a, b):
            (x, y), z = (a * b, a - b), a
            return x * y * z
        """,
        (1.2, 0.4),
    ),
    *case(
        "a list of weights, iterated",
        """
        def f(ws, x):
            for w in ws:
                x = np.tanh(x @ w)
            return x
        """,
        ([normal(2, 3), normal(3, 4)], normal(2)),
        ([normal(2, 2)], normal(2)),
    ),
    *case(
        "a list of weights by annotation",
        """
        def f(ws: list, x):
            for w in ws:
                x = np.tanh(x @ w)
            return x
        """,
        ([normal(2, 3), normal(3, 4)], normal(2)),
    ),
    *case(
        "elements of a list parameter",
        """
        def f(ws: list, x):
            return ws[0] * x + ws[1] * ws[0]
        """,
        ([normal(2), normal(2)], normal(2)),
    ),
    *case(
        "a literal list of values, iterated",
        """
        def f(a, b):
            t = [a, b * 2, a * b]
            s = 0.0
            for e in t:
                s = s + e * e
            return s
        """,
        (0.4, normal(2)),
    ),
    *case(
        "a tuple parameter, unpacked",
        """
        def f(params: tuple, x):
            w, b = params
            return np.tanh(x @ w + b)
        """,
        ((normal(3, 2), normal(2)), normal(3)),
    ),
    *case(
        "a list of pairs of weight and bias",
        """
        def f(layers: list, x):
            for w, b in layers:
                x = np.tanh(x @ w + b)
            return np.sum(x)
        """,
        ([(normal(2, 3), normal(3)), (normal(3, 1), normal(1))], normal(2)),
        wrt=("x",),
    ),
    *case(
        "a structured result",
        """
        def f(x, y):
            return x * y, (x + y, [x, y * y])
        """,
        (0.4, normal(2)),
    ),
    *case(
        "the same value twice in a result",
        """
        def f(x):
            y = np.sin(x)
            return y, y, x
        """,
        (normal(2),),
    ),
    *case(
        "tuples carried through a loop",
        """
        def f(x):
            state = (x, x * x)
            for i in range(3):
                a, b = state
                state = (b * 0.5, a + b)
            return state[0] * state[1]
        """,
        (0.4,),
    ),
    *case(
        "a tuple chosen by a branch",
        """
        def f(x, flag):
            pair = (x, 2 * x) if flag else (x * x, x)
            a, b = pair
            return a * b
        """,
        (0.4, True),
        (0.4, False),
    ),
    *case(
        "chained assignment",
        """
        def f(x):
            a = b = x * x
            a = a + x
            return a * b
        """,
        (normal(2),),
    ),
    *case(
        "np.array of expressions",
        """
        def f(x):
            return np.array([x, x * x]) @ np.array([1.0, 2.0])
        """,
        (0.3,),
    ),
    *case(
        "geometry: a rotation matrix",
        """
        def f(angle, p):
            c, s = np.cos(angle), np.sin(angle)
            rotation = np.array([[c, -s], [s, c]])
            return rotation @ p
        """,
        (0.3, normal(2)),
    ),
    *case(
        "geometry: a chain of joints",
        """
        def f(angles, lengths):
            x, y, total = 0.0, 0.0, 0.0
            for a, r in zip(angles, lengths):
                total = total + a
                x, y = x + r * np.cos(total), y + r * np.sin(total)
            return x, y
        """,
        (normal(3), positive(3)),
    ),
    *case(
        "statistics: moments of a sample",
        """
        def f(x):
            m = np.mean(x)
            centred = x - m
            v = np.mean(centred**2)
            return m, v, np.mean(centred**3) / v**1.5
        """,
        (normal(6),),
    ),
]
