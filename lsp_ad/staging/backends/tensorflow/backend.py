"""The back end: what staging asks of TensorFlow.

Inside a `tf.function` of the user's the values are tensors as TensorFlow has them. Where a function is
compiled for this back end they are values of the class `Array`, and the program computes as with NumPy.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lsp_ad.staging.backends.base import PLAIN, Backend, Options, Spec, Traced, is_data
from lsp_ad.staging.backends.tensorflow import graphs, indexing, types
from lsp_ad.staging.backends.tensorflow.arrays import Array, tensor_of
from lsp_ad.staging.backends.tensorflow.elementwise import truth
from lsp_ad.staging.backends.tensorflow.functions import FUNCTIONS
from lsp_ad.staging.context import active, compiling
from lsp_ad.staging.operators.lists import plain
from lsp_ad.staging.structures import flatten, unflatten


class TensorFlow(Backend):
    name = "tensorflow"
    same_shapes = False

    def owns(self, value: Any) -> bool:
        return isinstance(value, Array) or (isinstance(value, tf.Tensor) and tf.is_symbolic_tensor(value))

    @property
    def numpy_semantics(self) -> bool:
        """Whether a function is being compiled for this back end, so that values compute as in NumPy."""
        return active() is self

    def spec(self, value: Any) -> Spec:
        return types.spec(value, self.numpy_semantics)

    def wrapped(self, tensor: tf.Tensor, weak: bool = False) -> Any:
        return Array(tensor, weak) if self.numpy_semantics else tensor

    def trace(self, run: Callable[[list[Any]], list[Any]], specs: Sequence[Spec]) -> Traced:
        found: list[Spec] = []

        def flat(*tensors: tf.Tensor) -> list[tf.Tensor]:
            outputs = run([self.wrapped(t, s.weak) for t, s in zip(tensors, specs, strict=True)])
            found[:] = [self.spec(value) for value in outputs]
            return [self._tensor(value, spec) for value, spec in zip(outputs, found, strict=True)]

        code = graphs.traced(flat, specs)
        return Traced(tuple(found), code)

    def _tensor(self, value: Any, spec: Spec) -> tf.Tensor:
        return tensor_of(value, None if types.is_opaque(spec) else spec.dtype)

    def cast(self, value: Any, spec: Spec) -> Any:
        return self.wrapped(self._tensor(value, spec), spec.weak)

    def cond(self, test: Any, then: Traced, orelse: Traced, specs: Sequence[Spec]) -> list[Any]:
        def branch(traced: Traced) -> Callable[[], list[tf.Tensor]]:
            return lambda: self._outcome(traced, [], specs)

        made = tf.cond(tf.reshape(truth(test), []), branch(then), branch(orelse))
        return [self.wrapped(t, s.weak) for t, s in zip(made, specs, strict=True)]

    def _outcome(self, traced: Traced, inputs: Sequence[tf.Tensor], specs: Sequence[Spec]) -> list[tf.Tensor]:
        return [tensor_of(v) for v in self.results(traced, graphs.replayed(traced.code, inputs), specs)]

    def while_loop(
        self,
        test: Traced,
        body: Traced,
        initial: list[Any],
        specs: Sequence[Spec],
        options: Options = PLAIN,
    ) -> list[Any]:
        made = tf.while_loop(
            lambda *state: tf.reshape(truth(graphs.replayed(test.code, state)[0]), []),
            lambda *state: self._outcome(body, state, specs),
            [tensor_of(value) for value in initial],
            shape_invariants=[types.tensor_spec(spec).shape for spec in specs],
            parallel_iterations=options.parallel_iterations or 10,
            maximum_iterations=options.maximum_iterations,
        )
        return [self.wrapped(t, s.weak) for t, s in zip(made, specs, strict=True)]

    def numpy(self, name: str) -> Callable[..., Any] | None:
        found = FUNCTIONS.get(name)
        if found is None or self.numpy_semantics:
            return found
        return lambda *args, **options: _tensors(found(*args, **options))

    def constant(self, value: Any) -> Any:
        return self.wrapped(tensor_of(value))

    def zeros(self, spec: Spec) -> Any:
        if types.is_opaque(spec):
            return tf.constant("") if spec.dtype.kind == "S" else tf.raw_ops.OptionalNone()
        return super().zeros(spec)

    def get_item(self, value: Any, index: Any) -> Any:
        if not self.numpy_semantics and isinstance(value, tf.Tensor):
            return value[index]
        return self.wrapped(indexing.item(tensor_of(value), index))

    def set_item(self, value: Any, index: Any, new: Any) -> Any:
        return self.wrapped(indexing.changed(tensor_of(value), index, new))

    def add_at(self, value: Any, index: Any, new: Any) -> Any:
        return self.wrapped(indexing.added(tensor_of(value), index, new))

    def size(self, value: Any) -> Any:
        tensor = tensor_of(value)
        known = tensor.shape[0]
        return known if known is not None else self.wrapped(tf.shape(tensor, tf.int64)[0], weak=True)

    def print_(self, *values: Any, sep: str = " ", end: str = "\n", **_: Any) -> None:
        shown = [tensor_of(v) if isinstance(v, Array) else v for v in values]
        tf.print(*shown, sep=sep, end=end, output_stream=sys.stdout)

    def assert_(self, test: Any, message: Callable[[], str]) -> None:
        tf.debugging.Assert(truth(test), [message()])

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
            outputs = code(*(tensor_of(v, s.dtype) for v, s in zip(data, specs, strict=True)))
            if any(isinstance(v, (tf.Tensor, tf.Variable)) for v in data):
                return rebuilt(outputs)
            return plain(rebuilt([tensor.numpy()[()] for tensor in outputs]), lambda item: item)

        traces: dict[Any, Any] = {}
        return compiled

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
            return [tensor_of(leaf) for leaf in found if self.owns(leaf)]

        code = graphs.traced(flat, specs)

        def rebuilt(outputs: Sequence[Any]) -> Any:
            rest = iter(outputs)
            found, shape = results
            return unflatten(shape, [next(rest) if self.owns(leaf) else leaf for leaf in found])

        return code, rebuilt


def _tensors(value: Any) -> Any:
    if isinstance(value, Array):
        return value.tensor
    if isinstance(value, (list, tuple)):
        return type(value)(map(_tensors, value))
    return value


BACKEND = TensorFlow()
