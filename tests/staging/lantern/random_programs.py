"""Random programs in the intermediate language that mostly run without errors.

Each value is known while its program is built, so that shapes fit and indices are within bounds (in the first
iteration of a loop; later ones may raise, in the interpreter and in compiled code alike).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from lsp_ad.staging.lantern.builder import Builder, Value, const, slice_
from lsp_ad.staging.lantern.ir import (
    BOOL,
    FLOAT64,
    INT64,
    Array,
    Const,
    Let,
    List,
    NewAxis,
    Program,
    Tuple,
    Type,
    Var,
    walk,
)
from lsp_ad.staging.lantern.primitives import PRIMITIVES, Stack

VECTOR, MATRIX = Array("float64", 1), Array("float64", 2)
PARAMS: list[tuple[str, Type, Any]] = [
    ("x", FLOAT64, np.float64(0.7)),
    ("y", FLOAT64, np.float64(-1.3)),
    ("n", INT64, np.int64(3)),
    ("p", BOOL, np.bool_(True)),
    ("v", VECTOR, np.array([0.5, -0.25, 1.5, 0.0])),
    ("w", VECTOR, np.array([-1.0, 2.0, 0.125, 3.0])),
    ("m", MATRIX, np.linspace(-1.0, 1.0, 12).reshape(3, 4)),
    ("k", Array("int64", 1), np.array([2, 0, -1, 2])),
    ("f", Array("float32", 1), np.array([0.5, 2.0, -3.0, 1.0], "float32")),
    ("z", Array("complex128", 1), np.array([1 + 2j, -0.5j, 0.25, 2 - 1j])),
    ("c", Array("float64", 2), np.array([[1.0], [-2.0], [0.5]])),
]
ARGS = tuple(value for _, _, value in PARAMS)


class Programs:
    """Builds one program, from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.b = Builder()
        self.scope: list[tuple[Value, Any]] = []
        self.depth = 0
        self.helpers: list[tuple[str, list[Type], Any]] = []

    def program(self, steps: int) -> Program:
        self.helper()
        params = self.b.begin("main", [(name, t) for name, t, _ in PARAMS])
        self.scope = list(zip(params, ARGS, strict=True))
        with np.errstate(all="ignore"):
            for _ in range(steps):
                self.step()
        results = self.random.sample(self.scope, min(len(self.scope), 12))
        self.b.end(self.b.op("tuple", *(v for v, _ in results)))
        return self.b.program("main")

    def helper(self) -> None:
        """A function that writes into a parameter, and one that gives it back."""
        b = self.b
        a, x = b.begin("put", [("a", VECTOR), ("x", FLOAT64)])
        b.end(b.set(a, [0], x))
        a, x = b.begin("keep", [("a", VECTOR), ("x", FLOAT64)])
        b.end(b.branch(b.op(">", x, 0.0), lambda: a, lambda: b.op("*", a, x)))

    # choices

    def pick(self, wanted: Callable[[Any], bool]) -> tuple[Value, Any] | None:
        found = [pair for pair in self.scope if wanted(pair[1])]
        return self.random.choice(found[-12:] if self.random.random() < 0.7 else found) if found else None

    def floats(self, rank: int | None = None) -> tuple[Value, Any] | None:
        return self.pick(lambda v: _dtype(v) == "float64" and (rank is None or np.ndim(v) == rank))

    def add(self, var: Value, value: Any) -> tuple[Value, Any]:
        self.scope.append((var, value))
        return var, value

    def op(self, name: str, *args: tuple[Value, Any], **params: Any) -> tuple[Value, Any]:
        value = PRIMITIVES[name](*(v for _, v in args), **params)
        return self.add(self.b.op(name, *(a for a, _ in args), **params), value)

    def step(self) -> None:
        choices = [
            (self.unary, 4),
            (self.binary, 6),
            (self.integers, 2),
            (self.compare, 2),
            (self.select, 2),
            (self.reduce, 3),
            (self.shape, 3),
            (self.join, 1),
            (self.product, 1),
            (self.get, 4),
            (self.update, 5),
            (self.lists, 3),
            (self.call, 1),
            (self.branch, 2 if self.depth < 2 else 0),
            (self.loop, 2 if self.depth < 2 else 0),
        ]
        actions, weights = zip(*choices, strict=True)
        self.random.choices(actions, weights)[0]()

    # operations

    def unary(self) -> None:
        a = self.pick(lambda v: _dtype(v) in ("float64", "float32", "int64"))
        names = [
            "neg",
            "abs",
            "sign",
            "tanh",
            "sin",
            "cos",
            "rint",
            "floor",
            "ceil",
            "trunc",
            "isnan",
            "isfinite",
            "arctan",
            "sqrt",
            "exp",
        ]
        if a is not None:
            name = self.random.choice(names)
            if name in ("exp", "sqrt"):
                a = self.op("tanh" if name == "exp" else "abs", a)
            self.op(name, a)
        z = self.pick(lambda v: _dtype(v) == "complex128")
        if z is not None and self.random.random() < 0.3:
            self.op(self.random.choice(["abs", "real", "imag", "conj", "neg", "exp"]), z)

    def binary(self) -> None:
        a = self.pick(lambda v: _dtype(v) in ("float64", "float32", "int64", "complex128"))
        if a is None:
            return
        b = self.pick(lambda v: _dtype(v) in ("float64", "float32", "int64", "complex128") and _fit(a[1], v))
        if b is None:
            return
        names = ["+", "-", "*", "/"]
        dtypes = {_dtype(a[1]), _dtype(b[1])}
        if "complex128" not in dtypes:
            names += ["maximum", "minimum", "arctan2", "hypot", "copysign"]
        if dtypes <= {"float64"}:
            names += ["//", "%"]
        self.op(self.random.choice(names), a, b)

    def integers(self) -> None:
        a = self.pick(lambda v: _dtype(v) in ("int64", "bool"))
        b = self.pick(lambda v: _dtype(v) == "int64" and a is not None and _fit(a[1], v))
        if a is None or b is None:
            return
        name = self.random.choice(["+", "-", "*", "//", "%", "maximum"])
        if name in ("//", "%") and not np.all(b[1]):
            name = "+"
        self.op(name, a, b)
        self.op("cast", self.scope[-1], dtype=self.random.choice(["float64", "float32", "int32", "bool"]))

    def compare(self) -> None:
        a = self.floats()
        b = self.pick(lambda v: _dtype(v) in ("float64", "int64") and a is not None and _fit(a[1], v))
        if a is None or b is None:
            return
        c = self.op(self.random.choice(["==", "!=", "<", "<=", ">", ">="]), a, b)
        d = self.pick(lambda v: _dtype(v) == "bool" and _fit(c[1], v))
        if d is not None:
            self.op(self.random.choice(["and", "or", "xor"]), c, d)
        self.op("not", self.scope[-1])

    def select(self) -> None:
        c = self.pick(lambda v: _dtype(v) == "bool")
        a = self.pick(
            lambda v: _dtype(v) in ("float64", "int64", "float32") and c is not None and _fit(c[1], v)
        )
        if c is None or a is None:
            return
        both = np.broadcast_arrays(c[1], a[1])[0]
        b = self.pick(lambda v: _dtype(v) in ("float64", "int64") and _fit(both, v))
        if b is not None:
            self.op("select", c, a, b)

    def reduce(self) -> None:
        a = self.pick(lambda v: isinstance(v, np.ndarray) and v.size > 0 and _dtype(v) != "complex128")
        if a is None:
            return
        if _dtype(a[1]) == "bool":
            names = ["any", "all", "sum", "max"]
        else:
            names = ["sum", "mean", "max", "min", "argmax", "argmin", "prod"]
        name = self.random.choice(names)
        axes: list[Any] = [None, *range(-a[1].ndim, a[1].ndim)]
        if not name.startswith("arg") and a[1].ndim > 1:
            axes.append((0, 1))
        axis = self.random.choice(axes)
        params = {} if axis is None else {"axis": axis}
        if self.random.random() < 0.3:
            params["keepdims"] = True
        self.op(name, a, **params)
        if self.random.random() < 0.2:
            self.op(self.random.choice(["cumsum", "sort"]), a, axis=self.random.randrange(a[1].ndim))

    def shape(self) -> None:
        a = self.pick(lambda v: isinstance(v, np.ndarray) and v.dtype != "complex128")
        if a is None:
            return
        kind = self.random.randrange(6)
        if kind == 5 and a[1].ndim == 1 and a[1].dtype.name not in ("bool", "int32"):
            one = (self.b_const(1), np.int64(1))
            self.op("unbroadcast", a, self.random.choice([one, self.op("size", a, axis=0)]))
        elif kind == 0:
            sizes = [self.op("size", a, axis=0), (self.b_const(-1), np.int64(-1))]
            if a[1].shape[0]:
                self.op("reshape", a, *sizes)
        elif kind == 1:
            self.op("transpose", a)
        elif kind == 2:
            var = self.b.get(a[0], slice_(), NewAxis())
            self.add(var, a[1][:, None])
        elif kind == 3 and a[1].ndim == 1:
            n = self.op("size", a, axis=0)
            self.op("broadcast-to", a, (self.b_const(2), np.int64(2)), n)
        else:
            n = self.op("size", a, axis=a[1].ndim - 1)
            self.op("zeros", n, dtype=self.random.choice(["float64", "int64"]))
            self.op("arange", (self.b_const(0), np.int64(0)), n, (self.b_const(1), np.int64(1)))

    def b_const(self, value: int) -> Any:
        return const(value)

    def join(self) -> None:
        a = self.floats()
        b = self.pick(
            lambda v: a is not None and _dtype(v) in ("float64", "int64") and np.shape(v) == np.shape(a[1])
        )
        if a is None or b is None:
            return
        axis = self.random.randrange(np.ndim(a[1]) + 1)
        if axis == np.ndim(a[1]):
            self.op("stack", a, b, axis=axis)
        else:
            self.op("concatenate", a, b, axis=axis)

    def product(self) -> None:
        a = self.pick(lambda v: isinstance(v, np.ndarray) and v.dtype == "float64")
        if a is None:
            return
        inner = a[1].shape[-1]
        b = self.pick(
            lambda v: (
                isinstance(v, np.ndarray)
                and v.dtype == "float64"
                and v.shape[max(v.ndim - 2, 0)] == inner
                and a[1].ndim + v.ndim <= 4
            )
        )
        if b is not None:
            self.op("tanh", self.op("matmul", a, b))

    def get(self) -> None:
        a = self.pick(lambda v: isinstance(v, np.ndarray) and v.size > 0)
        if a is None:
            return
        index, value = self.index(a[1])
        self.add(self.b.get(a[0], *index), a[1][value])

    def index(self, array: np.ndarray) -> tuple[list[Any], tuple[Any, ...]]:
        """An index into an array, as expressions and as a value."""
        index: list[Any] = []
        value: list[Any] = []
        for size in array.shape:
            kind = self.random.randrange(7)
            i = self.pick(lambda v, size=size: _dtype(v) == "int64" and np.ndim(v) == 0 and -size <= v < size)  # type: ignore[misc]
            ids = self.pick(lambda v, size=size: _ids(v, size))  # type: ignore[misc]
            mask = self.pick(lambda v, size=size: _dtype(v) == "bool" and np.shape(v) == (size,))  # type: ignore[misc]
            advanced = any(np.ndim(v) for v in value if not isinstance(v, slice) and v is not None)
            if kind < 2 and i is not None:
                index.append(i[0])
                value.append(i[1])
            elif kind == 2:
                at = self.random.randrange(-size, size)
                index.append(at)
                value.append(at)
            elif kind == 3 and ids is not None and not advanced:
                index.append(ids[0])
                value.append(ids[1])
            elif kind == 4 and mask is not None and not advanced:
                index.append(mask[0])
                value.append(mask[1])
            else:
                parts = self.random.choice(
                    [
                        (None, None, None),
                        (1, None, None),
                        (None, -1, None),
                        (None, None, -1),
                        (0, 2, None),
                        (-3, None, 2),
                    ]
                )
                index.append(slice_(*parts))
                value.append(slice(*parts))
        return index, tuple(value)

    def update(self) -> None:
        a = self.pick(lambda v: isinstance(v, np.ndarray) and v.size > 0 and v.dtype in ("float64", "int64"))
        if a is None:
            return
        index, value = self.index(a[1])
        part = a[1][value]
        dtypes = ("float64", "int64") if a[1].dtype == "float64" else ("int64",)
        new = self.pick(
            lambda v: (
                _dtype(v) in dtypes
                and np.ndim(v) <= np.ndim(part)
                and _broadcasts(np.shape(v), np.shape(part))
            )
        )
        if new is None:
            return
        changed = a[1].copy()
        if self.random.random() < 0.6:
            changed[value] = new[1]
            self.add(self.b.set(a[0], index, new[0]), changed)
        else:
            np.add.at(changed, value, new[1])
            self.add(self.b.add_at(a[0], index, new[0]), changed)

    def lists(self) -> None:
        items = self.pick(lambda v: isinstance(v, Stack))
        if items is None or self.random.random() < 0.2:
            t = self.random.choice([FLOAT64, VECTOR])
            items = self.add(self.b.op("list-new", item=t), Stack([], 0))
        t = self.b.type_of(items[0])
        assert isinstance(t, List)
        item = self.floats(0 if t.item == FLOAT64 else 1)
        kind = self.random.randrange(6)
        if kind < 3 and item is not None:
            self.op("list-append", items, item)
        elif items[1].length:
            if kind == 3:
                popped = self.b.op("list-pop", items[0])
                rest, value = items[1].pop()
                self.add(self.b.item(popped, 0), rest)
                self.add(self.b.item(popped, 1), value)
            elif kind == 4 and item is not None:
                self.op("list-set", items, (self.b_const(-1), np.int64(-1)), item)
            else:
                self.op("list-get", items, (self.b_const(0), np.int64(0)))
        self.op("list-len", items)

    def call(self) -> None:
        a, x = self.floats(1), self.floats(0)
        if a is None or x is None or not a[1].size:
            return
        changed = a[1].copy()
        if self.random.random() < 0.5:
            changed[0] = x[1]
            self.add(self.b.call("put", a[0], x[0]), changed)
        else:
            self.add(self.b.call("keep", a[0], x[0]), changed if x[1] > 0 else changed * x[1])

    # control flow

    def inside(self, steps: int) -> list[tuple[Value, Any]]:
        """Some steps in a block of their own; the scope as it is at its end."""
        self.depth += 1
        for _ in range(self.random.randrange(steps)):
            self.step()
        self.depth -= 1
        return list(self.scope)

    def like(self, value: Any, var: Value) -> tuple[Value, Any]:
        """A value that can take the place of another: of its type, and its shape."""
        t = self.b.type_of(var)
        same = [p for p in self.scope if self.b.type_of(p[0]) == t and np.shape(p[1]) == np.shape(value)]
        return self.random.choice(same[-4:]) if same else (var, value)

    def branch(self) -> None:
        test = self.pick(lambda v: _dtype(v) == "bool" and np.ndim(v) == 0)
        results = [self.random.choice(self.scope) for _ in range(self.random.randrange(1, 4))]
        if test is None:
            return
        outer, taken = list(self.scope), []

        def build() -> Value:
            self.inside(4)
            chosen = [self.like(value, var) for var, value in results]
            self.scope = list(outer)
            taken.append([v for _, v in chosen])
            return self.b.op("tuple", *(v for v, _ in chosen))

        result = self.b.branch(test[0], build, build)
        self.scope = outer
        for k, value in enumerate(taken[0] if test[1] else taken[1]):
            self.add(self.b.item(result, k), value)

    def loop(self) -> None:
        carried = [self.random.choice(self.scope) for _ in range(self.random.randrange(1, 4))]
        outer = list(self.scope)
        count = self.random.randrange(4)
        after: list[Any] = []

        def body(i: Value, *current: Value) -> list[Value]:
            self.add(i, np.int64(0))
            for var, (_, value) in zip(current, carried, strict=True):
                self.add(var, value)
            self.inside(5)
            chosen = [self.like(value, var) for var, (_, value) in zip(current, carried, strict=True)]
            after.extend(v for _, v in chosen)
            return [self.b.op("+", i, 1), *(v for v, _ in chosen)]

        names = [("i", 0), *((f"a{k}", var) for k, (var, _) in enumerate(carried))]
        results = self.b.loop(names, lambda i, *_: self.b.op("<", i, count), body)
        self.scope = outer
        for var, (_, before), value in zip(results[1:], carried, after, strict=True):
            self.add(var, value if count else before)


def nested(program: Program, seed: int) -> Program:
    """The program with some of the values that are read once put in the place where they are."""
    chance = random.Random(seed)
    functions = tuple(replace(f, body=_nested(f.body, chance)) for f in program.functions)
    return Program(functions, program.entry)


def _nested(node: Any, chance: random.Random) -> Any:
    if isinstance(node, tuple):
        return tuple(_nested(n, chance) for n in node)
    if not is_dataclass(node) or isinstance(node, Const):
        return node
    changes = {f.name: _nested(getattr(node, f.name), chance) for f in fields(node)}  # type: ignore[arg-type]
    node = replace(node, **changes)  # type: ignore[type-var]
    if isinstance(node, Let):
        counts = Counter(e.name for e in walk(node) if isinstance(e, Var))
        inside: dict[str, Any] = {}
        bindings = []
        for b in node.bindings:
            value = _put(b.value, inside)
            if counts[b.name] == 1 and chance.random() < 0.5:
                inside[b.name] = value
            else:
                bindings.append(replace(b, value=value))
        node = Let(tuple(bindings), _put(node.body, inside))
    return node


def _put(node: Any, values: dict[str, Any]) -> Any:
    if isinstance(node, tuple):
        return tuple(_put(n, values) for n in node)
    if isinstance(node, Var):
        return values.get(node.name, node)
    if not is_dataclass(node) or isinstance(node, Const):
        return node
    return replace(node, **{f.name: _put(getattr(node, f.name), values) for f in fields(node)})  # type: ignore


def _dtype(value: Any) -> str:
    return value.dtype.name if isinstance(value, np.ndarray | np.generic) else ""


def _fit(a: Any, b: Any) -> bool:
    """Whether two values broadcast together, to no more than two axes and some hundred elements."""
    try:
        shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    except ValueError:
        return False
    return len(shape) <= 2 and int(np.prod(shape)) <= 300


def _broadcasts(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, wanted) == wanted
    except ValueError:
        return False


def _ids(value: Any, size: int) -> bool:
    fits = _dtype(value) == "int64" and np.ndim(value) == 1 and value.size > 0
    return bool(fits and np.all((value >= -size) & (value < size)))


__all__ = ["ARGS", "Programs", "Tuple", "nested"]
