"""Functions that a library calls while a function is traced: what they are given.

The body of a `jax.lax.scan` is called with traced values whatever the loop starts from; what
`jax.vmap(f)(x)` and `jax.grad(f)(x)` call gets values like those that the call is given.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.origins import PARTS, TENSOR, TRACED, Origin
from lsp_ad.checks.staged_functions import Place

# Which arguments are functions, and what their parameters are: the last is for all that follow.
_BODIES: dict[str, tuple[tuple[int, str, tuple[Origin, ...]], ...]] = {
    "jax.lax.scan": ((0, "f", (PARTS,)),),
    "jax.lax.while_loop": ((0, "cond_fun", (PARTS,)), (1, "body_fun", (PARTS,))),
    "jax.lax.fori_loop": ((2, "body_fun", (TENSOR, PARTS)),),
    "jax.lax.cond": ((1, "true_fun", (PARTS,)), (2, "false_fun", (PARTS,))),
    "jax.lax.switch": ((1, "branches", (PARTS,)),),
    "jax.lax.map": ((0, "f", (PARTS,)),),
    "jax.lax.associative_scan": ((0, "fn", (PARTS,)),),
}
_APPLIED = {
    "jax.vmap", "jax.grad", "jax.value_and_grad", "jax.checkpoint", "jax.remat", "jax.jacfwd", "jax.jacrev",
    "jax.hessian", "jax.jit",
}  # fmt: skip


def bodies(canonical: str, call: gast.Call) -> Iterator[tuple[gast.expr, int, tuple[Origin, ...]]]:
    """The functions that a call hands to the library.

    Each with how many leading parameters are bound already, and the origins of the others.
    """
    for position, name, origins in _BODIES.get(canonical, ()):
        given = call.args[position] if len(call.args) > position else None
        given = given or next((k.value for k in call.keywords if k.arg == name), None)
        for function in given.elts if isinstance(given, (gast.List, gast.Tuple)) else [given]:
            if isinstance(function, gast.Call):
                # functools.partial(body, w): what is bound is not traced for that.
                bound = len(function.args) - 1
                if function.args and not function.keywords:
                    yield function.args[0], bound, origins
            elif function is not None:
                yield function, 0, origins


def applied(
    canonical: str, call: gast.Call, given: list[Origin]
) -> tuple[gast.expr, tuple[Origin, ...]] | None:
    """The function of `jax.vmap(f)(x)`, with the origins of its arguments; `canonical`: of what makes it."""
    inner = call.func
    if not isinstance(inner, gast.Call) or not inner.args or canonical not in _APPLIED or call.keywords:
        return None
    if any(isinstance(a, gast.Starred) for a in call.args):
        return None
    # A Python value is traced there, too.
    return inner.args[0], tuple(TRACED if o.kind.decided else o for o in given)


def parameters_of(
    place: Place, bound: int, origins: tuple[Origin, ...], exact: bool
) -> dict[str, Origin] | None:
    """The origins of parameters; `exact`: there are no more of them than that."""
    arguments = place.node.args
    names = [p.id for p in [*arguments.posonlyargs, *arguments.args]][bound:]
    if not origins:
        return None
    required = len(names) - len(arguments.defaults)
    names = names[: len(origins)] if exact else names[: max(required, 0)]
    return {n: origins[min(i, len(origins) - 1)] for i, n in enumerate(names)}
