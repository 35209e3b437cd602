"""STG303: a helper, called in a staged branch or loop, that changes a list or a variable of its caller."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.parameters import bind
from lsp_ad.checks.rules.branches import is_staged_loop
from lsp_ad.checks.staged_functions import Place
from lsp_ad.checks.traces import CHANGING, Trace, own_nodes
from lsp_ad.problems import Problem, Related, problem
from lsp_ad.source.parse import span_of


def hidden_changes(trace: Trace) -> Iterator[Problem]:
    if not trace.staged.converts:
        return
    for node, (callee, call, _) in trace.flow.calls.items():
        if call is None or not _is_staged(trace, node):
            continue
        found = _change(trace, callee, call)
        if found is not None:
            name, change = found
            message = (
                f"`{callee.name}` changes `{name}` in a branch or loop of {trace.described} that "
                f"{trace.staged.transform} stages: it happens once, when it is traced."
            )
            where = (Related("It is changed here.", span_of(change)),)
            yield problem("STG303", message, span_of(node), related=where)


def _is_staged(trace: Trace, node: gast.AST) -> bool:
    """Does a node run under a condition or in a loop that is surely staged?"""
    child = node
    for around in trace.around(node):
        branch = isinstance(around, gast.If) and child is not around.test and trace.is_tensor(around.test)
        if branch or is_staged_loop(trace, around):
            return True
        child = around
    return False


def _change(trace: Trace, callee: Place, call: gast.Call) -> tuple[str, gast.AST] | None:
    """What a function changes that its caller may see: a list it is given, or a name from around it."""
    given = bind(call, callee) or {}
    lists = {n for n, v in given.items() if isinstance(v, gast.Name) and not trace.is_tensor(v)}
    declared: set[str] = set()
    for node in own_nodes(callee.node):
        if isinstance(node, (gast.Nonlocal, gast.Global)):
            # lsp_ad sees these, tf.function does not.
            declared |= set(node.names) if trace.staged.transform == "tf.function" else set()
        elif isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store) and node.id in declared:
            return node.id, node
        else:
            changed = _changed(node)
            if changed in lists or (changed is not None and changed not in callee.locals):
                return changed, node
    return None


def _changed(node: gast.AST) -> str | None:
    """The name of a list, dict or object that a node changes in place."""
    owner = None
    if isinstance(node, (gast.Subscript, gast.Attribute)) and isinstance(node.ctx, (gast.Store, gast.Del)):
        owner = node.value
    elif isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr in CHANGING:
        owner = node.func.value
    return owner.id if isinstance(owner, gast.Name) else None
