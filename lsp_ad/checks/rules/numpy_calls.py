"""STG206: functions of NumPy on traced values, of which most turn their arguments into NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks import fixes
from lsp_ad.checks.origins import Sure
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Problem, problem
from lsp_ad.source.parse import span_of

# These call a method of their argument, which arrays of JAX have, or ask for its form.
_BY_METHOD = {
    "all", "amax", "amin", "any", "argmax", "argmin", "around", "astype", "can_cast", "conj", "conjugate",
    "copy", "cumprod", "cumsum", "iscomplexobj", "isrealobj", "isscalar", "issubdtype", "max", "mean", "min",
    "ndim", "promote_types", "prod", "ptp", "repeat", "reshape", "result_type", "round", "shape", "size",
    "squeeze", "std", "sum", "swapaxes", "transpose", "var",
}  # fmt: skip
_IN_TENSORFLOW = {
    "sin": "sin", "cos": "cos", "tan": "tan", "exp": "exp", "sqrt": "sqrt", "abs": "abs", "tanh": "tanh",
    "maximum": "maximum", "minimum": "minimum", "where": "where", "square": "square", "sum": "reduce_sum",
    "mean": "reduce_mean", "max": "reduce_max", "min": "reduce_min", "log": "math.log",
    "zeros_like": "zeros_like", "ones_like": "ones_like", "reshape": "reshape", "prod": "reduce_prod",
}  # fmt: skip


def numpy_calls(trace: Trace) -> Iterator[Problem]:
    transform = trace.staged.transform
    if transform == "lsp_ad.staged":
        return
    for node in trace.nodes:
        if not isinstance(node, gast.Call):
            continue
        module, _, name = trace.canonical(node.func).rpartition(".")
        if module not in ("numpy", "numpy.linalg", "numpy.fft") or (
            name in _BY_METHOD and transform == "jax.jit"
        ):
            continue
        if name in ("shape", "ndim", "result_type", "isscalar", "iscomplexobj"):
            continue
        traced = next((a for a in _parts(node.args) if trace.of(a).sure >= Sure.PARTS), None)
        if traced is None:
            continue
        message = trace.in_vain(f"`{trace.text(node.func)}`", "an array of numbers", traced)
        if transform == "jax.jit":
            library, instead = fixes.alias(trace, "jax.numpy"), f"{module}.{name}".removeprefix("numpy.")
        else:
            library, instead = fixes.alias(trace, "tensorflow"), _IN_TENSORFLOW.get(name, "")
        fix = fixes.replaced(node.func, f"{library}.{instead}") if library and instead else ()
        way_out = (
            f"Use {library or ('jnp' if transform == 'jax.jit' else 'tf')}.{instead}." if instead else ""
        )
        yield problem("STG206", message, span_of(node), way_out, fixes=fix)


def _parts(arguments: list[gast.expr]) -> Iterator[gast.expr]:
    """The arguments, and the elements of lists that are written out."""
    for argument in arguments:
        if isinstance(argument, (gast.List, gast.Tuple)):
            yield from _parts(argument.elts)
        else:
            yield argument
