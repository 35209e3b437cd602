"""Arrays that are changed in place: by index, slice and mask, through views, by functions; solvers and stencils."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "a product of neighbours",
        """
        def f(x):
            y = x.copy()
            y[1:] = y[1:] * y[:-1]
            return y
        """,
        (normal(5),),
        (normal(4, 3),),
    ),
    *case(
        "two elements swapped",
        """
        def f(x):
            y = x.copy()
            y[0], y[1] = y[1], y[0]
            return y * np.arange(1.0, 5.0)
        """,
        (normal(4),),
    ),
    *case(
        "written in the other direction",
        """
        def f(x):
            y = x * x
            y[:, ::-1] = y * y
            return y
        """,
        (normal(3, 4),),
    ),
    *case(
        "a parameter changed as a whole",
        """
        def f(x):
            x *= 2
            x += np.sin(x)
            return x
        """,
        (normal(4),),
        (0.7,),
    ),
    *case(
        "an element of a parameter",
        """
        def f(x):
            x[0] = x[1] * x[2]
            x[1] = 0.0
            return x
        """,
        (normal(4),),
        (normal(3, 2),),
    ),
    *case(
        "a row changed through its own name",
        """
        def f(x):
            y = np.sin(x)
            row = y[1]
            row *= 2.0
            row[0] = row[1] * row[2]
            return y
        """,
        (normal(3, 4),),
    ),
    *case(
        "the transpose",
        """
        def f(x):
            y = np.exp(x)
            t = y.T
            t[0] = t[1] * 2.0
            return y * t[2, 0]
        """,
        (normal(3, 4),),
    ),
    *case(
        "a flat view",
        """
        def f(x):
            y = np.zeros((2, 3))
            z = y.reshape(-1)
            z[0] = x[0]
            z[4] = x[1] * x[0]
            return y + z[4]
        """,
        (normal(2),),
    ),
    *case(
        "one array under two names",
        """
        def f(x):
            y = np.sin(x)
            z = y
            y[0] = z[1] * z[0]
            z[1] = y[0] * 3.0
            return z * y
        """,
        (normal(3),),
    ),
    *case(
        "added at places that repeat",
        """
        def f(x, w):
            y = np.zeros(4)
            np.add.at(y, [0, 2, 0], x * w)
            np.subtract.at(y, [1, 2, 2], w * w)
            return y * y
        """,
        (normal(3), normal(3)),
    ),
    *case(
        "set at places that repeat",
        """
        def f(x):
            y = np.zeros(4)
            i = np.array([0, 2, 0])
            y[i] = x * x
            y[i] *= 2.0
            y[i] += x
            return y * y
        """,
        (normal(3),),
    ),
    *case(
        "results written into arrays by `out`",
        """
        def f(x, w):
            y = np.empty_like(x)
            np.exp(x, out=y)
            z = np.multiply(y, w, out=y)
            return np.sum(y) * z
        """,
        (normal(3), normal(3)),
    ),
    *case(
        "masks",
        """
        def f(x):
            y = x * x
            y[x > 0] = np.sin(x[x > 0])
            y[x < -0.5] *= 3.0
            y[np.isnan(y)] = 0.0
            return y
        """,
        (normal(6),),
        (normal(3, 4),),
    ),
    *case(
        "all operators",
        """
        def f(x, w):
            y = np.cos(x)
            y[1:] += w[0] * y[:-1]
            y[:2] -= w[1]
            y[::2] *= w[2]
            y[0] /= w[3] * y[3]
            y[1] **= 2
            return y
        """,
        (positive(4), positive(4)),
    ),
    *case(
        "fill, copyto, fill_diagonal",
        """
        def f(x, a):
            y = np.zeros(3)
            y.fill(a)
            z = np.empty_like(x)
            np.copyto(z, x * y)
            np.fill_diagonal(z, a * a)
            return z
        """,
        (normal(3, 3), 0.7),
    ),
    *case(
        "a smaller value is spread",
        """
        def f(x, row, a):
            y = np.zeros((3, 4))
            y[1:] = row
            y[0] = a
            y[:, 1] += x
            y[2, 3] = a * x[0]
            return y * y
        """,
        (normal(3), normal(4), 0.3),
        (normal(3), normal(1, 4), 0.3),
    ),
    *case(
        "every row of an array",
        """
        def f(x):
            y = np.sin(x)
            for row in y:
                row *= np.sum(row)
            return y
        """,
        (normal(3, 4),),
    ),
    *case(
        "an accumulator in a loop over elements",
        """
        def f(x):
            s = np.zeros(3)
            for i in range(len(x)):
                s[i % 3] += x[i] * x[i]
            return s
        """,
        (normal(7),),
    ),
    *case(
        "a write on one path",
        """
        def f(x, a):
            y = x.copy()
            if a > 0.0:
                y[0] = a * y[1]
            else:
                y[1] = a
            return y * y
        """,
        (normal(3), 0.5),
        (normal(3), -0.5),
    ),
    *case(
        "a passive array that changes",
        """
        def f(x, n):
            k = np.zeros(3)
            s = 0.0
            for i in range(n):
                k[i % 3] = k[i % 3] + i
                s = s + np.sum(x * k) * np.sum(x * x)
            return s
        """,
        (normal(3), 5),
        (normal(3), 0),
        wrt=("x",),
    ),
    *case(
        "what was read before it is overwritten",
        """
        def f(x):
            y = np.sin(x)
            a = y[0] * y[0]
            z = y * y
            y[0] = a
            w = y * z
            y[:] = 0.0
            return w + y
        """,
        (normal(3),),
        (normal(3, 2),),
    ),
    # --- solvers and stencils --------------------------------------------------------------------
    *case(
        "heat equation",
        """
        def f(u0, alpha, steps):
            u = u0.copy()
            for t in range(steps):
                u[1:-1] = u[1:-1] + alpha * (u[2:] - 2.0 * u[1:-1] + u[:-2])
            return u
        """,
        (normal(8), 0.2, 5),
        (normal(8), 0.2, 0),
        wrt=("u0", "alpha"),
    ),
    *case(
        "a stencil whose slices have names",
        """
        def f(x, k, steps):
            u = x.copy()
            for i in range(steps):
                left, mid, right = u[:-2], u[1:-1], u[2:]
                u[1:-1] = mid + k * (left * left - 2.0 * mid * mid + right)
            return np.sum(u * u)
        """,
        (normal(6), 0.1, 3),
        (normal(7), 0.2, 7),
        wrt=("x", "k"),
    ),
    *case(
        "views with names, read before and after writes, in two loops",
        """
        def f(x, k, steps):
            u = x.copy()
            total = 0.0
            for i in range(steps):
                row = u[:, 1]
                top = u[:1]
                u[1:, 0] = np.sin(row[1:]) * k
                total = total + np.sum(row * row) * np.sum(top)
                for j in range(2):
                    inner = u[1:]
                    u[:-1] = u[:-1] + k * inner * inner
                    total = total + np.sum(np.cos(inner))
                    u[1:, 2] = inner[:, 1] * k
            return total + np.sum(u * u)
        """,
        (normal(3, 4), 0.3, 3),
        (normal(4, 3), 0.2, 5),
        wrt=("x", "k"),
    ),
    *case(
        "Burgers' equation with two arrays in turn",
        """
        def f(u0, nu, steps):
            u = u0.copy()
            v = np.zeros_like(u)
            for t in range(steps):
                v[1:-1] = u[1:-1] - 0.1 * u[1:-1] * (u[2:] - u[:-2]) + nu * (u[2:] - 2.0 * u[1:-1] + u[:-2])
                v[0] = 0.0
                v[-1] = 0.0
                u, v = v, u
            return u
        """,
        (normal(9), 0.05, 4),
        (normal(9), 0.05, 1),
        wrt=("u0", "nu"),
    ),
    *case(
        "five-point stencil, twice a step",
        """
        def f(a, b, steps):
            a = a.copy()
            b = b.copy()
            for t in range(steps):
                b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
                a[1:-1, 1:-1] = b[1:-1, 1:-1] * np.sin(b[1:-1, :-2])
            return a
        """,
        (normal(5, 6), normal(5, 6), 3),
        wrt=("a", "b"),
    ),
    *case(
        "LU decomposition",
        """
        def f(a):
            n = len(a)
            u = a.copy()
            for k in range(n):
                for i in range(k + 1, n):
                    u[i, k] /= u[k, k]
                    u[i, k + 1:] -= u[i, k] * u[k, k + 1:]
            return u
        """,
        (np.array([[4.0, 1.0, 0.5], [1.0, 5.0, -1.0], [0.3, 0.7, 3.0]]),),
    ),
    *case(
        "Cholesky decomposition by elements",
        """
        def f(b):
            a = b @ b.T + 2.0 * np.eye(len(b))
            n = len(b)
            c = np.zeros((n, n))
            for i in range(n):
                for j in range(i + 1):
                    s = a[i, j]
                    for k in range(j):
                        s -= c[i, k] * c[j, k]
                    if i == j:
                        c[i, i] = np.sqrt(s)
                    else:
                        c[i, j] = s / c[j, j]
            return c
        """,
        (normal(4, 4),),
    ),
    *case(
        "triangular solve",
        """
        def f(l, b):
            n = len(b)
            x = np.zeros(n)
            for i in range(n):
                x[i] = (b[i] - l[i, :i] @ x[:i]) / l[i, i]
            return x
        """,
        (np.array([[2.0, 0.0, 0.0], [0.5, 3.0, 0.0], [1.0, -0.4, 1.5]]), normal(3)),
    ),
    *case(
        "Thomas algorithm",
        """
        def f(a, b, c, d):
            n = len(d)
            cp = np.zeros(n)
            dp = np.zeros(n)
            cp[0] = c[0] / b[0]
            dp[0] = d[0] / b[0]
            for i in range(1, n):
                m = b[i] - a[i] * cp[i - 1]
                cp[i] = c[i] / m
                dp[i] = (d[i] - a[i] * dp[i - 1]) / m
            x = np.zeros(n)
            x[n - 1] = dp[n - 1]
            for i in range(n - 2, -1, -1):
                x[i] = dp[i] - cp[i] * x[i + 1]
            return x
        """,
        (normal(5), np.full(5, 4.0), normal(5), normal(5)),
    ),
    *case(
        "Gram-Schmidt, modified",
        """
        def f(a):
            q = a.copy()
            n = a.shape[1]
            for j in range(n):
                for i in range(j):
                    q[:, j] -= (q[:, i] @ q[:, j]) * q[:, i]
                q[:, j] /= np.sqrt(q[:, j] @ q[:, j])
            return q
        """,
        (normal(4, 3),),
    ),
    *case(
        "a recurrence along an axis",
        """
        def f(x, g):
            y = np.zeros_like(x)
            y[:, 0] = x[:, 0]
            for t in range(1, x.shape[1]):
                y[:, t] = g * np.tanh(y[:, t - 1]) + x[:, t]
            return y
        """,
        (normal(3, 5), 0.8),
        (normal(3, 1), 0.8),
    ),
    *case(
        "Gauss-Seidel",
        """
        def f(a, b, n):
            x = np.zeros_like(b)
            for sweep in range(n):
                for i in range(len(b)):
                    x[i] = (b[i] - a[i] @ x + a[i, i] * x[i]) / a[i, i]
            return x
        """,
        (np.array([[4.0, 1.0, 0.5], [1.0, 5.0, -1.0], [0.3, 0.7, 3.0]]), normal(3), 3),
        wrt=("a", "b"),
    ),
    *case(
        "a filter along a line, with state",
        """
        def f(x, c):
            y = np.empty_like(x)
            z = np.zeros(2)
            for i in range(len(x)):
                y[i] = c[0] * x[i] + z[0]
                z[0] = c[1] * x[i] - c[3] * y[i] + z[1]
                z[1] = c[2] * x[i] - c[4] * y[i]
            return y
        """,
        (normal(6), normal(5)),
    ),
    *case(
        "edit distance, softened",
        """
        def f(cost):
            n = len(cost)
            d = np.zeros((n + 1, n + 1))
            d[0, 1:] = 10.0
            d[1:, 0] = 10.0
            for i in range(1, n + 1):
                for j in range(1, n + 1):
                    a = np.exp(-d[i - 1, j])
                    b = np.exp(-d[i, j - 1])
                    c = np.exp(-d[i - 1, j - 1])
                    d[i, j] = cost[i - 1, j - 1] - np.log(a + b + c)
            return d[n, n]
        """,
        (positive(3, 3),),
    ),
    *case(
        "a bond priced backwards on a lattice",
        """
        def f(r0, vol, n):
            value = np.ones(n + 1)
            for k in range(n, 0, -1):
                rates = r0 * np.exp(vol * np.arange(k))
                value[:k] = 0.5 * (value[:k] + value[1:k + 1]) / (1.0 + rates)
            return value[0]
        """,
        (0.05, 0.1, 4),
        wrt=("r0", "vol"),
    ),
]
