"""STG204, STG208: what asks a traced value for its number: `int(x)`, `x.item()`, an f-string."""

from __future__ import annotations

import re
from collections.abc import Iterator

import gast

from lsp_ad.checks import fixes
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Fix, Problem, Severity, problem
from lsp_ad.source.parse import span_of

_CASTS = {
    "builtins.int": "int",
    "builtins.float": "float",
    "builtins.bool": "bool",
    "builtins.complex": "complex",
    "operator.index": "int",
}
_METHODS = {"item", "numpy", "tolist"}
_TEXTS = {"builtins.str", "builtins.repr", "builtins.format"}
_SPECIFIED = re.compile(r"\{\w*:")
_NUMERIC = re.compile(r"%[-+ #0-9.]*[diouxXeEfFgGc]")
# Where a text for people is made, it may as well say that a value is traced.
_FOR_PEOPLE = (gast.Raise, gast.Assert)


def concrete_values(trace: Trace) -> Iterator[Problem]:
    for node in trace.nodes:
        if isinstance(node, gast.Call):
            name = trace.canonical(node.func)
            if (
                name in _CASTS
                and len(node.args) == 1
                and (trace.is_tensor if name == "builtins.bool" else trace.is_traced)(node.args[0])
                and _is_loud(trace, name)
            ):
                yield _finding(
                    trace, node, f"`{_CASTS[name]}`", node.args[0], _cast(trace, node, _CASTS[name])
                )
            elif (
                name.startswith("math.")
                and node.args
                and trace.is_traced(node.args[0])
                and _is_loud(trace, name)
            ):
                yield _finding(trace, node, f"`{name}`", node.args[0], _of_arrays(trace, node, name))
            elif (
                isinstance(node.func, gast.Attribute)
                and node.func.attr in _METHODS
                and not node.args
                and trace.is_traced(node.func.value)
            ):
                value = node.func.value
                fix = fixes.replaced(node, fixes.source(trace, value)) if node.func.attr != "tolist" else ()
                yield _finding(trace, node, f"`.{node.func.attr}()`", value, fix)
            elif name in _TEXTS and node.args and trace.is_tensor(node.args[0]):
                yield from _text(trace, node, node.args[0], loud=False)
            elif _formats(node):
                given = [*node.args, *(k.value for k in node.keywords)]
                yield from _formatted(trace, node, given, bool(_SPECIFIED.search(node.func.value.value)))
        elif isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mod) and _is_text(node.left):
            given = node.right.elts if isinstance(node.right, gast.Tuple) else [node.right]
            yield from _formatted(trace, node, given, bool(_NUMERIC.search(node.left.value)))
        elif isinstance(node, gast.FormattedValue) and trace.is_tensor(node.value):
            loud = node.format_spec is not None and trace.staged.transform != "lsp_ad.staged"
            yield from _text(trace, node.value, node.value, loud)


def _formats(node: gast.Call) -> bool:
    """`"...".format(...)`, of a text that is written out."""
    function = node.func
    return isinstance(function, gast.Attribute) and function.attr == "format" and _is_text(function.value)


def _is_text(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, str)


def _formatted(trace: Trace, node: gast.expr, given: list[gast.expr], loud: bool) -> Iterator[Problem]:
    is_traced = trace.is_traced if loud else trace.is_tensor
    traced = next((value for value in given if is_traced(value)), None)
    if traced is not None:
        yield from _text(trace, node, traced, loud and trace.staged.transform != "lsp_ad.staged")


def _is_loud(trace: Trace, name: str) -> bool:
    """Does it fail? tf.function converts `int` and `float`, lsp_ad.staged what `math` has."""
    if trace.staged.transform == "tf.function" and trace.staged.converts:
        return name not in ("builtins.int", "builtins.float")
    return trace.staged.transform == "jax.jit" or not name.startswith("math.")


def _finding(trace: Trace, node: gast.expr, what: str, value: gast.expr, fix: tuple[Fix, ...]) -> Problem:
    message = trace.in_vain(what, "the number", value)
    return problem("STG204", message, span_of(node), fixes=fix)


def _cast(trace: Trace, node: gast.Call, kind: str) -> tuple[Fix, ...]:
    value = node.args[0]
    if trace.staged.transform == "tf.function":
        name = fixes.alias(trace, "tensorflow")
        text = f"{name}.cast({fixes.source(trace, value)}, {name}.bool)" if name and kind == "bool" else None
    else:
        text = f"{fixes.tight(trace, value)}.astype({kind})"
    return fixes.replaced(node, text, safe=False) if text else ()


def _of_arrays(trace: Trace, node: gast.Call, name: str) -> tuple[Fix, ...]:
    function = name.removeprefix("math.")
    known = function in (
        "sin",
        "cos",
        "tan",
        "exp",
        "sqrt",
        "tanh",
        "sinh",
        "cosh",
        "floor",
        "ceil",
        "log1p",
        "expm1",
    )
    known = known or (function == "log" and len(node.args) == 1)
    module = "tensorflow.math" if trace.staged.transform == "tf.function" else "jax.numpy"
    if module == "tensorflow.math":
        name_of = fixes.alias(trace, "tensorflow")
        text = f"{name_of}.math.{function}" if name_of else None
    else:
        name_of = fixes.alias(trace, module)
        text = f"{name_of}.{function}" if name_of else None
    return fixes.replaced(node.func, text) if known and text else ()


def _text(trace: Trace, node: gast.expr, value: gast.expr, loud: bool) -> Iterator[Problem]:
    for outer in trace.around(node):
        if isinstance(outer, _FOR_PEOPLE) or (isinstance(outer, gast.Call) and _is_message(trace, outer)):
            return
    made = f"This text is made {trace.when}"
    message = f"{made}, and `{trace.text(value)}` is not known then."
    if loud:
        message = trace.in_vain("A format", "the number", value)
    yield problem("STG208", message, span_of(node), severity=Severity.ERROR if loud else None)


def _is_message(trace: Trace, call: gast.Call) -> bool:
    name = trace.canonical(call.func)
    return (
        name in ("builtins.print", "jax.debug.print", "tensorflow.print", "warnings.warn")
        or name.startswith("logging.")
        or name.endswith("Error")
    )
