"""STG306: a list of Python that gets a tensor in a loop or branch that tf.function stages."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.origins import Kind
from lsp_ad.checks.rules.before_after import read_after
from lsp_ad.checks.rules.branches import is_staged_loop
from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Problem, problem
from lsp_ad.source.parse import span_of

_GROW = {"append", "extend", "insert"}


def list_changes(trace: Trace) -> Iterator[Problem]:
    if trace.staged.transform != "tf.function" or not trace.staged.converts:
        return
    for node in trace.nodes:
        if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute):
            continue
        owner = node.func.value
        if node.func.attr not in _GROW or not isinstance(owner, gast.Name) or not node.args:
            continue
        block = _staged_around(trace, node)
        if block is None or trace.of(node.args[-1]).kind is not Kind.TRACED:
            continue
        if _is_list_before(trace, owner.id, block) and read_after(trace, owner.id, block):
            what = "branch" if isinstance(block, gast.If) else "loop"
            message = (
                f"`{owner.id}` is changed in a {what} of {trace.described} that tf.function stages, which "
                "happens once, when it is traced, and is read afterwards."
            )
            yield problem("STG306", message, span_of(node))


def _staged_around(trace: Trace, node: gast.AST) -> gast.stmt | None:
    """The outermost staged loop or branch that a node stands in."""
    child, found = node, None
    for around in trace.around(node):
        branch = isinstance(around, gast.If) and child is not around.test and trace.is_tensor(around.test)
        if branch or is_staged_loop(trace, around):
            found = around
        child = around
    return found


def _is_list_before(trace: Trace, name: str, block: gast.stmt) -> bool:
    """Is a name bound to a list that is written out, before a block and nowhere else?"""
    bound = [
        s
        for s in trace.nodes
        if isinstance(s, gast.Assign) and any(isinstance(t, gast.Name) and t.id == name for t in s.targets)
    ]
    inside = {id(n) for n in gast.walk(block)}
    return bool(bound) and all(isinstance(s.value, gast.List) and id(s) not in inside for s in bound)
