"""The kinds of the names of one function: what its parameters, its statements and the file say of them."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.normal.paths import Path
from lsp_ad.differentiate.normal.stable import carried_names
from lsp_ad.differentiate.objects.results import Apart
from lsp_ad.differentiate.types.constants import constant_kind
from lsp_ad.differentiate.types.library import library_kinds
from lsp_ad.rules.helpers import RUNTIME
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import change_of
from lsp_ad.semantics.checked import equal_shapes
from lsp_ad.semantics.hints import parameter_kinds
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.semantics.names import Program, parameters
from lsp_ad.semantics.shapes import OTHER, Kind, Opaque
from lsp_ad.semantics.uses import Uses, used_as_dict


def kinds_in(
    program: Program,
    uses: Uses,
    tree: gast.FunctionDef,
    scope: Scope,
    items: dict[str, Path],
    apart: Apart,
) -> Kinds:
    function = uses.function
    known = parameter_kinds(function)
    known.update({n: apart.kind(n) if n in apart.parts else Kind(shape=Opaque(n)) for n in items})
    known.update({n: Kind("dict") for n in used_as_dict(tree.body) if known.get(n, OTHER).type == "numeric"})
    for name, kind in uses.kinds.items():
        if known[name].shape is None or not isinstance(known[name].shape, tuple):
            known[name] = kind
    for name in assumed_numbers(uses, known):
        known[name] = Kind("number", known[name].dtype, (), fresh=True)
    graph = flow.Flow.of(tree.body)
    live = flow.live_before(graph, [])
    carried = frozenset(carried_names(tree.body, graph, live))
    lists = _adjoints(tree.body, scope)
    kinds = Kinds(dict(known), library_kinds(scope), lambda n: constant_kind(program, n))
    kinds.run(tree.body, carried, lists)
    unknown = {n for n in parameters(function) if known[n] == Kind(dtype=known[n].dtype, shape=Opaque(n))}
    if checked := equal_shapes(tree.body, unknown):
        for name, of in checked.items():
            other = Kind("number", None, ()) if isinstance(of, gast.Tuple) else kinds.of(of)
            if other.type in ("number", "array", "numeric") and other.shape is not None:
                known[name] = Kind(other.type, known[name].dtype, other.shape)
        kinds = Kinds(known, library_kinds(scope), lambda n: constant_kind(program, n))
        kinds.run(tree.body, carried, lists)
    return kinds


def _adjoints(body: list[gast.stmt], scope: Scope) -> frozenset[str]:
    """The names of adjoints of lists in generated code: `dys[1] = sum_of(dys[1], e)`."""
    return frozenset(
        change.base
        for s in flow.statements(body)
        if (change := change_of(s)) is not None and change.method == "set"
        if type(getattr(change.args[0], "value", None)) is int
        if isinstance(s.value, gast.Call) and scope.canonical(s.value.func) == f"{RUNTIME}sum_of"
    )


def uses_in(function: gast.FunctionDef, scope: Scope) -> Uses:
    """What the uses of the parameters of a function say about them."""
    return Uses(function, scope.canonical, lambda value: _is_elementwise(value, scope))


def assumed_numbers(uses: Uses, known: dict[str, Kind]) -> set[str]:
    """Parameters of unknown shape that the function compares in a condition:
    taken for numbers, which is checked on entry.
    """
    return {n for n in uses.tested if known[n].type == "numeric" and known[n].shape == Opaque(n)}


def _is_elementwise(node: gast.expr, scope: Scope) -> bool:
    """Whether the value of an expression has as many dimensions as the largest of its operands."""
    if isinstance(node, (gast.Name, gast.Constant)):
        return True
    if isinstance(node, gast.IfExp):
        return _is_elementwise(node.body, scope) and _is_elementwise(node.orelse, scope)
    operation = scope.operation(node)
    if operation is None or operation.rule.elementwise is None:
        return False
    return all(_is_elementwise(a, scope) for a in operation.args)
