"""Which functions of a file are of interest, and what forbids their derivatives.

Diagnostics are for functions that somebody wants to differentiate, not for every function of a
file. A function is *of interest* when the file holds its generated derivative (`loss_grad`), when it
is handed to `lsp_ad.grad`, `value_and_grad` or `vjp` in the file, or when the user asked for its
gradient in the editor.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import gast

from lsp_ad.differentiate import MODES, Derivative, differentiate
from lsp_ad.problems import Problem
from lsp_ad.semantics.names import HERE, Program, local_names

Wrt = tuple[str | int, ...] | None
Differentiate = Callable[[str, Wrt, str], tuple[Derivative | None, tuple[Problem, ...]]]

_TRANSFORMS = {f"lsp_ad.{mode}": mode for mode in MODES} | {f"lsp_ad.api.{mode}": mode for mode in MODES}
_SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef)


@dataclass(frozen=True)
class Interest:
    """A derivative that somebody wants: of which function, in which mode, with respect to what."""

    function: str
    mode: str = "grad"
    wrt: Wrt = None


def interests(program: Program, asked: Iterable[str] = ()) -> tuple[Interest, ...]:
    """The derivatives wanted in a file, in the order found; `asked` names functions the user asked for."""
    found = [*_generated(program), *_transformed(program)]
    found += [Interest(name) for name in asked if name in program.functions]
    return tuple(dict.fromkeys(found))


def refusals(
    program: Program, asked: Iterable[str] = (), derivative_of: Differentiate | None = None
) -> tuple[Problem, ...]:
    """The problems that forbid the derivatives of interest, each once, in the order of the text.

    `derivative_of` stands in for the compiler where its answers are kept already.
    """
    compute = derivative_of or (lambda name, wrt, mode: differentiate(program, name, wrt, mode))
    found: dict[Problem, None] = {}
    for interest in interests(program, asked):
        derivative, problems = compute(interest.function, interest.wrt, interest.mode)
        if derivative is None:
            found |= dict.fromkeys(problems)
    return tuple(sorted(found, key=lambda p: (p.span, p.code)))


def _generated(program: Program) -> list[Interest]:
    # Longest suffix first: `f_value_and_grad` is not the gradient of a function `f_value_and`.
    suffixes = sorted(((f"_{mode}", mode) for mode in MODES), key=lambda pair: -len(pair[0]))
    found = []
    for name in program.functions:
        suffix, mode = next(((s, m) for s, m in suffixes if name.endswith(s)), ("", ""))
        primal = name.removesuffix(suffix)
        if suffix and primal in program.functions:
            found.append(Interest(primal, mode))
    return found


def _transformed(program: Program) -> list[Interest]:
    if not any(canonical.split(".")[0] == "lsp_ad" for canonical in program.imports.values()):
        return []
    found: list[Interest] = []
    pending: deque[tuple[gast.AST, frozenset[str]]] = deque(
        (s, frozenset()) for s in program.parsed.module.body
    )
    while pending:
        node, local = pending.popleft()
        if isinstance(node, _SCOPES):
            found += _decorators(program, node, local)
            local = local | local_names(node)
        elif isinstance(node, gast.Call):
            mode = _TRANSFORMS.get(program.canonical(node.func, local) or "")
            target = node.args[0] if node.args else _keyword(node, "f")
            name = program.canonical(target, local) if target is not None else None
            if mode and name and name.startswith(HERE):
                found.append(Interest(name.removeprefix(HERE), mode, _wrt(node, 1)))
        pending += [(child, local) for child in gast.iter_child_nodes(node)]
    return found


def _decorators(program: Program, function: gast.FunctionDef, local: frozenset[str]) -> list[Interest]:
    if function.name not in program.functions or program.functions[function.name] is not function:
        return []
    found = []
    for decorator in function.decorator_list:
        call = decorator if isinstance(decorator, gast.Call) else None
        transform = call.func if call else decorator
        if call and program.canonical(call.func, local) == "functools.partial" and call.args:
            transform = call.args[0]
        mode = _TRANSFORMS.get(program.canonical(transform, local) or "")
        if mode:
            found.append(Interest(function.name, mode, _wrt(call, 1) if call else None))
    return found


def _keyword(call: gast.Call, name: str) -> gast.expr | None:
    return next((k.value for k in call.keywords if k.arg == name), None)


def _wrt(call: gast.Call, position: int) -> Wrt:
    """What a call names as `wrt` where that is written out; None, that is all parameters, where it is not."""
    given = call.args[position] if len(call.args) > position else _keyword(call, "wrt")
    if given is None:
        return None
    try:
        value = gast.literal_eval(given)
    except (ValueError, TypeError, SyntaxError):
        return None
    parts: Sequence[object] = value if isinstance(value, (tuple, list)) else (value,)
    if all(isinstance(p, (str, int)) and not isinstance(p, bool) for p in parts):
        return tuple(parts)  # type: ignore[arg-type]
    return None
