"""Programs that random ones were reduced to, each of which was wrong once, or made the compiler or its code fail."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal

CASES = [
    *case(
        "arrays that change places, each on the tape in turn",
        """
        def f(a, y):
            u = y.copy()
            v = np.zeros_like(u)
            for i in range(3):
                v[1:-1] = u[1:-1] - 0.7 * (u[2:] - 2 * u[1:-1] + u[:-2])
                v[0] = np.sqrt(1.5 + a**2) + np.min(u)
                u, v = v, u
            return np.mean(v[1:]) * a
        """,
        (0.3, normal(4)),
    ),
    *case(
        "a mask of the array that is written",
        """
        def f(z):
            z[z < 0.0] *= -1.2
            return z * z
        """,
        (normal(6),),
    ),
    *case(
        "the same number twice in the adjoint of an array of unknown kind",
        """
        def f(y):
            y = y[::-1][::-1][[3, 0, 0, 1]]
            return y[0], np.sum(y + y)
        """,
        (normal(4),),
    ),
    *case(
        "a list in a complex function, of an array that is written",
        """
        def f(x, y):
            y[-1] -= 0.5
            l = [y]
            return np.abs(np.exp(1j * (np.sum(l[0]) - x)) + 0.3)
        """,
        (0.3, normal(4)),
    ),
    *case(
        "an array of numbers that is broadcast",
        """
        def f(x, a, m):
            if (s := x * a) > 5.0:
                a = s
            return np.array([a, x, s, s]) + m, np.minimum(m, [a, x, a, s])
        """,
        (0.3, 0.8, normal(3, 4)),
    ),
    *case(
        "an array of a comprehension that is broadcast",
        """
        def f(a, y, m):
            return m - np.array([a * k for k in y])
        """,
        (0.3, normal(4), normal(3, 4)),
    ),
    *case(
        "a name for an array that is a number where it is tested",
        """
        def f(x, a, y):
            v = y
            v = np.mean(v)
            y = np.sin(y) * (x if v > 1.5 else a)
            y = np.sum(y)
            if y > 0.1:
                return y * a
            return y
        """,
        (0.3, 0.7, normal(4)),
        (0.3, -0.7, normal(4)),
    ),
    *case(
        "a return from a loop in a branch, of a value made in it",
        """
        def f(x, a, m):
            if x > 0.1:
                for row in m:
                    if a > 0.5:
                        return np.mean(row)
                    x = np.sin(x)
            else:
                x = a
            return a * x
        """,
        (0.3, 0.7, normal(3, 4)),
        (0.3, 0.2, normal(3, 4)),
        (0.0, 0.2, normal(3, 4)),
    ),
    *case(
        "a view of an array whose tangent is that of a parameter",
        """
        def f(m, y):
            v = m * 1.0
            w = v[::-1]
            w[1] += w[0] * y
            return v * w
        """,
        (normal(3, 4), normal(4)),
    ),
    *case(
        "sums of lists in a conditional expression",
        """
        def f(a, z, n: int):
            xs = [a, a * a]
            g = (lambda p: p * a) if n != 2 else (lambda p: np.cos(p))
            for k in range(3):
                a = a * (sum([e * e for e in z]) if k > n else (max(a * v for v in z) if k == n else 1.5)) + len(xs)
                a = np.sin(a) + (xs.pop() if k < 1 else 0.5)
            return g(sum(0.5 * e for e in z)) * a
        """,
        (0.3, normal(3), 1),
        (0.3, normal(3), 2),
        wrt=("a", "z"),
    ),
    *case(
        "sums of lists in a with block",
        """
        def f(a, z):
            with np.errstate(divide="ignore"):
                s = sum(a * e for e in z) * a
                s += sum(k * a for k in range(3))
            return s * a
        """,
        (0.3, normal(3)),
    ),
    *case(
        "a mask that has a name, of an array of unknown kind",
        """
        def deep(u, k):
            return u if k <= 0 else deep(np.sin(u), k - 1)

        def f(z):
            z = deep(z, 1)
            k = z < -0.2
            z[k] = z[k] * z[k]
            return z
        """,
        (normal(6),),
    ),
    *case(
        "two elements of an array of unknown kind change places, which may be one",
        """
        def f(y, z, n: int):
            v = np.sin(z)
            v[n % 3], v[0] = v[0], v[n % 3]
            return np.array([np.linalg.norm(v + 2.0) * k for k in y])
        """,
        (normal(2), normal(3), 1),
        (normal(2), normal(3), 3),
        wrt=("y", "z"),
    ),
    *case(
        "a part of an array that is scaled by the array itself",
        """
        def f(y, z):
            y[::-1] *= y
            z[::-1] /= z
            return y * z
        """,
        (normal(3), normal(3)),
    ),
    *case(
        "an operand chosen by a condition after another was computed, both smaller than the result",
        """
        def f(x: float, a, y, n: int):
            return y + -a * (a if x > 0.0 else n)
        """,
        (0.3, 1.4, normal(4), 3),
        (-0.3, 1.4, normal(4), 3),
        wrt=("a", "y"),
    ),
    *case(
        "a part of an array that is written by index, and then updated as a whole",
        """
        def f(x: float, m):
            v = m[:, 2]
            v[0] = x
            v /= 1.5 + x ** 2
            for row in m:
                row[1] = x
                row *= x
            return m
        """,
        (0.7, normal(3, 3)),
    ),
    *case(
        "another name of an array, by which it is written and then updated",
        """
        def f(x: float, m):
            a = m * 1.0
            b = a
            b /= 1.5
            b[0] = x
            b *= x
            c = b.T
            c[1] = x
            c -= b
            return a
        """,
        (0.7, normal(3, 3)),
    ),
    *case(
        "parts of parts of an array, written and updated in turn",
        """
        def f(x: float, m):
            a = m[0]
            a[1:] *= 2.0
            a += x
            b = a[1:]
            b[0] = x
            b -= a[:-1]
            return m * m
        """,
        (0.7, normal(3, 3)),
    ),
    *case(
        "a row that is written under its second name, and updated under both",
        """
        def f(x: float, m):
            r = m[0]
            s = r
            s[1] = x
            r *= x
            s **= 2
            return m
        """,
        (0.7, normal(3, 3)),
    ),
    *case(
        "an array that is updated under its first name, and read under its second",
        """
        def f(a: float, m, n: int):
            u = m + 0.0
            v = u
            v[n % 3] *= a
            u -= v * a
            return v
        """,
        (0.7, normal(3, 3), 4),
    ),
    *case(
        "zeros in the shape of a mask",
        """
        def f(x: float, y, m):
            m /= 0.5 * x
            k = m > -0.7
            m[k] = m[k] * m[k]
            y += m[0]
            return y
        """,
        (0.7, normal(3), normal(3, 3)),
    ),
    *case(
        "writes by functions in a handler",
        """
        def f(x, y):
            y = y * 1.0
            try:
                s = x[7]
            except IndexError:
                s = x[1]
                y.fill(0.5)
                np.copyto(y[1:], x[1:])
                np.add(y, x[0], out=y)
            return s + y * x[0]
        """,
        (normal(3), normal(3)),
        (normal(9), normal(9)),
    ),
    *case(
        "constants that are written into an array of integers",
        """
        def f(a, n: int):
            y = np.array([n for k in range(4)])
            y[1] = 7
            return a * y
        """,
        (0.7, 3),
        wrt=("a",),
    ),
    *case(
        "a callee that writes by targets in a row and by functions only",
        """
        def swapped(p, q, s):
            q[2], p[0] = p[0] * s, s
            p[1] = q[1] = s * q[2]

        def filled(p, s):
            p[:2].fill(s)
            np.multiply(p, s, out=p)

        def f(x: float, m, u):
            swapped(m[1], m[2], x * 2.0)
            swapped(u, m[0], 0.6)
            for k in range(2):
                filled(m[0], x)
            return m @ u
        """,
        (0.7, normal(3, 3), normal(3)),
    ),
]
