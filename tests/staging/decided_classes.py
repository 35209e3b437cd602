"""Programs with objects whose attributes decide in Python, or are staged: it can be told from the text."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

OBJECTS = []


def program(*several):
    def keep(function):
        OBJECTS.append((function, list(several) or [(1.5, 2.0), (-1.5, 2.0)]))
        return function

    return keep


class Layer:
    slope = 0.1
    kinds = ("relu", "leaky")

    def __init__(self, weight, kind="relu", use_bias=True):
        self.weight = weight
        self.kind = kind
        self.use_bias = use_bias
        self.bias = 0.5 if use_bias else None

    def __call__(self, x, training=False):
        y = self.weight * x
        if self.use_bias:
            y = y + self.bias
        if self.bias is None:
            y = y - 1.0
        if training and self.kind in self.kinds:
            y = y * 0.5
        return self.activate(y)

    def activate(self, y):
        if self.kind == "relu":
            return y if y > 0 else 0.0
        return y if y > 0 else self.slope * y


class Wide(Layer):
    def __init__(self, weight, times):
        super().__init__(weight, kind="leaky", use_bias=False)
        self.times = times

    def activate(self, y):
        for _ in range(self.times):
            y = super().activate(y)
        return y


class Net:
    def __init__(self, layers):
        self.layers = layers
        self.calls = 0

    def __len__(self):
        return len(self.layers)

    @property
    def is_deep(self):
        return len(self.layers) > 2

    @functools.cached_property
    def widest(self):
        return max(layer.times if isinstance(layer, Wide) else 1 for layer in self.layers)

    @staticmethod
    def clip(x, limit):
        return x if x < limit else limit

    @classmethod
    def of(cls, *weights):
        return cls([Layer(w) for w in weights])

    def __call__(self, x):
        self.calls += 1
        for i, layer in enumerate(self.layers):
            x = layer(x, training=i == 0)
            if i < len(self) - 1:
                x = self.clip(x, 3.0)
        if self.is_deep or self.widest > 1:
            x = -x
        return x


@program()
def layers(a, b):
    net = Net([Layer(a), Wide(b, 2), Layer(b, "leaky", False)])
    y = net(a) + net(b)
    if net.calls == 2:
        y = y + 1.0
    return y if net else 0.0


@program()
def made_by_a_class_method(a, b):
    net = Net.of(a, b)
    if net.is_deep:
        return a
    return net(a) if len(net) > 1 else b


class Counter:
    def __init__(self, start=0):
        self.count = start
        self.total = 0.0
        self.seen = []

    def add(self, x):
        self.count += 1
        self.total = self.total + x
        self.seen.append(x)
        return self

    @property
    def mean(self):
        return self.total / self.count if self.count > 0 else 0.0


@program()
def counted_in_python(a, b):
    counter = Counter()
    for x in (a, b, a * b):
        counter.add(x)
    if counter.count > 2:
        a = a + 1.0
    for x in counter.seen:
        a = a + x
    return a if counter.mean > 0 else counter.total


@program()
def counted_in_a_branch(a, b):
    counter = Counter(1)
    if a > 0:
        counter.count = 5
    if counter.count > 3:
        b = b + 1.0
    while counter.count < 8:
        counter.count += 1
    return b * counter.count


@program()
def counted_in_a_staged_loop(a, b):
    counter = Counter()
    while a < 10.0:
        a = a + 3.0
        counter.count += 1
        if counter.count == 2:
            b = -b
    return b + counter.count


class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def total(self):
        found = self.value if self.value > 0 else 0.0
        if self.left is not None:
            found = found + self.left.total()
        if self.right:
            found = found + self.right.total()
        return found

    @property
    def is_leaf(self):
        return self.left is None and self.right is None


@program()
def trees(a, b):
    tree = Node(a, Node(b), Node(a * b, right=Node(-a)))
    result = tree.total()
    if tree.is_leaf or not tree.left.is_leaf:
        result = -result
    return result if tree.right.right.value > 0 else result + 1.0


class Point(NamedTuple):
    x: float
    y: float = 1.0
    name: str = "p"

    def norm(self):
        return abs(self.x) + abs(self.y)


@program()
def tuples_of_names(a, b):
    p = Point(a)
    q = p._replace(y=b)
    x, y, name = q
    if name == "p":
        x = x + 1.0
    if q[0] > 0 and len(q) == 3:
        x = x + y
    return x if p.norm() > q.norm() else p[1]


@dataclass(frozen=True)
class Settings:
    steps: int = 3
    rate: float = 0.1
    verbose: bool = False
    names: tuple = ("a", "b")


@dataclass
class Run:
    value: float
    settings: Settings = field(default_factory=Settings)
    done: bool = False

    def step(self):
        self.value = self.value - self.settings.rate * self.value
        if self.settings.verbose:
            self.value = self.value + 1.0
        self.done = self.value < 0.1


@program()
def nested_dataclasses(a, b):
    run = Run(a, Settings(steps=2))
    for _ in range(run.settings.steps):
        run.step()
        if run.done:
            run.value = b
    other = Run(b, Settings(verbose=True, names=("c",)))
    other.step()
    if len(other.settings.names) == 1:
        other.value = -other.value
    return run.value + other.value if not run.done else b


class Adaptive:
    def __init__(self, x, tolerance):
        self.x = x
        self.tolerance = tolerance
        self.steps = 0

    def solve(self):
        while self.error > self.tolerance:
            self.x = 0.5 * (self.x + 2.0 / self.x)
            self.steps = self.steps + 1
            if self.steps > 5:
                break
        return self.x

    @property
    def error(self):
        e = self.x * self.x - 2.0
        return e if e > 0 else -e


@program((1.5, 0.001), (-1.5, 0.5))
def solvers(a, b):
    solver = Adaptive(a, b)
    x = solver.solve()
    return x if solver.steps > 3 else -x


class Vector:
    def __init__(self, *parts):
        self.parts = list(parts)

    def __len__(self):
        return len(self.parts)

    def __iter__(self):
        return iter(self.parts)

    def __getitem__(self, i):
        return self.parts[i]

    def __add__(self, other):
        return Vector(*[p + q for p, q in zip(self, other, strict=False)])

    def __mul__(self, k):
        return Vector(*[p * k for p in self])

    def __eq__(self, other):
        return all(p == q for p, q in zip(self, other, strict=False))

    def norm(self, kind=None):
        if kind is None:
            kind = 1
        if kind == 1:
            return sum(abs(p) for p in self)
        return max(abs(p) for p in self)


@program()
def vectors(a, b):
    v = Vector(a, b) + Vector(b, a) * 2.0
    x = v.norm() if v[0] > 0 else v.norm(2)
    for p in v:
        if p > x:
            x = p
    first, _ = v
    return first if len(v) == 2 and x > 1 else x


def chosen_by(kind, *arguments):
    return {"pair": Vector, "count": Counter}[kind](*arguments)


@program()
def classes_as_values(a, b):
    made = [Counter, Adaptive]
    counter = made[0]()
    counter.add(a)
    kind = Layer if counter.count > 1 else Node
    node = kind(b)
    return node.total() if counter.mean > b else a


@program((np.array([1.0, -2.0, 3.0]), 0.5))
def arrays_in_objects(a, b):
    layer = Layer(a.sum(), "leaky")
    y = layer(b)
    if a.ndim == 1:
        y = y + a[0] if layer.weight > 0 else y
    return y


NETWORK = Net([Layer(0.5), Wide(2.0, 2)])
CHOICES = Settings(steps=4)


@program()
def global_objects(a, b):
    y = NETWORK.layers[0](a) if b > 0 else b
    for _ in range(CHOICES.steps):
        y = y + Layer(b, use_bias=CHOICES.verbose)(y)
    return y if NETWORK.is_deep else -y
