"""Lists that grow and shrink, dictionaries of parameters, nested structures."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "a recurrent network: append and stack",
        """
        def f(wx, wh, b, h0, xs):
            h = h0
            hs = []
            for x in xs:
                h = np.tanh(x @ wx + h @ wh + b)
                hs.append(h)
            return np.stack(hs)
        """,
        (normal(3, 4), normal(4, 4), normal(4), normal(2, 4), normal(5, 2, 3)),
    ),
    *case(
        "a list that grows and is read by index",
        """
        def f(x, n):
            ys = [x]
            for i in range(n):
                ys.append(np.sin(ys[i]) * ys[-1])
            return ys[n] * ys[0] + ys[-2]
        """,
        (normal(2), 4),
        (0.7, 1),
        wrt=("x",),
    ),
    *case(
        "a stack that is pushed and popped",
        """
        def f(x, y):
            stack = []
            stack.append(x * y)
            stack.append(np.sin(x))
            a = stack.pop()
            stack.append(a * y)
            b = stack.pop()
            c = stack.pop()
            return a * b * c
        """,
        (0.4, 1.2),
        (normal(3), 1.2),
    ),
    *case(
        "a queue: append and pop from the front",
        """
        def f(x, n):
            queue = [x, x * x]
            total = 0.0
            while n > 0:
                first = queue.pop(0)
                total = total + first * first
                queue.append(np.cos(first))
                n = n - 1
            return total + queue[0]
        """,
        (0.4, 5),
        (normal(2), 3),
        wrt=("x",),
    ),
    *case(
        "insert at the front, at the end, in the middle; pop anywhere",
        """
        def f(x, i):
            ys = [x]
            ys.insert(0, x * x)
            ys.insert(10, np.sin(x))
            ys.insert(-1, np.cos(x))
            ys.insert(i, x**3)
            a = ys.pop(i)
            b = ys.pop(-2)
            ys.pop()
            return a * b + ys[0] * ys[1]
        """,
        (0.4, 1),
        (0.4, -3),
        wrt=("x",),
    ),
    *case(
        "a list that grows in a branch",
        """
        def f(x):
            ys = []
            for i in range(4):
                if x > i * 0.5:
                    ys.append(x * i)
                else:
                    ys.append(np.sin(x))
            if x > 1.0:
                ys.append(x * x)
            s = 0.0
            for y in ys:
                s = s + y * y
            return s
        """,
        (0.7,),
        (1.7,),
    ),
    *case(
        "a list of pairs that grows",
        """
        def f(x, n):
            path = []
            for i in range(n):
                path.append((x * i, np.sin(x)))
            s = 0.0
            for a, b in reversed(path):
                s = s * a + b
            return s
        """,
        (0.7, 4),
        wrt=("x",),
    ),
    *case(
        "a list made anew in every iteration",
        """
        def f(x, n):
            s = 0.0
            for i in range(n):
                row = []
                for j in range(i + 1):
                    row.append(x * j + s)
                s = s + np.sum(np.stack(row) ** 2)
            return s
        """,
        (0.3, 3),
        wrt=("x",),
    ),
    *case(
        "concatenated pieces",
        """
        def f(x, y):
            pieces = []
            for i in range(3):
                pieces.append(x * i)
                pieces.append(y)
            return np.concatenate(pieces) ** 2
        """,
        (normal(2), normal(3)),
    ),
    *case(
        "concatenated along the columns",
        """
        def f(x, y):
            pieces = [x]
            pieces.append(y * y)
            return np.concatenate(pieces, axis=1)
        """,
        (normal(2, 3), normal(2, 1)),
    ),
    *case(
        "stacked along the columns",
        """
        def f(x):
            rows = []
            for i in range(3):
                rows.append(x**i)
            return np.stack(rows, axis=1) @ np.array([1.0, 2.0, 3.0])
        """,
        (positive(4),),
    ),
    *case(
        "an array of a list of numbers",
        """
        def f(x):
            ys = []
            y = x
            for i in range(4):
                ys.append(y)
                y = y * np.sin(y)
            return np.array(ys)
        """,
        (0.4,),
    ),
    *case(
        "a list of indices, which carries no derivative",
        """
        def f(x):
            chosen = []
            for i in range(len(x)):
                if x[i] > 0:
                    chosen.append(i)
            y = x[chosen] ** 2
            chosen.append(0)
            return np.sum(y) + x[chosen[-1]]
        """,
        (positive(4),),
    ),
    *case(
        "a dictionary of parameters",
        """
        def f(params, x):
            h = np.tanh(x @ params["w"] + params["b"])
            return np.sum(h * params["v"])
        """,
        ({"w": normal(3, 2), "b": normal(2), "v": normal(2)}, normal(4, 3)),
        ({"v": normal(2), "unused": normal(2), "w": normal(3, 2), "b": 0.5, "n": 3}, normal(4, 3)),
    ),
    *case(
        "a nested dictionary of parameters",
        """
        def f(params, x):
            h = np.tanh(x @ params["first"]["w"] + params["first"]["b"])
            return h @ params["second"]["w"] * params["scale"]
        """,
        ({"first": {"w": normal(3, 2), "b": normal(2)}, "second": {"w": normal(2)}, "scale": 0.5}, normal(3)),
    ),
    *case(
        "an item of a dictionary that is read in a loop, and one twice",
        """
        def f(p, n):
            y = p["start"]
            for i in range(n):
                y = np.sin(y * p["rate"]) + p["start"]
            return y
        """,
        ({"start": 0.3, "rate": 1.2}, 3),
        ({"start": normal(2), "rate": 1.2}, 0),
        wrt=("p",),
    ),
    *case(
        "an item of a dictionary that only some runs read",
        """
        def f(p, x):
            if x > 0:
                return p["a"] * x
            return p["b"] * p["a"] * x
        """,
        ({"a": 0.3, "b": 1.2}, 1.0),
        ({"a": 0.3, "b": 1.2}, -1.0),
        ({"a": 0.3}, 1.0),
        wrt=("p",),
    ),
]
