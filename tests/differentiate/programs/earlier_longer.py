"""Random programs of an earlier generator, the longest, that were once wrong, or made the compiler fail: loops over a name that they bind
again, jumps in nested loops, what a tape holds, names."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case

CASES = [
    *case(
        "seed 51",
        """
        def small(u, v):
            w = u * v
            return w + np.sin(u)


        def deep(u, k):
            if k <= 0:
                return u
            return deep(np.sin(u) + 0.1 * u, k - 1) * 0.9


        def f(x, y, a, n: int):
            for i1 in range(0):
                for i2, (ei2, gi2) in enumerate(zip(y, y[::-1])):
                    s3 = 0.0
                    for i3 in range(n):
                        s3 += (ei2 - (gi2 / (1.5 + ei2 ** 2))) * 0.5
                        s3 *= 0.7
                    v4 = np.sin(ei2)
                i5 = 0
                while i5 < 3 and a < 5.0:
                    i5 += 1
                    s6 = 0
                    for i6 in range(n):
                        s6 -= deep((x - a), 2) * i6
                s7 = 1.0
                for i7 in range(n):
                    s7 -= (x / (1.5 + (a + x) ** 2)) * 0.5
                    s7 *= 0.7
                if i1 % 2 == 0:
                    continue
                a = y[1]
            if np.sum(y) > 0.16:
                for ei8 in y:
                    for i9 in range(0):
                        y = ((deep(y, 2) * y) - y[[3, 0, 0, 1]])
                        a, x = x, max((ei8 * ei8), y[0])
                    for ei10 in y:
                        ei10 = np.sum(np.where(y > 0.1, (ei8 * y), y))
                    for ei11 in y:
                        ei11 = (y[1] / (1.5 + small(np.max(y), ei11) ** 2))
                        x = np.sum(y[::-1])
                        y = y
                        if x > 0.46:
                            break
                        x = np.min(y)
                if x < -0.39:
                    v12 = (a + deep(min(x, a), 2))
                    i13 = 0
                    while i13 < 3 and x < 5.0:
                        i13 += 1
                        v14 = np.cos(0.5 * y)
            else:
                a = (y[1] + min(y[1], (x * a)))
            y = y[[3, 0, 0, 1]]
            return a
        """,
        (-0.575, np.array([-0.622, 0.080, 1.252, -0.324]), -1.102, 1),
    ),
    *case(
        "seed 69",
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
            v1 = y[[3, 0, 0, 1]]
            if np.sum(v1) > 0.12:
                y = v1
                for i2 in range(2):
                    v3 = np.tanh(0.5 * v1)
                    if x < 0.79:
                        break
                    a = np.sin(np.tanh(x))
            else:
                v4 = v1[::-1]
            if n % 2 == 1:
                for ei5 in v1:
                    if a > 0.33:
                        y = ((v1 * (v1 - y)) - (np.concatenate([v1[:2], v1[1:3]]) + y))
                    else:
                        y = np.sin(0.5 * y)
            else:
                for i6, (ei6, gi6) in enumerate(zip(v1, y[::-1])):
                    i7 = 0
                    while i7 < 3 and ei6 < 5.0:
                        i7 += 1
                        x = (np.sum(np.sin(0.5 * v1)) + np.sin(np.cos(gi6)))
                    if n % 2 == 0:
                        a = np.min((v1 * y))
                        a = (large(np.mean(y), np.min(v1)) - ((a - x) + v1[0]))
                        if x < 0.15:
                            break
                        x = min((1.25 - x), (gi6 - gi6))
                    v8 = (a * (deep(a, 1) - (a * gi6)))
            a = (np.cos(deep(x, 1)) / (1.5 + max((x * x), (-0.46 + x)) ** 2))
            if x > 0.37:
                v9 = ((deep(a, 2) * (-0.12 - x)) - (np.sum(v1) - x))
            if a < -0.61:
                a, x = x, -1.06
            else:
                for i10 in range(2):
                    for ei11 in v1:
                        v12 = np.where(y > 0.1, v1[[3, 0, 0, 1]], deep(v1, 1))
                        v13 = deep(v12, 1)
                        if x > -0.08:
                            continue
                        ei11 = (np.cos(a) - np.arctan(a))
            return ((np.arctan(0.21) + large(-0.28, a)) * -0.96)
        """,
        (0.714, np.array([0.339, 2.662, -0.995, -1.595]), 1.042, 2),
    ),
    *case(
        "seed 134",
        """
        def small(u, v):
            w = u * v
            return w + np.sin(u)


        def large(u, v):
            if np.sum(u) > 0.5:
                return u * v
            for k in range(2):
                u = u * 0.5 + np.cos(v)
            return u


        def f(x, y, a, n: int):
            i1 = 0
            while i1 < 3 and x < 5.0:
                i1 += 1
                for i2 in range(0):
                    s3 = 0.0
                    for i3 in range(3):
                        s3 += x * 0.5
                if a > 0.84:
                    if a > 0.46:
                        v4 = x
                        y = y
                    if np.sum(y) > 0.67:
                        y = y
                        if x < 0.55:
                            return x
                        x = np.max((y - y))
                    else:
                        v5 = (a - np.max((y * y)))
                    if x > -0.32:
                        continue
                    a = large((x + 0.72), a)
                v6 = np.sum(np.cos(0.5 * y))
            if a < 0.23:
                x, a = a, (x / (1.5 + small(a, a) ** 2))
                i7 = 0
                while i7 < 3 and x < 5.0:
                    i7 += 1
                    a = a
                    for ei8 in y:
                        y = (y * (np.min(y) * (y - y)))
                        x = y[0]
                    s9 = 0.0
                    for i9 in range(n):
                        s9 -= (min(0.2, x) + x) * 0.5
                        s9 *= 0.7
            else:
                i10 = 0
                while i10 < 3 and x < 5.0:
                    i10 += 1
                    if x < -0.63:
                        y = (y[[3, 0, 0, 1]] * ((y * y) - y))
                        a = a
                        if x > 0.21:
                            continue
                        x = y[1]
                    else:
                        y = (y - small(y, y))
                    if x > 0.67:
                        continue
                    x = (np.sin(a) + min(a, x))
                v11 = a
            for i12 in range(n):
                v13 = (y[-1] + np.min((y + y)))
                y = ((np.sum(y) - large(y, y)) - np.exp(0.5 * y))
            s14 = 0
            for i14 in range(n):
                s14 += a * 0.5
            s14 = np.cos(((x * x) * np.max(y)))
            v15 = (large(s14, large(-0.22, x)) * ((x * x) - (x + a)))
            v16 = np.sin(s14)
            return y[1]
        """,
        (1.058, np.array([-0.041, 0.416, -0.439, -0.553]), -0.987, 1),
    ),
    *case(
        "seed 1034",
        """
        def deep(u, k):
            if k <= 0:
                return u
            return deep(np.sin(u) + 0.1 * u, k - 1) * 0.9


        def f(x, y, a, n: int):
            y = np.cos(0.5 * y)
            v1 = a
            v2 = deep(np.concatenate([y[:2], y[1:3]]), n)
            i3 = 0
            while i3 < 3 and a < 5.0:
                i3 += 1
                y = ((np.mean(y) / (1.5 + (v1 * x) ** 2)) - ((a - y) + (y + v2)))
                i4 = 0
                while i4 < 3 and x < 5.0:
                    i4 += 1
                    a = (a - (deep(1.41, 2) + np.max(y)))
                    v1 = np.arctan(v1)
                    for i5 in range(0):
                        v6 = (np.cos(min(x, a)) + a)
                        v7 = v1
                    if i3 % 2 == 1:
                        break
                    v1 = (np.mean(v2) - 1.47)
                s8 = 1.0
                for i8 in range(3):
                    s8 -= deep((x * a), 2) * i8
                    s8 *= 0.7
                if np.sum(y) > 0.42:
                    break
                a = v1
            for i9 in range(n):
                for i10 in range(n):
                    v11 = (((x * v1) - (v1 + x)) + v2)
                    if not x > 0.3 or i10 > 1:
                        continue
                    v1 = np.tanh((a - x))
                for i12 in range(2):
                    v1, a = a, deep(x, 2)
                    i13 = 0
                    while i13 < 3 and a < 5.0:
                        i13 += 1
                        v2 = (((x + 1.4) - v2) - (np.min(v2) - (v1 * y)))
                        v14 = y
                        v15 = v14[2]
                    y = (deep((v1 - a), 1) - ((v2 + v2) - deep(y, n)))
            return y
        """,
        (-1.667, np.array([0.380, 1.879, -0.486, 1.070]), 0.144, 0),
    ),
    *case(
        "seed 50000",
        """
        def small(u, v):
            w = u * v
            return w + np.sin(u)


        def large(u, v):
            if np.sum(u) > 0.5:
                return u * v
            for k in range(2):
                u = u * 0.5 + np.cos(v)
            return u


        def f(x, y, a, n: int):
            a = min(np.min(np.sin(0.5 * y)), min(np.cos(-0.93), np.sin(x)))
            s1 = 0.0
            for i1 in range(n):
                s1 -= np.arctan((a - -0.11)) * i1
                s1 *= 0.7
            if n % 2 == 0:
                y = y
                for i2 in range(0):
                    v3 = min(y[0], 0.19)
                    for ei4 in y:
                        v3 = s1
                        v5 = np.tanh((x * np.sin(-0.83)))
                        if a > -0.51:
                            break
                        x = v5
            else:
                v6 = (large((a - 1.33), s1) + (np.tanh(0.5 * y) - y))
            for i7, (ei7, gi7) in enumerate(zip(y, y[::-1])):
                ei7 = np.sum(np.exp(0.5 * y))
                for i8 in range(0):
                    if i8 % 2 == 1:
                        y = (np.cos(0.5 * y) * (s1 - y))
                        if np.sum(y) > 0.14:
                            return s1
                        s1 = np.arctan(np.cos(gi7))
                    for i9 in range(3):
                        v10 = y
                    for i11 in range(3):
                        v12 = ((s1 - np.arctan(s1)) - ((-0.09 - a) - np.where(y > 0.1, y, y)))
                        gi7 = np.mean(((s1 - x) * (x - v12)))
                        v13 = y[2]
                if a < -0.59:
                    return gi7
                s1 = ((a - 1.02) - y[0])
            s1 = s1
            for ei14 in y:
                if n % 2 == 1:
                    for i15 in range(n):
                        ei14, x = x, (a / (1.5 + (s1 if s1 > -0.18 else -0.26) ** 2))
                        v16 = (np.exp(0.5 * y) + (small(s1, a) * (x * y)))
                        a = np.tanh(y[0])
                for i17, (ei17, gi17) in enumerate(zip(y, y[::-1])):
                    s1 = (gi17 - (a * np.max(y)))
                    if not ei14 > 0.3 or i17 > 1:
                        v18 = (ei14 + gi17)
                        v18 = ei14
            return np.sin(((x if a < -0.8 else s1) * max(a, 0.68)))
        """,
        (-0.535, np.array([-0.424, 1.036, -0.660, -0.365]), 0.305, 3),
    ),
]
