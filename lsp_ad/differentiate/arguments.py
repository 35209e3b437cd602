"""Which argument of a call goes to which parameter of a function of this file."""

from __future__ import annotations

import gast

from lsp_ad.problems import Refusal, problem
from lsp_ad.semantics.hints import default_values
from lsp_ad.semantics.names import parameters
from lsp_ad.source.parse import span_of


def match(call: gast.Call, function: gast.FunctionDef) -> dict[str, gast.expr]:
    """Parameter to argument, defaults included where they are constants;
    raises Refusal where Python would raise.
    """
    a = function.args
    positional = [p.id for p in [*a.posonlyargs, *a.args]]
    if len(call.args) > len(positional):
        raise _wrong(
            call, function, f"takes {len(positional)} positional arguments, but {len(call.args)} are given"
        )
    given: dict[str, gast.expr] = dict(zip(positional, call.args, strict=False))
    for keyword in call.keywords:
        if (
            keyword.arg not in parameters(function)
            or keyword.arg in given
            or keyword.arg in [p.id for p in a.posonlyargs]
        ):
            raise _wrong(call, function, f"cannot take the argument `{keyword.arg}` here")
        given[keyword.arg] = keyword.value
    for name, default in default_values(function).items():
        if name not in given:
            if not isinstance(default, gast.Constant) and not (
                isinstance(default, gast.UnaryOp) and isinstance(default.operand, gast.Constant)
            ):
                raise Refusal(
                    problem(
                        "AD202",
                        f"The default of `{name}` of `{function.name}` is not a constant.",
                        span_of(call),
                        f"Pass `{name}` in this call.",
                    )
                )
            given[name] = default
    missing = [p for p in parameters(function) if p not in given]
    if missing:
        raise _wrong(call, function, f"needs the argument `{missing[0]}`")
    return {p: given[p] for p in parameters(function)}


def _wrong(call: gast.Call, function: gast.FunctionDef, what: str) -> Refusal:
    return Refusal(problem("AD203", f"`{function.name}` {what}.", span_of(call), "Mend the call."))
