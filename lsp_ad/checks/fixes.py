"""Changes of the text that rules offer."""

from __future__ import annotations

import gast

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
        edits.append((span_of(target), f"{name}.staged({source(trace, target)})"))
    else:
        return ()
    return (Fix("Let lsp_ad.staged convert the function", tuple(edits), safe=False),)


def source_line(trace: Trace, line: int) -> str:
    return trace.flow.functions.program.parsed.document.lines.line(line)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line}`" if len(line) <= 40 else f"`{line[:37]}...`"
