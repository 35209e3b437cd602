"""`match` on constants as a chain of `if`.

Before:                             After:
    match mode:                         if mode == "square":
        case "square":                      y = x * x
            y = x * x                   elif mode is None or mode == "plain":
        case None | "plain":                y = x
            y = x                       else:
        case _:                             raise ValueError(mode)
            raise ValueError(mode)
"""

from __future__ import annotations

import copy
from typing import TypeVar

import gast

from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.semantics import flow
from lsp_ad.simplify.algebra import assign, constant, name

Node = TypeVar("Node", bound=gast.AST)


def expand(function: gast.FunctionDef, fresh: Fresh) -> None:
    """Rewrite the `match` statements of a function in place; `supported` has let all their patterns pass."""
    _block(function.body, fresh)


def supported(case: gast.match_case) -> bool:
    """Whether a pattern is a constant, a name that takes the subject, `_`, or a choice of such.

    A guard may read the name only where nothing but the guard can fail: the name is bound before it.
    """
    bare = isinstance(case.pattern, gast.MatchAs) and case.pattern.pattern is None
    return _supported(case.pattern) and (case.guard is None or bare or not flow.captured(case.pattern))


def _supported(pattern: gast.pattern) -> bool:
    if isinstance(pattern, gast.MatchOr):
        # a name in a choice would be bound by some alternatives only
        return all(_supported(p) and not flow.captured(p) for p in pattern.patterns)
    if isinstance(pattern, gast.MatchAs):
        return pattern.pattern is None or _supported(pattern.pattern)
    return isinstance(pattern, (gast.MatchValue, gast.MatchSingleton))


def _block(body: list[gast.stmt], fresh: Fresh) -> None:
    position = 0
    while position < len(body):
        s = body[position]
        for block in flow.blocks(s):
            _block(block, fresh)
        if isinstance(s, gast.Match):
            made = _chain(s, fresh)
            body[position : position + 1] = made
            position += len(made) - 1
        position += 1


def _chain(s: gast.Match, fresh: Fresh) -> list[gast.stmt]:
    before: list[gast.stmt] = []
    subject = s.subject
    if not isinstance(subject, gast.Name):
        kept = fresh.new("t", "subject")
        before.append(gast.copy_location(assign(kept, subject), s))
        subject = name(kept)
    return [*before, *_cases(s.cases, subject, s)]


def _cases(cases: list[gast.match_case], subject: gast.Name, s: gast.Match) -> list[gast.stmt]:
    if not cases:
        return []
    first, rest = cases[0], _cases(cases[1:], subject, s)
    binding: list[gast.stmt] = [
        gast.copy_location(assign(n, copy.deepcopy(subject)), s) for n in flow.captured(first.pattern)
    ]
    test = _test(first.pattern, subject)
    if test is None:
        body = first.body if first.guard is None else [_if(first.guard, first.body, rest, first.pattern)]
        return [*binding, *body]
    if first.guard is not None:
        test = _made(gast.BoolOp(gast.And(), [test, first.guard]), "")
    return [_if(test, [*binding, *first.body], rest, first.pattern)]


def _if(test: gast.expr, body: list[gast.stmt], orelse: list[gast.stmt], pattern: gast.pattern) -> gast.stmt:
    return gast.copy_location(_made(gast.If(test, body, orelse), "case"), pattern)


def _made(node: Node, stands_for: str) -> Node:
    node.stands_for = stands_for
    return node


def _test(pattern: gast.pattern, subject: gast.Name) -> gast.expr | None:
    """The condition under which a pattern matches; None: always."""
    if isinstance(pattern, gast.MatchAs):
        return None if pattern.pattern is None else _test(pattern.pattern, subject)
    if isinstance(pattern, gast.MatchOr):
        tests = [_test(p, subject) for p in pattern.patterns]
        return None if None in tests else _made(gast.BoolOp(gast.Or(), tests), "")
    if isinstance(pattern, gast.MatchSingleton):
        return gast.Compare(copy.deepcopy(subject), [gast.Is()], [constant(pattern.value)])
    return gast.Compare(copy.deepcopy(subject), [gast.Eq()], [pattern.value])
