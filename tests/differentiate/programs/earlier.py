"""Random programs of an earlier generator that were once wrong, or made the compiler fail: loops over a name that they bind
again, jumps in nested loops, what a tape holds, names."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case

CASES = [
    *case(
        "seed 6",
        """
        def f(x, y, a, n: int):
            v1 = np.tanh(0.5 * y) @ y
            s2 = 0
            for i2 in range(n):
                s2 += (np.tanh(x) / (1.5 + y[0] ** 2)) * 0.5
            for i3 in range(n):
                for i4, (ei4, gi4) in enumerate(zip(y, y)):
                    for ei5 in y:
                        y = np.where(y > 0.1, (gi4 * y), y)
                        v6 = y[1]
                        a = np.tanh(((v6 + ei4) + a))
                    if not s2 > 0.3 or n > 1:
                        y = (y - (np.cos(0.5 * y) + (y + y)))
                        v7 = (((gi4 - y) - (y * y)) * ((y * y) + y))
                    s8 = 0
                    for i8 in range(n):
                        s8 += x * 0.5
            v9 = (x * (s2 - y)) @ (np.cos(v1) * (s2 - y))
            return min(np.min((v9 - y)), v9)
        """,
        (1.053, np.array([1.776, -2.553, -0.138, 1.014]), 1.352, 2),
    ),
    *case(
        "seed 62",
        """
        def large(u, v):
            if np.sum(u) > 0.5:
                return u * v
            for k in range(2):
                u = u * 0.5 + np.cos(v)
            return u


        def f(x, y, a, n: int):
            for i1 in range(3):
                if a < 0.73:
                    s2 = 0
                    for i2 in range(n):
                        s2 -= large(np.cos(a), (x / (1.5 + x ** 2))) * 0.5
                    if n % 2 == 0:
                        return x
                    x = x
            s3 = 1.0
            for i3 in range(n):
                s3 -= large(y[-1], a) * 0.5
                s3 *= 0.7
            y = (y * (a * (y - y)))
            return large(min(y[0], (x - a)), x)
        """,
        (-1.022, np.array([-1.475, -0.469, -0.426, -0.918]), -0.291, 0),
    ),
    *case(
        "seed 82",
        """
        def small(u, v):
            w = u * v
            return w + np.sin(u)


        def f(x, y, a, n: int):
            for i1, (ei1, gi1) in enumerate(zip(y, y[::-1])):
                if ei1 < -0.75:
                    if np.sum(y) > -0.83:
                        ei1 = gi1
                else:
                    y = y
                    y = (np.tanh(small(ei1, -0.6)) * np.sin(0.5 * y))
                    if ei1 > -0.85:
                        break
                    gi1 = np.min((y - y))
                if gi1 > 0.39:
                    y = (((gi1 - ei1) + y) * np.tanh(0.5 * y))
                else:
                    v2 = a
                    if v2 < 0.24:
                        v3 = y
                    else:
                        y = ((y - np.where(y > 0.1, y, y)) * small((y + y), np.sin(0.5 * y)))
                        v4 = (np.exp(0.5 * y) + np.cos(0.5 * y))
            i5 = 0
            while i5 < 3 and x < 5.0:
                i5 += 1
                v6 = (y * ((y + y) - small(y, y)))
            for ei7 in y:
                for i8 in range(2):
                    v9 = ei7
                if n % 2 == 1:
                    x = ((a * (x / (1.5 + x ** 2))) * ((a - x) * x))
                else:
                    x = np.tanh(((a * x) - (0.2 - x)))
                    if np.sum(y) > 0.95:
                        v10 = np.sin(y[2])
                    else:
                        v11 = y[2]
            return (a if x < -0.92 else y[1])
        """,
        (1.728, np.array([1.027, 1.108, -0.971, -0.604]), -0.759, 2),
    ),
    *case(
        "seed 125",
        """
        def large(u, v):
            if np.sum(u) > 0.5:
                return u * v
            for k in range(2):
                u = u * 0.5 + np.cos(v)
            return u


        def f(x, y, a, n: int):
            if x > 0.23:
                y = (((a - a) + y) + np.where(y > 0.1, y[::-1], (y - y)))
            v1 = np.sin(0.5 * y)
            x = large(large((a * x), (x + a)), np.cos(min(x, 1.3)))
            if x > 0.17:
                v2 = v1
            else:
                for i3, (ei3, gi3) in enumerate(zip(y, y[::-1])):
                    if np.sum(v1) > -0.52:
                        gi3 = a
                    else:
                        v4 = ((max(-0.27, ei3) * large(-0.92, x)) + (np.sin(gi3) + gi3))
                    x = (gi3 * min((x / (1.5 + ei3 ** 2)), x))
                v5 = ((np.cos(x) - a) - y)
            return np.mean((np.cos(0.5 * y) + (x - v1)))
        """,
        (-2.510, np.array([-2.712, -0.197, -0.417, -0.847]), -0.553, 1),
    ),
    *case(
        "seed 139",
        """
        def small(u, v):
            w = u * v
            return w + np.sin(u)


        def f(x, y, a, n: int):
            v1 = y
            v2 = v1
            if n % 2 == 1:
                if not a > 0.3 or n > 1:
                    if not x > 0.3 and n > 1:
                        a = 0.38
                        a = ((np.tanh(x) - small(a, a)) + x)
                    else:
                        v3 = min(min(np.sin(a), v1[-1]), small(a, a))
            a = (((a - -1.26) + 0.34) + (a * np.sin(a)))
            if x > 0.84:
                i4 = 0
                while i4 < 3 and x < 5.0:
                    i4 += 1
                    y = (a + np.concatenate([y[:2], v2[1:3]]))
                    a = x
                y = v1
            else:
                if n % 2 == 1:
                    if a < -0.96:
                        x = x
                        v1 = v1
                    i5 = 0
                    while i5 < 3 and a < 5.0:
                        i5 += 1
                        v6 = v2
                        a = a
                        y = np.sin(0.5 * y)
                else:
                    for ei7 in v1:
                        x = min((np.tanh(-0.23) - (ei7 + x)), (a + v1[0]))
            i8 = 0
            while i8 < 3 and a < 5.0:
                i8 += 1
                for ei9 in v2:
                    a = ei9
                    y = ((1.27 if a < -0.31 else 0.67) - y)
            a, x = x, ((x / (1.5 + -0.6 ** 2)) - small(x, a))
            return a, ((np.arctan(a) * np.sin(0.5 * v1)) + (small(v1, v2) * y))
        """,
        (-0.872, np.array([-1.516, -0.267, -0.938, 0.455]), 1.015, 0),
    ),
    *case(
        "seed 1179",
        """
        def large(u, v):
            if np.sum(u) > 0.5:
                return u * v
            for k in range(2):
                u = u * 0.5 + np.cos(v)
            return u


        def f(x, y, a, n: int):
            y = y
            v1 = large(np.min(np.tanh(0.5 * y)), large(y[-1], (a * x)))
            for i2 in range(0):
                v3 = ((max(a, a) + x) + y)
                x, v1 = v1, np.sin((x * a))
                s4 = 1.0
                for i4 in range(n):
                    s4 += min((a * x), y[-1]) * i4
            v1 = (((a * a) - a) if a > 0.26 else np.tanh((x * 0.74)))
            for i5 in range(3):
                if x > 0.21:
                    v6 = ((v1 * np.cos(a)) if np.sum(y) > -0.89 else (v1 / (1.5 + np.sin(-0.09) ** 2)))
                    y = (1.05 + np.cos(0.5 * y))
                    if not a > 0.3 or i5 > 1:
                        break
                    v1 = (a / (1.5 + (v6 / (1.5 + v1 ** 2)) ** 2))
                else:
                    y = (np.where(y > 0.1, (x + y), (v1 - y)) * (y - (-0.59 - y)))
                if x < -0.24:
                    continue
                a = (x + a)
            v7 = y
            v8 = (v1 + (large(y, y) * y))
            return np.tanh((a + (a - -0.41)))
        """,
        (-0.479, np.array([-0.904, -0.142, -0.981, 0.658]), 0.620, 1),
    ),
    *case(
        "seed 1182",
        """
        def large(u, v):
            if np.sum(u) > 0.5:
                return u * v
            for k in range(2):
                u = u * 0.5 + np.cos(v)
            return u


        def deep(u, k):
            if k <= 0:
                return u
            return deep(np.sin(u) + 0.1 * u, k - 1) * 0.9


        def f(x, y, a, n: int):
            i1 = 0
            while i1 < 3 and a < 5.0:
                i1 += 1
                i2 = 0
                while i2 < 3 and a < 5.0:
                    i2 += 1
                    if a < 0.91:
                        v3 = y[1]
                    else:
                        x = (a + y[0])
                    if np.sum(y) > 0.26:
                        continue
                    a = np.mean(y)
                for ei4 in y:
                    for i5 in range(0):
                        v6 = np.where(y > 0.1, y, ((a + a) - large(y, y)))
                        v7 = (np.sum(y) if n % 2 == 1 else ((ei4 - x) / (1.5 + (a if not ei4 > 0.3 or i1 > 1 else x) ** 2)))
                        v7 = v7
                    if n % 2 == 0:
                        return x
                    x = np.sum((y - y))
            v8 = y
            return (((a - 1.3) if np.sum(y) > -0.53 else (a / (1.5 + x ** 2))) * deep((a + a), n))
        """,
        (-0.191, np.array([0.930, 0.413, 1.782, -2.169]), -0.142, 2),
    ),
    *case(
        "seed 1339",
        """
        def large(u, v):
            if np.sum(u) > 0.5:
                return u * v
            for k in range(2):
                u = u * 0.5 + np.cos(v)
            return u


        def deep(u, k):
            if k <= 0:
                return u
            return deep(np.sin(u) + 0.1 * u, k - 1) * 0.9


        def f(x, y, a, n: int):
            x = (np.arctan((a + -0.2)) + np.mean(y))
            for i1, (ei1, gi1) in enumerate(zip(y, y)):
                s2 = 0.0
                for i2 in range(3):
                    s2 += (np.sin(gi1) / (1.5 + (x if np.sum(y) > 0.08 else x) ** 2)) * i2
                gi1 = np.cos(((x + gi1) + max(s2, ei1)))
            for ei3 in y:
                s4 = 0.0
                for i4 in range(3):
                    s4 -= ei3 * 0.5
                    s4 *= 0.7
                v5 = y[-1]
            v6 = ((y - y[[3, 0, 0, 1]]) + (y * (y + y)))
            v7 = v6[2]
            v8 = (((v7 * v7) / (1.5 + (a * a) ** 2)) * ((v7 - x) * (x * a)))
            if v7 > -0.6:
                a, x = x, v8
                v8 = np.sin(np.min(np.where(y > 0.1, v6, y)))
            else:
                v8 = (x / (1.5 + np.tanh(deep(v7, 1)) ** 2))
            return (((1.0 if not x > 0.3 and n > 1 else x) * np.mean(v6)) + v6[2])
        """,
        (1.109, np.array([0.481, 0.666, -0.373, -0.050]), -1.058, 1),
    ),
]
