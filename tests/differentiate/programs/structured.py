"""Dictionaries, lists and tuples as parameters and results; comprehensions; loops over them."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal

CASES = [
    *case(
        "the values of a dictionary, by its items",
        """
        def f(p):
            q = {k: v * v for k, v in p.items()}
            return q["a"] * q["b"]
        """,
        ({"a": 1.2, "b": 2.0},),
        ({"a": normal(2), "b": 2.0, "c": normal(2, 2)},),
    ),
    *case(
        "items loop",
        """
        def f(p, x):
            y = x
            for k, w in p.items():
                y = np.tanh(y * w)
            return y
        """,
        ({"a": 1.2, "b": 2.0}, 0.3),
        ({"a": normal(3), "b": 2.0}, normal(3)),
    ),
    *case(
        "a sum of squares of the values of a dictionary",
        """
        def f(p):
            return sum(v * v for v in p.values())
        """,
        ({"a": 1.2, "b": 2.0},),
    ),
    *case(
        "weight decay",
        """
        def f(params, x):
            h = np.tanh(x @ params["w"] + params["b"])
            decay = sum(np.sum(v ** 2) for v in params.values())
            return np.sum(h) + 0.1 * decay
        """,
        ({"w": normal(3, 2), "b": normal(2)}, normal(3)),
    ),
    *case(
        "keys loop",
        """
        def f(p):
            s = 0.0
            for k in p:
                s = s + p[k] * p[k]
            for k in sorted(p):
                s = s * p[k]
            return s
        """,
        ({"a": 1.2, "b": 2.0},),
    ),
    *case(
        "layers list of dicts",
        """
        def f(layers, x):
            for layer in layers:
                x = np.tanh(x @ layer["w"] + layer["b"])
            return np.sum(x)
        """,
        ([{"w": normal(3, 2), "b": normal(2)}, {"w": normal(2, 2), "b": normal(2)}], normal(3)),
    ),
    *case(
        "layers list of pairs",
        """
        def f(layers, x):
            for w, b in layers:
                x = np.tanh(x @ w + b)
            return np.sum(x)
        """,
        ([(normal(3, 2), normal(2)), (normal(2, 2), normal(2))], normal(3)),
    ),
    *case(
        "layers all but last",
        """
        def f(layers, x):
            for w, b in layers[:-1]:
                x = np.tanh(x @ w + b)
            w, b = layers[-1]
            return x @ w + b
        """,
        ([(normal(3, 2), normal(2)), (normal(2, 2), normal(2))], normal(3)),
    ),
    *case(
        "nested dict of lists",
        """
        def f(params, x):
            for layer in params["layers"]:
                x = np.tanh(x @ layer["w"] + layer["b"])
            return x @ params["head"]["w"]
        """,
        (
            {
                "layers": [{"w": normal(3, 2), "b": normal(2)}, {"w": normal(2, 2), "b": normal(2)}],
                "head": {"w": normal(2)},
            },
            normal(3),
        ),
    ),
    *case(
        "range over layers",
        """
        def f(params, x):
            for i in range(len(params)):
                x = np.tanh(x @ params[i]["w"] + params[i]["b"])
            return x
        """,
        ([{"w": normal(3, 2), "b": normal(2)}, {"w": normal(2, 2), "b": normal(2)}], normal(3)),
    ),
    *case(
        "f-string keys",
        """
        def f(params, x, n):
            for i in range(n):
                x = np.tanh(x @ params[f"w{i}"] + params[f"b{i}"])
            return x
        """,
        ({"w0": normal(3, 2), "b0": normal(2), "w1": normal(2, 2), "b1": normal(2)}, normal(3), 2),
        wrt=("params", "x"),
    ),
    *case(
        "a name for an item of a dictionary",
        """
        def f(params, x):
            enc = params["enc"]
            h = np.tanh(x @ enc["w"] + enc["b"])
            return h @ params["dec"]["w"]
        """,
        ({"enc": {"w": normal(3, 2), "b": normal(2)}, "dec": {"w": normal(2)}}, normal(3)),
    ),
    *case(
        "dict result",
        """
        def f(x, y):
            return {"a": x * y, "b": [x, y * y], "c": (x, 2.0)}
        """,
        (0.3, normal(2)),
    ),
    *case(
        "dict to a callee",
        """
        def layer(p, x):
            h = x @ p["w"]
            if np.sum(h) > 100:
                h = h * 2
            return np.tanh(h + p["b"])

        def f(params, x):
            x = layer(params["one"], x)
            return layer(params["two"], x)
        """,
        ({"one": {"w": normal(3, 2), "b": normal(2)}, "two": {"w": normal(2, 2), "b": normal(2)}}, normal(3)),
    ),
    *case(
        "dict to a small callee",
        """
        def layer(p, x):
            return np.tanh(x @ p["w"] + p["b"])

        def f(params, x):
            x = layer(params["one"], x)
            return layer(params["two"], x)
        """,
        ({"one": {"w": normal(3, 2), "b": normal(2)}, "two": {"w": normal(2, 2), "b": normal(2)}}, normal(3)),
    ),
    *case(
        "callee returning a dict",
        """
        def parts(x, y):
            if x > 100:
                y = y * 2
            return {"a": x * y, "b": np.sin(x)}

        def f(x, y):
            p = parts(x, y)
            return p["a"] * p["b"] + p["a"]
        """,
        (0.3, 1.2),
    ),
    *case(
        "callee taking a list",
        """
        def total(xs):
            s = 0.0
            for x in xs:
                s = s + x * x
            return s

        def f(x, y):
            xs = [x, y, x * y]
            return total(xs) * xs[0]
        """,
        (0.3, 1.2),
    ),
    *case(
        "tuple params",
        """
        def f(p, x):
            w, b = p
            return np.tanh(x @ w + b)
        """,
        ((normal(3, 2), normal(2)), normal(3)),
        ([normal(3, 2), normal(2)], normal(3)),
    ),
    *case(
        "starred rest of a param",
        """
        def f(xs):
            first, *rest = xs
            y = first
            for r in rest:
                y = y * np.sin(r)
            return y
        """,
        ([0.3, 1.2, 0.4],),
        ((0.3, 1.2, 0.4),),
        (normal(3),),
    ),
    *case(
        "pairs of a zip under one name",
        """
        def f(a, b):
            s = 0.0
            for p in zip(a, b):
                s = s + p[0] * p[1]
            return s
        """,
        (normal(3), normal(3)),
    ),
    *case(
        "zip of slices",
        """
        def f(xs):
            s = 0.0
            for a, b in zip(xs, xs[1:]):
                s = s + a * b * b
            return s
        """,
        ([0.3, 1.2, 0.4],),
        (normal(4),),
    ),
    *case(
        "zip reversed slices",
        """
        def f(xs: list):
            s = 0.0
            for a, b in zip(xs, xs[::-1]):
                s = s + a * b * b
            return s
        """,
        ([0.3, 1.2, 0.4],),
    ),
    *case(
        "enumerate of zip",
        """
        def f(a, b):
            s = 0.0
            for i, (u, v) in enumerate(zip(a, b)):
                s = s + i * u * v
            return s
        """,
        (normal(3), normal(3)),
    ),
    *case(
        "nested lists",
        """
        def f(m):
            s = 0.0
            for row in m:
                for v in row:
                    s = s + v * v
            return s
        """,
        ([[0.3, 1.2], [0.4, 0.5]],),
        ([[0.3, 1.2], [0.4]],),
        (normal(2, 3),),
    ),
    *case(
        "sum of list of arrays",
        """
        def f(a, b):
            return sum([a * b, a, b * b]) + np.mean([a, b], axis=0)
        """,
        (normal(3), normal(3)),
    ),
    *case(
        "comprehension with shape",
        """
        def f(ws):
            return sum(np.sum(w ** 2) / w.shape[0] for w in ws)
        """,
        ([normal(3), normal(2, 2)],),
    ),
    *case(
        "np.array of comprehension",
        """
        def f(x):
            return np.array([x * i + np.sin(x) for i in range(4)])
        """,
        (0.3,),
    ),
    *case(
        "np.array of comp over array",
        """
        def f(xs):
            return np.sum(np.array([np.sin(x) * x for x in xs]) ** 2)
        """,
        (normal(4),),
        ([0.3, 0.4],),
    ),
    *case(
        "any all",
        """
        def f(xs):
            if any(x > 0 for x in xs) and all(x < 100 for x in xs):
                return sum(xs)
            return xs[0] * 2.0
        """,
        (normal(4),),
        ([0.3, 0.4],),
    ),
    *case(
        "double comprehension",
        """
        def f(xs, ys):
            zs = [x * y for x in xs for y in ys if x > y]
            return sum(z * z for z in zs)
        """,
        ([0.3, 0.4], [0.1, 0.35]),
    ),
    *case(
        "same variable in two comprehensions",
        """
        def f(xs):
            x = 2.0
            a = [x * x for x in xs]
            b = [x + 1.0 for x in a]
            return sum(b) * x
        """,
        ([0.3, 0.4],),
    ),
    *case(
        "a comprehension over nothing",
        """
        def f(xs):
            ys = [x * x for x in xs]
            if not ys:
                return 0.0
            return sum(ys)
        """,
        ([0.3, 0.4],),
        ([],),
    ),
    *case(
        "namedtuple-like tuple of tuples",
        """
        def f(p):
            (a, b), c = p
            return a * b + c
        """,
        (((0.3, 0.5), normal(2)),),
    ),
    *case(
        "dict comp over zip",
        """
        def f(xs, ys):
            d = {k: x * y for k, (x, y) in enumerate(zip(xs, ys))}
            return d[0] * d[1]
        """,
        ([0.3, 0.4], [0.1, 0.35]),
    ),
    *case(
        "list of list append",
        """
        def f(x, n):
            rows = []
            for i in range(n):
                row = []
                for j in range(i + 1):
                    row.append(x * j)
                rows.append(row)
            return sum(sum(r) for r in rows)
        """,
        (0.3, 3),
        wrt=("x",),
    ),
    *case(
        "appended param",
        """
        def f(xs, y):
            xs.append(y)
            s = 0.0
            for x in xs:
                s = s + x * x
            return s
        """,
        ([0.3, 0.4], 0.1),
    ),
    *case(
        "tuple concat",
        """
        def f(x, y):
            t = (x, y)
            t = t + (x * y,)
            a, b, c = t
            return a * b * c
        """,
        (0.3, 0.4),
    ),
    *case(
        "loop tuple accumulate",
        """
        def f(x, n):
            t = ()
            for i in range(n):
                t = t + (x * i,)
            return sum(t)
        """,
        (0.3, 4),
        wrt=("x",),
    ),
    *case(
        "max generator",
        """
        def f(xs):
            return max(x * x for x in xs) - min(xs)
        """,
        ([0.3, -0.4, 0.2],),
    ),
    *case(
        "np.concatenate comp",
        """
        def f(xs, y):
            return np.concatenate([x * y for x in xs])
        """,
        ([normal(2), normal(3)], 1.5),
    ),
    *case(
        "np.vstack list",
        """
        def f(xs, y):
            return np.stack([x * y for x in xs], axis=-1)
        """,
        ([normal(3), normal(3)], 1.5),
    ),
    *case(
        "pop from param",
        """
        def f(xs):
            xs = list(xs)
            s = 1.0
            while xs:
                s = s * np.sin(xs.pop())
            return s
        """,
        ([0.3, -0.4, 0.2],),
    ),
    *case(
        "get default",
        """
        def f(p, x):
            return x * p.get("scale", 1.0) + p["b"]
        """,
        ({"scale": 2.0, "b": 0.3}, 0.4),
        ({"b": 0.3}, 0.4),
    ),
    *case(
        "an item that may be there",
        """
        def f(p, x):
            y = x * p["w"]
            if "b" in p:
                y = y + p["b"]
            return y
        """,
        ({"w": 2.0, "b": 0.3}, 0.4),
        ({"w": 0.3}, 0.4),
    ),
    *case(
        "momentum",
        """
        def f(w, v, steps):
            history = []
            for i in range(steps):
                g = 2 * w
                v = 0.9 * v - 0.1 * g
                w = w + v
                history.append((w, v))
            last_w, last_v = history[-1]
            return last_w * last_v + history[0][0]
        """,
        (0.3, 0.1, 3),
        wrt=("w", "v"),
    ),
    *case(
        "sliced list",
        """
        def f(x):
            return x[1:][0] * x[0]
        """,
        (normal(3),),
        ([0.3, 0.4],),
    ),
    *case(
        "a table of numbers, filled row by row",
        """
        def f(x: float, n):
            t = [[0.0] * n for _ in range(n)]
            for i in range(n):
                t[i][0] = x * i
                for j in range(1, n):
                    t[i][j] = t[i][j - 1] * np.sin(x) + t[i - 1][j] * 0.5
                    t[i][0] += 0.1 * x
            return t[n - 1][n - 1] + np.sum(np.array(t))
        """,
        (0.3, 3),
        wrt=("x",),
    ),
    *case(
        "an edit distance with soft minimum",
        """
        def f(a, b):
            d = [[0.0 for _ in range(len(b) + 1)] for _ in range(len(a) + 1)]
            for i in range(1, len(a) + 1):
                for j in range(1, len(b) + 1):
                    cost = (a[i - 1] - b[j - 1]) ** 2
                    d[i][j] = cost - np.log(
                        np.exp(-d[i - 1][j]) + np.exp(-d[i][j - 1]) + np.exp(-d[i - 1][j - 1])
                    )
            return d[len(a)][len(b)]
        """,
        (normal(3), normal(4)),
    ),
    *case(
        "a shallow copy of a dictionary that is changed",
        """
        def f(x, y):
            d = {"a": x, "b": x * y}
            e = dict(d)
            e["a"] = x * 2.0
            return d["a"] * e["a"] * e["b"]
        """,
        (0.3, 1.2),
    ),
    *case(
        "accumulated in a dictionary of new arrays",
        """
        def f(xs, w):
            sums = {"even": np.zeros(2), "odd": np.zeros(2)}
            for i in range(len(xs)):
                sums["odd" if i % 2 else "even"] += np.sin(xs[i] * w)
            return sums["even"] * sums["odd"]
        """,
        ([normal(2), normal(2), normal(2)], normal(2)),
    ),
    *case(
        "a list that changes after a loop over it",
        """
        def f(x):
            ys = [x, x * x]
            s = 0.0
            for v in ys:
                s = s + v * v
            ys[0] = 5.0 * x
            for v in reversed(ys):
                s = s + v * v
            ys.pop()
            return s * ys[0]
        """,
        (0.3,),
    ),
    *case(
        "a list that grows in a loop over its first length",
        """
        def f(x):
            ys = [x, x * x]
            for i in range(len(ys)):
                ys.append(ys[i] * x)
            return sum(ys) * ys[-1]
        """,
        (0.3,),
    ),
    *case(
        "a dictionary that changes after it was asked for a key",
        """
        def f(x):
            ys = [x, x * x]
            d = {"a": x}
            s = x
            if "b" in d:
                s = s * 2.0
            d["b"] = 3.0
            n = len(ys)
            ys.append(s)
            return s * ys[1] * n * d["a"] * x ** len(ys)
        """,
        (0.3,),
    ),
    *case(
        "lists of what goes along",
        """
        def f(xs, ys):
            pairs = list(zip(xs, ys))
            backwards = list(reversed(xs))
            numbered = tuple(enumerate(ys))
            a, b = pairs[1]
            i, y = numbered[1]
            return a * b * backwards[0] * y * i + sum(x * y for x, y in pairs[1:])
        """,
        ([0.3, 0.4], [0.1, 0.35]),
        (normal(3), normal(3)),
    ),
    *case(
        "layers by their names",
        """
        def f(params, x):
            for name in ["one", "two"]:
                p = params[name]
                x = np.tanh(x @ p["w"] + p["b"])
            return x
        """,
        (
            {"one": {"w": normal(3, 2), "b": normal(2)}, "two": {"w": normal(2, 2), "b": normal(2)}},
            normal(3),
        ),
    ),
    *case(
        "what is popped for a parameter that is not asked for",
        """
        def f(x, y):
            ys = [x, np.sin(x)]
            s = ys[-1] * x
            ys.append(y)
            if np.sum(x) > 9.0:
                ys.append(y * y)
            else:
                for v in ys:
                    y = 0.5 * y + v * s
            return y + ys[0]
        """,
        (0.3, 1.2),
        (normal(2), normal(2)),
        wrt=("x",),
    ),
]
