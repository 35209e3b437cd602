"""Functions in functions, closures, lambdas, partials, functions as arguments, starred arguments."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal

CASES = [
    *case(
        "a nested function reads variables around it",
        """
        def f(x, a):
            def step(t):
                if np.sum(t) > a:
                    return a * t
                return t * t * x
            return np.sum(step(x) * step(2 * x))
        """,
        (normal(3), 0.4),
        (normal(3), -9.0),
    ),
    *case(
        "a closure has the value that a variable has at the call",
        """
        def f(x, a):
            def step(t):
                return a * t
            y = step(x)
            a = a * a
            return y * step(x)
        """,
        (1.5, 2.0),
    ),
    *case(
        "a default has the value of the definition",
        """
        def f(x, a):
            def step(t, k=a * x, *, by=a):
                return k * t + by
            a = a * a
            return step(x) * a + step(x, 2.0) + step(x, k=a) + step(a, by=x)
        """,
        (1.5, 2.0),
    ),
    *case(
        "lambdas in a loop, one with the loop variable as a default",
        """
        def f(x, a):
            s = 0.0
            for i in range(3):
                g = lambda t, i=i: t**2 * (i + 1)
                h = lambda t: s * t * i
                s += g(x * a) + h(a)
            return s
        """,
        (1.5, 0.7),
    ),
    *case(
        "a function that is defined in a loop and reads what the loop assigns",
        """
        def f(x, a):
            s = x
            for i in range(3):
                def g(t):
                    return t * (i + 1) + s
                s = s * g(a)
            return s
        """,
        (1.5, 0.7),
    ),
    *case(
        "functions in functions in functions",
        """
        def f(x, b):
            def outer(u):
                c = u * b
                def inner(v):
                    return c * v * x
                return inner(u) + inner(2 * u)
            return outer(x) * outer(b)
        """,
        (1.5, 0.3),
    ),
    *case(
        "a name that is another variable in the function between",
        """
        def f(x):
            a = x * 2
            def k(t):
                return a * t
            def g(t):
                a = t * 3.0
                return k(t) * a
            return g(x)
        """,
        (1.5,),
    ),
    *case(
        "nested functions that call each other",
        """
        def f(x, a):
            def even(t, n):
                return a * t if n == 0 else odd(t * a, n - 1)
            def odd(t, n):
                if n == 0:
                    return x * t
                return even(np.sin(t) * x, n - 1)
            return even(x, 3) + odd(a, 1)
        """,
        (1.5, 0.7),
    ),
    *case(
        "a nested function that calls itself and the function around it",
        """
        def f(x, n):
            y = np.sin(x)
            def power(k):
                return y if k == 0 else y * power(k - 1)
            if n == 0:
                return power(2)
            return power(n) + f(y * x, n - 1)
        """,
        (0.8, 2),
        wrt=("x",),
    ),
    *case(
        "a nested function is called in a condition and with constants only",
        """
        def f(x):
            def g(t):
                s = 1.0
                for i in range(2):
                    s = s * t
                return s
            if g(x) > 1:
                return x * g(2.0)
            return g(x)
        """,
        (1.3,),
        (0.3,),
    ),
    *case(
        "partial holds values, and a call can replace the named ones",
        """
        from functools import partial
        import functools as ft

        def g(a, t, scale=1.0):
            return np.sin(a * t) * scale

        def f(x, s):
            h = partial(g, 2.0 * s, scale=s)
            k = partial(h, x)
            s = s * 3
            return h(x) + h(x, scale=s) + ft.partial(g, x)(s) * k(scale=x)
        """,
        (1.5, 0.4),
    ),
    *case(
        "aliases, and one of two functions",
        """
        def g(t):
            return t * t

        def f(x, flag: bool):
            def k(t):
                return np.sin(t) * x
            h = g if flag else k
            e = h
            act = np.tanh if x > 1 else np.cos
            return e(x) + e(2 * x) * act(x)
        """,
        (1.5, True),
        (0.5, False),
        wrt=("x",),
    ),
    *case(
        "functions as arguments",
        """
        def apply(g, x):
            return g(x) * 2

        def f(x, a):
            c = x * a
            return apply(np.tanh, x) * apply(lambda t: c * t, x) + apply(apply_square, a)

        def apply_square(x):
            return apply(g=lambda t: t * t, x=x)
        """,
        (1.5, 0.4),
    ),
    *case(
        "a quadrature, of functions that depend on what is differentiated",
        """
        def integrate(fun, lo, hi, n=5):
            h = (hi - lo) / n
            s = 0.0
            for i in range(n):
                s += fun(lo + (i + 0.5) * h) * h
            return s

        def f(a, b):
            inner = lambda t: integrate(lambda u: np.exp(-a * u * t), 0.0, t, n=3)
            return integrate(inner, a, b) + integrate(np.sin, 0.0, b)
        """,
        (0.3, 1.2),
    ),
    *case(
        "the callee has variables with the names of those of the closure",
        """
        a = 3.0

        def apply(g, x):
            c = x * a
            return g(x) * a + c

        def f(x):
            a = x * 2
            c = np.sin(x)
            return apply(lambda t: a * t * c, x)
        """,
        (1.5,),
    ),
    *case(
        "a function that is handed on and on",
        """
        def iterate(g, x, n):
            if n == 0:
                return x
            return g(iterate(g, x, n - 1))

        def twice(g):
            return lambda t: t

        def f(x, a):
            return iterate(lambda t: np.sin(a * t), x, 3)
        """,
        (1.5, 0.7),
    ),
    *case(
        "a parameter for a function that may be None",
        """
        def newton(g, x, jac=None, n=3):
            if jac is None:
                jac = lambda t: (g(t + 1e-3) - g(t - 1e-3)) / 2e-3
            for _ in range(n):
                x = x - g(x) / jac(x)
            return x

        def f(a, x0):
            return newton(lambda t: t * t - a, x0, n=1) + newton(lambda t: t * t - a, x0, lambda t: 2 * t, 2)
        """,
        (1.5, 1.7),
    ),
    *case(
        "lambdas, partials, aliases and defaults of the top level",
        """
        from functools import partial

        SCALE = 2.0
        square = lambda x: x * x * SCALE

        def g(x, p, eps=1e-3 * SCALE, shift=SCALE):
            return (x + eps) ** p + shift

        cube = partial(g, p=3)
        same = cube

        def f(x, y):
            return square(x) * same(y) + square(2.0) * cube(x, eps=y)
        """,
        (1.5, 0.7),
    ),
    *case(
        "any number of arguments",
        """
        def total(*args, scale=1.0):
            s = 0.0
            for a in args:
                s = s + a * a
            return s * scale

        def first(x, *rest):
            return x * total(*rest) + len(rest)

        def f(x, y):
            p = (x, y)
            return total(x, y) + total(*p, scale=x) + first(y, x, x * y) + first(*(x, *p)) + first(y)
        """,
        (1.5, 0.7),
    ),
    *case(
        "arguments of any name",
        """
        def inner(x, a=1.0, b=2.0):
            return x * a + b

        def outer(x, **kw):
            return inner(x, **kw) * kw.get("a", 3.0) * (kw["b"] if "b" in kw else 1.0)

        def f(x, y):
            return outer(x, a=y) + outer(x, b=y) + outer(x, a=x, b=y) + inner(x, **{"b": x})
        """,
        (1.5, 0.7),
    ),
    *case(
        "positional-only and keyword-only parameters",
        """
        def g(a, b=2.0, /, c=3.0, *, d, e=0.5):
            return a * b + c * d - e * a

        def f(x, y):
            def h(a, /, b=x, *, c):
                return a * b * c
            return g(x, d=y) + g(x, y, c=x, e=y, d=2.0) + h(y, c=x) + h(x, y, c=2.0)
        """,
        (1.5, 0.7),
    ),
    *case(
        "a loop over a map",
        """
        def f(xs, a):
            s = 0.0
            for y in map(lambda t: a * t * t, xs):
                s += y * y
            for u, v in map(lambda s, t: (s * a, s * t), xs, xs * 2):
                s += u * v
            return s
        """,
        (normal(3), 0.7),
    ),
    *case(
        "a nested function with a name of the top level, and one that is never called",
        """
        def g(x):
            return x * x

        def f(x):
            def g(t):
                return np.sin(t) * x
            def unused(t):
                return open(t)
            return g(x) + apply(lambda t: t * g(t), x)

        def apply(h, x):
            return h(x) + g(x)
        """,
        (1.5,),
    ),
    *case(
        "layers of a network",
        """
        from functools import partial

        def dense(w, x, act=np.tanh):
            return act(w @ x)

        def relu(x):
            return np.maximum(x, 0.0)

        def f(w1, w2, x):
            first = partial(dense, w1, act=relu)
            second = partial(dense, w2)
            return np.sum(second(first(x)) ** 2)
        """,
        (normal(4, 3), normal(2, 4), normal(3)),
    ),
    *case(
        "the derivative of a sum in another derivative: no confusion of the two",
        """
        import lsp_ad

        def f(x):
            def g(y):
                return x + y
            return x * lsp_ad.grad(g)(x)
        """,
        (1.5,),
    ),
    *case(
        "a derivative of a closure depends on what that captures",
        """
        import lsp_ad

        def f(x, a):
            def g(y):
                return np.sin(x * y) * a
            dg = lsp_ad.grad(g)
            return x * dg(x * a) + dg(a)
        """,
        (1.5, 0.7),
    ),
    *case(
        "one step down the gradient, and the loss after it",
        """
        import lsp_ad

        def f(w, x, y):
            def loss(v):
                r = x @ v - y
                return np.sum(r * r)
            v = w - 0.1 * lsp_ad.grad(loss)(w)
            return loss(v)
        """,
        (normal(2), normal(3, 2), normal(3)),
    ),
    *case(
        "steps down a gradient in a loop",
        """
        import lsp_ad

        def f(w, rate: float, x, y):
            def loss(v):
                r = x @ v - y
                return np.mean(r * r)
            step = lsp_ad.grad(loss)
            for i in range(3):
                w = w - rate * step(w)
            return loss(w)
        """,
        (normal(2), 0.05, normal(3, 2), normal(3)),
    ),
    *case(
        "value and gradient of a function of the file",
        """
        import lsp_ad

        def g(w, x):
            return np.sum(np.tanh(w * x))

        both = lsp_ad.value_and_grad(g, "w")

        def f(w, x):
            v, d = both(w, x)
            return v * np.sum(d)
        """,
        (normal(2), normal(2)),
    ),
    *case(
        "a seed, a parameter by its place, and a decorated function",
        """
        import lsp_ad

        def g(w, x):
            return np.tanh(w * x)

        @lsp_ad.grad
        def h(x):
            return x**3

        def f(w, x):
            return np.sum(lsp_ad.vjp(g, 1)(w, x, w)) * h(np.sum(w))
        """,
        (normal(2), normal(2)),
    ),
    *case(
        "the derivative of a loop",
        """
        import lsp_ad

        def f(x, a):
            def g(y: float):
                for i in range(3):
                    y = np.sin(y * x) * a
                return y
            return lsp_ad.grad(g)(a) * x
        """,
        (0.7, 0.9),
    ),
    *case(
        "a derivative at a constant",
        """
        import lsp_ad

        def f(x):
            def g(y):
                return y**3
            return x * lsp_ad.grad(g)(2.0)
        """,
        (0.7,),
    ),
    *case(
        "a function in each branch",
        """
        def f(x, c: bool):
            if c:
                def g(t):
                    return t * x
                act = np.tanh
            else:
                g = lambda t: t * t
                act = np.cos
            c = False
            return g(x) * g(2 * x) + act(x)
        """,
        (1.5, True),
        (1.5, False),
        wrt=("x",),
    ),
    *case(
        "sums and lists of maps",
        """
        def f(xs, a):
            ys = list(map(lambda t: a * t * t, xs))
            return ys[0] * ys[1] + sum(map(np.sin, xs)) + sum(map(lambda t, u: t * u, xs, ys))
        """,
        (normal(3), 0.7),
    ),
    *case(
        "a dictionary of arguments, and one of functions",
        """
        ACTIVATIONS = {"tanh": np.tanh, "square": lambda x: x * x}

        def g(x, a=1.0, b=2.0):
            return x * a + b

        def f(x, y):
            options = {"a": y, "b": x * y}
            h = ACTIVATIONS["tanh"]
            return g(x, **options) * options["b"] + ACTIVATIONS["square"](x) * h(y)
        """,
        (1.5, 0.7),
    ),
    *case(
        "parameters in a captured list and dictionary",
        """
        def f(w1, w2, x):
            params = [w1, w2]
            named = {"first": w1, "second": w2}
            def layer(i, h):
                return np.tanh(params[i] @ h)
            def net(h):
                return named["second"] @ np.tanh(named["first"] @ h)
            y = x
            for i in range(2):
                y = layer(i, y)
            return np.sum(y * net(x))
        """,
        (normal(2, 2), normal(2, 2), normal(2)),
    ),
    *case(
        "a global and a local variable of one name",
        """
        a = 2.0

        def f(x):
            a = x * x
            def g(t):
                global a
                return t * a
            return g(x) * a
        """,
        (1.5,),
    ),
    *case(
        "a function that is called where it is written",
        """
        def f(x):
            return (lambda t, u=x * 2: t * u)(x) + (lambda: x * x)()
        """,
        (1.5,),
    ),
    *case(
        "small functions in small functions in small functions",
        """
        def f(x, y):
            square = lambda t: t * t
            def distance(a, b):
                return np.sqrt(square(a - x) + square(b))
            both = lambda u: distance(u, y) * distance(y, 2 * u)
            return both(x) + both(y)
        """,
        (1.5, 0.7),
    ),
]
