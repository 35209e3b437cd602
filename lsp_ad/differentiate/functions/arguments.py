"""Which argument of a call goes to which parameter of a function of this file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from lsp_ad.problems import Refusal, problem
from lsp_ad.rules.resolve import Scope
from lsp_ad.rules.rule import UNKNOWN_VALUE, literal
from lsp_ad.semantics import flow
from lsp_ad.semantics.hints import default_values
from lsp_ad.semantics.names import Program, parameters
from lsp_ad.source.parse import span_of


@dataclass
class Given:
    """What a call gives: to the parameters by name, to `*args` and to `**kwargs`."""

    named: dict[str, Any]
    more: list[Any] = field(default_factory=list)
    keywords: dict[str, Any] = field(default_factory=dict)


def bind(
    args: Sequence[Any], keywords: dict[str, Any], function: gast.FunctionDef, call: gast.expr, title: str
) -> Given:
    """Distribute arguments as Python does, defaults aside; raises Refusal where Python would raise."""
    a = function.args
    positional = [p.id for p in [*a.posonlyargs, *a.args]]
    if len(args) > len(positional) and a.vararg is None:
        what = f"takes {len(positional)} positional arguments, but {len(args)} are given"
        raise _wrong(call, title, what)
    given = Given(dict(zip(positional, args, strict=False)), list(args[len(positional) :]))
    by_name = {p.id for p in [*a.args, *a.kwonlyargs]}
    for name, value in keywords.items():
        if name in by_name and name not in given.named:
            given.named[name] = value
        elif name in by_name or a.kwarg is None:
            raise _wrong(call, title, f"cannot take the argument `{name}` here")
        else:
            given.keywords[name] = value
    defaults = default_values(function)
    for p in [*positional, *(p.id for p in a.kwonlyargs)]:
        if p not in given.named and p not in defaults:
            raise _wrong(call, title, f"needs the argument `{p}`")
    return given


def match(call: gast.Call, function: gast.FunctionDef, scope: Scope) -> dict[str, gast.expr]:
    """Parameter to argument, defaults included where their value is known for good;
    raises Refusal where Python would raise.
    """
    keywords = {k.arg: k.value for k in call.keywords}
    given = bind(call.args, keywords, function, call, function.name).named
    for name, default in default_values(function).items():
        if name not in given:
            if flow.reads(default) & scope.local:
                message = f"The default of `{name}` of `{function.name}` means something else here."
                raise Refusal(problem("AD202", message, span_of(call), f"Pass `{name}` in this call."))
            if not is_settled(default, scope.program):
                raise Refusal(
                    problem(
                        "AD202",
                        f"The default of `{name}` of `{function.name}` is not a constant.",
                        span_of(call),
                        f"Pass `{name}` in this call.",
                    )
                )
            given[name] = default
    return {p: given[p] for p in parameters(function)}


def is_settled(default: gast.expr, program: Program) -> bool:
    """Whether an expression at the top level of a file means the same whenever it is evaluated: it is made of
    constants, of names that are bound once, and of numbers computed from them.
    """
    if isinstance(default, gast.Name):
        return default.id in program.constants
    if isinstance(default, gast.Attribute):
        return program.canonical(default) is not None
    if isinstance(default, gast.Tuple):
        return all(is_settled(e, program) for e in default.elts)
    return _is_number(default, program)


def _is_number(node: gast.expr, program: Program) -> bool:
    if isinstance(node, gast.UnaryOp):
        return _is_number(node.operand, program)
    if isinstance(node, gast.BinOp):
        return _is_number(node.left, program) and _is_number(node.right, program)
    if isinstance(node, gast.Name):
        value = program.constants.get(node.id)
        return value is not None and literal(value) is not UNKNOWN_VALUE
    if isinstance(node, gast.Attribute):
        return program.canonical(node) is not None
    return isinstance(node, gast.Constant)


def _wrong(call: gast.expr, title: str, what: str) -> Refusal:
    return Refusal(problem("AD203", f"`{title}` {what}.", span_of(call), "Mend the call."))
