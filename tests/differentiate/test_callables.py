"""Functions that cannot be followed are refused by name; generated names; functions that generated code still calls."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from lsp_ad.differentiate import differentiate
from tests import oracle

pytestmark = pytest.mark.row("T16", "T17")

HEAD = "from functools import partial\n\nimport numpy as np\n\n\n"

REFUSED = {
    "a function in a list": (
        "AD205",
        """
        def f(x):
            def g(t):
                return t * x
            return [«g»][0](x)
        """,
        "`g` is used as a value",
    ),
    "a function that is returned": (
        "AD205",
        """
        def make(a):
            def g(t):
                return a * t
            return «g»

        def f(x):
            return make(x)(x)
        """,
        "`g` is used as a value",
    ),
    "a function that is handed to a library": (
        "AD205",
        """
        def g(t):
            return t * t

        def f(x):
            return np.vectorize(«g»)(x)
        """,
        "`g` is used as a value",
    ),
    "a name for two functions": (
        "AD205",
        """
        def f(x):
            «g = lambda t: t»
            if x > 0:
                def g(t):
                    return t * x
            return g(x)
        """,
        "`g` stands for a function, and is bound more than once",
    ),
    "a parameter for a function that is bound again": (
        "AD205",
        """
        def apply(g, x):
            for i in range(2):
                x = g(x)
                «g = np.cos»
            return x

        def f(x):
            return apply(np.sin, x)
        """,
        "`g` stands for a function, and is bound more than once",
    ),
    "a decorated function": (
        "AD205",
        """
        def f(x, memo):
            @memo
            def «g»(t):
                return t * x
            return g(x)
        """,
        "decorator of `g`",
    ),
    "functions made of functions for ever": (
        "AD205",
        """
        «def twice(g, x, n):
            if n == 0:
                return g(x)
            return twice(lambda t: g(g(t)), x, n - 1)»

        def f(x):
            return twice(lambda t: x * t, x, 3)
        """,
        "ever new functions",
    ),
    "an unknown number of arguments": (
        "AD205",
        """
        def g(x, y=1.0):
            return x * y

        def f(xs):
            return g(«*xs»)
        """,
        "cannot be told how many arguments",
    ),
    "unknown names of arguments": (
        "AD205",
        """
        def g(x, y):
            return x * y

        def f(x, options):
            return g(x, **«options»)
        """,
        "cannot be told which arguments",
    ),
    "a dictionary of arguments as a whole": (
        "AD205",
        """
        def g(x, **options):
            return x * len(«options»)

        def f(x):
            return g(x, a=x)
        """,
        "`options` is used as a dictionary",
    ),
    "a comprehension with the name of a captured variable": (
        "AD205",
        """
        def f(x, ys):
            a = x * 2
            def g(t):
                return t * a
            return sum([«g(a)» for a in ys])
        """,
        "`a`, a variable of a function that is called here, is bound here too",
    ),
    "too few arguments of a nested function": (
        "AD203",
        """
        def f(x):
            def g(t, u):
                return t * u * x
            return «g(x)»
        """,
        "`g` needs the argument `u`",
    ),
    "a default of the file that may change": (
        "AD202",
        """
        def g(h, t, table=np.ones(3)):
            return h(t) * np.sum(table)

        def f(x):
            return «g(np.sin, x)»
        """,
        "default of `table`",
    ),
    "a lambda in an unknown place": (
        "AD102",
        """
        def f(x):
            return np.sum(«lambda t: t») * x
        """,
        "lambda",
    ),
}


@pytest.mark.parametrize(("code", "source", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(code, source, words):
    marked = HEAD + textwrap.dedent(source).strip() + "\n"
    start, end = marked.index("«"), marked.index("»") - 1
    program = oracle.program(marked.replace("«", "").replace("»", ""))
    derivative, problems = differentiate(program, "f", ["x"] if "xs)" not in marked else None)
    assert derivative is None
    found, lines = problems[0], program.parsed.document.lines
    at = found.span
    assert (found.code, words in found.message) == (code, True), found
    assert (lines.offset(at.line, at.column), lines.offset(at.end_line, at.end_column)) == (start, end)
    assert found.way_out


def test_names_of_lifted_functions_say_where_they_come_from():
    source = HEAD + textwrap.dedent(
        """
        def loss(w, x):
            def step(t):
                for i in range(3):
                    t = np.sin(t) * w
                return t
            return step(x)
        """
    )
    _, text = oracle.generate(source, "loss")
    assert "def loss_step_forward(w, t):" in text
    assert "def loss_step_backward(saved, " in text
    assert "\ndef loss_step(" not in text


def test_a_nested_function_that_is_called_with_constants_stands_in_the_generated_code():
    source = HEAD + textwrap.dedent(
        """
        def f(x, n: int):
            def factorial(k):
                # by recursion
                return 1 if k <= 1 else k * factorial(k - 1)
            return x ** n / factorial(n)
        """
    )
    text = oracle.assert_gradient(source, 0.7, 3, wrt=["x"])
    assert "def f_factorial(k):" in text
    assert "# by recursion" in text.split("def f_grad")[0].split("def f_vjp")[0]


def test_names_that_are_taken_are_left_alone():
    source = HEAD + textwrap.dedent(
        """
        f_g = 3.0

        def f(x):
            f_g2 = x * f_g
            def g(t):
                if t > 0:
                    return f_g2 * t
                return t
            return g(x)
        """
    )
    oracle.assert_gradient(source, 0.7)


def test_a_derivative_that_is_inserted_twice_does_not_define_a_name_twice():
    source = HEAD + textwrap.dedent(
        """
        def f(x, n: int):
            def power(k):
                return x if k <= 1 else x * power(k - 1)
            return power(n) * x
        """
    )
    _, once = oracle.generate(source, mode="grad", wrt=["x"])
    derivative, twice = oracle.generate(once, mode="vjp", wrt=["x"])
    namespace = oracle.run(twice)
    assert np.isclose(namespace["f_grad"](0.7, 3), 4 * 0.7**3)
    assert np.isclose(namespace[derivative.name](0.7, 3, 1.0), 4 * 0.7**3)
    defined = [line for line in twice.splitlines() if line.startswith("def ")]
    assert len(defined) == len(set(defined))


def test_a_function_without_others_is_left_as_it_is():
    program = oracle.program("def g(x):\n    return x * x\n\ndef f(x):\n    return g(x)\n")
    from lsp_ad.differentiate.pipeline import ordinary

    assert ordinary(program, program.functions["f"]) is program


# A derivative of a derivative, and of a lambda: not for functions that run, whose text is asked for.
INNER = {
    "derivatives three deep": (
        """
        import lsp_ad

        def f(x, a):
            def g(y):
                return x * y**4 * a
            first = lsp_ad.grad(g, "y")
            def h(z):
                return first(z) * z
            return lsp_ad.grad(h)(x) * a
        """,
        lambda x, a: 16 * x**4 * a * a,
    ),
    "a derivative of a parameter": (
        """
        import lsp_ad

        def descend(loss, w, rate):
            step = lsp_ad.grad(loss)
            for i in range(2):
                w = w - rate * step(w)
            return w

        def f(x, a):
            return descend(lambda v: (v - a) ** 2 * x, x, 0.1)
        """,
        lambda x, a: a + (x - a) * (1 - 0.2 * x) ** 2,
    ),
    "a partial of a derivative": (
        """
        import lsp_ad

        def g(x, y):
            return np.sin(x) * y**2

        slope = partial(lsp_ad.grad(g, 1), 0.3)

        def f(x, a):
            return slope(a) * partial(lsp_ad.grad(g, "x"), y=a)(x)
        """,
        lambda x, a: np.sin(0.3) * 2 * a * np.cos(x) * a**2,
    ),
}


@pytest.mark.parametrize(("source", "same"), INNER.values(), ids=INNER)
def test_derivatives_inside(source, same):
    _, text = oracle.generate(HEAD + textwrap.dedent(source).strip() + "\n")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("slope = "))
    got = oracle.run(text)["f_grad"](0.7, 1.3)
    eps = 1e-6
    want = (
        (same(0.7 + eps, 1.3) - same(0.7 - eps, 1.3)) / (2 * eps),
        (same(0.7, 1.3 + eps) - same(0.7, 1.3 - eps)) / (2 * eps),
    )
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_a_derivative_that_cannot_be_had_is_refused_where_it_is_called():
    source = "import lsp_ad\n\n\ndef f(x):\n    def g(y):\n        return 2.0\n    return lsp_ad.grad(g)(x)\n"
    _, (found,) = differentiate(oracle.program(source), "f")
    assert (found.code, found.span.line, "does not depend on `y`" in found.message) == ("AD203", 7, True)


def test_a_nested_function_uses_what_the_function_around_it_imports():
    source = """def f(x):
    import numpy as xp
    from math import sin as s

    def g(t):
        return xp.exp(t) * s(t)

    return g(x) * xp.cos(x)
"""
    oracle.assert_gradient(source, 0.5)


HANDED_ON = {
    "a list that two functions take": (
        """
        def g(ps):
            s = 0.0
            for p in ps:
                s = s + p * p
            return s

        def f(ps):
            return g(ps) + np.sin(g(ps))
        """,
        ([0.4, 0.7],),
    ),
    "a structure that one function makes and another one takes": (
        """
        def walk(p, x):
            tape = []
            for i in range(2):
                tape.append(x)
                x = 0.5 * (p * x + p)
            return x, (p, tape)

        def back(saved, d):
            p = saved[0]
            tape = saved[1]
            dp = 0.0
            for x in reversed(tape):
                dp = dp + d * x
                d = d * p
            return dp

        def f(x, y):
            made = walk(y, x)
            saved = made[1]
            return back(saved, 1.0) + y
        """,
        (0.7, 0.3),
    ),
}


@pytest.mark.parametrize(("source", "args"), HANDED_ON.values(), ids=HANDED_ON)
def test_what_is_only_handed_on_keeps_its_structure(source, args):
    oracle.assert_gradient(HEAD + textwrap.dedent(source).strip() + "\n", *args)


def test_a_derivative_inside_of_a_function_that_calls_itself():
    source = HEAD + textwrap.dedent(
        """
        import lsp_ad

        def power(g, x, n):
            if n == 0:
                return x
            return np.sin(g(power(g, x, n - 1)))

        def f(x: float, y: float):
            return lsp_ad.grad(lambda q: power(lambda t: t * q * x, y, 2))(y)
        """
    )
    _, text = oracle.generate(source)
    got = oracle.run(text)["f_grad"](0.4, 0.9)
    np.testing.assert_allclose(got, (1.182345049, 0.502261967), rtol=1e-6)


def test_a_function_that_calls_itself_with_a_list_that_it_changes_is_refused():
    source = """def f(acc, x, n: int):
    acc.append(x)
    if n == 0:
        return acc[0] * x
    return f(acc, x * 2, n - 1) * acc[-1]
"""
    _, (found, *_) = differentiate(oracle.program(source), "f", ["x"])
    assert (found.code, "`acc` is changed in place" in found.message) == ("AD302", True)
