"""Objects: methods, dataclasses, named tuples and plain classes, as parameters and made in a function."""

from __future__ import annotations

import copy
import dataclasses
import sys
import types

import numpy as np
import pytest

import lsp_ad
from lsp_ad import cli
from lsp_ad.differentiate import differentiate
from tests import oracle

pytestmark = pytest.mark.row("T18")


def normal(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape)


def pieces(gradient, path=()):
    """The numbers and arrays of a derivative, with where they stand in an object."""
    if isinstance(gradient, dict):
        items = list(gradient.items())
    elif dataclasses.is_dataclass(gradient):
        items = list(vars(gradient).items())
    elif hasattr(gradient, "_fields"):
        items = list(gradient._asdict().items())
    else:
        return [] if gradient is None else [(path, gradient)]
    return [piece for key, value in items for piece in pieces(value, (*path, key))]


def moved(value, path, direction):
    """A copy of an object with one of its pieces moved."""
    if not path:
        return value + direction
    if isinstance(value, dict):
        return {**value, path[0]: moved(value[path[0]], path[1:], direction)}
    inner = moved(getattr(value, path[0]), path[1:], direction)
    if hasattr(value, "_fields"):
        return value._replace(**{path[0]: inner})
    made = copy.copy(value)
    object.__setattr__(made, path[0], inner)
    return made


def run(source: str) -> dict:
    """The namespace of a module of its own, which dataclasses look for."""
    module = types.ModuleType("generated_objects")
    sys.modules["generated_objects"] = module
    exec(compile(source, "generated.py", "exec", dont_inherit=True), module.__dict__)
    return vars(module)


HEAD = "import numpy as np\nfrom dataclasses import dataclass\nfrom typing import NamedTuple\n\n"


def assert_right(source: str, *args, name: str = "f", wrt=None) -> str:
    """The derivative with respect to every field agrees with finite differences, in reverse and forward mode."""
    derivative, text = oracle.generate(HEAD + source, name, wrt, "vjp")
    forward, both = oracle.generate(text, name, wrt, "jvp")
    namespace = run(both)
    args = [a(namespace) if callable(a) else a for a in args]
    of, _, method = name.rpartition(".")
    f = vars(namespace[of])[method] if of else namespace[method]
    f = getattr(f, "__func__", getattr(f, "fget", f))
    rng = np.random.default_rng(0)
    value = f(*copy.deepcopy(args))
    seed = oracle.random_like(value, rng)
    gradients = namespace[derivative.name](*copy.deepcopy(args), **{derivative.seed: seed})
    gradients = gradients if len(derivative.wrt) > 1 else (gradients,)
    parameters = list(f.__code__.co_varnames[: f.__code__.co_argcount])
    for p, gradient in zip(derivative.wrt, gradients, strict=True):
        at = parameters.index(p)
        for path, piece in pieces(gradient):
            if isinstance(at_path(args[at], path), int):
                continue
            direction = rng.normal(size=np.shape(piece)) if np.ndim(piece) else 1.0
            sides = []
            for sign in (1e-6, -1e-6):
                there = list(copy.deepcopy(args))
                there[at] = moved(there[at], path, sign * direction)
                sides.append(oracle.weighted(f(*there), seed))
            want = (sides[0] - sides[1]) / 2e-6
            got = np.sum(piece * direction)
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7, err_msg=f"{p} {path} {text}")
    tangents = [like(g, rng) for g in gradients]
    args = list(args)
    _, tangent = namespace[forward.name](*copy.deepcopy(args), *tangents)
    want = sum(inner(g, t) for g, t in zip(gradients, tangents, strict=True))
    np.testing.assert_allclose(oracle.weighted(tangent, seed), want, rtol=1e-9, atol=1e-10, err_msg=both)
    return text


def at_path(value, path):
    for key in path:
        value = value[key] if isinstance(value, dict) else getattr(value, key)
    return value


def like(gradient, rng):
    if isinstance(gradient, dict):
        return {k: like(v, rng) for k, v in gradient.items()}
    if dataclasses.is_dataclass(gradient):
        return type(gradient)(**{k: like(v, rng) for k, v in vars(gradient).items()})
    if hasattr(gradient, "_fields"):
        return type(gradient)(*(like(v, rng) for v in gradient))
    return None if gradient is None else oracle.random_like(gradient, rng)


def inner(a, b):
    return sum(float(np.sum(x * y)) for (_, x), (_, y) in zip(pieces(a), pieces(b), strict=True))


LAYER = """
@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray
    name: str = "layer"
    n: int = 2

    def apply(self, x):
        return np.tanh(x @ self.w + self.b)

    def repeated(self, x):
        for _ in range(self.n):
            x = self.apply(x) * self.scale()
        return x

    def scale(self):
        return 1.0 / (1.0 + np.sum(self.w**2))

    @property
    def size(self):
        return np.sum(self.w**2) + np.sum(np.abs(self.b))

    @staticmethod
    def half(x):
        return x / 2

    @classmethod
    def twice(cls, x):
        return cls.half(x) * 4
"""
layer = lambda ns: ns["Layer"](normal(2, 2), normal(2))  # noqa: E731

PARAMETERS = {
    "fields of a dataclass": (
        "def f(p: Layer, x):\n    return np.tanh(x @ p.w + p.b).sum() * p.n\n",
        layer,
        normal(2),
    ),
    "a method": ("def f(p: Layer, x):\n    return p.apply(x) * p.b\n", layer, normal(2)),
    "a method that calls methods, in a loop": (
        "def f(p: Layer, x):\n    return p.repeated(x)\n",
        layer,
        normal(2),
    ),
    "a property": ("def f(p: Layer, x):\n    y = x * p.size\n    return y * p.size\n", layer, normal(2)),
    "static and class methods": (
        "def f(p: Layer, x):\n    return p.half(x) + Layer.half(x * x) + p.twice(x) * Layer.twice(x) * p.b\n",
        layer,
        normal(2),
    ),
    "a method called with the object": (
        "def f(p: Layer, x):\n    return Layer.apply(p, x=x)\n",
        layer,
        normal(2),
    ),
    "a function that is given the object": (
        "def g(x, layer, k=2.0):\n    for _ in range(2):\n        x = layer.apply(x) * k\n    return x * layer.b\n\n"
        "def f(p: Layer, x):\n    return g(x, p) + g(x, layer=p, k=3.0)\n",
        layer,
        normal(2),
    ),
    "two objects": (
        "def f(p: Layer, q: Layer, x):\n    return q.apply(p.apply(x)) * p.b + q.size\n",
        layer,
        layer,
        normal(2),
    ),
    "a recursive method": (
        "@dataclass\nclass T:\n    a: float\n    b: float\n\n    def power(self, x, n):\n        if n == 0:\n            return self.b\n"
        "        return self.a * x * self.power(x, n - 1)\n\ndef f(t: T, x):\n    return t.power(x, 3)\n",
        lambda ns: ns["T"](0.7, 1.3),
        0.4,
    ),
    "objects in objects": (
        "@dataclass\nclass Net:\n    first: Layer\n    second: 'Layer'\n    rate: float\n\n    def loss(self, x):\n"
        "        y = self.second.apply(self.first.apply(x))\n        return np.sum(y * y) + self.rate * self.first.size\n\n"
        "def f(net: Net, x):\n    return net.loss(x) * net.second.b\n",
        lambda ns: ns["Net"](layer(ns), layer(ns), 0.1),
        normal(2),
    ),
    "a named tuple": (
        "class P(NamedTuple):\n    a: float\n    b: float\n    c: float = 1.0\n\ndef f(p: P, x):\n    a, b, _ = p\n    return p.a * x + p[1] * a + b**2\n",
        lambda ns: ns["P"](0.3, 0.7),
        normal(3),
    ),
    "a named tuple of the old kind": (
        "from collections import namedtuple\nP = namedtuple('P', 'a b')\n\ndef f(p: P, x):\n    return p.a * x + p.b**2\n",
        lambda ns: ns["P"](0.3, 0.7),
        normal(3),
    ),
    "an inherited method, and one that calls it": (
        "@dataclass\nclass Deep(Layer):\n    gain: float = 0.5\n\n    def apply(self, x):\n        return super().apply(x) * self.gain\n\n"
        "def f(p: Deep, x):\n    return p.repeated(x) * p.size\n",
        lambda ns: ns["Deep"](normal(2, 2), normal(2)),
        normal(2),
    ),
    "an object that is called": (
        "class Scaled(Layer):\n    def __call__(self, x):\n        return self.apply(x) * self.b\n\n"
        "@dataclass\nclass Two:\n    first: Scaled\n    gain: float\n\n    def __call__(self, x):\n        return self.first(x) * self.gain\n\n"
        "def f(two: Two, x):\n    return two(x) + two.first(x * x)\n",
        lambda ns: ns["Two"](ns["Scaled"](normal(2, 2), normal(2)), 0.3),
        normal(2),
    ),
    "closures and comprehensions in methods": (
        "@dataclass\nclass Mix:\n    a: float\n    b: np.ndarray\n\n    def value(self, x):\n        scaled = lambda t: t * self.a\n"
        "        def shifted(t):\n            return scaled(t) + self.b\n        parts = [shifted(x * k) for k in range(3)]\n"
        "        return sum(parts)\n\ndef f(m: Mix, x):\n    g = lambda t: m.value(t) * m.a\n    return g(x) + m.value(x)\n",
        lambda ns: ns["Mix"](0.7, normal(2)),
        normal(2),
    ),
    "errors of one's own, and an enumeration": (
        "import enum\n\nclass Wrong(ValueError):\n    pass\n\nclass Mode(enum.Enum):\n    FAST = 1\n\n"
        "def f(p: Layer, x):\n    if p.n > 5:\n        raise Wrong(f'too many {p.n}')\n    return p.apply(x)\n",
        layer,
        normal(2),
    ),
    "a copy of an array of it is changed": (
        "def f(p: Layer, x):\n    b = p.b.copy()\n    s = np.sum(p.b)\n    for i in range(2):\n        b = b + x\n        s += b[0]\n"
        "    return b * s\n",
        layer,
        normal(2),
    ),
    "a plain class": (
        "class Model:\n    scale = 2.0\n\n    def __init__(self, w, inner: Layer, rate=0.1):\n        self.w, self.rate = w, rate\n"
        "        self.inner = inner\n\n    def loss(self, x):\n        return np.sum(self.inner.apply(x) * self.w) * self.scale + self.rate\n\n"
        "def f(m: Model, x):\n    return m.loss(x) * m.w\n",
        lambda ns: ns["Model"](normal(2), layer(ns)),
        normal(2),
    ),
    "a parameter that is assigned anew": (
        "@dataclass(frozen=True)\nclass State:\n    x: np.ndarray\n    v: np.ndarray\n\n    def moved(self, dt):\n"
        "        return State(self.x + dt * self.v, self.v - dt * np.sin(self.x))\n\n"
        "def f(s: State, dt: float, n: int):\n    for _ in range(n):\n        s = s.moved(dt)\n    return s.x * s.v\n",
        lambda ns: ns["State"](normal(3), normal(3)),
        0.1,
        4,
    ),
}


@pytest.mark.parametrize("case", PARAMETERS.values(), ids=PARAMETERS)
def test_objects_as_parameters(case):
    source, *args = case
    assert_right(LAYER + "\n" + source, *args)


POINT = """
@dataclass
class Point:
    x: float
    y: float = 2.0

    def norm(self):
        return np.sqrt(self.x**2 + self.y**2)

    def plus(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def times(self, k):
        return Point(self.x * k, self.y * k)
"""
MADE = {
    "fields are read": ("def f(a, b):\n    p = Point(a * b, y=b)\n    return p.x * p.y + p.x\n", 0.3, 0.7),
    "a default": ("def f(a, b):\n    p = Point(a * b)\n    return p.x * p.y + b\n", 0.3, 0.7),
    "a method": ("def f(a, b):\n    p = Point(a * b, b)\n    return p.norm() * a\n", 0.3, 0.7),
    "methods that give objects": (
        "def f(a, b):\n    p = Point(a, b)\n    q = p.plus(p.times(a))\n    r = q.times(b)\n    return r.norm()\n",
        0.3,
        0.7,
    ),
    "in a loop": (
        "def f(a, b, n: int):\n    p = Point(a, b)\n    for i in range(n):\n        p = Point(p.y * a, p.x + i)\n    return p.x * p.y\n",
        0.3,
        0.7,
        4,
    ),
    "in branches": (
        "def f(a, b):\n    if a > b:\n        p = Point(a, b)\n    else:\n        p = Point(b)\n    return p.x * p.y * a\n",
        0.3,
        0.7,
    ),
    "replaced": (
        "from dataclasses import replace\n\ndef f(a, b):\n    p = Point(a, b)\n    q = replace(p, x=p.y * a)\n    return q.x * q.y * p.x\n",
        0.3,
        0.7,
    ),
    "a named tuple replaced and taken apart": (
        "class P(NamedTuple):\n    x: float\n    y: float\n\ndef f(a, b):\n    p = P(a, b)._replace(y=a * b)\n"
        "    x, y = p\n    return x * y * p[0] + p.y\n",
        0.3,
        0.7,
    ),
    "fields are assigned": (
        "def f(a: float, b: float):\n    p = Point(a, b)\n    p.x = p.x * p.y\n    p.y += a\n    for _ in range(2):\n        p.x *= p.y\n    return p.x * p.y\n",
        0.3,
        0.7,
    ),
    "one made for a call": (
        "def g(p, k):\n    return p.norm() * k\n\ndef f(a, b):\n    return g(Point(a, b), a)\n",
        0.3,
        0.7,
    ),
    "one in another": (
        "@dataclass\nclass Line:\n    start: Point\n    end: Point\n\n    def length(self):\n        return self.end.plus(self.start.times(-1.0)).norm()\n\n"
        "def f(a, b):\n    line = Line(Point(a, b), Point(b * b))\n    return line.length() * line.start.x\n",
        0.3,
        0.7,
    ),
    "a function that gives an object": (
        "def middle(p, q):\n    if p.x > q.x:\n        return p\n    return Point((p.x + q.x) / 2, (p.y + q.y) / 2)\n\n"
        "def f(a, b):\n    m = middle(Point(a, b), Point(b, a))\n    return m.x * m.y\n",
        0.3,
        0.7,
    ),
}


@pytest.mark.parametrize("case", MADE.values(), ids=MADE)
def test_objects_that_are_made_in_a_function(case):
    source, *args = case
    assert_right(POINT + "\n" + source, *args)


METHODS = ["apply", "repeated", "scale", "size", "half"]


@pytest.mark.parametrize("method", METHODS)
def test_methods_by_name(method):
    args = {"apply": [layer, normal(2)], "repeated": [layer, normal(2)], "half": [normal(2)]}.get(
        method, [layer]
    )
    text = assert_right(LAYER, *args, name=f"Layer.{method}")
    assert f"def Layer_{method}_" in text


def test_the_gradient_of_a_dataclass_is_one_and_that_of_a_plain_class_a_dict():
    source = LAYER + "\ndef f(p: Layer, x):\n    return np.sum(p.apply(x))\n"
    text = oracle.generate("import numpy as np\nfrom dataclasses import dataclass\n" + source, "f")[1]
    assert "return Layer(w=dw, b=db, name=None, n=0.0), dx\n" in text
    plain = "class M:\n    def __init__(self, w, b):\n        self.w = w\n        self.b = b\n\ndef f(m: M, x):\n    return m.w * x\n"
    assert '{"w": ' in oracle.generate(plain, "f")[1].replace("'", '"')


REFUSED = {
    "a tree without end": (
        "@dataclass\nclass Tree:\n    value: float\n    left: 'Tree'\n\n    def total(self, n):\n        if n == 0:\n            return self.value\n"
        "        return self.value + self.left.total(n - 1)\n\ndef f(t: Tree, x):\n    return t.total(3) * x\n",
        "AD404",
    ),
    "a private name": (
        "class Q:\n    def __init__(self, x):\n        self.__x = x\n    def g(self):\n        return self.__x * 2\n\ndef f(q: Q, x):\n    return q.g() * x\n",
        "AD404",
    ),
    "an attribute is assigned": ("def f(p: Point, x):\n    p.x = x\n    return p.x * x\n", "AD301"),
    "an attribute is added to": ("def f(p: Point, x):\n    p.x += x\n    return p.x * x\n", "AD301"),
    "an element of an attribute is assigned": (
        "def f(p: Point, x):\n    p.x[0] = x\n    return p.x * x\n",
        "AD301",
    ),
    "a method that does": (
        "@dataclass\nclass Q(Point):\n    def keep(self, x):\n        self.x = x\n        return x * x\n\ndef f(q: Q, x):\n    return q.keep(x)\n",
        "AD301",
    ),
    "it is returned": ("def f(p: Point, x):\n    return p\n", "AD404"),
    "it is put into a list": ("def f(p: Point, x):\n    ps = [p]\n    return ps[0].x * x\n", "AD404"),
    "an attribute that nothing assigns": ("def f(p: Point, x):\n    return p.z * x\n", "AD404"),
    "a method that is not called": ("def f(p: Point, x):\n    g = p.norm\n    return g() * x\n", "AD404"),
    "__getattr__": (
        "class Q:\n    def __init__(self, x):\n        self.x = x\n    def __getattr__(self, name):\n        return 3.0\n\ndef f(q: Q, x):\n    return q.x * x\n",
        "AD404",
    ),
    "a metaclass": (
        "class M(type):\n    pass\n\nclass Q(metaclass=M):\n    def __init__(self, x):\n        self.x = x\n\ndef f(q: Q, x):\n    return q.x * x\n",
        "AD404",
    ),
    "a base that is not known": (
        "from torch.nn import Module\n\nclass Q(Module):\n    def __init__(self, x):\n        self.x = x\n\ndef f(q: Q, x):\n    return q.x * x\n",
        "AD404",
    ),
    "a decorated method": (
        "from functools import cache\n\nclass Q:\n    def __init__(self, x):\n        self.x = x\n    @cache\n    def g(self):\n        return self.x\n\ndef f(q: Q, x):\n    return q.g() * x\n",
        "AD103",
    ),
    "a plain class that counts while it is made": (
        "class Q:\n    def __init__(self, x):\n        self.x = x\n        self.x += 1\n\ndef f(x):\n    q = Q(x)\n    return q.x * x\n",
        "AD404",
    ),
    "a plain class that reads an attribute while it is made": (
        "class Q:\n    def __init__(self, x):\n        self.x = x\n        self.y = self.x * 2\n\ndef f(x):\n    q = Q(x)\n    return q.y * x\n",
        "AD404",
    ),
    "a plain class with a list for a default": (
        "class Q:\n    def __init__(self, x, seen=[]):\n        self.x = x\n        self.seen = seen\n\ndef f(x):\n    q = Q(x)\n    return q.x * x\n",
        "AD404",
    ),
    "a plain class that reads what is something else here": (
        "RATE = 2.0\n\nclass Q:\n    def __init__(self, x):\n        self.x = x * RATE\n\ndef f(x, RATE):\n    q = Q(x)\n    return q.x * x * RATE\n",
        "AD404",
    ),
    "a plain class with an argument too many": (
        "class Q:\n    def __init__(self, x):\n        self.x = x\n\ndef f(x):\n    q = Q(x, x)\n    return q.x * x\n",
        "AD404",
    ),
    "a plain class with an attribute that another method assigns": (
        "class Q:\n    def __init__(self, x):\n        self.x = x\n    def set(self):\n        self.y = 2.0\n\ndef f(x):\n    q = Q(x)\n    return q.y * x\n",
        "AD404",
    ),
    "one that makes more of itself": (
        "@dataclass\nclass Q:\n    x: float\n    def __post_init__(self):\n        self.x = self.x * 2\n\ndef f(x):\n    q = Q(x)\n    return q.x * x\n",
        "AD404",
    ),
    "a second name, and a field is assigned": (
        "def f(a):\n    p = Point(a, a)\n    q = p\n    q.x = 3.0\n    return p.x * a\n",
        "AD404",
    ),
    "a second name by a function": (
        "def same(p):\n    return p\n\ndef f(a):\n    p = Point(a, a)\n    q = same(p)\n    p.x = 3.0\n    return q.x * a\n",
        "AD404",
    ),
    "a second name, and two fields are assigned": (
        "def f(a):\n    p = Point(a, a)\n    q = p\n    q.x, q.y = 3.0, a\n    return p.x * a\n",
        "AD404",
    ),
    "a name that is something else, too": (
        "def f(a, b):\n    p = Point(a, a)\n    y = (p := b)\n    return p.x * y\n",
        "AD",
    ),
    "an array of it is written": (
        "@dataclass\nclass Q(Point):\n    def g(self, x):\n        v = self.x.T\n        v[0] = x\n        return v.sum() * x\n\ndef f(q: Q, x):\n    return q.g(x)\n",
        "AD301",
    ),
    "an array of it is added to": (
        "def f(p: Point, x):\n    v = p.x\n    v += x\n    return v * x\n",
        "AD301",
    ),
    "an array of it is written by a function": (
        "def f(p: Point, x):\n    np.add.at(p.x, [0], x)\n    return p.x.sum() * x\n",
        "AD301",
    ),
    "an attribute that is a list is changed": (
        "def f(p: Point, x):\n    y = p.x.pop()\n    return y * x\n",
        "AD301",
    ),
    "a name that is something else in a function inside": (
        "@dataclass\nclass Q(Point):\n    def g(self, other):\n        def h(self):\n            return self.x\n        return h(other) * self.x\n\n"
        "def f(q: Q, r: Point):\n    return q.g(r)\n",
        "AD404",
    ),
    "a class whose name is a variable": (
        "def f(p: Point, x):\n    Point = x\n    return p.x * Point\n",
        "AD404",
    ),
    "setattr": ("def f(p: Point, x):\n    setattr(p, 'x', x)\n    return p.x\n", "AD"),
}


@pytest.mark.parametrize(("source", "code"), REFUSED.values(), ids=REFUSED)
def test_refusals(source, code):
    source = "import numpy as np\nfrom dataclasses import dataclass\n" + POINT + "\n" + source
    derivative, problems = differentiate(oracle.program(source), "f", None, "grad")
    assert derivative is None and problems[0].code.startswith(code), (
        problems,
        derivative and derivative.text,
    )


def test_an_object_of_a_subclass_is_an_error_where_methods_are_called():
    source = (
        "import numpy as np\nfrom dataclasses import dataclass\n"
        + LAYER
        + "\ndef f(p: Layer, x):\n    return np.sum(p.apply(x))\n"
    )
    derivative, text = oracle.generate(
        source + "\nclass Other(Layer):\n    def apply(self, x):\n        return x\n", "f"
    )
    namespace = run(text)
    other = namespace["Other"](normal(2, 2), normal(2))
    with pytest.raises(TypeError, match="Layer"):
        namespace[derivative.name](other, normal(2))


# --- live ---------------------------------------------------------------------------------------


@dataclasses.dataclass
class Spring:
    k: float
    rest: np.ndarray
    steps: int = 3

    def energy(self, x):
        return 0.5 * self.k * np.sum(self.stretch(x) ** 2)

    def stretch(self, x):
        return x - self.rest


class Harder(Spring):
    def stretch(self, x):
        return (x - self.rest) ** 3


class Bell:
    def __init__(self, width):
        self.width = width

    def bump(self, x: float):
        return self.at(x, 1.0)

    def at(self, x, y=2.0):
        return np.exp(-((x / self.width) ** 2)) * y


def test_a_function_of_a_class_is_differentiated_with_respect_to_its_object():
    spring, x = Spring(2.0, np.array([0.5, 1.0])), np.array([1.0, 3.0])
    ds = lsp_ad.grad(Spring.energy, wrt="self")(spring, x)
    assert isinstance(ds, Spring) and np.isclose(ds.k, 0.5 * np.sum((x - spring.rest) ** 2))
    np.testing.assert_allclose(ds.rest, -2.0 * (x - spring.rest))
    bell = lsp_ad.grad(Bell.at, wrt="self")(Bell(0.8), 0.3)
    np.testing.assert_allclose(bell["width"], np.exp(-((0.3 / 0.8) ** 2)) * 2 * 2 * 0.3**2 / 0.8**3)


@pytest.mark.parametrize("spring", [Spring(2.0, np.array([0.5, 1.0])), Harder(2.0, np.array([0.5, 1.0]))])
def test_bound_methods(spring):
    x, direction = np.array([1.0, 1.5]), np.array([0.3, -0.2])
    gradient = lsp_ad.grad(spring.energy)
    want = (spring.energy(x + 1e-6 * direction) - spring.energy(x - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(gradient(x) @ direction, want, rtol=1e-7)
    np.testing.assert_allclose(lsp_ad.value_and_grad(spring.energy, wrt=0)(x)[0], spring.energy(x))
    assert np.isclose(lsp_ad.jvp(spring.energy)(x, direction)[1], want)


def test_parameters_of_bound_methods():
    bell = Bell(0.8)
    dx, dy = lsp_ad.grad(bell.at, wrt=("x", 1))(0.3, y=3.0)
    np.testing.assert_allclose((dx * 0.8**2, dy), (-0.6 * bell.at(0.3, 3.0), bell.at(0.3, 1.0)))
    with pytest.raises(lsp_ad.DifferentiationError, match="has no parameter"):
        lsp_ad.grad(bell.at, wrt="z")


def test_a_derivative_of_a_derivative():
    bell, x = Bell(0.8), 0.3

    first = lsp_ad.grad(bell.bump)
    second = lsp_ad.jvp(first, wrt="x")(x, dx=1.0)[1]
    t = x / 0.8
    np.testing.assert_allclose(second, np.exp(-t * t) * (4 * t * t - 2) / 0.8**2)


def test_a_function_of_the_wrong_class():
    with pytest.raises(TypeError, match="Spring"):
        lsp_ad.grad(Spring.energy, wrt="self")(Harder(2.0, np.ones(2)), np.ones(2))


def test_the_command_line_writes_the_derivative_of_a_method_below_its_class(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(HEAD + LAYER + "\nLAST = 1\n")
    assert cli.main(["grad", f"{path}::Layer.size", "--write"]) == 0
    text = path.read_text()
    assert (
        text.index("def twice")
        < text.index("def Layer_size_grad(self: Layer, dsize=1.0)")
        < text.index("LAST")
    )
    namespace = run(text)
    made = namespace["Layer"](normal(2, 2), np.array([0.5, -1.0]))
    np.testing.assert_allclose(namespace["Layer_size_grad"](made).b, [1.0, -1.0])


PLAIN = {
    "arguments": "class P:\n    def __init__(self, a, b):\n        self.a = a\n        self.b = b\n\n"
    "def f(x):\n    p = P(x * 2.0, x[0])\n    return np.sum(p.a * p.b)\n",
    "computed attributes, a default and a method": "RATE = 3.0\n\nclass P:\n"
    "    def __init__(self, a, b=0.5, *, c):\n        self.twice: float = a + a\n        self.b = b * RATE\n        self.c = c\n\n"
    "    def area(self, x):\n        return np.sum(self.twice * self.b * x) + self.c\n\n"
    "def f(x):\n    return P(np.sin(x), c=x[1]).area(x) * x[0]\n",
    "an object in an object": "class Q:\n    def __init__(self, w):\n        self.w = w\n\n"
    "class P:\n    def __init__(self, q: Q, n):\n        self.q = q\n        self.n = n\n\n"
    "def f(x):\n    q = Q(x * x)\n    p = P(q, 2.0)\n    return np.sum(p.q.w * p.n)\n",
    "bound anew in a loop": "class P:\n    def __init__(self, a, b):\n        self.a = a\n        self.b = b\n\n"
    "def f(x):\n    p = P(x, x[0])\n    for i in range(3):\n        p = P(p.b * p.a, p.a[1] + p.b)\n    return np.sum(p.a * p.b)\n",
    "an `__init__` of a base": "class B:\n    def __init__(self, a):\n        self.a = a\n\n"
    "class P(B):\n    def g(self):\n        return self.a * 2.0\n\n"
    "def f(x):\n    p = P(x * x)\n    return np.sum(p.g())\n",
    "passed to a function": "class P:\n    def __init__(self, a, b):\n        self.a = a\n        self.b = b\n\n"
    "def g(p: P, x):\n    return p.a * x + p.b\n\ndef f(x):\n    return np.sum(g(P(x, 2.0), x))\n",
}


@pytest.mark.parametrize("program", PLAIN)
def test_objects_of_plain_classes_that_are_made_here(program):
    source = "import numpy as np\n\n" + PLAIN[program]
    oracle.assert_gradient(source, np.array([0.7, 1.3, -0.4]))
    oracle.assert_jvp(source, np.array([0.7, 1.3, -0.4]))
