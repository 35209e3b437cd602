"""Where generated code goes: below its primal, with the helpers and imports it needs."""

from __future__ import annotations

import ast

import gast

from lsp_ad.differentiate.derivative import Derivative
from lsp_ad.rules.helpers import helper_sources
from lsp_ad.semantics.names import Program
from lsp_ad.source.edits import Edit


def insertion(program: Program, derivative: Derivative, helpers: str = "inline") -> list[Edit]:
    """Edits of the document that insert the derivative below its primal, in the document's own line ends.

    `helpers`: "inline" writes the helper functions into the file, once; "import" imports them from
    lsp_ad.runtime.
    """
    document = program.parsed.document
    edits = []
    imports, functions = preamble(program, derivative, helpers)
    if imports:
        at, before_code = _import_place(program)
        text = "".join(line + "\n" for line in imports)
        edits.append(Edit(at, at, text + ("\n\n" if before_code else "")))
    of, _, method = derivative.primal.partition(".")
    primal = program.bindings(of)[0] if method else program.functions[of]
    end = document.lines.offset(primal.end_lineno, len(document.lines.line(primal.end_lineno)))
    blocks = [*functions, derivative.text]
    text = "".join(f"\n\n\n{block.rstrip()}" for block in blocks)
    if end == len(document.text):
        text += "\n"
    edits.append(Edit(end, end, text))
    if document.newline != "\n":
        edits = [Edit(e.start, e.end, e.text.replace("\n", document.newline)) for e in edits]
    return edits


def preamble(
    program: Program, derivative: Derivative, helpers: str = "inline"
) -> tuple[list[str], list[str]]:
    """Import lines and helper functions that the file does not have yet.

    Raises ValueError for another value of `helpers` than "inline" and "import".
    """
    if helpers not in ("inline", "import"):
        raise ValueError(f"helpers must be inline or import, not {helpers!r}")
    wanted = [h for h in with_dependencies(derivative.helpers) if h not in program.bound]
    needed = set(derivative.imports)
    if wanted and helpers == "inline" and program.imports.get("np") != "numpy":
        needed.add(import_line("numpy"))
    lines = sorted(needed, key=lambda line: (line.startswith("from"), line))
    if wanted and helpers == "import":
        own = [h for h in derivative.helpers if h in wanted]
        return [*lines, f"from lsp_ad.runtime import {', '.join(own)}"], []
    sources = helper_sources()
    return lines, [sources[h] for h in wanted]


def import_line(module: str) -> str:
    """How generated code imports a module that the file does not import."""
    return "import numpy as np" if module == "numpy" else f"import {module}"


def with_dependencies(helpers: tuple[str, ...]) -> list[str]:
    """Helpers with those that they call, each after what it calls."""
    sources = helper_sources()
    found: list[str] = []

    def add(helper: str) -> None:
        if helper in found:
            return
        for node in ast.walk(ast.parse(sources[helper])):
            if isinstance(node, ast.Name) and node.id in sources and node.id != helper:
                add(node.id)
        found.append(helper)

    for helper in helpers:
        add(helper)
    return found


def _import_place(program: Program) -> tuple[int, bool]:
    """Where an import goes: after the last import of the head of the file, or after its docstring;
    whether code follows at once.
    """
    document = program.parsed.document
    line, seen_import = 0, False
    for position, statement in enumerate(program.parsed.module.body):
        is_docstring = (
            position == 0 and isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Constant)
        )
        if isinstance(statement, (gast.Import, gast.ImportFrom)):
            line, seen_import = statement.end_lineno, True
        elif is_docstring:
            line = statement.end_lineno
        else:
            break
    if line == 0:
        # comments at the top (an encoding, a licence) stay there
        while line < len(document.lines) and document.lines.line(line + 1).startswith("#"):
            line += 1
    return document.lines.starts[line] if line < len(document.lines) else len(document.text), not seen_import
