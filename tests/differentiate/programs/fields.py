"""Programs as people of many fields write them, each of which failed or was refused without need once."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "arrays that are made in one assignment and filled in one",
        """
        def f(x):
            m, p = np.zeros(3), np.zeros(3)
            for i in range(3):
                m[i], p[i] = 2.0 * x[i], x[i] ** 2
            return m @ p
        """,
        (normal(3),),
    ),
    *case(
        "two sums that start as one number",
        """
        def f(p, v, h):
            x = t = 0.0
            for vi, hi in zip(v, h):
                c = np.sqrt(1.0 - (p * vi) ** 2)
                x += hi * p * vi / c
                t += hi / (vi * c)
            return t - p * x
        """,
        (0.2, positive(3), positive(3)),
        (0.2, [1.0, 1.5], [0.5, 0.6]),
    ),
    *case(
        "a state of two numbers, unpacked and updated",
        """
        def f(u, start, dt):
            angle, speed = start
            cost = 0.0
            for k in range(len(u)):
                speed += (np.sin(angle) + u[k]) * dt
                angle += speed * dt
                cost += angle**2 + speed * speed
            return cost
        """,
        (normal(4), normal(2), 0.1),
        (normal(4), (0.3, -0.2), 0.1),
        (normal(0), [0.3, -0.2], 0.1),
    ),
    *case(
        "a row of a table, handed on to the next",
        """
        def f(x, y):
            before = [j * x for j in range(4)]
            for i in range(3):
                row = [i * y]
                for j in range(1, 4):
                    row.append(0.5 * before[j] + row[j - 1] * before[j - 1] + y)
                before = row
            return before[-1]
        """,
        (0.7, 0.4),
        (normal(2), normal(2)),
    ),
    *case(
        "two items popped in one statement",
        """
        def f(x, y):
            stack = [x, y, x * y]
            b, a = stack.pop(), stack.pop()
            stack.append(a - np.sin(b))
            return stack.pop() - stack.pop() ** 2
        """,
        (0.7, 0.4),
        (normal(2), normal(2)),
    ),
    *case(
        "a generator, unpacked",
        """
        def f(x, u, v):
            a, b = (np.sin(x * w) for w in (u, v))
            return a / (2.0 + b)
        """,
        (normal(2), 0.4, 0.3),
    ),
    *case(
        "an axis that a parameter with a default stands for",
        """
        def softmax(x, axis=-1):
            x = x - x.max(axis=axis, keepdims=True)
            e = np.exp(x)
            return e / e.sum(axis=axis, keepdims=True)

        def f(x, w):
            return softmax(softmax(x) @ w, axis=0) * x
        """,
        (normal(2, 2), normal(2, 2)),
    ),
    *case(
        "axes that are known at run time",
        """
        def standard(x, axis):
            for _ in range(2):
                center = x.mean(axis=axis, keepdims=True)
                x = (x - center) / (1.0 + x.var(axis, keepdims=True) + np.nansum(x**2, axis=axis, keepdims=True))
            return x

        def f(x):
            m = np.max(x, keepdims=True, axis=len(x.shape) - 1)
            return standard(x, 0) + standard(x, (0, 1)) + standard(x, None) * np.exp(x - m)
        """,
        (normal(2, 3),),
        (normal(1, 1),),
    ),
    *case(
        "weights of a mean, windows and sets of indices",
        """
        def f(x, w):
            free = np.setdiff1d(np.arange(len(x)), [1])
            k = ord("c") - ord("a")
            smooth = x * np.hanning(len(x))
            return np.average(x, weights=w) * smooth + np.average(x[free]) * np.isin(np.arange(4), [0, k])
        """,
        (normal(4), positive(4)),
    ),
    *case(
        "parameters of a model, handed on with a star",
        """
        def curve(t, a, b, c):
            for _ in range(2):
                t = a * np.exp(-b * t) + c
            return t

        def line(t, a, b):
            return a * t + b

        def f(theta, ends, times):
            total = sum([line(t, *ends) for t in times])
            return total * curve(times[0], *theta) + curve(times[1], *ends, c=0.3) + line(*ends, theta[2])
        """,
        (positive(3), positive(2), normal(2)),
        ([0.5, 0.4, 0.3], [0.2, 0.7], normal(3)),
    ),
    *case(
        "a callee that writes several parts of an array at once",
        """
        def jacobian(y, k):
            J = np.zeros((3, 3))
            k1, k2, k3 = k
            J[0, 1], J[0, 2] = k3 * y[2], k1
            J[1] = [k1, -k3 * y[2], y[1]]
            return J

        def f(y, k):
            return np.linalg.solve(3.0 * np.eye(3) - jacobian(y, k), y)
        """,
        (normal(3), normal(3)),
    ),
    *case(
        "callees that write by out= and in place",
        """
        def exponential(x):
            a = np.zeros(3)
            b = np.exp(x, out=a)
            return a + b

        def powers(x):
            a = x * 1.0
            a[:2] **= 2
            a[[0, 1]] += x[:2]
            return a * x

        def swapped(x):
            a = x * 1.0
            a[0], a[1] = a[1], a[0]
            b, a[2] = a[0] * x[1], x[0] ** 2
            return a * b

        def f(x):
            return exponential(x) * powers(x) + swapped(x)
        """,
        (normal(3),),
    ),
    *case(
        "small callees that loops stand for",
        """
        def spread(x):
            top = max(x)
            return top * sum(x) + min(x[0], x[1])

        def paired(x, y):
            both = list(zip(x, y))
            return both[0][0] * both[1][1] + max(y)

        def f(x, y):
            return spread(x) * x[0] + paired(x, y) * spread(y)
        """,
        (normal(3), normal(3)),
    ),
]
