"""The forward sweep of one function as a body: statements and tangent statements, and what is returned."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.desugar.checkpoints import removed
from lsp_ad.differentiate.forward.again import compute_again, is_tangent
from lsp_ad.differentiate.forward.statements import Forward
from lsp_ad.differentiate.forward.tangents import HeldValues, Present, Tangents
from lsp_ad.differentiate.fresh import adjoint_name
from lsp_ad.differentiate.normal.paths import Path
from lsp_ad.differentiate.options import DEFAULT, Options
from lsp_ad.differentiate.output.display import PATTERNS, PRODUCT_PATTERNS
from lsp_ad.differentiate.output.simplified import shared_memory, simplify
from lsp_ad.differentiate.reverse.calls import Callees
from lsp_ad.differentiate.reverse.sweep import Swept, display_of, modules, unnest, use_checks
from lsp_ad.differentiate.types.nested import may_be_lists
from lsp_ad.differentiate.types.passed import passed_as_lists
from lsp_ad.differentiate.unit import Unit
from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import changed
from lsp_ad.semantics.memory import Sharing, mutated
from lsp_ad.semantics.points import Points
from lsp_ad.simplify.algebra import assign, name, substitute


def sweep_forward(unit: Unit, callees: Callees, shown: str, options: Options = DEFAULT) -> Swept:
    """Differentiate a prepared function in forward mode; `shown` is the name of the generated function."""
    values = HeldValues(unit.original, unit.scope, unit.kinds, unit.stability, unit.fresh, unit.declared)
    values.lists = may_be_lists(unit.tree.body, unit.active, unit.kinds, unit.scope)
    handed_on = passed_as_lists(unit.tree.body, unit.scope)
    values.lists |= {n for n in handed_on if unit.kinds.of(name(n)).may_be_list}
    use_checks(unit, values)
    forward = Forward(
        Tangents(values, unit.carries),
        unit.active,
        callees,
        unit.insertions,
        changed(unit.tree.body) | mutated(unit.tree.body),
        _written(unit),
        unit.stability.live,
    )
    body, last = unit.tree.body[:-1], unit.tree.body[-1]
    bound = {*unit.parameters, *unit.paths}
    items = {n for n, path in unit.paths.items() if path.parameter in unit.wrt and unit.apart.moves(n)}
    moving = {*unit.wrt, *items}
    present = Present(moving & unit.active, set(bound), set(bound))
    joint = forward.block(body, present, {unit.result})
    tangent = adjoint_name(unit.result)
    if unit.result not in present.tangents:
        joint.append(assign(tangent, forward.tangents.zero(name(unit.result), present, last)))
    both = gast.Tuple([name(unit.result), name(tangent)], gast.Load())
    product = options.product is not None
    seeds = {adjoint_name(p): p for p in unit.wrt}
    joint.append(gast.Return(name(tangent) if product else both))
    joint = removed(joint)
    options.record("sweeps", unit.tree, joint)
    points = Points()
    if options.optimized:
        shared = shared_memory(joint, unit, values, Points())
        compute_again(joint, shared)
        given = bound | seeds.keys() | {adjoint_name(n) for n in unit.paths}
        joint = simplify(joint, given, points, shared)
        options.record("simplified", unit.tree, joint)
    substituted = {n: path.expression() for n, path in unit.paths.items()}
    for n, path in unit.paths.items():
        root = adjoint_name(path.parameter)
        there = unit.apart.tangent(path, root) if n in unit.apart.parts else Path(root, path.keys)
        substituted[adjoint_name(n)] = there.expression()
    for s in points.mentioning(joint, substituted) if substituted else ():
        substitute(s, substituted)
        points.forget(s)
    if not product:
        _return_values(joint, unit.result)
        points.forget(joint[-1])
    patterns = PRODUCT_PATTERNS if product else PATTERNS
    display = display_of(joint, unit, seeds, values, points, patterns)
    derived = {id(s) for s in flow.statements(joint) if is_tangent(s)}
    joint = display.rename(joint)
    unnest(joint)
    if product:
        _return_tangent(joint)
    return Swept(
        shown,
        "",
        joint[:-1],
        [],
        joint[-1].value,
        None,
        False,
        frozenset(values.helpers),
        modules(unit, values),
        frozenset(unit.parameters),
        {p: display.shown[adjoint_name(p)] for p in unit.wrt},
        frozenset(derived),
    )


def _return_tangent(joint: list[gast.stmt]) -> None:
    """`dvalue = da, db; return dvalue` as `return da, db`."""
    last = joint[-2] if len(joint) > 1 else None
    if isinstance(last, gast.Assign) and getattr(last.targets[0], "id", "") == joint[-1].value.id:
        joint[-2:] = [gast.Return(last.value)]


def _return_values(joint: list[gast.stmt], result: str) -> None:
    """`value = y; dvalue = dy; return value, dvalue` as `return y, dy`."""
    both = joint[-1].value
    last = joint[-3:-1]
    values = {
        s.targets[0].id: s.value
        for s in last
        if isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and isinstance(s.value, (gast.Name, gast.Tuple))
    }
    wanted = [n.id for n in both.elts if isinstance(n, gast.Name)]
    if (
        len(values) == 2
        and set(values) == set(wanted)
        and not any(flow.reads(v) & set(values) for v in values.values())
    ):
        both.elts = [values[n] for n in wanted]
        del joint[-3:-1]


def _written(unit: Unit) -> set[str]:
    """The names that may share memory with an array that is written into."""
    arrays = mutated(unit.tree.body)
    sharing = Sharing(unit.scope.makes_new, keeps=unit.kinds.is_structure)
    groups = sharing.groups(unit.tree.body) if arrays else {}
    return {n for array in arrays for n in groups.get(array, {array})}
