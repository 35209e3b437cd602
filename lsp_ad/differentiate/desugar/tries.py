"""`try`: what can be followed, and which of its paths was taken.

The forward sweep runs the statement as it stands, and a flag says which handler ran, if any. The backward
sweep is that of the body where none did, else that of the handler: so nothing that the body did before it
raised may matter afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import gast

from lsp_ad.differentiate.fresh import plain
from lsp_ad.differentiate.writes import mutations
from lsp_ad.problems import Refusal, problem
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import changed_by
from lsp_ad.source.parse import span_of

_ANY = {"builtins.Exception", "builtins.BaseException"}
# What generated code raises itself, and so cannot be told from what the user's code raises.
_OURS = {"builtins.ValueError", "builtins.TypeError", *_ANY}
# What NumPy may raise in the middle of a write.
_HALFWAY = {"builtins.FloatingPointError", "builtins.ArithmeticError", *_ANY}


@dataclass(frozen=True)
class Reason:
    """Why a `try` cannot be followed, and where."""

    message: str
    node: gast.AST
    way_out: str


def reasons(s: gast.Try, scope: Scope) -> Iterator[Reason]:
    """Every reason that the text of a `try` gives against following it."""
    for handler in s.handlers:
        for n in flow.walk(handler.type) if handler.type is not None else ():
            if not isinstance(n, (gast.Name, gast.Attribute, gast.Tuple, gast.Load)):
                yield Reason("What `except` catches is computed.", handler.type, "Name the exceptions.")
                break
    ours = any(_catches(h, _OURS, scope) for h in s.handlers)
    halfway = any(_catches(h, _HALFWAY, scope) for h in s.handlers)
    for x in flow.statements(s.body):
        if halfway and isinstance(x, gast.AugAssign) and isinstance(x.target, gast.Name):
            yield Reason(
                f"`{x.target.id}` may be half changed when the handler runs.",
                x,
                f"Write `{x.target.id} = {x.target.id} + ...`.",
            )
        writes = isinstance(x, (gast.Assign, gast.Expr)) and bool(mutations.changed_by(x, scope))
        for n in flow.walk(x) if not flow.blocks(x) else [m for p in flow.header(x) for m in flow.walk(p)]:
            stores = isinstance(n, (gast.Subscript, gast.Attribute)) and isinstance(n.ctx, gast.Store)
            if stores or (writes and n is x):
                yield Reason(
                    "A write in place inside a `try` may have happened or not when the handler runs.",
                    n,
                    "Write after the `try`, in its `else`.",
                )
            elif isinstance(n, gast.Call) and changed_by(n):
                yield Reason(
                    "A change of a list inside a `try` may have happened or not when the handler runs.",
                    n,
                    "Change it after the `try`, in its `else`.",
                )
            elif isinstance(n, gast.Call) and (callee := scope.callee(n)) is not None:
                if ours:
                    yield Reason(
                        f"`{callee.name}` is called where the handler would also catch what generated code "
                        "raises for a wrong argument.",
                        n,
                        "Catch the exceptions that you expect, none of "
                        f"{', '.join(sorted(c.removeprefix('builtins.') for c in _OURS))}.",
                    )
                elif has_dead_code(callee):
                    yield Reason(
                        f"`{callee.name}` computes something that it does not use, and that may raise.",
                        n,
                        "Remove it there.",
                    )


def _catches(handler: gast.ExceptHandler, some: set[str], scope: Scope) -> bool:
    """Whether a handler may catch one of some exceptions; a class of which nothing is known may."""
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, gast.Tuple) else [handler.type]
    names = [scope.canonical(t) or "" for t in types]
    return any(n in some or not n.startswith(("builtins.", "numpy.")) for n in names)


def has_dead_code(function: gast.FunctionDef) -> bool:
    """Whether a function assigns names that nothing reads: its derivative does not compute these values."""
    graph = flow.Flow.of(function.body)
    live = flow.live_before(graph)
    for s in flow.statements(function.body):
        if isinstance(s, gast.Assign) and id(s) in graph.index:
            after = live.after(graph, graph.index[id(s)])
            if not any(live.holds(after, n) for n in flow.stored(s)):
                return True
    return False


def refuse_partial(tree: gast.FunctionDef, active: set[str], result: str) -> None:
    """Refuse (AD101) a `try` whose body may leave a value behind, when it raises, that is read afterwards."""
    tries = [s for s in flow.statements(tree.body) if isinstance(s, gast.Try) and s.handlers]
    if not tries:
        return
    graph = flow.Flow.of(tree.body)
    live = flow.live_before(graph, [result])
    for s in tries:
        early = _early(s.body)[0] & active
        for handler in s.handlers:
            if early and isinstance(handler.body[-1], gast.Raise):
                continue
            mask = live.after(graph, graph.index[id(handler)])
            for n in sorted(early):
                if live.holds(mask, n):
                    raise Refusal(
                        problem(
                            "AD101",
                            f"`{plain(n)}` is assigned in a `try` before a step that may raise, "
                            "and read after the handler.",
                            span_of(_assignment(s.body, n)),
                            "Assign it before the `try`, or in its `else`.",
                        )
                    )


def _assignment(body: list[gast.stmt], n: str) -> gast.stmt:
    return next(x for x in flow.statements(body) if n in flow.header_writes(x))


def _early(body: list[gast.stmt]) -> tuple[set[str], bool]:
    """The names that a block assigns before a step of it that may raise, and whether there is such a step."""
    found: set[str] = set()
    risk = False
    for s in reversed(body):
        if risk:
            found |= flow.writes([s])
            continue
        if isinstance(s, (gast.For, gast.While)):
            found |= flow.writes([s])
            risk = True
            continue
        for block in flow.blocks(s):
            early, later = _early(block)
            found |= early
            risk |= later
        risk |= any(_may_raise(part) for part in flow.header(s))
    return found, risk


def _may_raise(node: gast.AST) -> bool:
    """Whether evaluating may raise: anything but reading names and constants."""
    return any(
        not isinstance(
            n,
            (
                gast.Name,
                gast.Constant,
                gast.Assign,
                gast.Load,
                gast.Store,
                gast.Pass,
                gast.Break,
                gast.UnaryOp,
                gast.Not,
            ),
        )
        for n in flow.walk(node)
    ) or (isinstance(node, gast.UnaryOp) and not isinstance(node.op, gast.Not))
