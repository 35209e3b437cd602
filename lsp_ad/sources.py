"""From live functions to the text that they were made from.

Nothing here runs user code: the text is looked up, checked against the bytecode that really runs, and parsed.
"""

from __future__ import annotations

import ast
import linecache
import sys
import types
from collections.abc import Iterator, Set

import gast

from lsp_ad.source.parse import Parsed

GENERATED = "<lsp-ad "
RUNTIME = "lsp_ad.runtime."


class NoSource(Exception):
    """The text of a function cannot be found, or is not the text of what runs; the message says why."""


def text_of(function: types.FunctionType) -> str:
    """The text of the file of a function as it is now; empty where there is none."""
    filename = function.__code__.co_filename
    linecache.checkcache(filename)
    return "".join(linecache.getlines(filename, function.__globals__))


def first_line(text: str, code: types.CodeType) -> int:
    """The line where the definition of a code object starts in a text; NoSource if it is not in there.

    The file may have been edited since it was imported. What counts is that the same code is still in it.
    """
    if code.co_filename.startswith(GENERATED) or any(
        "@py" in n for n in (*code.co_names, *code.co_varnames)
    ):
        # Ours, with other scopes around it; or a test that pytest rewrote for its assertions.
        return code.co_firstlineno
    try:
        compiled = compile(
            text, code.co_filename, "exec", dont_inherit=True, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        )
    except (SyntaxError, ValueError) as error:
        raise NoSource(f"{code.co_filename} does not compile any more: {error}") from error
    lines = [c.co_firstlineno for c in codes(compiled) if c.co_name == code.co_name and same_code(c, code)]
    if not lines:
        raise NoSource(f"{code.co_filename} has changed since the function was defined; load it again")
    return code.co_firstlineno if code.co_firstlineno in lines else lines[0]


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from codes(constant)


def same_code(a: types.CodeType, b: types.CodeType) -> bool:
    """Whether two code objects do the same, wherever they stand."""
    names = (
        "co_code",
        "co_names",
        "co_varnames",
        "co_freevars",
        "co_cellvars",
        "co_argcount",
        "co_kwonlyargcount",
    )
    return (
        all(getattr(a, name) == getattr(b, name) for name in names)
        and len(a.co_consts) == len(b.co_consts)
        and all(map(_same_constant, a.co_consts, b.co_consts))
    )


def _same_constant(a: object, b: object) -> bool:
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return same_code(a, b)
    # 1, 1.0 and True are equal and not the same; two NaNs are the same and not equal.
    return a == b if isinstance(a, frozenset) else repr(a) == repr(b)


def definition_of(parsed: Parsed, code: types.CodeType, line: int) -> gast.FunctionDef:
    for node in gast.walk(parsed.module):
        named = isinstance(node, gast.FunctionDef) and node.name == code.co_name
        if named and min([node.lineno, *(d.lineno for d in node.decorator_list)]) == line:
            return node
    raise NoSource(f"line {line} of {code.co_filename} does not define it")


def borrowed(function: types.FunctionType, bound: Set[str]) -> list[str]:
    """Imports of what a function takes from elsewhere at run time, of names that its file does not bind.

    In a notebook the import stands in another cell, and in generated code nowhere at all.
    """
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    names = {
        n for code in (function.__code__, *codes(function.__code__)) for n in code.co_names
    } | cells.keys()
    found = []
    for name in sorted(n for n in names - bound if n.isidentifier()):  # pytest has others
        try:
            value = cells[name].cell_contents if name in cells else function.__globals__[name]
        except (KeyError, ValueError):
            continue
        if isinstance(value, types.ModuleType):
            found.append(f"import {value.__name__} as {name}")
            continue
        module, own = getattr(value, "__module__", None), getattr(value, "__name__", None)
        if isinstance(module, str) and module.startswith(RUNTIME):
            module = RUNTIME.rstrip(".")  # whose parts generated code does not name
        if (
            isinstance(module, str)
            and isinstance(own, str)
            and getattr(sys.modules.get(module), own, None) is value
        ):
            found.append(f"from {module} import {own} as {name}")
    return found
