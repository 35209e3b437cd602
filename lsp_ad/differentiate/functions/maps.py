"""`map(f, xs)` with its calls written out.

Before:                                 After:
    for y in map(f, xs):                    for item in xs:
        s += y                                  y = f(item)
                                                s += y
    t = sum(map(f, xs, ys))                 t = sum(f(item, item2) for item, item2 in zip(xs, ys))
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from lsp_ad.differentiate.functions.callables import located
from lsp_ad.simplify.algebra import name


def is_map(node: gast.expr, canonical: Callable[[gast.AST], str | None]) -> bool:
    """Whether an expression is a call of the built-in `map` that can be written out."""
    return (
        isinstance(node, gast.Call)
        and canonical(node.func) == "builtins.map"
        and len(node.args) > 1
        and not node.keywords
        and not any(isinstance(a, gast.Starred) for a in node.args)
        and canonical(name("zip")) == "builtins.zip"
    )


def write_out_loop(s: gast.For, new: Callable[[str], str]) -> None:
    """The loop over a map as a loop over what it maps."""
    call = s.iter
    items, s.target, s.iter, applied = _parts(call, s.target, new)
    s.body.insert(0, located(gast.Assign([items], applied, None), call))


def generator(call: gast.Call, new: Callable[[str], str]) -> gast.expr:
    """The map as a generator expression."""
    _, target, over, applied = _parts(call, None, new)
    made = gast.comprehension(target, over, [], 0)
    return located(gast.GeneratorExp(applied, [made]), call)


def _parts(call: gast.Call, items: gast.expr | None, new: Callable[[str], str]) -> tuple:
    """What the calls are assigned to; what one goes over, and it; one call."""
    function, *over = call.args
    names = [new("item") for _ in over]
    stored = [gast.Name(i, gast.Store(), None, None) for i in names]
    target = stored[0] if len(over) == 1 else gast.Tuple(stored, gast.Store())
    iterated = over[0] if len(over) == 1 else gast.Call(name("zip"), over, [])
    applied = gast.Call(function, [name(i) for i in names], [])
    return items, *(located(part, call) for part in (target, iterated, applied))
