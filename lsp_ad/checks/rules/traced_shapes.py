"""STG205: a shape, an axis, a size or a bound of a slice that is traced, which XLA has to know."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks import fixes
from lsp_ad.checks.outer import values_of
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Fix, Problem, problem
from lsp_ad.source.parse import span_of

# Which argument is a shape or a length, by position and by name.
_SHAPES: dict[str, tuple[int, tuple[str, ...]]] = {
    "zeros": (0, ("shape",)), "ones": (0, ("shape",)), "empty": (0, ("shape",)), "full": (0, ("shape",)),
    "eye": (0, ("N", "M")), "identity": (0, ("n",)), "tri": (0, ("N", "M")), "reshape": (1, ("shape",)),
    "broadcast_to": (1, ("shape",)), "tile": (1, ("reps",)), "linspace": (2, ("num",)), "split": (1, ()),
    "expand_dims": (1, ("axis",)), "swapaxes": (1, ("axis1", "axis2")), "moveaxis": (1, ("source",)),
}  # fmt: skip
_NEED_SIZE = {
    "nonzero": 1,
    "argwhere": 1,
    "flatnonzero": 1,
    "unique": 1,
    "where": 1,
    "union1d": 2,
    "intersect1d": 2,
    "setdiff1d": 2,
}
_KEYWORDS = {"axis", "shape", "size", "axes", "num_segments", "num_classes", "length", "total_repeat_length"}
_SIZE_WAY_OUT = "Give it `size=`, or use jnp.where(condition, x, y)."
_MASK_WAY_OUT = "Use jnp.where(mask, x, 0), which keeps the shape."


def traced_shapes(trace: Trace) -> Iterator[Problem]:
    if not (trace.staged.jitted or trace.staged.transform == "jax.jit"):
        return
    for node in trace.nodes:
        if isinstance(node, gast.Call):
            yield from _call(trace, node)
        elif isinstance(node, gast.Subscript):
            yield from _subscript(trace, node)


def _call(trace: Trace, node: gast.Call) -> Iterator[Problem]:
    canonical = trace.canonical(node.func)
    module, _, name = canonical.rpartition(".")
    if canonical == "builtins.range" and not trace.staged.converts:
        for bound in node.args:
            if trace.is_traced(bound):
                yield _finding(
                    trace, bound, "A bound of `range`", "Use jax.lax.fori_loop, or mark the argument static."
                )
    if module == "jax.numpy":
        position, names = _SHAPES.get(name, (None, ()))
        if position is not None and len(node.args) > position:
            yield from _shape(trace, node.args[position], name)
        if name == "arange":
            for bound in node.args:
                yield from _shape(trace, bound, name)
        for keyword in node.keywords:
            if keyword.arg in _KEYWORDS or keyword.arg in names:
                yield from _shape(trace, keyword.value, name)
        sized = any(k.arg == "size" for k in node.keywords)
        if len(node.args) == _NEED_SIZE.get(name) and not sized and any(map(trace.is_tensor, node.args)):
            what = f"`jnp.{name}` gives as many values as there are, and their number"
            yield _finding(trace, node, what, _SIZE_WAY_OUT, "")
    elif isinstance(node.func, gast.Attribute) and trace.is_tensor(node.func.value):
        if node.func.attr == "reshape":
            for argument in node.args:
                yield from _shape(trace, argument, "reshape")
        for keyword in node.keywords:
            if keyword.arg in ("axis", "shape"):
                yield from _shape(trace, keyword.value, node.func.attr)


def _shape(trace: Trace, node: gast.expr, function: str) -> Iterator[Problem]:
    parts = node.elts if isinstance(node, (gast.Tuple, gast.List)) else [node]
    for part in parts:
        if trace.is_traced(part):
            yield _finding(trace, part, f"A shape, size or axis of `{function}`")


def _subscript(trace: Trace, node: gast.Subscript) -> Iterator[Problem]:
    value = node.value
    if trace.of(value).sure:
        for part in node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]:
            if isinstance(part, gast.Slice):
                for bound in (part.lower, part.upper, part.step):
                    if bound is not None and trace.is_traced(bound):
                        way_out = "Use jax.lax.dynamic_slice, whose size is fixed."
                        yield _finding(trace, bound, "A bound of a slice", way_out)
            elif isinstance(node.ctx, gast.Load) and _is_mask(trace, part):
                what = "How many elements a mask picks"
                yield _finding(trace, part, what, _MASK_WAY_OUT, "", _chosen(trace, node))
    elif trace.is_traced(node.slice) and _is_sequence(trace, value):
        way_out = "Index jnp.array(...) of it, or use jax.lax.switch."
        yield _finding(trace, node.slice, "The index of a Python list", way_out)


def _is_sequence(trace: Trace, node: gast.expr) -> bool:
    """A list or tuple that is written out here, or where its name is bound, once."""
    if isinstance(node, gast.Name):
        if node.id in trace.place.locals:
            bound = [n for n in trace.nodes if isinstance(n, gast.Name) and n.id == node.id
                     and isinstance(n.ctx, gast.Store)]
            given = [trace.parents[n] for n in bound]
            values = [s.value if isinstance(s, gast.Assign) else s for s in given]
        else:
            values = list(values_of(trace, node))
        if len(values) != 1 or node.id in trace.place.parameters:
            return False
        node = values[0]
    return isinstance(node, (gast.List, gast.Tuple))


def _chosen(trace: Trace, node: gast.Subscript) -> tuple[Fix, ...]:
    """`x.at[mask].set(value)` as `jnp.where(mask, value, x)`."""
    at, method = node.value, trace.parents.get(node)
    call = trace.parents.get(method) if isinstance(method, gast.Attribute) else None
    if not isinstance(at, gast.Attribute) or not isinstance(method, gast.Attribute):
        return ()
    if not isinstance(call, gast.Call) or (at.attr, method.attr, len(call.args)) != ("at", "set", 1):
        return ()
    if not fixes.is_plain(call.args[0]):
        return ()
    return fixes.called(trace, call, "jax.numpy", "where", node.slice, call.args[0], at.value)


def _is_mask(trace: Trace, node: gast.expr) -> bool:
    if isinstance(node, gast.Compare):
        return trace.is_tensor(node)
    if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.BitAnd, gast.BitOr)):
        return _is_mask(trace, node.left) and _is_mask(trace, node.right)
    return (
        isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Invert) and _is_mask(trace, node.operand)
    )


def _finding(
    trace: Trace,
    node: gast.expr,
    what: str,
    way_out: str = "",
    tail: str | None = None,
    fix: tuple[Fix, ...] = (),
) -> Problem:
    message = f"{what} has to be known {trace.when}"
    message += f", but `{trace.text(node)}` is traced." if tail is None else "."
    return problem("STG205", message, span_of(node), way_out, fixes=fix)
