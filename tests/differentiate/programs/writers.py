"""Functions that write into their arguments: called, or differentiated in what they write."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "callees that write, large and small",
        """
        def axpy(y, a, x):
            y += a * x

        def smooth(u, n):
            for i in range(1, n):
                u[i] = 0.5 * (u[i] + u[i - 1])

        def f(u, v):
            w = u * v
            axpy(w, 2.0, v)
            smooth(w, len(w))
            return w * w
        """,
        (normal(4), normal(4)),
    ),
    *case(
        "a callee that writes and returns a value",
        """
        def normalize(y):
            y /= np.sqrt(np.sum(y * y))
            return np.sum(y)

        def f(x):
            z = x * x
            s = normalize(z)
            return s * z[0]
        """,
        (positive(4),),
    ),
    *case(
        "a callee that writes into a row",
        """
        def smooth(u, n):
            for i in range(1, n):
                u[i] = 0.5 * (u[i] + u[i - 1])

        def f(a):
            b = np.sin(a)
            smooth(b[1], 3)
            smooth(b[0], n=4)
            return b
        """,
        (normal(3, 4),),
    ),
    *case(
        "a callee's callee writes",
        """
        def put(u, i, e):
            u[i] = e

        def fill(u, x):
            for i in range(len(x)):
                put(u, i, x[i] * x[i])

        def f(x):
            u = np.zeros(4)
            fill(u, x)
            return u * u
        """,
        (normal(3),),
    ),
    *case(
        "a parameter of the entry is written by a callee",
        """
        def double(u):
            u[:] = 2.0 * u

        def f(x, y):
            double(x)
            return np.sum(x * y)
        """,
        (normal(3), normal(3)),
    ),
    *case(
        "a callee that works on a copy under the same name",
        """
        def lu(m):
            n = len(m)
            m = m.copy()
            for k in range(n):
                for i in range(k + 1, n):
                    m[i, k] /= m[k, k] + 5.0
                    m[i, k + 1:] -= m[i, k] * m[k, k + 1:]
            return m

        def f(a):
            b = lu(a)
            return b * a
        """,
        (normal(3, 3),),
    ),
]
