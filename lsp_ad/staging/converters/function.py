"""The conversion of one function: the converters in their order."""

from __future__ import annotations

from collections.abc import Set

import gast

from lsp_ad.differentiate.desugar import loop_else, matches, walrus
from lsp_ad.differentiate.desugar.structure import leaves, structure
from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.names import Program
from lsp_ad.simplify.algebra import constant
from lsp_ad.source.trees import walk
from lsp_ad.staging.converters import (
    break_statements,
    directives,
    generators,
    guards,
    handlers,
    leading_breaks,
    methods,
    truths,
    unpacking,
    unsupported,
    variables,
)
from lsp_ad.staging.converters.asserts import Asserts
from lsp_ad.staging.converters.building import AG, at, operator, placed, renamed, store
from lsp_ad.staging.converters.calls import Calls
from lsp_ad.staging.converters.conditional_expressions import ConditionalExpressions
from lsp_ad.staging.converters.control_flow import ControlFlow, Names
from lsp_ad.staging.converters.expressions import convert_body
from lsp_ad.staging.converters.held_views import HeldViews
from lsp_ad.staging.converters.iterables import Iterables
from lsp_ad.staging.converters.logical_expressions import LogicalExpressions
from lsp_ad.staging.converters.scopes import Scopes
from lsp_ad.staging.converters.shapes import Shapes
from lsp_ad.staging.converters.sharing import Call, Shared
from lsp_ad.staging.converters.slices import Slices
from lsp_ad.staging.converters.sources import Sources
from lsp_ad.staging.converters.texts import Texts
from lsp_ad.staging.converters.writes import Writes
from lsp_ad.staging.generated import docstring_of


def convert(
    function: gast.FunctionDef, program: Program, owner: str = "", free: Set[str] = frozenset()
) -> tuple[set[str], str, dict[int, list[Call]]]:
    """Convert a function in place, and the functions in it.

    Returns the names of the blocks made of them, what the operators are called (`ag`, if that is free), and
    the variables that outlive the calls, by line.

    `owner`: the class whose text it stands in; `free`: the names of functions around it. Raises Unsupported
    or Refusal.
    """
    unsupported.check(function)
    methods.convert(function, owner)
    used = {n.id for n in walk(function) if isinstance(n, gast.Name)}
    names = Names(used | {n.name for n in walk(function) if isinstance(n, gast.FunctionDef)})
    alias = names.new(AG)
    survivors: dict[int, list[Call]] = {}
    _convert(function, program, names, free, survivors)
    if alias != AG:
        renamed(function, alias)
    return names.made, alias, survivors


def _convert(
    function: gast.FunctionDef,
    program: Program,
    names: Names,
    around: Set[str],
    survivors: dict[int, list[Call]],
) -> None:
    used = {n.id for n in walk(function) if isinstance(n, gast.Name)}
    local = flow.writes(function.body) | {n.id for n in walk(function.args) if isinstance(n, gast.Name)}
    for s in flow.statements(function.body):
        for inner in s.body if isinstance(s, gast.ClassDef) else [s]:
            if isinstance(inner, gast.FunctionDef) and not generators.is_plain(inner):
                _convert(inner, program, names, around | local, survivors)
    canonical = program.canonical
    documented = docstring_of(function)
    docstring = function.body[:1] if documented else []
    function.body = function.body[len(docstring) :] or [at(gast.Pass(), function)]
    fresh = Fresh(used)
    directives.convert(function, canonical, program.parsed.comments)
    leading_breaks.convert(function, lambda node: canonical(node, local | around))
    result, guarded = _core(function, fresh)
    placed(function.body, function)
    sources = Sources(function, Scope.of(program, function), documented)
    shared = Shared(function, canonical, sources, result)
    survivors.update(shared.survivors)
    local = flow.writes(function.body) | {n.id for n in walk(function.args) if isinstance(n, gast.Name)}
    handlers.convert(function.body, local, fresh)
    truths.mark(walk(function))
    for converter in (
        truths.Sums(truths.flags(function)),
        Asserts(),
        *([HeldViews(function, canonical)] if shared.writes else []),
        Writes(shared),
        Shapes(),
        Slices(),
        Iterables(),
        Texts(),
        Calls(canonical, local | around),
        ConditionalExpressions(),
        LogicalExpressions(),
    ):
        function.body = convert_body(converter, function.body)
    deleted = variables.deletions(function.body, local)
    function.body = break_statements.convert(function.body, fresh)
    scopes = Scopes(function)
    marked = {
        n
        for s in flow.statements(function.body)
        if isinstance(s, (gast.If, gast.While, gast.For))
        for n in scopes.local
        if scopes.maybe_unbound(n, s)
    }
    variables.reads(scopes, marked | deleted)
    guarded |= scopes.flags | guards.guarded(scopes, marked)  # flags: of a loop, and set before it
    control = ControlFlow(scopes, names, guarded)
    body = control.block(function.body)
    marks = [
        at(gast.Assign([store(n)], operator("undefined", constant(n)), None), function.body[0])
        for n in sorted(control.first)
    ]
    start = 0
    while start < len(body) and isinstance(body[start], (gast.Nonlocal, gast.Global)):
        start += 1
    function.body = [*docstring, *body[:start], *marks, *body[start:]]
    _plain_names(function, used)


def _core(function: gast.FunctionDef, fresh: Fresh) -> tuple[str | None, set[str]]:
    """Bring the statements to those that the converters know.

    Returns the name of the result where several statements give it, and the names that flags guard.
    """
    matches.expand(function, fresh)
    unpacking.convert(function.body, fresh)
    bound = _bound_where_read(function) if _has_loop_else(function) else set()
    loop_else.expand(function, fresh)
    walrus.expand(function, fresh)
    for s in flow.statements(function.body):
        if isinstance(s, gast.Return) and s.value is None:
            s.value = at(constant(None), s)
    returns = [s for s in flow.statements(function.body) if isinstance(s, gast.Return)]
    if not leaves(function.body):
        if not returns and not _has_jumps(function.body):
            return None, set()
        function.body.append(at(gast.Return(constant(None)), function.body[-1]))
    elif len(returns) == 1 and function.body[-1] is returns[0] and not _has_jumps(function.body):
        return None, set()
    bound |= _bound_where_read(function)
    result = structure(function, fresh)
    _single_return(function, result)
    return result, {result, *bound}


def _bound_where_read(function: gast.FunctionDef) -> set[str]:
    """The variables that have a value wherever they are read, while jumps are still jumps.

    Once flags stand for jumps, a path where the flags forbid the read needs no value.
    """
    scopes = Scopes(function)
    risky = set(scopes.captured)
    for s in flow.statements(function.body):
        risky |= {n for n in flow.header_reads(s) if scopes.maybe_unbound(n, s)}
    return scopes.local - risky


def _has_loop_else(function: gast.FunctionDef) -> bool:
    """Whether a loop has an `else`, and nothing is assigned inside expressions."""
    loops = (gast.For, gast.While)
    found = any(isinstance(s, loops) and s.orelse for s in flow.statements(function.body))
    return found and not any(isinstance(n, gast.NamedExpr) for n in walk(function))


def _has_jumps(body: list[gast.stmt]) -> bool:
    return any(isinstance(s, (gast.Break, gast.Continue)) for s in flow.statements(body))


def _single_return(function: gast.FunctionDef, result: str) -> None:
    """`result = e; return result` at the end as `return e`."""
    body = function.body
    if len(body) > 1 and isinstance(body[-2], gast.Assign):
        target = body[-2].targets[0]
        if isinstance(target, gast.Name) and target.id == result:
            body[-2:] = [at(gast.Return(body[-2].value), body[-2])]
            return


def _plain_names(function: gast.FunctionDef, used: set[str]) -> None:
    """Names with two underscores as a person would write them."""
    shown: dict[str, str] = {}
    taken = set(used)
    for node in walk(function):
        if isinstance(node, gast.Name) and "__" in node.id and node.id not in used and node.id not in shown:
            base = node.id.split("__")[0]
            made, number = base, 1
            while made in taken:
                number += 1
                made = f"{base}_{number}"
            taken.add(made)
            shown[node.id] = made
    for node in walk(function):
        if isinstance(node, gast.Name):
            node.id = shown.get(node.id, node.id)
        elif isinstance(node, gast.keyword) and getattr(node, "handed", False):
            node.arg = shown.get(node.arg, node.arg)
        elif isinstance(node, (gast.Nonlocal, gast.Global)):
            node.names = [shown.get(n, n) for n in node.names]
        elif isinstance(node, gast.Constant) and isinstance(node.value, str) and "__" in node.value:
            node.value = ", ".join(shown.get(n, n) for n in node.value.split(", "))
