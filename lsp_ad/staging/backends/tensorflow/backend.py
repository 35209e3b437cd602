"""The back end: what staging asks of TensorFlow.

Inside a `tf.function` of the user's the values are tensors as TensorFlow has them. Where a function is
compiled for this back end they are values of the class `Array`, and the program computes as with NumPy.
"""

from __future__ import annotations

import builtins
import functools
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf

from lsp_ad.staging.backends.base import PLAIN, Backend, Ended, Iterable, Options, Spec, Traced, is_data
from lsp_ad.staging.backends.tensorflow import composites, graphs, indexing, lists, streams, types
from lsp_ad.staging.backends.tensorflow.arrays import Array, tensor_of
from lsp_ad.staging.backends.tensorflow.elementwise import truth
from lsp_ad.staging.backends.tensorflow.functions import FUNCTIONS
from lsp_ad.staging.backends.tensorflow.lists import Items, ListSpec
from lsp_ad.staging.backends.tensorflow.shapes import Sizes
from lsp_ad.staging.context import active, compiling
from lsp_ad.staging.errors import noted, user_place
from lsp_ad.staging.operators.lists import plain
from lsp_ad.staging.operators.optional import computed
from lsp_ad.staging.operators.texts import staged_parts
from lsp_ad.staging.structures import flatten, unflatten

_ASSERTION = "AssertionError at"
_RAISED = "Raised at"


class TensorFlow(Backend):
    name = "tensorflow"
    same_shapes = False
    bounded_lists = False
    raises = True
    optional = True

    def __init__(self) -> None:
        self._failures: list[Exception] = []  # the errors of `raise` statements
        self._failed: list[Exception] = []  # those of the program that runs, with its values in them

    def owns(self, value: Any) -> bool:
        if isinstance(value, (Array, Items)):
            return True
        return isinstance(value, tf.Tensor) and tf.is_symbolic_tensor(value)

    def holds(self, value: Any) -> bool:
        return isinstance(value, tf.Tensor)

    @property
    def same_ranks(self) -> bool:  # type: ignore[override]
        return self.numpy_semantics

    @property
    def numpy_semantics(self) -> bool:
        """Whether a function is being compiled for this back end, so that values compute as in NumPy."""
        return active() is self

    def spec(self, value: Any) -> Spec:
        if isinstance(value, Items):
            return ListSpec.of(value.item)
        return types.spec(value, self.numpy_semantics)

    def wrapped(self, tensor: tf.Tensor, weak: bool = False) -> Any:
        opaque = tensor.dtype in (tf.string, tf.variant, tf.resource)
        return Array(tensor, weak) if self.numpy_semantics and not opaque else tensor

    def typed(self, tensor: tf.Tensor, spec: Spec) -> Any:
        """A tensor as a value of a type."""
        return Items(tensor, spec.item) if isinstance(spec, ListSpec) else self.wrapped(tensor, spec.weak)

    def trace(self, run: Callable[[list[Any]], list[Any]], specs: Sequence[Spec]) -> Traced:
        found: list[Spec] = []

        ends = False

        def flat(*tensors: tf.Tensor) -> list[tf.Tensor]:
            nonlocal ends
            try:
                outputs = run([self.typed(t, s) for t, s in zip(tensors, specs, strict=True)])
            except Ended:
                outputs, ends = [], True
            found[:] = [self.spec(value) for value in outputs]
            return [self._tensor(value, spec) for value, spec in zip(outputs, found, strict=True)]

        code = graphs.traced(flat, specs)
        return Traced(tuple(found), code, effects=code.effects, ends=ends)

    def _tensor(self, value: Any, spec: Spec) -> tf.Tensor:
        if isinstance(value, Items):
            return value.tensor
        return tensor_of(value, None if types.is_opaque(spec) else spec.dtype)

    def cast(self, value: Any, spec: Spec) -> Any:
        return self.typed(self._tensor(value, spec), spec)

    def cond(self, test: Any, then: Traced, orelse: Traced, specs: Sequence[Spec]) -> list[Any]:
        def branch(traced: Traced) -> Callable[[], list[tf.Tensor]]:
            return lambda: self._outcome(traced, [], specs)

        made = tf.cond(_scalar(test), branch(then), branch(orelse))
        return [self.typed(t, s) for t, s in zip(made if specs else (), specs, strict=True)]

    def _outcome(self, traced: Traced, inputs: Sequence[tf.Tensor], specs: Sequence[Spec]) -> list[tf.Tensor]:
        outputs = graphs.replayed(traced.code, inputs)
        if traced.ends:  # nothing comes after the error that it raises
            traced = replace(traced, picks=(None,) * len(specs))
        return [
            v.tensor if isinstance(v, Items) else tensor_of(v) for v in self.results(traced, outputs, specs)
        ]

    def while_loop(
        self,
        test: Traced,
        body: Traced,
        initial: list[Any],
        specs: Sequence[Spec],
        options: Options = PLAIN,
    ) -> list[Any]:
        made = tf.while_loop(
            lambda *state: _scalar(graphs.replayed(test.code, state[: len(specs)])[0]),
            lambda *state: self._outcome(body, state[: len(specs)], specs) or state,
            [self._tensor(value, spec) for value, spec in zip(initial, specs, strict=True)] or [0],
            shape_invariants=[types.tensor_spec(spec).shape for spec in specs] or None,
            parallel_iterations=options.parallel_iterations or 10,
            maximum_iterations=options.maximum_iterations,
        )
        return [self.typed(t, s) for t, s in zip(made if specs else (), specs, strict=True)]

    def shape(self, value: Any) -> Any:
        if isinstance(value, tf.Tensor) and not value.shape.is_fully_defined():
            return Sizes(value)
        return value.shape

    def index_spec(self, count: Any) -> Spec:
        if self.numpy_semantics:
            return Spec(np.dtype(np.int64), (), weak=True)
        return replace(self.spec(count), weak=False) if self.owns(count) else Spec(np.dtype(np.int32), ())

    def iterable(self, value: Any) -> Iterable | None:
        return streams.stream(self, value) if tf.inside_function() else None

    def numpy(self, name: str) -> Callable[..., Any] | None:
        found = FUNCTIONS.get(name)
        if found is None or self.numpy_semantics:
            return found
        return lambda *args, **options: _tensors(found(*args, **options))

    def constant(self, value: Any) -> Any:
        return self.wrapped(tensor_of(value))

    def zeros(self, spec: Spec) -> Any:
        if isinstance(spec, ListSpec):
            return lists.empty(spec.item)
        if types.is_opaque(spec):
            return tf.constant("") if spec.dtype.kind == "S" else tf.raw_ops.OptionalNone()
        if spec.shape is not None:  # an adjoint that is yet to be broadcast may have a size that is not known
            spec = replace(spec, shape=tuple(1 if size is None else size for size in spec.shape))
        return super().zeros(spec)

    def get_item(self, value: Any, index: Any) -> Any:
        if isinstance(value, Items):
            if isinstance(index, slice):
                return lists.of(indexing.item(lists.stacked(value), index), value.item)
            return self.list_get(value, index)
        if not self.numpy_semantics and isinstance(value, tf.Tensor) and not indexing.has_arrays(index):
            return value[index]
        return self.wrapped(indexing.item(tensor_of(value), index))

    def set_item(self, value: Any, index: Any, new: Any) -> Any:
        return self.wrapped(indexing.changed(tensor_of(value), index, new))

    def add_at(self, value: Any, index: Any, by: Any) -> Any:
        return self.wrapped(indexing.added(tensor_of(value), index, by))

    def size(self, value: Any) -> Any:
        tensor = tensor_of(value)
        known = tensor.shape[0]
        if known is not None:
            return known
        return self.wrapped(tf.shape(tensor, tf.int64 if self.numpy_semantics else tf.int32)[0], weak=True)

    def list_spec(self, item: Spec, capacity: int) -> Spec:
        return ListSpec.of(item)

    def list_item(self, store: Spec) -> Spec:
        return store.item if isinstance(store, ListSpec) else super().list_item(store)

    def list_new(self, item: Spec, capacity: int) -> Any:
        return lists.empty(item)

    def list_full(self, value: Any, item: Spec, capacity: int) -> Any:
        one = self._tensor(value, item)
        return lists.of(tf.broadcast_to(one, [capacity, *one.shape]), item)

    def list_cast(self, store: Any, item: Spec) -> Any:
        return lists.cast(store, item)

    def list_grown(self, store: Any, by: int) -> Any:
        return store

    def list_get(self, store: Any, index: Any) -> Any:
        if not isinstance(store, Items):
            return self.get_item(store, index)
        return self.typed(lists.get(store, tensor_of(index, np.int32)), store.item)

    def list_set(self, store: Any, index: Any, item: Any) -> Any:
        return lists.set_(store, tensor_of(index, np.int32), self._tensor(item, store.item))

    def list_array(self, store: Any, length: Any, capacity: int) -> Any:
        return self.wrapped(lists.stacked(store)[: tensor_of(length, np.int32)])

    def print_(self, *values: Any, sep: str = " ", end: str = "\n", **_: Any) -> None:
        if self.numpy_semantics:
            self.print_text(sep.join("{}" for _ in values), *values, end=end)
        else:
            tf.print(*values, sep=sep, end=end, output_stream=sys.stdout)

    def print_text(
        self,
        template: str,
        *values: Any,
        end: str = "\n",
        file: Any = None,
        flush: bool = False,
        **named: Any,
    ) -> None:
        every = [*values, *named.values()]

        def show(*found: Any) -> None:
            known = iter(v[()] if isinstance(v, np.ndarray) else v for v in found)
            shown = [next(known) if self.owns(v) else v for v in every]
            rest = dict(zip(named, shown[len(values) :], strict=True))
            print(template.format(*shown[: len(values)], **rest), end=end, file=file, flush=flush)

        tf.numpy_function(show, [tensor_of(v) for v in every if self.owns(v)], [])

    def assert_(self, test: Any, message: Callable[[], str]) -> None:
        place = ":".join(map(str, user_place()))
        tf.debugging.Assert(truth(test), [f"{_ASSERTION} {place}: {message()}"])

    def require(self, test: Any, error: str, message: str) -> None:
        self._raise_unless(truth(test), getattr(builtins, error)(message), ":".join(map(str, user_place())))

    def raise_(self, error: Exception, place: str) -> None:
        values, made = staged_parts(error.with_traceback(None))
        if not values:
            self._raise_unless(tf.constant(False), error, place)
            return

        def fail(*found: Any) -> None:
            self._failed.append(made([v[()] for v in map(np.asarray, found)]))
            raise self._failed[-1]

        tf.numpy_function(fail, [tensor_of(v) for v in values], [])

    def _raise_unless(self, test: tf.Tensor, error: Exception, place: str) -> None:
        said = f"{_RAISED} {place} as number {len(self._failures)}: {type(error).__name__}: {error}"
        self._failures.append(noted(error, place).with_traceback(None))
        tf.raw_ops.Assert(condition=test, data=[tf.constant(said)])

    def underlying(self, function: Any) -> Any:
        return getattr(function, "python_function", None)

    def is_undecidable(self, error: BaseException) -> bool:
        return isinstance(error, tf.errors.OperatorNotAllowedInGraphError) or (
            isinstance(error, NotImplementedError) and "symbolic tf.Tensor" in str(error)
        )

    def outermost(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Not converted a second time by AutoGraph, nor what it hands to functions of TensorFlow."""
        if tf.executing_eagerly():
            return run
        return tf.autograph.experimental.do_not_convert(run)

    def tracing(self) -> bool:
        return bool(tf.inside_function())

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Arrays and floats are staged; other arguments are known when tracing: one trace for each value.

        Returns arrays and numbers of NumPy, and tensors where an argument is one, so that a tape can go on.
        """

        @functools.wraps(function)
        def compiled(*args: Any, **named: Any) -> Any:
            leaves, structure = flatten((args, named))
            data = [v for v in leaves if is_data(v)]
            known = tuple((i, type(v), v) for i, v in enumerate(leaves) if not is_data(v))
            specs = tuple(types.spec(v, numpy=True) for v in data)
            key = structure, known, specs
            if key not in traces:
                traces[key] = self._compiled(function, leaves, structure, specs)
            code, rebuilt = traces[key]
            tensors = [tensor_of(v, s.dtype) for v, s in zip(data, specs, strict=True)]
            self._failed.clear()
            try:
                outputs = code(*tensors)
            except tf.errors.OpError as error:
                raise self._of_python(error) from None
            if any(isinstance(v, (tf.Tensor, tf.Variable)) for v in data):
                return computed(rebuilt(outputs))
            return plain(computed(rebuilt([tensor.numpy()[()] for tensor in outputs])), lambda item: item)

        traces: dict[Any, Any] = {}
        return compiled

    def _of_python(self, error: Exception) -> Exception:
        """The error that Python would have raised for one at run time."""
        if self._failed:
            return self._failed[0]
        raised = re.search(rf"assertion failed: \[{_RAISED} .*? as number (\d+): ", str(error), re.DOTALL)
        if raised is not None:
            return self._failures[int(raised[1])]
        found = re.search(rf"assertion failed: \[{_ASSERTION} (.*?)\]\n", str(error), re.DOTALL)
        return error if found is None else AssertionError(found[1])

    def _compiled(
        self, function: Callable[..., Any], leaves: list[Any], structure: Any, specs: Sequence[Spec]
    ) -> tuple[Any, Callable[[Sequence[Any]], Any]]:
        """A function traced for arguments, and how its result is made of the tensors that it gives."""
        results: list[Any] = []

        def flat(*tensors: tf.Tensor) -> list[tf.Tensor]:
            inputs = iter(Array(t, s.weak) for t, s in zip(tensors, specs, strict=True))
            args, named = unflatten(structure, [next(inputs) if is_data(v) else v for v in leaves])
            with compiling(self):
                found, shape = flatten(function(*args, **named))
            results[:] = found, shape
            return [
                lists.stacked(leaf) if isinstance(leaf, Items) else tensor_of(leaf)
                for leaf in found
                if self.owns(leaf)
            ]

        signature = [types.tensor_spec(spec) for spec in specs]
        code = tf.function(flat, input_signature=signature, autograph=False).get_concrete_function()

        def rebuilt(outputs: Sequence[Any]) -> Any:
            rest = iter(outputs)
            found, shape = results
            return unflatten(shape, [next(rest) if self.owns(leaf) else leaf for leaf in found])

        return code, rebuilt


def _scalar(test: Any) -> tf.Tensor:
    """A condition as TensorFlow takes it."""
    found = truth(test)
    return found if found.shape.rank == 0 else tf.reshape(found, [])


def _tensors(value: Any) -> Any:
    if isinstance(value, Array):
        return value.tensor
    if isinstance(value, (list, tuple)):
        return type(value)(map(_tensors, value))
    return value


composites.register_all()
BACKEND = TensorFlow()
