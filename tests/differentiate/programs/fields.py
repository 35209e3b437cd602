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
]
