"""STG209: jax.jit around a method of an object that JAX cannot trace."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Fix, Problem, problem
from lsp_ad.source.parse import span_of

_PLAIN = ("", "builtins.object", "abc.ABC", "typing.Protocol", "typing.Generic")


def traced_self(trace: Trace) -> Iterator[Problem]:
    place, staged = trace.place, trace.staged
    node, where = place.node, staged.where
    if place is not trace.root or staged.transform != "jax.jit" or place.receiver is None or where is None:
        return
    if where not in node.decorator_list or staged.static is None or place.receiver in staged.static:
        return
    bare = len(node.decorator_list) == 1  # another decorator may bind or drop `self`
    if bare and place.owner is not None and is_plain(trace, place.owner):
        message = (
            f"jax.jit traces `{place.receiver}` as the first argument of {trace.described}, and a "
            f"`{place.owner.name}` is no array or pytree."
        )
        yield problem("STG209", message, span_of(where), fixes=_static(trace, where, place.receiver))


def is_plain(trace: Trace, owner: gast.ClassDef) -> bool:
    """Is it a class that nothing makes a pytree: no decorator, no base, no registration?"""
    plain = [b.value if isinstance(b, gast.Subscript) else b for b in owner.bases]
    bases = [trace.functions.canonical(b, None) for b in plain]
    if owner.decorator_list or owner.keywords or any(b not in _PLAIN for b in bases):
        return False
    return not any(
        isinstance(argument, gast.Name) and argument.id == owner.name
        for call, _ in trace.functions.calls
        for argument in call.args
    )


def _static(trace: Trace, where: gast.AST, name: str) -> tuple[Fix, ...]:
    """Mark `self` static, where functools.partial is at hand."""
    partial = trace.functions.program.alias_of("functools.partial")
    module = trace.functions.program.alias_of("functools")
    call = partial or (f"{module}.partial" if module else None)
    if call is None or not isinstance(where, (gast.Name, gast.Attribute)):
        return ()
    text = f"{call}({trace.text(where)}, static_argnums=0)"
    return (Fix(f"Mark {name} static", ((span_of(where), text),), safe=False),)
