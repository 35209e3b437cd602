"""Programs of `examples/staging/` as one writes them for a library without staging: each operation runs by itself.

    import numpy as np          import jax.numpy as np          import tensorflow.experimental.numpy as np
    a[i] = e                    a = a.at[i].set(e)              a = changed(a, i, e)

The text of a program is rewritten so, with that of the derivatives in it and of what these call.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np


def eager(function: Callable[..., Any], library: str) -> Callable[..., Any]:
    """The program on a library's arrays, run as Python runs it; takes and gives arrays of NumPy."""
    names: dict[str, Any] = {"np": _numpy(library), "changed": _changed(library), "added": _added(library)}
    made = _rewritten(function, names, {})
    to_library = _to_library(library)

    def run(*arguments: Any) -> Any:
        return _back(made(*[to_library(a) if isinstance(a, (float, np.ndarray)) else a for a in arguments]))

    return run


def _numpy(library: str) -> Any:
    if library == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        return jax.numpy
    import tensorflow as tf

    tf.experimental.numpy.experimental_enable_numpy_behavior(prefer_float32=False)
    return tf.experimental.numpy


def _to_library(library: str) -> Callable[[Any], Any]:
    if library == "jax":
        import jax.numpy as jnp

        return jnp.asarray
    import tensorflow as tf

    return tf.convert_to_tensor


def _back(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(map(_back, value))
    return np.asarray(value)


def _changed(library: str) -> Callable[..., Any]:
    def changed(value: Any, index: Any, new: Any) -> Any:
        if isinstance(value, (list, dict)):
            value[index] = new
            return value
        if library == "jax":
            return value.at[index].set(new)
        from lsp_ad.staging.backends.tensorflow import indexing

        return indexing.changed(value, index, new)

    return changed


def _added(library: str) -> Callable[..., Any]:
    def added(value: Any, index: Any, by: Any) -> Any:
        if isinstance(value, (list, dict)):
            value[index] = value[index] + by
            return value
        if library == "jax":
            return value.at[index].add(by)
        from lsp_ad.staging.backends.tensorflow import indexing

        return indexing.added(value, index, by)

    return added


class _Writes(ast.NodeTransformer):
    """Writes into arrays as new arrays, and `x.sum()` as `np.sum(x)`, which both libraries have."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Attribute) or function.attr != "sum":
            return node
        if isinstance(function.value, ast.Name) and function.value.id == "np":
            return node
        sum_ = ast.Attribute(ast.Name("np", ast.Load()), "sum", ast.Load())
        return ast.copy_location(ast.Call(sum_, [function.value, *node.args], node.keywords), node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        return self._write("changed", target, node.value) if isinstance(target, ast.Subscript) else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.target, ast.Subscript) and isinstance(node.op, ast.Add):
            return self._write("added", node.target, node.value)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "np.add.at":
            array, index, by = node.value.args
            return self._write("added", ast.Subscript(array, index, ast.Load()), by)
        return node

    def _write(self, how: str, target: ast.Subscript, value: ast.expr) -> ast.AST:
        index = ast.unparse(target.slice)
        if isinstance(target.slice, (ast.Slice, ast.Tuple)):
            parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
            index = f"({', '.join(map(_index, parts))},)"
        array = ast.unparse(target.value)
        made = ast.parse(f"{array} = {how}({array}, {index}, {ast.unparse(value)})").body[0]
        return ast.copy_location(made, target)


def _index(part: ast.expr) -> str:
    if not isinstance(part, ast.Slice):
        return ast.unparse(part)
    bounds = (part.lower, part.upper, part.step)
    return f"slice({', '.join('None' if b is None else ast.unparse(b) for b in bounds)})"


def _rewritten(
    function: Callable[..., Any], names: dict[str, Any], known: dict[Any, Callable[..., Any]]
) -> Callable[..., Any]:
    """A function rewritten, and the functions of Python that it finds around it; `known`: those that are."""
    if function in known:
        return known[function]
    tree = ast.parse(inspect.getsource(function))
    made = ast.fix_missing_locations(_Writes().visit(tree))
    around = {**function.__globals__, **inspect.getclosurevars(function).nonlocals, **names}
    exec(compile(made, f"<eager {function.__name__}>", "exec"), around)
    found = known[function] = around[made.body[0].name]
    for name in found.__code__.co_names:
        inner = around.get(name)
        if isinstance(inner, types.FunctionType) and name not in names and inner is not found:
            around[name] = _rewritten(inner, names, known)
    return found
