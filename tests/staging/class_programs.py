"""Programs with classes of the user's, whose methods decide on staged values and are reached by operators."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

CLASSES: list[tuple[Callable[..., Any], list[tuple]]] = []


def program(function: Callable) -> Callable:
    CLASSES.append((function, [(1.0, 2.0), (-3.0, 2.0), (2.0, 2.0)]))
    return function


class Pair:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        if isinstance(other, Pair):
            return Pair(self.x + other.x, self.y + other.y)
        return Pair(self.x + (other if other > 0 else 0.0), self.y)

    def __mul__(self, k):
        return Pair(self.x * k if k > 0 else -self.x, self.y * k)

    __rmul__ = __mul__

    def __iadd__(self, other):
        self.x = self.x + other if other > 0 else 5.0
        return self

    def __neg__(self):
        return Pair(-self.x if self.x > 0 else self.y, -self.y)

    def __abs__(self):
        return self.x if self.x > self.y else self.y

    def __lt__(self, other):
        return True if self.x < other.x else self.y < other.y

    def __eq__(self, other):
        return self.x == other.x and self.y == other.y

    def __getitem__(self, index):
        return self.x if index > 0 else self.y

    def __setitem__(self, index, value):
        if value > 0:
            self.x = value
        else:
            self.y = value

    def __contains__(self, value):
        return value == self.x or value == self.y

    def __bool__(self):
        return self.x != 0 and self.y > 1

    def __len__(self):
        return 2

    def __iter__(self):
        return iter((self.x, self.y) if self.y != 0 else (self.x, self.x))

    def __float__(self):
        return float(self.x if self.x > 0 else self.y)

    def __call__(self, t):
        return self.x * t if t > 0 else self.y * t

    @property
    def size(self):
        if self.x > 0:
            return self.x + self.y
        return self.y - self.x

    @size.setter
    def size(self, value):
        self.x = value if value > 1 else self.x

    @functools.cached_property
    def larger(self):
        return self.x if self.x > 1 else 1.0

    @classmethod
    def of(cls, value):
        return cls(value if value > 0 else -value, value)


class Scaled(Pair):
    def __add__(self, other):
        return super().__add__(other) * (2.0 if self.x > 0 else 1.0)


class Guard:
    def __init__(self, v):
        self.v = v

    def __enter__(self):
        return self.v if self.v > 0 else -self.v

    def __exit__(self, *exception):
        self.v = self.v + (1.0 if self.v > 0 else 2.0)
        return False


class Lazy:
    def __init__(self, v):
        self.v = v

    def __getattr__(self, name):
        if name == "w":
            return self.v if self.v > 0 else -self.v
        raise AttributeError(name)


class Clipped:
    def __get__(self, instance, owner):
        return instance.v if instance.v > 0 else 0.0


class Holder:
    clipped = Clipped()

    def __init__(self, v):
        self.v = v


class State(NamedTuple):
    x: float
    v: float

    def step(self, dt):
        return State(-self.x, -self.v) if self.x < 0 else State(self.x + dt * self.v, self.v - dt)

    @property
    def energy(self):
        return self.v * self.v if self.x > 0 else self.x


@dataclass(order=True)
class Body:
    x: float
    v: float
    name: str = "body"

    def step(self, dt):
        return Body(-self.x, -self.v) if self.x < 0 else Body(self.x + dt * self.v, self.v - dt)

    def __add__(self, other):
        return Body(self.x + other if other > 0 else self.x, self.v)

    @property
    def energy(self):
        return self.v * self.v if self.x > 0 else self.x


@dataclass
class Derived:
    a: float
    b: float = field(init=False)

    def __post_init__(self):
        self.b = self.a if self.a > 0 else 2.0 * self.a


@program
def arithmetic(a, b):
    v = Pair(a, b) + a
    w = b * v + Pair(a, b) * a
    return w.x, w.y, abs(-w)


@program
def in_place(a, b):
    v = w = Pair(a, b)
    v += b
    v += a
    return w.x, v.y


@program
def comparisons(a, b):
    x = a if Pair(a, b) < Pair(b, a) else 2 * b
    y = 1.0 if Pair(a, b) == Pair(b, a) else 2.0
    z = 1.0 if Pair(a, b) != Pair(b, a) else 2.0
    return x, y, z, 1.0 if b in Pair(a, b) else 2.0, 1.0 if a + b not in Pair(a, b) else 2.0


@program
def truths(a, b):
    x = a + b if Pair(a, b) else a - b
    while Pair(x, b - 0.5):
        b = b - 1.0
    return x if not Pair(b, a) else 3.0, b, bool(Pair(a, b))


@program
def items(a, b):
    v = Pair(a, b)
    v[0] = a * b
    first, second = v
    return v[a], v[1] + len(v), first - second, sum(v), float(v), max(v)


@program
def properties(a, b):
    v = Pair(a, b)
    v.size = a * b
    return v.x + v.size, v.larger + v.larger, Pair.of(a).size, v(a)


@program
def inherited(a, b):
    return (Scaled(a, b) + a).x


@program
def descriptors(a, b):
    return Lazy(a).w + Holder(a).clipped + Holder(b).clipped


@program
def contexts(a, b):
    guard = Guard(a)
    with guard as v:
        b = b * v
    return b + guard.v


@program
def named_tuples(a, b):
    s = State(a, b)
    for _ in range(3):
        s = s.step(0.1)
    while s.energy > 0.5 and s.x < 3:
        s = s.step(0.1)
    return s.x, s.v


@program
def dataclasses(a, b):
    s = Body(a, b)
    for _ in range(3):
        s = s.step(0.1)
    while s.energy > 0.5 and s.x < 3:
        s = s.step(0.1) + a
        if s.v < 0:
            break
    if a > 0:
        s = Body(s.x, a)
    else:
        s.v = 7.0
    return s.x, s.v, Derived(a).b


@program
def ordered(a, b):
    x = 1.0 if Body(a, b) < Body(b, a) else 2.0
    y = 1.0 if Body(a, b) >= Body(b, a) else 2.0
    return x, y, 1.0 if Body(a, b) == Body(b, a) else 2.0


@program
def attributes_in_loops(a, b):
    v = Pair(a, b)
    while v.x < 10:
        v.x = v.x + 1.0
        if v.x > 8:
            v.y = v.size
    return v.x, v.y
