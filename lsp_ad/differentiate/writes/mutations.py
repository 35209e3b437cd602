"""Statements that change arrays, in few forms: `a[s] = e`, `a[s] += e` (also -=, *=, /=) and
`np.add.at(a, i, e)`.

Before:                             After:
    np.exp(x, out=a)                    a[...] = np.exp(x)
    a[0], a[1] = a[1], a[0]             t = a[1]; u = a[0]; a[0] = t; a[1] = u
    a[s] **= e                          a[s] = a[s] ** e
"""

from __future__ import annotations

import copy

import gast

from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.rules import RULES
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.memory import SCATTERS, root
from lsp_ad.simplify.algebra import constant, expression, name, store
from lsp_ad.source.trees import copied

DIRECT = (gast.Add, gast.Sub, gast.Mult, gast.Div)
WHOLE = {"numpy.copyto": 2, "numpy.fill_diagonal": 2}


def is_mutation(call: gast.Call, scope: Scope) -> bool:
    """Whether a call that stands as a statement is one that `rewrite` brings to a plain form."""
    function = scope.canonical(call.func)
    if function in SCATTERS:
        return len(call.args) == 3 and not call.keywords and root(call.args[0]) is not None
    if function in WHOLE:
        return len(call.args) == WHOLE[function] and not call.keywords and root(call.args[0]) is not None
    if function is None and isinstance(call.func, gast.Attribute):
        arguments = {"fill": 1, "sort": 0}.get(call.func.attr)
        return arguments == len(call.args) and not call.keywords and root(call.func.value) is not None
    return _out(call) is not None and function in RULES


def _out(node: gast.expr) -> gast.expr | None:
    """The array in `f(..., out=a)`."""
    if isinstance(node, gast.Call):
        for k in node.keywords:
            if (
                k.arg == "out"
                and isinstance(k.value, (gast.Name, gast.Subscript))
                and root(k.value) is not None
            ):
                return k.value
    return None


def writes_out(s: gast.stmt, scope: Scope) -> bool:
    """Whether a statement is `y = f(..., out=a)` or `f(..., out=a)` for a function with a rule."""
    return (
        isinstance(s, (gast.Assign, gast.Expr))
        and _out(s.value) is not None
        and scope.canonical(s.value.func) in RULES
    )


def changed_by(s: gast.Assign | gast.Expr, scope: Scope) -> set[str]:
    """The names of the arrays that a call of a library function, as a statement, writes into."""
    array = _out(s.value) if writes_out(s, scope) else None
    if array is None and isinstance(s, gast.Expr) and is_mutation(s.value, scope):
        inside = scope.canonical(s.value.func) is None
        array = s.value.func.value if inside else s.value.args[0]
    found = root(array) if array is not None else None
    return {found.id} if found is not None else set()


def rewrite(body: list[gast.stmt], scope: Scope, fresh: Fresh) -> list[gast.stmt]:
    """The block with every mutation in one of the plain forms."""
    found: list[gast.stmt] = []
    for s in body:
        for block in flow.blocks(s):
            block[:] = rewrite(block, scope, fresh)
        made = _statement(s, scope, fresh)
        found += [m if m is s else gast.copy_location(m, s) for m in made]
    return found


def _statement(s: gast.stmt, scope: Scope, fresh: Fresh) -> list[gast.stmt]:
    if writes_out(s, scope):
        return _into(s, fresh)
    if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call) and is_mutation(s.value, scope):
        return _call(s, scope, fresh)
    if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Subscript):
        if isinstance(s.op, DIRECT) and not _may_repeat(s.target.slice):
            return [s]
        old = _load(s.target)
        return [gast.Assign([s.target], gast.BinOp(old, s.op, s.value), None)]
    if isinstance(s, gast.Assign) and _writes(s):
        return _assignment(s, scope, fresh)
    return [s]


def _writes(s: gast.Assign) -> bool:
    """Whether an assignment does more than one thing, and one of them is to write into an array."""
    nested = any(isinstance(t, (gast.Tuple, gast.List)) for t in s.targets)
    return (len(s.targets) > 1 or nested) and any(
        isinstance(p, gast.Subscript) for t in s.targets for p in parts(t)
    )


def parts(target: gast.expr) -> list[gast.expr]:
    """The targets in a target: itself, or those of a tuple or list."""
    if isinstance(target, (gast.Tuple, gast.List)):
        return [p for t in target.elts for p in parts(t)]
    return [target]


def _assignment(s: gast.Assign, scope: Scope, fresh: Fresh) -> list[gast.stmt]:
    """All values first, then the targets from left to right."""
    found: list[gast.stmt] = []
    target, value = s.targets[0], s.value
    if (
        len(s.targets) == 1
        and isinstance(value, (gast.Tuple, gast.List))
        and not any(isinstance(v, gast.Starred) for v in value.elts)
        and len(value.elts) == len(target.elts)
    ):
        values = [_kept(v, found, fresh) for v in value.elts]
        pairs = list(zip(target.elts, values, strict=True))
    else:
        whole = _kept(value, found, fresh)
        pairs = []
        for t in s.targets:
            if isinstance(t, (gast.Tuple, gast.List)) and any(
                isinstance(p, gast.Subscript) for p in parts(t)
            ):
                pairs += [
                    (p, gast.Subscript(copied(whole), constant(i), gast.Load())) for i, p in enumerate(t.elts)
                ]
            else:
                pairs.append((t, whole))
    for t, v in pairs:
        found += _statement(gast.copy_location(gast.Assign([t], copied(v), None), s), scope, fresh)
    return found


def _kept(value: gast.expr, found: list[gast.stmt], fresh: Fresh) -> gast.expr:
    if isinstance(value, gast.Constant):
        return value
    kept = fresh.new("t")
    found.append(gast.Assign([store(kept)], value, None))
    return name(kept)


def _into(s: gast.Assign | gast.Expr, fresh: Fresh) -> list[gast.stmt]:
    """`y = f(x, out=a)` as `a[...] = f(x); y = a`."""
    call = copy.copy(s.value)
    array = _out(call)
    call.keywords = [k for k in call.keywords if k.arg != "out"]
    write = gast.copy_location(gast.Assign([_everything(array)], call, None), s)
    if isinstance(s, gast.Expr):
        return [write]
    return [write, gast.Assign(s.targets, copied(array), None)]


def _call(s: gast.Expr, scope: Scope, fresh: Fresh) -> list[gast.stmt]:
    call = s.value
    function = scope.canonical(call.func)
    if function in SCATTERS:
        return [s]
    if function == "numpy.fill_diagonal":
        array, value = call.args
        numpy = call.func.value if isinstance(call.func, gast.Attribute) else expression("np")
        lengths = gast.Call(expression("min"), [gast.Attribute(_load(array), "shape", gast.Load())], [])
        arange = gast.Attribute(copied(numpy), "arange", gast.Load())
        index = fresh.new("t", "diagonal")
        where = gast.Tuple([name(index), name(index)], gast.Load())
        return [
            gast.Assign([store(index)], gast.Call(arange, [lengths], []), None),
            gast.Assign([gast.Subscript(_load(array), where, gast.Store())], value, None),
        ]
    if function == "numpy.copyto":
        array, value = call.args
    elif call.func.attr == "fill":
        array, value = call.func.value, call.args[0]
    else:
        array = call.func.value
        alias = scope.program.numpy
        value = gast.Call(gast.Attribute(name(alias), "sort", gast.Load()), [_load(array)], [])
    return [gast.Assign([_everything(array)], value, None)]


def _everything(array: gast.expr) -> gast.Subscript:
    """`a[...]`, for a part of an array as well: of a list, `a[0] = e` would bind the item anew."""
    return gast.Subscript(_load(array), constant(Ellipsis), gast.Store())


def _load(node: gast.expr) -> gast.expr:
    """The same expression, read; its root without location, so that it is no longer the text's own."""
    made = copied(node)
    made.ctx = gast.Load()
    return made


def _may_repeat(index: gast.expr) -> bool:
    """Whether an index is, by its form, an array of integers: it may name an element twice."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return any(isinstance(p, (gast.List, gast.Tuple)) for p in parts)
