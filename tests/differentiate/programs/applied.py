"""Programs from other fields, as a NumPy user writes them: elimination with row swaps, counts in dicts."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "elimination with pivots: rows under names of their own",
        """
        def f(A, b):
            a = np.array(A, dtype=float)
            x = np.array(b, dtype=float)
            n = len(x)
            for i in range(n):
                pivot = i + np.argmax(np.abs(a[i:, i]))
                if pivot != i:
                    a[[i, pivot]] = a[[pivot, i]]
                    x[i], x[pivot] = x[pivot], x[i]
                pivot_row = a[i]
                for k in range(i + 1, n):
                    row = a[k]
                    m = row[i] / pivot_row[i]
                    row -= m * pivot_row
                    x[k] -= m * x[i]
            for i in range(n - 1, -1, -1):
                x[i] -= a[i, i + 1:] @ x[i + 1:]
                x[i] /= a[i, i]
            return x
        """,
        (normal(4, 4), normal(4)),
    ),
    *case(
        "LU in place, with the row of the pivot under a name",
        """
        def f(A):
            U = A.copy()
            L = np.eye(len(A))
            for k in range(len(A)):
                pivot = U[k]
                for i in range(k + 1, len(A)):
                    L[i, k] = U[i, k] / pivot[k]
                    U[i] -= L[i, k] * pivot
            return np.tril(L, -1) + U
        """,
        (positive(3, 3),),
    ),
    *case(
        "sums by key in a dict, with get",
        """
        def f(xs, ws):
            total = {}
            for k, (x, w) in enumerate(zip(xs, ws)):
                key = "even" if k % 2 == 0 else "odd"
                total[key] = total.get(key, 0) + w * x
            return total["even"] * total["odd"]
        """,
        (normal(4), normal(4)),
    ),
    *case(
        "the default of get carries a derivative",
        """
        def f(x, w):
            d = {}
            for k in ("a", "b", "a"):
                d[k] = d.get(k, x) * w
            return d["a"] + d["b"] + d.get("c", w)
        """,
        (1.3, 0.7),
    ),
    *case(
        "a list that a loop binds anew, longer than the one before it",
        """
        def f(x, n):
            y = x
            b = []
            for i in range(n):
                b = [x * y] * (i + 1)
                y = b[0] * x
            return b[-1] * sum(b)
        """,
        (0.7, 3),
        wrt=("x",),
    ),
    *case(
        "a list that only a loop binds, in each iteration",
        """
        def f(x, n):
            for i in range(n):
                b = [x * i]
            return b[-1] * x
        """,
        (0.7, 3),
        wrt=("x",),
    ),
    *case(
        "positions and velocities as two lists, bound in one statement",
        """
        def f(x, v, k, n):
            xs, vs = [x], [v]
            for i in range(n):
                xs.append(xs[-1] + 0.1 * vs[-1])
                vs.append(vs[i] - 0.1 * k * xs[i + 1])
            return np.array(xs) @ np.array(vs)
        """,
        (1.0, 0.5, 2.0, 4),
        wrt=("x", "v", "k"),
    ),
    *case(
        "the last of a list, or a number where it is empty",
        """
        def f(x, n):
            h = []
            for i in range(n):
                before = h[-1] if h else 0
                h.append(before * x + i)
            return h[-1]
        """,
        (0.7, 4),
        wrt=("x",),
    ),
    *case(
        "the diagonal, by its index",
        """
        def f(K, s):
            K = K @ K.T
            K[np.diag_indices_from(K)] += s
            return np.log(np.linalg.det(K)) + np.sum(K[np.tril_indices_from(K)])
        """,
        (normal(3, 3), 0.5),
    ),
    *case(
        "a list that each iteration makes anew, longer each time, in a loop that runs at least once",
        """
        def f(x, n):
            i = 0
            y = 0
            while True:
                b = [x * (i + 1 + k) for k in range(i + 1)]
                y = y + b[0] * x
                i += 1
                if i > n:
                    break
            return sum(b) * y
        """,
        (0.7, 3),
        wrt=("x",),
    ),
    *case(
        "rows brought to length one by a function that writes into its argument",
        """
        def to_unit_length(M):
            for i in range(M.shape[0]):
                M[i] /= np.linalg.norm(M[i])

        def f(X, Y):
            A = X.copy()
            B = Y.copy()
            to_unit_length(A)
            to_unit_length(B)
            return 1 - np.mean(np.sum(A * B, axis=1))
        """,
        (normal(3, 4), normal(3, 4)),
    ),
]
