"""Code traced once into a graph of its own, and the operations of that graph in another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lsp_ad.staging.backends.base import Spec
from lsp_ad.staging.backends.tensorflow.types import tensor_spec


def traced(run: Callable[..., Sequence[tf.Tensor]], specs: Sequence[Spec]) -> Any:
    """Code run once on symbolic tensors of some types; tensors that it finds around it are captured."""
    signature = [tensor_spec(spec) for spec in specs]
    return tf.function(run, input_signature=signature, autograph=False).get_concrete_function()


def replayed(code: Any, inputs: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """What traced code gives for some inputs."""
    return list(code(*inputs))


def has_effects(code: Any) -> bool:
    """Whether traced code does more than compute its outputs."""
    return any(op.op_def.is_stateful and op.type not in _READS for op in code.graph.get_operations())


_READS = frozenset(["ReadVariableOp", "Placeholder", "ResourceGather"])
