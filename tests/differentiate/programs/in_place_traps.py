"""Writes into arrays that are easy to get wrong: each found by trying to break the compiler."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal

CASES = [
    *case(
        "list copies",
        """
        def f(x):
            u = x*1.0
            hs = []
            for i in range(3):
                u[0] = u[1]*u[0]
                hs.append(u.copy())
            return np.stack(hs)
        """,
        (normal(3),),
    ),
    *case(
        "param T",
        """
        def f(x):
            x.T[0] = 2.0*x.T[1]
            return x*x
        """,
        (normal(3, 2),),
    ),
    *case(
        "read old view",
        """
        def f(x):
            u = np.sin(x)
            a = u[:2]
            b = a*a
            u[0] = 5.0*x[1]
            return b + a*u[:2]
        """,
        (normal(3),),
    ),
    *case(
        "exp result overwritten",
        """
        def f(x):
            y = np.exp(x)
            z = y*x
            y[0] = 0.0
            y[1] = z[0]*y[1]
            return z+y
        """,
        (normal(3),),
    ),
    *case(
        "tanh inplace result",
        """
        def f(x):
            y = np.tanh(x)
            y[0] *= 3.0
            w = np.sqrt(y*y+1.0)
            w[1] = y[0]
            return w*y
        """,
        (normal(3),),
    ),
    *case(
        "nested loops state",
        """
        def f(x):
            a = np.zeros((3,3))
            for i in range(3):
                for j in range(3):
                    a[i,j] = x[i]*x[j] + (a[i-1,j] if i > 0 else 0.0)
            return a
        """,
        (normal(3),),
    ),
    *case(
        "while",
        """
        def f(x):
            y = x.copy()
            k = 0
            while k < 3:
                y[k % len(y)] = np.sin(y[k-1])*y[k % len(y)]
                k += 1
            return y
        """,
        (normal(3),),
    ),
    *case(
        "break",
        """
        def f(x):
            y = x.copy()
            for i in range(10):
                y[1:] = y[:-1]*0.5+y[1:]
                if np.sum(y) > 1.0:
                    break
                y[0] = y[0]+0.3
            return y
        """,
        (normal(4),),
    ),
    *case(
        "cumulative",
        """
        def f(x):
            out = np.empty(len(x))
            acc = 0.0
            for i, v in enumerate(x):
                acc += v*v
                out[i] = acc
            return out
        """,
        (normal(4),),
    ),
    *case(
        "2d rows views",
        """
        def f(a):
            m = a.copy()
            for i in range(m.shape[0]):
                r = m[i]
                r -= np.mean(r)
                r /= np.sqrt(np.sum(r*r))
            return m
        """,
        (normal(3, 4),),
    ),
    *case(
        "swap rows",
        """
        def f(a):
            m = a.copy()
            m[[0,1]] = m[[1,0]]
            m[0] *= 2
            return m*m
        """,
        (normal(3, 4),),
    ),
    *case(
        "index array",
        """
        def f(x):
            y = np.zeros(5)
            idx = np.array([0,3,1])
            y[idx] = x*x
            y[idx] += x
            return y
        """,
        (normal(3),),
    ),
    *case(
        "augment scalar elem name",
        """
        def f(x):
            s = x[0]
            s += x[1]
            s *= s
            return s*x[2]
        """,
        (normal(3),),
    ),
    *case(
        "slices param",
        """
        def f(x):
            i = 1
            y = x*2
            y[i:] = y[:-i]**2
            i = 2
            y[i:] *= y[:-i]
            return y
        """,
        (normal(4),),
    ),
    *case(
        "bool mask elems",
        """
        def f(x):
            y = x*x
            m = x > 0
            y[m] = y[m]*x[m]
            y[~m] = 0.5
            return y
        """,
        (normal(5),),
    ),
    *case(
        "where write",
        """
        def f(x):
            y = np.where(x > 0, x, 0.1*x)
            y[0] = y.sum()
            return y
        """,
        (normal(4),),
    ),
    *case(
        "matrix col",
        """
        def f(a):
            q = np.zeros_like(a)
            for j in range(a.shape[1]):
                v = a[:, j].copy()
                for k in range(j):
                    v -= (q[:, k] @ a[:, j]) * q[:, k]
                q[:, j] = v / np.sqrt(v @ v)
            return q
        """,
        (normal(4, 3),),
    ),
    *case(
        "return view",
        """
        def g(y):
            return y[1:]

        def f(x):
            y = x*x
            v = g(y)
            v[0] = 3.0*y[0]
            return y
        """,
        (normal(4),),
    ),
    *case(
        "tuple unpack arrays",
        """
        def f(x):
            u, v = x*1.0, x*2.0
            u[0], v[0] = v[1]*u[0], u[1]
            return u*v
        """,
        (normal(3),),
    ),
    *case(
        "ellipsis",
        """
        def f(x):
            y = np.zeros(x.shape+(2,))
            y[..., 0] = x
            y[..., 1] = x*x
            return y
        """,
        (normal(3),),
    ),
    *case(
        "negative step",
        """
        def f(x):
            y = x.copy()
            y[::-1] = y*y
            y[::2] = y[1::2]
            return y
        """,
        (normal(4),),
    ),
    *case(
        "ravel",
        """
        def f(x):
            y = np.zeros((2,2))
            v = y.ravel()
            v[:] = x[:4]
            return y@y
        """,
        (normal(5),),
    ),
    *case(
        "augmented alias param",
        """
        def f(x: np.ndarray):
            y = x
            y += 1.0
            return y*x
        """,
        (normal(3),),
    ),
    *case(
        "inplace in branch",
        """
        def f(x):
            y = x*x
            if y[0] > 0.2:
                y[1:] *= y[0]
            elif y[1] > 0:
                y[0] = 1.0
            return y*y
        """,
        (normal(3),),
    ),
    *case(
        "zero-d",
        """
        def f(x):
            y = np.zeros(())
            y[()] = x[0]*x[1]
            return y*x
        """,
        (normal(3),),
    ),
    *case(
        "int array truncs",
        """
        def f(x):
            k = np.zeros(3, dtype=int)
            k[0] = 2
            y = x*1.0
            y[k[0]] = x[0]*x[1]
            return y
        """,
        (normal(3),),
    ),
]
