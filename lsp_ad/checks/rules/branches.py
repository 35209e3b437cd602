"""STG401, STG402: branches and iterations of staged control flow that do not fit one another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import gast

from lsp_ad.checks import fixes
from lsp_ad.checks.origins import Kind
from lsp_ad.checks.rules.before_after import (
    assigned,
    bound_before,
    last_values,
    leaves,
    place_of,
    read_after,
    surely_assigned,
    value_before,
)
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Fix, Problem, Related, problem
from lsp_ad.source.parse import span_of

_SOME = "a value"


def branches(trace: Trace) -> Iterator[Problem]:
    if not trace.staged.converts:
        return
    for node in trace.nodes:
        if isinstance(node, gast.If) and trace.is_tensor(node.test):
            yield from _one_branch(trace, node)
            yield from _types_of_branches(trace, node)
        elif isinstance(node, gast.IfExp) and trace.is_tensor(node.test):
            difference = differ(trace, node.body, node.orelse)
            if difference:
                yield _different(
                    trace, node, "The value", difference, "if", "otherwise", node.body, node.orelse
                )
        elif is_staged_loop(trace, node):
            yield from _types_of_iterations(trace, node)


def is_staged_loop(trace: Trace, node: gast.AST) -> bool:
    """Is it surely a loop that is staged?"""
    if isinstance(node, gast.While):
        return trace.is_tensor(node.test)
    if not isinstance(node, gast.For):
        return False
    if isinstance(node.iter, gast.Call):
        name = trace.canonical(node.iter.func)
        if name in ("tensorflow.range", "builtins.range"):
            return name == "tensorflow.range" or any(map(trace.is_tensor, node.iter.args))
    return trace.is_tensor(node.iter)


def _one_branch(trace: Trace, node: gast.If) -> Iterator[Problem]:
    """A name that one branch may not bind, that has no value before, and that is read afterwards."""
    if leaves(node.body) or (node.orelse and leaves(node.orelse)):
        return
    for name in sorted(assigned([node]) - surely_assigned([node])):
        if bound_before(trace, name, node) or not read_after(trace, name, node):
            continue
        message = (
            f"`{name}` has no value in one branch of a conditional in {trace.described} that "
            f"{trace.staged.transform} stages, and is read afterwards."
        )
        one = node.body if name in surely_assigned(node.orelse) else [*node.orelse, *node.body]
        yield problem("STG401", message, span_of(place_of(name, one)))


def _types_of_branches(trace: Trace, node: gast.If) -> Iterator[Problem]:
    body, orelse = last_values(node.body), last_values(node.orelse)
    for name in sorted(body.keys() | orelse.keys()):
        ones, others, place = body.get(name, []), orelse.get(name, []), "in the other"
        if not ones or not others:
            before = value_before(trace, name, node)
            ones, others, place = ones or others, [] if before is None else [before], "otherwise"
        for one, other in product(ones, others) if _is_used(trace, name, node) else ():
            difference = differ(trace, one, other)
            if difference:
                yield _different(trace, one, f"`{name}`", difference, "in one branch", place, one, other)
                break


def _is_used(trace: Trace, name: str, node: gast.If) -> bool:
    """Does anything read a name after a conditional, or before it in a loop around?"""
    loops = [n for n in trace.around(node) if isinstance(n, (gast.For, gast.While))]
    again = loops and any(
        isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Load)
        for n in gast.walk(loops[-1])
    )
    return bool(again) or name not in trace.place.locals or read_after(trace, name, node)


def _types_of_iterations(trace: Trace, node: gast.For | gast.While) -> Iterator[Problem]:
    for name, values in sorted(last_values(node.body).items()):
        before = value_before(trace, name, node)
        for value in values if before is not None else ():
            difference = differ(trace, before, value, grown=name)
            if difference:
                yield _different(
                    trace, value, f"`{name}`", difference, "before an iteration", "after it", before, value
                )
                break


def _different(
    trace: Trace,
    node: gast.expr,
    what: str,
    difference: tuple[str, str],
    here: str,
    there: str,
    one: gast.expr,
    other: gast.expr,
) -> Problem:
    message = (
        f"{what} is {difference[0]} {here} and {difference[1]} {there}; {trace.staged.transform} stages "
        f"both in {trace.described}."
    )
    where = tuple(Related("The other value.", span_of(n)) for n in (one, other) if n is not node)[:1]
    return problem("STG402", message, span_of(node), related=where, fixes=_as_float(trace, one, other))


def _as_float(trace: Trace, one: gast.expr, other: gast.expr) -> tuple[Fix, ...]:
    for node, partner in ((one, other), (other, one)):
        if (
            _sort(trace, node) == "an int"
            and _sort(trace, partner) == "a float"
            and isinstance(node, gast.Constant)
        ):
            return fixes.replaced(node, f"{node.value}.0")
    return ()


def differ(trace: Trace, one: gast.expr, other: gast.expr, grown: str = "") -> tuple[str, str] | None:
    """How two values that must have one type differ, as far as the text tells. `grown`: a name in a loop."""
    if grown and isinstance(other, gast.BinOp) and isinstance(other.op, gast.Add):
        parts = (other.left, other.right)
        added = next((p for p in parts if isinstance(p, gast.Tuple)), None)
        if added is not None and any(isinstance(p, gast.Name) and p.id == grown for p in parts):
            return "a tuple", "a longer one"
    a, b = _sort(trace, one), _sort(trace, other, grown)
    if a is None or b is None or a == b or (_SOME in (a, b) and "None" not in (a, b)):
        return None
    if "None" in (a, b) and trace.staged.backend == "lantern":
        return None  # which has optional values
    numbers = {"an int", "a float"}
    if {a, b} <= numbers:
        # lsp_ad.staged makes a float of both.
        return (a, b) if trace.staged.transform == "tf.function" else None
    if "a number" in (a, b) and ({a, b} & (numbers | {"True or False"})):
        return None
    return a, b


def _sort(trace: Trace, node: gast.expr, grown: str = "") -> str | None:
    """What a value is, where the text says it."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, (gast.USub, gast.UAdd)):
        return _sort(trace, node.operand, grown)
    if isinstance(node, gast.Constant):
        value = node.value
        if value is None:
            return "None"
        if isinstance(value, bool):
            return "True or False"
        sorts = {int: "an int", float: "a float", str: "a text"}
        return f"`{value!r}`" if isinstance(value, str) else sorts.get(type(value))
    if isinstance(node, (gast.Tuple, gast.List)) and not any(isinstance(e, gast.Starred) for e in node.elts):
        return f"a {type(node).__name__.lower()} of {len(node.elts)}"
    if isinstance(node, gast.BinOp) and grown:
        sides = (node.left, node.right)
        own = any(isinstance(s, gast.Name) and s.id == grown for s in sides)
        floating = isinstance(node.op, gast.Div) or any(_sort(trace, s) == "a float" for s in sides)
        if own and floating and not any(map(trace.is_tensor, sides)):
            return "a float"
    if trace.is_tensor(node):
        return "a number"
    return _SOME if trace.of(node).kind is Kind.TRACED else None
