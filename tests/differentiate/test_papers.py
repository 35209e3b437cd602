"""What Tangent accepts, refuses and silently gets wrong, row by row of the tables in the notes on the papers: here
each row is right by the oracle, or refused by name.

Sections: 1.3 statements, 1.4 expressions, 1.5 the fence, 1.6 other refusals, 1.10 mutation and indexing, 1.12 weak
points, 5.1 the issues that its users filed.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import lsp_ad
from lsp_ad.differentiate import differentiate
from tests import oracle

pytestmark = pytest.mark.row("T8", "T9", "T10", "T19", "T30", "T31")
HEAD = "import math\n\nimport numpy as np\n\nimport lsp_ad\n\n\n"
V = np.array([0.4, 1.2, -0.3])
W = np.array([0.7, -0.5, 1.1])
M = np.array([[0.3, 1.3, -0.4], [0.8, -0.6, 0.5]])


def case(row, body, *inputs, wrt=None):
    if "def f(" not in body:
        body = "def f(x):\n" + textwrap.indent(body, "    ")
    text = f"{HEAD}{body}\n"
    return pytest.param(text, inputs or ((0.7,),), wrt, id=row)


RIGHT = [
    # 1.3 statement forms
    case("1.3 assignment to a name", "y = x * x\ny = y * x\nreturn y"),
    case(
        "1.3 assignment to an element",
        "def f(x):\n    y = x * x\n    y[1] = y[0] * x[2]\n    return np.sum(y * y)",
        (V,),
    ),
    case(
        "1.3 assignment at a variable index",
        "def f(x):\n    y = x * 1.0\n    for i in range(1, 3):\n        y[i] = y[i - 1] * x[i]\n    return y[2] * y[1]",
        (V,),
    ),
    case("1.3 unpacking", "a, (b, c) = x, (x * x, 2 * x)\nreturn a * b + c"),
    case("1.3 unpacking a list", "[a, b] = [x, x * x]\na, b = b, a\nreturn a * a * b"),
    case("1.3 chained assignment", "a = b = x * x\na = a * b\nreturn a * b"),
    case("1.3 augmented assignment", "y = x * x\ny += x\ny *= y\ny -= 2 * x\ny /= x\ny **= 2\nreturn y"),
    case("1.3 annotated assignment", "y: float = x * x\nz: float\nz = y * x\nreturn z"),
    case(
        "1.3 if, elif, else",
        "if x > 1:\n    y = x * x\nelif x > 0:\n    y = x**3\nelse:\n    y = -x\nreturn y * x",
        (1.3,),
        (0.3,),
        (-0.3,),
    ),
    case("1.3 for over a range", "y = x\nfor i in range(4):\n    y = y * x + i\nreturn y"),
    case(
        "1.3 for over an array",
        "def f(x):\n    y = 1.0\n    for v in x:\n        y = y * v + v\n    return y",
        (V,),
    ),
    case("1.3 while", "while x < 10:\n    x = x * x + 1\nreturn x"),
    case(
        "1.3 for else",
        "for i in range(3):\n    if x > 2:\n        break\n    x = x * 1.5\nelse:\n    x = x * x\nreturn x",
        (0.3,),
        (1.9,),
    ),
    case(
        "1.3 while else",
        "while x < 2:\n    x = 2 * x\n    if x > 1.5:\n        break\nelse:\n    x = x * x\nreturn x * x",
        (0.8,),
        (1.4,),
        (2.5,),
    ),
    case(
        "1.3 break on data",
        "s = 0.0\nfor i in range(10):\n    s = s + x * i * s + x\n    if s > 3:\n        break\nreturn s * x",
        (0.7,),
        (0.01,),
    ),
    case(
        "1.3 continue",
        "s = x\nfor i in range(5):\n    if i % 2:\n        continue\n    s = s * x + i\nreturn s",
    ),
    case(
        "1.3 several returns",
        "if x > 1:\n    return x * x\nfor i in range(3):\n    x = x * 1.5\n    if x > 1:\n        return x\nreturn x * x * x",
        (2.0,),
        (0.8,),
        (0.1,),
    ),
    case("1.3 a tuple is returned, each item counts", "return x * x, 3 * x"),
    case("1.3 statements that only print", "'docstring'\nprint('x', x)\nreturn x * x"),
    case(
        "1.3 insert_grad_of",
        "def f(x):\n    with lsp_ad.insert_grad_of(x) as dx:\n        print(f'{dx}')\n    return x * x",
    ),
    case(
        "1.3 another with",
        "with np.errstate(divide='ignore'):\n    y = x * x\n    y = y * x\nreturn 2 * y",
        (3.0,),
    ),
    case("1.3 assert", "assert x > 0, 'positive'\nreturn x * x"),
    case("1.3 raise", "if x < 0:\n    raise ValueError(x)\nreturn x * x"),
    case(
        "1.3 try, except",
        "try:\n    y = 1 / x\nexcept ZeroDivisionError:\n    y = x * 3\nreturn y * y",
        (0.5,),
    ),
    case("1.3 pass", "if x > 0:\n    pass\nelse:\n    x = x * x\nreturn x", (0.5,), (-0.5,)),
    case("1.3 nested def", "def f(x):\n    def g(y):\n        return y * x\n    return g(x) * g(2.0)"),
    case("1.3 del", "y = x * x\nz = y * y\ndel y\nreturn z * x"),
    case("1.3 import", "import math\nfrom math import sin as s\nreturn math.exp(x) * s(x)"),
    case("1.3 global that is read", "SCALE = 2.5\n\n\ndef f(x):\n    global SCALE\n    return x * x * SCALE"),
    case("1.3 lambda", "g = lambda y: y * x\nreturn g(x) * g(2.0)"),
    # 1.4 expression forms
    case("1.4 operators", "return (x + 2) * (x - 1) / (x * x + 3) ** 2 - -x"),
    case("1.4 a variable exponent", "return x**x + 2.0**x"),
    case(
        "1.4 comparisons, True, False and None",
        "flag = None if x > 5 else True\nif flag is True and x != 3:\n    return x * x\nreturn x",
    ),
    case(
        "1.4 keywords of a library function",
        "def f(x):\n    return np.sum(x * x, axis=0, keepdims=False)",
        (V,),
    ),
    case(
        "1.4 index, slice, ellipsis, newaxis, step",
        "def f(x):\n    return np.sum(x[0] * x[1:] + x[..., None][::-1][0] * x[np.newaxis, -1])",
        (V,),
    ),
    case("1.4 a dict", "d = {'a': x, 'b': x * x}\nreturn d['a'] * d['b']"),
    case("1.4 a list comprehension", "def f(x):\n    return sum([v * v for v in x]) * x[0]", (V,)),
    case("1.4 and, or as values", "y = x and x * x\nz = y or 3 * x\nreturn y * z"),
    case("1.4 texts as values", "mode = 'square'\nif mode == 'square':\n    return x * x\nreturn x"),
    case("1.4 remainder", "return x * (x % 0.3)"),
    case(
        "1.4 attributes of what is differentiated",
        "def f(x):\n    return np.sum(x.T @ x) / x.size + x.shape[0] * x[0, 0] + x.ndim * x[0, 1]",
        (M,),
    ),
    case("1.4 methods", "def f(x):\n    return (x * x).sum(axis=0).max() * x.mean()", (M,)),
    case("1.4 chained comparisons as values", "y = 0 < x < 1\nreturn x * y + x * x", (0.4,), (1.4,)),
    # 1.5 the fence: what it rejects
    case("1.5 f-strings", "text = f'{x:.2f} and {x!r}'\nprint(text)\nreturn x * x"),
    case("1.5 bytes", "tag = b'abc'\nreturn x * x * len(tag)"),
    case(
        "1.5 starred",
        "def g(a, b):\n    return a * b\n\n\ndef f(x):\n    a, *rest = x, x * x, 3 * x\n    both = (a, x)\n    return g(*both) * rest[0] * rest[1]",
    ),
    case("1.5 unary plus", "return +x * +x"),
    case("1.5 not", "return x if not x > 1 else x * x", (0.5,), (1.5,)),
    case("1.5 ~", "def f(x):\n    return np.sum(x * ~(x > 0))", (V,)),
    case("1.5 //", "return x * (x // 0.3)"),
    case("1.5 <<, >>, |, ^, &", "k = ((1 << 3) >> 1 | 1) ^ (6 & 3)\nreturn x**k"),
    case(
        "1.5 | and & of conditions",
        "def f(x):\n    return np.sum(x * x * ((x > 0) & (x < 1) | (x < -2)))",
        (V,),
    ),
    case("1.5 @", "def f(x):\n    return np.sum((x @ x.T) ** 2)", (M,)),
    case(
        "1.5 in, not in",
        "def f(x, k):\n    if k in (1, 2):\n        return x * x\n    return x if k not in [3] else 3 * x",
        (0.7, 1),
        (0.7, 3),
        (0.7, 4),
        wrt=["x"],
    ),
    case("1.5 conditional expression", "return (x if x > 1 else x * x) * 2", (0.7,), (1.7,)),
    case("1.5 generator expression", "def f(x):\n    return sum(v * v for v in x) * x[0]", (V,)),
    case("1.5 dict comprehension", "def f(x):\n    d = {k: x * k for k in (1, 2)}\n    return d[1] * d[2]"),
    case("1.5 finally", "try:\n    y = x * x\nfinally:\n    print('done')\nreturn y"),
    case("1.5 := ", "if (y := x * x) > 1:\n    return y * x\nreturn y", (0.5,), (1.5,)),
    case("1.5 match", "match 'a':\n    case 'a':\n        y = x * x\n    case _:\n        y = x\nreturn y"),
    # 1.6 other refusals
    case(
        "1.6 keywords of a callee",
        "def g(a, b):\n    return a * a * b\n\n\ndef f(x):\n    return g(b=x, a=2 * x)",
    ),
    case(
        "1.6 defaults of a callee",
        "def g(a, b=3.0):\n    if a > 0:\n        return a * b\n    return b\n\n\ndef f(x):\n    return g(x) * g(x, b=x)",
    ),
    case(
        "1.6 functions as arguments",
        "def twice(g, y):\n    return g(g(y))\n\n\ndef square(y):\n    return y * y\n\n\ndef f(x):\n    return twice(square, x)",
    ),
    case(
        "1.6 a ufunc as an argument",
        "def twice(g, y):\n    return g(g(y))\n\n\ndef f(x):\n    return twice(np.sin, x)",
    ),
    case(
        "1.6 functools.partial",
        "import functools\n\n\ndef g(a, b):\n    return a * b * b\n\n\ndef f(x):\n    h = functools.partial(g, b=x)\n    return h(x)",
    ),
    case(
        "1.6 closures over what is differentiated",
        "def f(x):\n    y = x * x\n    def g(z):\n        return z * y\n    return g(x)",
    ),
    case(
        "1.6 recursion",
        "def f(x, n):\n    if n == 0:\n        return x\n    return np.sin(f(x, n - 1)) * x",
        (0.7, 3),
        wrt=["x"],
    ),
    # 1.10 mutation and indexing
    case(
        "1.10 arguments stay as they are", "def f(x):\n    x[0] = x[1] * x[2]\n    return np.sum(x * x)", (V,)
    ),
    case(
        "1.10 an array of zeros filled in a loop",
        "def f(x):\n    y = np.zeros_like(x)\n    for i in range(3):\n        y[i] = x[i] ** 2\n    return np.sum(y * x)",
        (V,),
    ),
    case(
        "1.10 y[i] += into zeros",
        "def f(x):\n    y = np.zeros(3)\n    for i in range(3):\n        y[i] += x[i] ** 2\n    return np.sum(y)",
        (V,),
    ),
    case(
        "1.10 aliases", "def f(x):\n    y = x * x\n    z = y\n    z[0] = x[1]\n    return np.sum(y * y)", (V,)
    ),
    case(
        "1.10 append in a loop",
        "def f(x):\n    items = []\n    for i in range(3):\n        items.append(x * i)\n    return items[1] * items[2]",
    ),
    case("1.10 writes into a dict", "d = {}\nd['a'] = x * x\nd['b'] = d['a'] * x\nreturn d['b'] * d['a']"),
    case("1.10 a repeated index", "def f(x):\n    return np.sum(x[[0, 0, 1]] ** 2)", (V,)),
    # 1.12 weak points
    case(
        "1.12 / that broadcasts", "def f(x, y):\n    return np.sum(x / y)", (M, V), (V, M), (M, 2.0), (2.0, M)
    ),
    case(
        "1.12 np.multiply that broadcasts",
        "def f(x, y):\n    return np.sum(np.multiply(x, y) ** 2)",
        (M, V),
        (V, M),
        (M, 2.0),
    ),
    case(
        "1.12 np.maximum that broadcasts",
        "def f(x, y):\n    return np.sum(np.maximum(x, y) ** 2)",
        (M, V),
        (V, M),
        (M, 0.1),
    ),
    case(
        "1.12 ** that broadcasts",
        "def f(x, y):\n    return np.sum(x**y)",
        (np.abs(M), V),
        (np.abs(V), M),
        (np.abs(M), 2.0),
    ),
    case("1.12 a constant power of a negative number", "return x**2 + x**3", (-0.7,)),
    case(
        "1.12 an active exponent, a negative base",
        "def f(x):\n    return np.sum(x ** np.round(x * x))",
        (np.array([-1.1, 0.4]),),
    ),
    case("1.12 np.mean with an axis", "def f(x):\n    return np.sum(np.mean(x * x, axis=1) ** 2)", (M,)),
    case("1.12 np.transpose with axes", "def f(x):\n    return np.sum(np.transpose(x * x, (1, 0))[0])", (M,)),
    case("1.12 dot of vectors", "def f(x, y):\n    return np.dot(x, y) ** 2", (V, W)),
    case(
        "1.12 mixed index and slice",
        "def f(x):\n    return np.sum(x[0, :] * x[:, 1:2][1] * x[1, ..., 0])",
        (M,),
    ),
    case("1.12 nothing is folded to zero", "def f(x):\n    return 0 * x + x * x * np.ones(3)", (V,)),
    # 5.1 issues
    case(
        "5.1 #1 augmented assignment",
        "def f(x):\n    s = 1.0\n    for v in x:\n        s *= v\n        s += v\n    return s",
        (V,),
    ),
    case("5.1 #3 .shape and .sum()", "def f(x):\n    return (x * x).sum() / x.shape[0]", (V,)),
    case("5.1 #4 methods of results", "def f(x):\n    return np.exp(x).sum() * x.reshape(3, 2)[0, 1]", (M,)),
    case(
        "5.1 #6 gradients that were missing",
        "def f(x):\n    return np.sum(np.linalg.inv(np.array([[x[0], 2.0], [3.0, x[1]]])))",
        (V,),
    ),
    case(
        "5.1 #7 any alias",
        "import numpy as nump\nfrom numpy import exp as e\n\n\ndef f(x):\n    return nump.sum(e(x))",
        (V,),
    ),
    case(
        "5.1 #8 x[:, :, k]",
        "def f(x, k):\n    return np.sum(x[:, :, k] ** 2) * x[0, :][0, 0]",
        (M.reshape(2, 3, 1), 0),
        wrt=["x"],
    ),
    case("5.1 #9 dot of two vectors", "def f(x, y):\n    return np.dot(x, y)", (V, W)),
    case(
        "5.1 #16 branches swapped",
        "if x > 0:\n    y = x * x\nelse:\n    y = x\nif y > 1:\n    y = y\nelse:\n    y = y * x\nreturn y",
        (0.5,),
        (1.5,),
        (-0.5,),
    ),
    case("5.1 #17 print", "y = x * x\nprint(y)\nreturn y * y"),
    case(
        "5.1 #20 over a list",
        "def f(x, y):\n    s = 1.0\n    for v in [x, y, x * y]:\n        s = s * v + v\n    return s",
        (0.4, 0.9),
    ),
    case("5.1 #21b with", "with np.errstate(all='ignore'):\n    x = x * x * x\nreturn 2 * x", (3.0,)),
    case(
        "5.1 fork: conditional, boolean, in, is, f-strings",
        "y = x if x is not None and not x > 3 else 2 * x\nprint(f'{y}')\nreturn y * x",
    ),
    case(
        "5.1 fork: dict parameters", "def f(p):\n    return p['w'] * p['w'] * p['b']", ({"w": 0.7, "b": 0.4},)
    ),
]


@pytest.mark.parametrize(("text", "inputs", "wrt"), RIGHT)
def test_right(text, inputs, wrt):
    for args in inputs:
        with contextlib.redirect_stdout(io.StringIO()):
            oracle.assert_gradient(text, *args, wrt=wrt)
            oracle.assert_jvp(text, *args, wrt=wrt)


REFUSED = {
    "1.3 global that is assigned": ("AD101", "def f(x):\n    global total\n    total = x\n    return x * x"),
    "1.3 nonlocal": (
        "AD205",
        "def f(x):\n    total = x\n    def add(y):\n        nonlocal total\n        total = total + y\n    add(x * x)\n    return total * x",
    ),
    "1.3 class": ("AD101", "def f(x):\n    class A:\n        pass\n    return x * x"),
    "1.3 async for": ("AD101", "async def g(x):\n    return x\n\ndef f(x):\n    return x * g(x)", "AD201"),
    "1.3 yield": ("AD102", "def f(x):\n    yield x * x"),
    "1.3 a with of which nothing is known": (
        "AD101",
        "def f(x):\n    with open('x') as h:\n        x = x * x\n    return x",
    ),
    "1.5 a set": ("AD102", "def f(x):\n    return x * len({1, 2})"),
    "1.5 a set comprehension": ("AD102", "def f(x):\n    return x * len({k for k in (1, 2)})"),
    "1.5 yield from": ("AD102", "def f(x):\n    yield from [x]"),
    "1.5 await": ("AD102", "def f(x):\n    return await_(x)", "AD201"),
    "1.5 finally that assigns": (
        "AD101",
        "def f(x):\n    try:\n        y = x\n    finally:\n        y = x * x\n    return y",
    ),
    "1.6 a function without a rule": ("AD201", "def f(x):\n    return np.sum(np.busday_count(x, x))"),
    "1.6 a function of another module": ("AD201", "from elsewhere import g\n\ndef f(x):\n    return g(x)"),
    "1.6 **kwargs": ("AD103", "def f(**x):\n    return x['a']", "AD205"),
    "1.6 eval": ("AD105", "def f(x):\n    return eval('x * x')"),
    "1.6 an attribute of an object": ("AD102", "def f(x, model):\n    return x * model.weight"),
    "1.12 np.reshape with order": (
        "AD202",
        "def f(x):\n    return np.sum(np.reshape(x, (2, 3), order='F')[0])",
    ),
    "5.1 #5 not into the library's own text": ("AD201", "def f(x):\n    return np.sum(np.unwrap(x))"),
}


@pytest.mark.parametrize("row", REFUSED)
def test_refused(row):
    code, text, *others = REFUSED[row]
    derivative, problems = differentiate(oracle.program(HEAD + text + "\n"), "f")
    assert derivative is None
    assert problems[0].code in (code, *others), problems
    found = problems[0]
    assert found.span.line > 1 and found.message and found.way_out


def test_a_function_without_a_text():
    """1.6, 5.1 #14: what was typed somewhere else is refused by name."""
    with pytest.raises(lsp_ad.DifferentiationError) as refused:
        lsp_ad.grad(np.sin)
    assert refused.value.problems[0].code == "AD505"


def test_the_seed_is_checked_without_assertions():
    """1.12: also under python -O."""
    _, text = oracle.generate(HEAD + "def f(x):\n    return x * x\n", "f", None, "vjp")
    program = (
        text + "\ntry:\n    f_vjp(np.ones(3), np.ones(2))\nexcept ValueError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-O", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "df must have the shape of the result of f\n"


def test_an_integer_array_has_a_gradient_of_floats():
    """1.12, 5.1 #2: not zero, and not of integers."""
    derivative, text = oracle.generate(HEAD + "def f(x):\n    return np.log(np.sum(np.exp(x)))\n")
    gradient = oracle.run(text)[derivative.name](np.array([1, 2, 3]))
    want = np.exp([1, 2, 3]) / np.sum(np.exp([1, 2, 3]))
    np.testing.assert_allclose(gradient, want)
    assert gradient.dtype == float


def test_every_float_parameter_by_default():
    """5.1 #13: not only the first one."""
    derivative, _ = oracle.generate("def f(x, n: int, y):\n    return x * y * n\n")
    assert derivative.wrt == ("x", "y")


def test_a_hessian_through_calls():
    """5.1 #12."""
    source = (
        HEAD
        + "def h(x):\n    return x * x * x\n\n\ndef g(x):\n    if x > 0:\n        return h(x) * x\n    return x\n\n\ndef f(x):\n    return g(x) * x\n"
    )
    derivative, text = oracle.generate(source)
    again, text = oracle.generate(text, derivative.name, ["x"], "grad")
    assert np.isclose(oracle.run(text)[again.name](0.7), 20 * 0.7**3)


@pytest.mark.row("T20")
@pytest.mark.parametrize(
    "body",
    ["return root(a, x) * a", "try:\n    r = root(a, x)\nexcept RuntimeError:\n    r = a * x\nreturn r * a"],
    ids=["call", "try"],
)
def test_a_second_derivative_through_a_callee_with_a_loop(body):
    """5.1 #12: what the callee saves is a list, and its adjoint is one."""
    callee = """
def root(a, x):
    for _ in range(20):
        step = (x * x - a) / (2 * x)
        x = x - step
        if abs(step) < 1e-2:
            return x
    raise RuntimeError("no convergence")


def f(a, x):
"""
    derivative, text = oracle.generate(
        HEAD + callee.lstrip() + textwrap.indent(body, "    ") + "\n", "f", ["a"]
    )
    oracle.assert_gradient(text, 2.0, 1.0, name=derivative.name, wrt=["a"], tolerance=2e-5, all_modes=False)
