"""Changes of the text that rules offer."""

from __future__ import annotations

import gast

from lsp_ad.checks.staged_functions import Place
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Fix, Span
from lsp_ad.source.parse import span_of

_TIGHT = (
    gast.Name,
    gast.Call,
    gast.Attribute,
    gast.Subscript,
    gast.Constant,
    gast.List,
    gast.Tuple,
    gast.Dict,
)


def tight(trace: Trace, node: gast.AST) -> str:
    """The text of an expression as an operand: in parentheses where it is not a single thing."""
    text = source(trace, node)
    return text if isinstance(node, _TIGHT) else f"({text})"


def source(trace: Trace, node: gast.AST) -> str:
    """The text of an expression as it stands."""
    lines = trace.flow.functions.program.parsed.document.lines
    start, end = (
        lines.offset(node.lineno, node.col_offset),
        lines.offset(node.end_lineno, node.end_col_offset),
    )
    return lines.text[start:end]


def replaced(node: gast.AST, text: str, title: str = "", safe: bool = True) -> tuple[Fix, ...]:
    """Put a text in place of an expression."""
    return (Fix(title or f"Write {_short(text)}", ((span_of(node), text),), safe),)


def alias(trace: Trace, module: str) -> str | None:
    """What a module is called in the file, if it is imported."""
    return trace.flow.functions.program.alias_of(module)


def called(
    trace: Trace, node: gast.AST, module: str, function: str, *arguments: gast.AST, safe: bool = True
) -> tuple[Fix, ...]:
    """Put a call of a library function in place of an expression, if the library is imported."""
    name = alias(trace, module)
    if name is None:
        return ()
    return replaced(node, f"{name}.{function}({', '.join(source(trace, a) for a in arguments)})", safe=safe)


def numbers_of(trace: Trace) -> str:
    """The module of array functions of the library that traces a function."""
    return "tensorflow" if trace.staged.transform == "tf.function" else "jax.numpy"


def is_plain(node: gast.AST) -> bool:
    """A number, with its sign: one value for all places."""
    value = node.operand if isinstance(node, gast.UnaryOp) else node
    return isinstance(value, gast.Constant)


def inserted(line: int, column: int, text: str) -> tuple[Span, str]:
    return Span(line, column, line, column), text


def stage(trace: Trace) -> tuple[Fix, ...]:
    """Let lsp_ad convert the function that jax.jit traces."""
    staged = trace.staged if trace.place is trace.root else None
    node = trace.root.node
    if staged is None or staged.where is None or staged.transform != "jax.jit":
        return ()
    program = trace.flow.functions.program
    name = program.alias_of("lsp_ad")
    edits = []
    if name is None:
        first = next(
            (
                s
                for s in program.parsed.module.body
                if isinstance(s, (gast.Import, gast.ImportFrom)) and getattr(s, "module", "") != "__future__"
            ),
            None,
        )
        if first is None:
            return ()
        name = "lsp_ad"
        edits.append(inserted(first.lineno, 0, "import lsp_ad\n"))
    if staged.where in getattr(node, "decorator_list", []):
        indent = source_line(trace, node.lineno)[: node.col_offset]
        edits.append(inserted(node.lineno, 0, f"{indent}@{name}.staged\n"))
    elif isinstance(staged.where, gast.Call) and staged.where.args:
        target = staged.where.args[0]
        # jax.jit(jax.grad(f)): what takes f takes it converted.
        while isinstance(target, gast.Call) and target.args:
            target = target.args[0]
        edits.append((span_of(target), f"{name}.staged({source(trace, target)})"))
    else:
        return ()
    return (Fix("Let lsp_ad.staged convert the function", tuple(edits), safe=False),)


def is_test(trace: Trace, node: gast.AST) -> bool:
    """Is it the condition of a statement or of a conditional expression, or a part of one?"""
    for around in trace.around(node):
        if isinstance(around, (gast.If, gast.While, gast.IfExp, gast.Assert)):
            return around.test is node
        if not isinstance(around, (gast.BoolOp, gast.UnaryOp)):
            return False
        node = around
    return False


def chosen(trace: Trace, node: gast.AST, test: gast.expr, body: gast.expr, orelse: gast.expr | str) -> str:
    """`where(test, body, orelse)`, which computes both; "" where it would be something else."""
    name = alias(trace, numbers_of(trace))
    values = [v for v in (body, orelse) if isinstance(v, gast.AST)]
    if name is None or not all(_is_number(trace, v) for v in values) or "#" in source(trace, node):
        return ""
    other = orelse if isinstance(orelse, str) else source(trace, orelse)
    return f"{name}.where({source(trace, test)}, {source(trace, body)}, {other})"


def _is_number(trace: Trace, node: gast.expr) -> bool:
    """May it be a number or an array, and be computed whatever the condition is?"""
    if isinstance(
        node, (gast.Tuple, gast.List, gast.Dict, gast.Set, gast.Lambda, gast.JoinedStr, gast.ListComp)
    ):
        return False
    if isinstance(node, gast.Constant) and not isinstance(node.value, (bool, int, float, complex)):
        return False
    called = [trace.flow.calls[n][0] for n in gast.walk(node) if n in trace.flow.calls]
    return not any(_calls_back(trace, place, trace.place, set()) for place in called)


def _calls_back(trace: Trace, place: Place, wanted: Place, seen: set[Place]) -> bool:
    if place is wanted:
        return True
    known = trace.traces.get(place)
    if known is None or place in seen:
        return False
    seen.add(place)
    return any(_calls_back(trace, callee, wanted, seen) for callee, _, _ in known.flow.calls.values())


def source_line(trace: Trace, line: int) -> str:
    return trace.flow.functions.program.parsed.document.lines.line(line)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line}`" if len(line) <= 40 else f"`{line[:37]}...`"
