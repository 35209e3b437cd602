"""Code traced once into a graph of its own, and the operations of that graph put into another one.

`tf.cond` and `tf.while_loop` trace the functions that they are given; here a body has been traced before, to
find the types of its results. Its operations are copied, so that the graph is the one that TensorFlow would
have made of the body, and gradients, control dependencies and the lines of the user's stay what they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.util import tf_stack

from lsp_ad.staging.backends.base import Spec
from lsp_ad.staging.backends.tensorflow.types import tensor_spec

_READS = frozenset(["ReadVariableOp", "ResourceGather", "Placeholder"])


_OF_GRADIENTS = ("_true_graph", "_false_graph", "_cond_graph", "_body_graph")


class _Graph(tf.__internal__.FuncGraph):
    """A graph that keeps the lines at which its operations were made."""

    def __init__(self) -> None:
        super().__init__("staged")
        self._add_control_dependencies = True  # conditionals and loops in it keep their effects
        self.stacks: dict[str, Any] = {}

    def _create_op_internal(self, *args: Any, **options: Any) -> tf.Operation:
        op = super()._create_op_internal(*args, **options)
        self.stacks[op.name] = tf_stack.extract_stack()
        return op


@dataclass(frozen=True)
class Code:
    """A graph with its inputs and outputs; an output may be a tensor of the graph around it."""

    graph: Any
    inputs: Sequence[tf.Tensor]
    outputs: Sequence[tf.Tensor]

    @property
    def effects(self) -> bool:
        """Whether it does more than compute its outputs."""
        return any(map(_is_effect, self.graph.get_operations()))


def traced(run: Callable[..., Sequence[tf.Tensor]], specs: Sequence[Spec]) -> Code:
    """Code run once on symbolic tensors of some types; tensors that it finds around it are captured."""
    graph = _Graph()
    with graph.as_default():
        signature = map(tensor_spec, specs)
        inputs = [tf.compat.v1.placeholder(spec.dtype, spec.shape) for spec in signature]
        return Code(graph, inputs, run(*inputs))


def replayed(code: Code, inputs: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """What traced code gives for some inputs, computed in the graph that is being built now."""
    copy = _Copy(code.graph)
    for old, new in zip(code.inputs, inputs, strict=True):
        copy.tensors[_key(old)] = tf.convert_to_tensor(new)
    for op in _wanted(code):
        copy.operation(op)
    return [copy.tensor(output) for output in code.outputs]


def _is_effect(op: tf.Operation) -> bool:
    return op.op_def.is_stateful and op.type not in _READS


def _key(tensor: tf.Tensor) -> tuple[str, int]:
    return tensor.op.name, tensor.value_index


def _wanted(code: Code) -> Iterator[tf.Operation]:
    """The operations that outputs and effects need, in the order in which they were made."""
    every = code.graph.get_operations()
    pending = [t.op for t in code.outputs if _is_in(t, code.graph)] + [
        op for op in every if op.op_def.is_stateful
    ]
    found = set()
    while pending:
        op = pending.pop()
        if op.name not in found:
            found.add(op.name)
            pending += [t.op for t in op.inputs] + list(op.control_inputs)
    return (op for op in every if op.name in found)


def _is_in(tensor: tf.Tensor, graph: Any) -> bool:
    return tf.is_symbolic_tensor(tensor) and tensor.graph is graph


class _Copy:
    """Operations of one graph copied to the one that is being built."""

    def __init__(self, graph: Any):
        self.old, self.new = graph, tf.compat.v1.get_default_graph()
        self.operations: dict[str, tf.Operation] = {}
        self.tensors: dict[tuple[str, int], tf.Tensor] = {}
        for outer, inner in zip(graph.external_captures, graph.internal_captures, strict=True):
            self.tensors[_key(inner)] = outer
        for name, function in graph._functions.items():
            if name not in self.new._functions:
                self.new._add_function_recursive(function)

    def tensor(self, old: tf.Tensor) -> tf.Tensor:
        if not _is_in(old, self.old):
            return old
        if _key(old) not in self.tensors:
            self.operation(old.op)  # of a later operation, as gradients of loops have them
        return self.tensors[_key(old)]

    def operation(self, op: tf.Operation) -> None:
        if op.name in self.operations or (op.outputs and _key(op.outputs[0]) in self.tensors):
            return
        inputs = [self.tensor(t) for t in op.inputs]
        before = [self.operations[c.name] for c in op.control_inputs if c.name in self.operations]
        with self.new.control_dependencies(before), tf.device(op.device):
            made = self.new.create_op(
                op.type,
                inputs,
                dtypes=[t.dtype for t in op.outputs],
                name=op.name,
                attrs=dict(op.node_def.attr),
                op_def=op.op_def,
            )
        if op.name in self.old.stacks:
            pywrap_tf_session.TF_SetOpStackTrace(made._c_op, self.old.stacks[op.name])
            if isinstance(self.new, _Graph):
                self.new.stacks[made.name] = self.old.stacks[op.name]
        self._with_graphs(op, made)
        self.operations[op.name] = made
        for old, new in zip(op.outputs, made.outputs, strict=True):
            self.tensors[_key(old)] = new
            if hasattr(old, "_handle_data"):
                new._handle_data = old._handle_data

    def _with_graphs(self, op: tf.Operation, made: tf.Operation) -> None:
        """What gradients look for: the graphs of branches and bodies, the gradient of a call."""
        for name in _OF_GRADIENTS:
            inner = getattr(op, name, None)
            if inner is not None:
                inner.outer_graph = self.new
                setattr(made, name, inner)
        made._gradient_function = op._gradient_function
