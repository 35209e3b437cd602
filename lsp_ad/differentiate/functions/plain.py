"""Whether a function, with all that it calls, has only ordinary functions in it: most need no lifting."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.functions.known import DERIVATIVES, PARTIAL
from lsp_ad.rules import CONSTANT_ONLY, RULES
from lsp_ad.rules.declared import declared
from lsp_ad.semantics import flow
from lsp_ad.semantics.names import Program

MAKERS = {*DERIVATIVES, PARTIAL, "builtins.map"}
_INERT = (gast.Constant, gast.BinOp, gast.Assign)
NESTED = (gast.FunctionDef, gast.Lambda, gast.Starred, gast.Nonlocal)


def is_plain(program: Program, function: gast.FunctionDef) -> bool:
    """Whether functions occur only where they are called, each by its own name, with plain arguments."""
    seen: set[str] = set()
    pending = [function]
    while pending:
        present = pending.pop()
        if present.name in seen or declared(program, present) is not None:
            continue
        seen.add(present.name)
        called = _called(program, present, is_entry=present is function)
        if called is None:
            return False
        pending += called
    return True


def _called(program: Program, function: gast.FunctionDef, is_entry: bool) -> list[gast.FunctionDef] | None:
    """The functions with a text that a function calls; None where it does more with functions."""
    a = function.args
    if not is_entry and (a.vararg is not None or a.kwarg is not None or function.decorator_list):
        return None
    found = []
    functions: set[int] = set()
    seen: set[tuple[str, type]] = set()  # names that were looked at
    parts = [*function.body, *a.defaults, *(d for d in a.kw_defaults if d is not None)]
    for node in [n for part in parts for n in flow.walk(part) if type(n) not in _INERT]:
        if isinstance(node, NESTED) or (isinstance(node, gast.keyword) and node.arg is None):
            return None
        if isinstance(node, gast.Call):
            canonical = program.canonical(node.func)
            if canonical in MAKERS or (canonical is None and not isinstance(node.func, gast.Attribute)):
                return None
            functions.add(id(node.func))
            callee = program.callee(canonical)
            if callee is not None:
                found.append(callee)
        elif isinstance(node, (gast.Name, gast.Attribute)) and id(node) not in functions:
            if isinstance(node, gast.Name):
                if (node.id, type(node.ctx)) in seen:
                    continue
                seen.add((node.id, type(node.ctx)))
            if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
                if program.callee(program.canonical(node)) is not None:
                    return None  # a variable with the name of a function
                continue
            canonical = program.canonical(node)
            if canonical in RULES or canonical in CONSTANT_ONLY or program.callee(canonical) is not None:
                return None
            if isinstance(node, gast.Name) and _is_function(program.constants.get(node.id)):
                return None
    return found


def _is_function(node: gast.expr | None) -> bool:
    """Whether a constant of the file may stand for a function, or for a table of functions."""
    return node is not None and not isinstance(node, (gast.Constant, gast.UnaryOp, gast.BinOp, gast.Tuple))
