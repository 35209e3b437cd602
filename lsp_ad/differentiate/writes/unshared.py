"""A list or dict that a function changes in place has one name: what cannot be told to have one is refused.

The adjoint of such a list is a list of its own that changes in the other direction; a second name
for the list would need to see those changes. After its last change a list may have any number of names.
"""

from __future__ import annotations

from collections import Counter

import gast

from lsp_ad.differentiate.fence.containers import is_structure_helper
from lsp_ad.differentiate.fresh import plain
from lsp_ad.differentiate.quoting import quoted
from lsp_ad.problems import Refusal, problem
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import before_changes, change_of, changed, grown, is_access
from lsp_ad.semantics.hints import parameter_kinds
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.semantics.names import parameters
from lsp_ad.semantics.shapes import UNKNOWN
from lsp_ad.simplify.algebra import assign, call, name
from lsp_ad.source.parse import span_of

MAKERS = {f"builtins.{n}" for n in ("list", "dict", "sorted")}
ITERATORS = {f"builtins.{n}" for n in ("zip", "enumerate", "reversed")}


def refuse_shared(tree: gast.FunctionDef, kinds: Kinds, scope: Scope) -> None:
    """Refuse (AD302) changes of lists and dicts that may have another name."""
    names = {n for n in changed(tree.body) if kinds.names.get(n, UNKNOWN).is_structure}
    if not names:
        return
    later = before_changes(tree.body)
    updated = {n for s in flow.statements(tree.body) if (n := _updated(s, kinds)) is not None}
    given = _given_away(tree.body, kinds, scope) if updated & names else set()
    shared = {n for n in updated & names if not _items_are_own(n, tree.body, kinds, scope, later[n], given)}
    for s in flow.statements(tree.body):
        for n in sorted(flow.header_writes(s) & names):
            one = isinstance(s, gast.Assign) and len(s.targets) == 1
            if not (one and _is_new(n, s.targets[0], s.value, kinds, scope)):
                _refuse(n, s)
        for n in sorted(_shared_by(s, scope) & names):
            if id(s) in later[n]:
                _refuse(n, s)
        if _updated(s, kinds) in shared:
            text = quoted(s.targets[0], scope.program)
            message = f"`{text} += ...` may change an array in place that has another name."
            raise Refusal(problem("AD302", message, span_of(s), f"Write `{text} = {text} + ...`."))
        if isinstance(s, gast.For):
            for n in sorted(_iterated(s.iter, scope) & changed(s.body) & names):
                _refuse(n, s)


def _updated(s: gast.stmt, kinds: Kinds) -> str | None:
    """The list in `xs[i] += e`, if the item may be an array, which that changes."""
    change = change_of(s)
    if change is None or change.method != "set" or not isinstance(s.value, gast.BinOp):
        return None
    read, target = s.value.left, s.targets[0]
    if not (isinstance(read, gast.Subscript) and hasattr(read, "lineno") and hasattr(target, "lineno")):
        return None
    same = span_of(read) == span_of(target) and not kinds.of(read).is_scalar
    return change.base if same else None


def _is_new_array(node: gast.expr, kinds: Kinds, scope: Scope) -> bool:
    """Whether an expression is an operation that makes an array, or a number; or an adjoint of generated code
    that is made of others, which has its arrays for itself."""
    if isinstance(node, gast.Call) and is_structure_helper(node, scope):
        return True
    kind = kinds.of(node)
    is_operation = isinstance(node, gast.BinOp) or scope.operation(node) is not None
    return is_operation and kind.fresh and not kind.is_structure


def _given_away(body: list[gast.stmt], kinds: Kinds, scope: Scope) -> set[str]:
    """Names of new arrays that are read once, in the block that binds them: the reader has them alone."""
    names = [n for s in body for n in flow.walk(s) if isinstance(n, gast.Name)]
    reads = Counter(n.id for n in names if isinstance(n.ctx, gast.Load))
    once = {n for n in flow.writes(body) if reads[n] == 1}
    writes = Counter(n for s in flow.statements(body) for n in flow.header_writes(s) & once)

    def block(statements: list[gast.stmt]) -> set[str]:
        bound: set[str] = set()
        found: set[str] = set()
        for s in statements:
            found |= flow.header_reads(s) & bound
            for inner in flow.blocks(s):
                found |= block(inner)
            if isinstance(s, gast.Assign) and _is_new_array(s.value, kinds, scope):
                bound |= {n for n in flow.header_writes(s) & once if writes[n] == 1}
        return found

    return block(body)


def _items_are_own(
    n: str, body: list[gast.stmt], kinds: Kinds, scope: Scope, later: set[int], given: set[str]
) -> bool:
    """Whether the items of a list are arrays that nothing else has where the list changes.

    `given`: the names that have their arrays for nothing else but to hand them on."""

    def new(node: gast.expr) -> bool:
        if isinstance(node, gast.Name) and node.id in given:
            return True
        return kinds.of(node).is_scalar or _is_new_array(node, kinds, scope)

    def new_items(node: gast.expr) -> bool:
        if isinstance(node, gast.Call):
            return is_structure_helper(node, scope) or not (node.args or node.keywords)
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
            xs = node.left if isinstance(node.left, gast.List) else node.right
            return isinstance(xs, gast.List) and all(kinds.of(e).is_scalar for e in xs.elts)
        if isinstance(node, gast.BinOp):
            return new_items(node.left) and new_items(node.right)
        if isinstance(node, gast.ListComp):
            return new(node.elt)
        items = node.values if isinstance(node, gast.Dict) else getattr(node, "elts", None)
        return items is not None and all(new(e) for e in items)

    for s in flow.statements(body):
        change = change_of(s)
        if change is not None and change.base == n and change.method != "pop":
            if not new(change.args[-1]):
                return False
        elif isinstance(s, gast.Assign) and n in flow.stored(s) and not new_items(s.value):
            return False
        if id(s) in later and n in _handed_out(s, kinds, scope):
            return False
    return True


def _handed_out(s: gast.stmt, kinds: Kinds, scope: Scope) -> set[str]:
    """The names of the lists whose items get another name by a statement."""
    if isinstance(s, gast.For):
        return flow.reads(s.iter)
    change = change_of(s)
    if change is not None and change.method == "pop":  # the list has it no more
        return set()
    value = change.args[-1] if change is not None and change.args else getattr(s, "value", None)
    return _items_in(value, kinds, scope) if isinstance(value, gast.expr) else set()


def _items_in(node: gast.expr, kinds: Kinds, scope: Scope) -> set[str]:
    """The names of the lists of which an expression is, or holds, an item."""
    if isinstance(node, (gast.Compare, gast.Constant)) or _is_new_array(node, kinds, scope):
        return set()
    return flow.reads(node)


def copy_parameters(tree: gast.FunctionDef, dicts: set[str]) -> None:
    """A list of the caller's that the function changes is copied on entry: the caller's stays as it is."""
    kinds = parameter_kinds(tree)
    changes = grown(tree.body) | {n for n in changed(tree.body) if n in kinds and kinds[n].is_structure}
    names = sorted(changes & set(parameters(tree)))
    tree.body = [*(assign(n, call("dict" if n in dicts else "list", name(n))) for n in names), *tree.body]


def _refuse(n: str, s: gast.stmt) -> None:
    text = plain(n)
    message = f"`{text}` is changed in place, and may have another name, or belong to something else, here."
    raise Refusal(problem("AD302", message, span_of(s), f"Change a copy: `{text} = list({text})`."))


def _is_new(n: str, target: gast.expr, node: gast.expr, kinds: Kinds, scope: Scope) -> bool:
    """Whether an assignment surely gives a name a new list or dict."""
    if isinstance(target, (gast.Tuple, gast.List)) and isinstance(node, (gast.Tuple, gast.List)):
        parts = [*target.elts, *node.elts]
        if len(target.elts) != len(node.elts) or any(isinstance(p, gast.Starred) for p in parts):
            return False
        pairs = zip(target.elts, node.elts, strict=True)
        return all(_is_new(n, t, value, kinds, scope) for t, value in pairs if n in flow.stored(t))
    if not isinstance(target, gast.Name):
        return False
    if isinstance(node, (gast.List, gast.Dict, gast.ListComp, gast.DictComp)):
        return True
    if isinstance(node, gast.Call):
        return scope.canonical(node.func) in MAKERS or is_structure_helper(node, scope)
    if isinstance(node, gast.BinOp):
        return kinds.of(node).type == "list"
    return (
        isinstance(node, gast.Subscript)
        and isinstance(node.slice, gast.Slice)
        and kinds.of(node).type == "list"
    )


def _shared_by(s: gast.stmt, scope: Scope) -> set[str]:
    """The names whose lists get another name, or become part of something, by a statement."""
    change = change_of(s)
    if change is not None and change.method == "pop":
        return set()
    if change is not None:
        return _held(change.args[-1], scope)
    return _held(s.value, scope) if isinstance(s, gast.Assign) else set()


def _held(node: gast.expr, scope: Scope) -> set[str]:
    """The names whose very lists the value of an expression is or holds."""
    if isinstance(node, gast.Name):
        return {node.id}
    if isinstance(node, gast.IfExp):
        return _held(node.body, scope) | _held(node.orelse, scope)
    if isinstance(node, (gast.Tuple, gast.List, gast.Dict, gast.Starred, gast.BoolOp)):
        parts = [c for c in gast.iter_child_nodes(node) if isinstance(c, gast.expr)]
        return set().union(*(_held(p, scope) for p in parts))
    if isinstance(node, gast.Call) and not is_access(node) and scope.operation(node) is None:
        if scope.canonical(node.func) in MAKERS:
            return set()
        return set().union(*(_held(a, scope) for a in [*node.args, *(k.value for k in node.keywords)]))
    return set()


def _iterated(node: gast.expr, scope: Scope) -> set[str]:
    """The names of the lists that a loop goes over."""
    if isinstance(node, gast.Name):
        return {node.id}
    if isinstance(node, gast.Call) and scope.canonical(node.func) in ITERATORS:
        return set().union(*(_iterated(a, scope) for a in node.args))
    return set()
