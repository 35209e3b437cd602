"""How to write a back end: one whose programs are graphs of NumPy functions, run by a small interpreter.

    import lsp_ad, toy_backend
    toy_backend.install()
    fast = lsp_ad.staged(function, backend="toy")

A back end says which values are its own, traces pieces of code once, and makes conditionals and loops of
them; all else (what may change, types that differ, lists, reports) is done by lsp-ad.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lsp_ad.staging.backends import register
from lsp_ad.staging.backends.base import PLAIN, Backend, Options, Spec, Traced, is_data, spec_of
from lsp_ad.staging.context import compiling
from lsp_ad.staging.structures import flatten, unflatten


class Node:
    """A value that is yet to be computed: a function of others. `sample` is a value of its type."""

    def __init__(
        self, function: Callable[..., Any] | None, parents: Sequence[Any], sample: Any, weak: bool = False
    ):
        self.function, self.parents, self.sample, self.weak = function, parents, sample, weak

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.sample)

    @property
    def dtype(self) -> np.dtype:
        return np.asarray(self.sample).dtype

    @property
    def ndim(self) -> int:
        return np.ndim(self.sample)

    def __getitem__(self, index: Any) -> Node:
        return apply(lambda value, *parts: value[_index(index, parts)], self, *_nodes(index))

    def __bool__(self) -> bool:
        raise TypeError("the truth of a staged value is not known yet")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(np, name):
            raise AttributeError(name)
        return lambda *args, **options: BACKEND.function(name)(self, *args, **options)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return apply(lambda *values: getattr(ufunc, method)(*values, **options), *inputs)


def _operator(name: str, swapped: bool) -> Callable[..., Any]:
    ufunc = getattr(np, name)
    return (lambda self, other: apply(ufunc, other, self)) if swapped else (lambda *all_: apply(ufunc, *all_))


_BINARY = """add:add sub:subtract mul:multiply truediv:divide floordiv:floor_divide mod:remainder pow:power
    matmul:matmul and:bitwise_and or:bitwise_or xor:bitwise_xor"""
_OTHERS = "lt:less le:less_equal gt:greater ge:greater_equal eq:equal ne:not_equal neg:negative abs:abs"
for _short, _long in (pair.split(":") for pair in f"{_BINARY} {_OTHERS}".split()):
    setattr(Node, f"__{_short}__", _operator(_long, swapped=False))
    if _short in _BINARY:
        setattr(Node, f"__r{_short}__", _operator(_long, swapped=True))
Node.__hash__ = object.__hash__  # type: ignore[method-assign]


def _nodes(value: Any) -> list[Node]:
    return [leaf for leaf in flatten(value)[0] if isinstance(leaf, Node)]


def _index(index: Any, parts: Sequence[Any]) -> Any:
    """The index with its nodes replaced by their values."""
    leaves, structure = flatten(index)
    rest = iter(parts)
    return unflatten(structure, [next(rest) if isinstance(leaf, Node) else leaf for leaf in leaves])


def apply(function: Callable[..., Any], *inputs: Any) -> Node:
    """The node of a function of values; what comes out for samples tells its type."""
    samples = [v.sample if isinstance(v, Node) else v for v in inputs]
    with np.errstate(all="ignore"):
        sample = function(*samples)
    weak = all(v.weak if isinstance(v, Node) else not hasattr(v, "dtype") for v in inputs)
    return Node(function, inputs, sample, weak)


def value_of(node: Any, known: Any) -> Any:
    """The value of a node where those of its inputs are known."""
    if not isinstance(node, Node):
        return node
    if node not in known and isinstance(node, Whole):
        known[node] = node.compute(known)
    elif node not in known:
        known[node] = node.function(*[value_of(parent, known) for parent in node.parents])
    return known[node]


class Toy(Backend):
    name = "toy"

    def owns(self, value: Any) -> bool:
        return isinstance(value, Node)

    def spec(self, value: Any) -> Spec:
        return Spec(value.dtype, value.shape, value.weak) if isinstance(value, Node) else spec_of(value)

    def numpy(self, name: str) -> Callable[..., Any] | None:
        function: Any = np
        for part in name.split("."):
            function = getattr(function, part, None)
        if function is None:
            return None
        return lambda *args, **options: apply(
            lambda *values: function(*_index(args, values), **options), *_nodes(args)
        )

    def set_item(self, value: Any, index: Any, new: Any) -> Any:
        def changed(array: Any, item: Any, *parts: Any) -> Any:
            made = np.array(array)
            made[_index(index, parts)] = item
            return made

        return apply(changed, value, new, *_nodes(index))

    def cast(self, value: Any, spec: Spec) -> Any:
        return apply(lambda v: np.asarray(v, spec.dtype)[()], value)

    def trace(self, run: Callable[[list[Any]], list[Any]], specs: Sequence[Spec]) -> Traced:
        inputs = [Node(None, (), np.ones(s.shape or (), s.dtype)[()], s.weak) for s in specs]
        outputs = run(list(inputs))
        return Traced(tuple(map(self.spec, outputs)), (inputs, outputs))

    def cond(self, test: Any, then: Traced, orelse: Traced, specs: Sequence[Spec]) -> list[Any]:
        blocks = [self.results(t, t.code[1], specs) for t in (then, orelse)]

        def chosen(known: Any) -> list[Any]:
            block = blocks[0] if value_of(test, known) else blocks[1]
            return [value_of(v, known) for v in block]

        return _several(chosen, [v.sample if isinstance(v, Node) else v for v in blocks[0]], specs)

    def while_loop(
        self, test: Traced, body: Traced, initial: list[Any], specs: Sequence[Spec], options: Options = PLAIN
    ) -> list[Any]:
        step = self.results(body, body.code[1], specs)

        def looped(known: Any) -> list[Any]:
            state = [value_of(v, known) for v in initial]
            while value_of(test.code[1][0], ChainMap(dict(zip(test.code[0], state, strict=True)), known)):
                inside = ChainMap(dict(zip(body.code[0], state, strict=True)), known)
                state = [value_of(v, inside) for v in step]
            return state

        return _several(looped, [np.ones(s.shape or (), s.dtype)[()] for s in specs], specs)

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **named: Any) -> Any:
            leaves, structure = flatten((args, named))
            inputs = [Node(None, (), v) if is_data(v) else v for v in leaves]
            known = {n: v for n, v in zip(inputs, leaves, strict=True) if isinstance(n, Node)}
            with compiling(self):
                positional, keywords = unflatten(structure, inputs)
                outputs, form = flatten(function(*positional, **keywords))
            return unflatten(form, [value_of(v, known) for v in outputs])

        return run


def _several(compute: Callable[[Any], list[Any]], samples: Sequence[Any], specs: Sequence[Spec]) -> list[Any]:
    """The nodes of what is computed together."""
    whole = Whole(compute, samples)
    return [
        Node(lambda values, i=i: values[i], (whole,), sample, spec.weak)
        for i, (sample, spec) in enumerate(zip(samples, specs, strict=True))
    ]


class Whole(Node):
    """What a conditional or a loop gives, as one value; it needs to know the values around it."""

    def __init__(self, compute: Callable[[Any], list[Any]], samples: Sequence[Any]):
        super().__init__(None, (), samples)
        self.compute = compute


BACKEND = Toy()


def install() -> None:
    """Make the back end known as "toy"."""
    register(BACKEND)
