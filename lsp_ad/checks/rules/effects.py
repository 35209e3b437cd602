"""STG301, STG302: effects, which happen once, while a function is traced; and traced values that leave it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import gast

from lsp_ad.checks import fixes
from lsp_ad.checks.origins import Kind, Sure
from lsp_ad.checks.outer import (
    ends_itself,
    is_container,
    is_outer,
    is_self,
    leaves_body,
    outlives,
    root,
    values_of,
)
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Fix, Problem, Severity, problem
from lsp_ad.source.parse import span_of

_GROW = {"append", "appendleft", "extend", "insert"}
_CHANGE = _GROW | {
    "add",
    "update",
    "setdefault",
    "pop",
    "popleft",
    "remove",
    "discard",
    "clear",
    "reverse",
    "sort",
}
_FILES = {
    "builtins.open", "builtins.input", "numpy.save", "numpy.savez", "numpy.savetxt", "json.dump",
    "pickle.dump", "os.makedirs", "os.mkdir", "os.remove", "os.rename", "shutil.copy", "shutil.rmtree",
    "sys.stdout.write", "sys.stderr.write", "time.sleep",
}  # fmt: skip
_LOGS = {
    "debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log", "log_metric",
    "log_metrics",
}  # fmt: skip
_LOGGERS = {"logging.getLogger", "structlog.get_logger"}
_PRINTS = {
    "jax.jit": "Use jax.debug.print, which prints when the function runs.",
    "tf.function": "Use tf.print, which prints when the function runs.",
}
_WAY_OUT = {
    "jax.jit": "Return it, or use jax.experimental.io_callback.",
    "tf.function": "Return it, or use a tf.Variable or tf.py_function.",
    "lsp_ad.staged": "Return it.",
}


def effects(trace: Trace) -> Iterator[Problem]:
    for node in trace.nodes:
        if isinstance(node, gast.Call):
            yield from _call(trace, node)
        elif isinstance(node, (gast.Assign, gast.AnnAssign, gast.AugAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, gast.Assign) else [node.target]
            for target in targets:
                yield from _stored(trace, node, target)


def _call(trace: Trace, node: gast.Call) -> Iterator[Problem]:
    name = trace.canonical(node.func)
    transform = trace.staged.transform
    if name == "builtins.print":
        if transform != "lsp_ad.staged":
            yield _once(trace, node, "This prints", _PRINTS[transform], _prints(trace, node))
    elif _logs(trace, node, name):
        yield _once(trace, node, "This logs", _PRINTS.get(transform, _WAY_OUT[transform]))
    elif name in _FILES:
        yield _once(trace, node, f"`{trace.text(node.func)}` is called", _WAY_OUT[transform])
    elif isinstance(node.func, gast.Attribute) and node.func.attr in _CHANGE:
        changed = node.func.value
        # `buffer = buffer.insert(x)` changes nothing.
        grows = node.func.attr in _GROW and isinstance(trace.parents.get(node), gast.Expr)
        known = grows or is_container(trace, changed)
        given = [*node.args, *(k.value for k in node.keywords)]
        leaked = grows and any(map(trace.is_traced, given)) and leaves_body(trace, changed)
        if (known and outlives(trace, changed) and not name) or leaked:
            yield _changed(trace, node, changed, given)


def _logs(trace: Trace, node: gast.Call, name: str) -> bool:
    """Does a call log something, by a module or by a logger from outside?"""
    if name.startswith(("logging.", "absl.logging.", "wandb.", "mlflow.")):
        return name.rpartition(".")[2] in _LOGS
    function = node.func
    return isinstance(function, gast.Attribute) and function.attr in _LOGS and any(
        isinstance(v, gast.Call) and trace.functions.canonical(v.func, None) in _LOGGERS
        for v in values_of(trace, function.value)
    )


def _stored(trace: Trace, node: gast.AST, target: gast.expr) -> Iterator[Problem]:
    if isinstance(target, (gast.Tuple, gast.List)):
        for element in target.elts:
            yield from _stored(trace, node, element)
        return
    base = root(target)
    if not isinstance(base, gast.Name) or isinstance(target, gast.Starred):
        return
    if isinstance(target, gast.Name):
        stored = is_outer(trace, base.id)
    elif isinstance(target, gast.Subscript):
        stored = outlives(trace, target.value) and not trace.is_tensor(target.value)
    else:
        stored = outlives(trace, target)
    if not stored and not isinstance(target, gast.Name) and trace.is_traced(node.value):
        stored = not trace.is_tensor(target.value) and leaves_body(trace, target)
    if stored and not (is_self(trace, base.id) and trace.place.name in ("__init__", "setup", "build")):
        yield _changed(trace, node, target, [node.value])


def _changed(trace: Trace, node: gast.AST, what: gast.expr, given: list[gast.expr]) -> Problem:
    transform = trace.staged.transform
    traced = next((v for v in given if _is_traced(trace, v)), None)
    if traced is not None:
        message = (
            f"`{trace.text(what)}` outlives the trace of {trace.described}; `{trace.text(traced)}` is a "
            "stand-in for a value, which nothing can be done with afterwards."
        )
        return problem("STG302", message, span_of(node), _WAY_OUT[transform])
    found = _once(trace, node, f"`{trace.text(what)}` is changed", _WAY_OUT[transform])
    # What is made once, when the function is first traced, is meant to be.
    first = any(isinstance(n, gast.If) and ends_itself(trace, n) for n in trace.around(node))
    return replace(found, severity=Severity.INFORMATION) if first else found


def _is_traced(trace: Trace, node: gast.expr) -> bool:
    """Is it traced, as far as can be told? A back end of lsp_ad leaves Python numbers as they are."""
    origin = trace.of(node)
    return origin.kind is Kind.TRACED and (origin.sure is not Sure.MAYBE or not trace.staged.backend)


def _once(trace: Trace, node: gast.AST, what: str, way_out: str, fix: tuple[Fix, ...] = ()) -> Problem:
    message = f"{what} {trace.when}, not when it runs."
    values = [*node.args, *(k.value for k in node.keywords)] if isinstance(node, gast.Call) else []
    told = isinstance(node, gast.Call) and what.startswith("This ")
    # `print("tracing f")` says that the function is traced, and is true.
    note = told and all(trace.of(v).kind is Kind.CONSTANT for v in values)
    return problem(
        "STG301", message, span_of(node), way_out, severity=Severity.INFORMATION if note else None, fixes=fix
    )


def _prints(trace: Trace, node: gast.Call) -> tuple[Fix, ...]:
    if (
        node.keywords
        or any(isinstance(a, (gast.Starred, gast.JoinedStr)) for a in node.args)
        or not node.args
    ):
        return ()
    texts = [fixes.source(trace, a) for a in node.args]
    if trace.staged.transform == "tf.function":
        name = fixes.alias(trace, "tensorflow")
        return fixes.replaced(node, f"{name}.print({', '.join(texts)})", safe=False) if name else ()
    name = fixes.alias(trace, "jax")
    if name is None:
        return ()
    form = " ".join(
        str(a.value).replace("{", "{{").replace("}", "}}")
        if isinstance(a, gast.Constant) and isinstance(a.value, str)
        else "{}"
        for a in node.args
    )
    values = [
        t
        for a, t in zip(node.args, texts, strict=True)
        if not (isinstance(a, gast.Constant) and isinstance(a.value, str))
    ]
    quoted = '"' + form.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return fixes.replaced(node, f"{name}.debug.print({', '.join([quoted, *values])})", safe=False)
