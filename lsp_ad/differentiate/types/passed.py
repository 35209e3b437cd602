"""Which values that a function only hands on may be lists, as far as the functions that it calls tell it."""

from __future__ import annotations

import gast

from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow

_HANDING_ON = frozenset((gast.Tuple, gast.List, gast.Dict, gast.Call))


def passed_as_lists(body: list[gast.stmt], scope: Scope) -> set[str]:
    """The names that no arithmetic takes for numbers or arrays, and that are handed on as they are: to
    functions with a text that may take them for lists, or as items of a tuple, list or dict."""
    found: set[str] = set()
    numeric: set[str] = set()
    nodes = [n for s in flow.statements(body) if not flow.blocks(s) for n in flow.walk(s)]
    for node in [n for n in nodes if type(n) in _HANDING_ON]:
        if isinstance(node, gast.Dict):
            found |= {e.id for e in node.values if isinstance(e, gast.Name)}
        elif isinstance(node, gast.Call):
            callee = scope.callee(node)
            for name, p in _given(node, callee) if callee is not None else ():
                if name not in found and _may_take_list(callee, p, scope):
                    found.add(name)
        elif isinstance(node.ctx, gast.Load):
            found |= {e.id for e in node.elts if isinstance(e, gast.Name)}
    for node in [n for n in nodes if type(n) is gast.BinOp] if found else ():
        numeric |= {e.id for e in (node.left, node.right) if isinstance(e, gast.Name)}
    return found - numeric


def _given(call: gast.Call, callee: gast.FunctionDef) -> list[tuple[str, str]]:
    """The arguments of a call that are names, each with its parameter."""
    positional = [p.id for p in [*callee.args.posonlyargs, *callee.args.args]]
    given = [*zip(call.args, positional, strict=False), *((k.value, k.arg) for k in call.keywords)]
    return [(a.id, p) for a, p in given if isinstance(a, gast.Name) and p is not None]


def _may_take_list(function: gast.FunctionDef, p: str, scope: Scope) -> bool:
    """Whether a function does more with a parameter than to compute with it."""
    key = ("takes a list", id(function), p)
    derived = scope.program.derived
    if key not in derived:
        derived[key] = False  # while it is looked at: a function that hands it on to itself
        derived[key] = _is_taken(function, p, Scope.of(scope.program, function))
    return derived[key]


def _is_taken(function: gast.FunctionDef, p: str, scope: Scope) -> bool:
    computed: set[int] = set()  # the places where it is computed with, or where another function tells
    for s in function.body:
        for node in flow.walk(s):
            if isinstance(node, gast.BinOp):
                computed |= {id(node.left), id(node.right)}
            elif isinstance(node, gast.UnaryOp):
                computed.add(id(node.operand))
            elif isinstance(node, gast.Compare):
                computed |= {id(node.left), *map(id, node.comparators)}
            elif isinstance(node, gast.Attribute):
                computed.add(id(node.value))
            elif isinstance(node, gast.Call):
                callee = scope.callee(node)
                if callee is not None:
                    if any(n == p and _may_take_list(callee, q, scope) for n, q in _given(node, callee)):
                        return True
                    computed |= {id(a) for a in [*node.args, *(k.value for k in node.keywords)]}
                elif (scope.canonical(node.func) or "").split(".")[0] in ("numpy", "math", "scipy"):
                    computed |= {id(a) for a in node.args}
            elif isinstance(node, gast.Name) and node.id == p and id(node) not in computed:
                return True
    return False
