"""Put values that are read once back into the expressions that read them, and merge sums.

Before: `t = x @ w; z = t + b`, `dp = a; dp = dp + b`.  After: `z = x @ w + b`, `dp = a + b`.
Only names that the compiler made are moved; nothing moves past a change of what it reads, into a
loop, or out of one.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import changed_by
from lsp_ad.simplify.algebra import name, normalize, substitute

LARGEST = 24  # nodes of a backward expression that a reader still takes in


def tidy_up(
    body: list[gast.stmt],
    movable: Callable[[str], bool],
    summable: Callable[[str], bool],
    parameters: set[str],
) -> None:
    """Merge sums and move single-use values, in place, until nothing changes.

    `parameters` are bound on entry.
    """
    changed = True
    while changed:
        changed = _copies(body, movable, parameters)
        counts = _Counts(body)
        changed |= _in_block(body, counts, movable, summable)


class _Counts:
    def __init__(self, body: list[gast.stmt]):
        self.reads: dict[str, int] = {}
        self.writes: dict[str, int] = {}
        for s in body:
            for n in flow.walk(s):
                if isinstance(n, gast.Name):
                    table = self.reads if isinstance(n.ctx, gast.Load) else self.writes
                    table[n.id] = table.get(n.id, 0) + 1
            for x in flow.statements([s]):
                if isinstance(x, gast.AugAssign) and isinstance(x.target, gast.Name):
                    self.reads[x.target.id] = self.reads.get(x.target.id, 0) + 1


def changes(s: gast.stmt) -> set[str]:
    """The names whose values a statement changes, in place or by assignment, with all that is inside it."""
    found = flow.writes([s])
    for x in flow.statements([s]):
        if isinstance(x, gast.AugAssign):
            base: gast.AST = x.target
            while isinstance(base, gast.Subscript):
                base = base.value
            if isinstance(base, gast.Name):
                found.add(base.id)
        elif isinstance(x, gast.Expr) and _is_add_at(x.value):
            found |= {n.id for n in flow.walk(x.value.args[0]) if isinstance(n, gast.Name)}
        if isinstance(x, (gast.Assign, gast.Expr, gast.AugAssign)):
            found |= changed_by(x)
    return found


def _is_add_at(node: gast.expr) -> bool:
    """`np.add.at(dx, i, dy)`, which changes dx."""
    return isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "at"


def _in_block(
    body: list[gast.stmt], counts: _Counts, movable: Callable[[str], bool], summable: Callable[[str], bool]
) -> bool:
    changed = False
    position = 0
    while position < len(body):
        s = body[position]
        for block in flow.blocks(s):
            changed |= _in_block(block, counts, movable, summable)
        if isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name):
            t = s.targets[0].id
            if summable(t) and _merge_sum(body, position, t):
                changed = True
                continue
            if (
                movable(t)
                and isinstance(s.value, gast.Name)
                and counts.writes.get(t) == 1
                and _forget_copy(body, position, t, s.value.id, counts.reads.get(t, 0))
            ):
                changed = True
                continue
            if (
                movable(t)
                and counts.reads.get(t) == 1
                and counts.writes.get(t) == 1
                and _move(body, position, t, s.value)
            ):
                changed = True
                counts.reads[t] = 0
                continue
        position += 1
    return changed


def _forget_copy(body: list[gast.stmt], position: int, t: str, original: str, reads: int) -> bool:
    """Read the original instead of its copy `t`, if all reads come before the original changes."""
    seen = 0
    for at in range(position + 1, len(body)):
        s = body[at]
        if flow.blocks(s):
            return False
        seen += sum(1 for n in flow.walk(s) if isinstance(n, gast.Name) and n.id == t)
        if seen == reads:
            break
        if original in changes(s):
            return False
    else:
        return False
    if isinstance(body[at], gast.AugAssign) and original in changes(body[at]):
        return False
    for s in body[position + 1 : at + 1]:
        substitute(s, {t: name(original)})
    del body[position]
    return True


def _size(node: gast.AST) -> int:
    return sum(1 for n in flow.walk(node) if isinstance(n, (gast.Name, gast.Constant, gast.BinOp, gast.Call)))


def _move(body: list[gast.stmt], position: int, t: str, value: gast.expr) -> bool:
    """Move the value of `t` to its one read, if it is in this block, or in a branch of it."""
    used = flow.reads(value)
    popped = changed_by(value)
    for at in range(position + 1, len(body)):
        s = body[at]
        if popped and any(popped & flow.header_reads(x) for x in flow.statements([s])):
            return False
        if t in flow.header_reads(s):
            if isinstance(s, gast.While) or _too_large(s, value, t):
                return False
            _replace(s, t, value)
            del body[position]
            return True
        if isinstance(s, gast.If) and not popped:
            for block in (s.body, s.orelse):
                if any(t in flow.header_reads(x) for x in flow.statements(block)):
                    if _move_into(block, t, value):
                        del body[position]
                        return True
                    return False
        if changes(s) & used or t in flow.writes([s]):
            return False
        if isinstance(s, (gast.For, gast.While)) and any(
            t in flow.header_reads(x) for x in flow.statements(s.body)
        ):
            return False
    return False


def _move_into(block: list[gast.stmt], t: str, value: gast.expr) -> bool:
    placeholder = gast.Pass()
    block.insert(0, placeholder)
    moved = _move(block, 0, t, value)
    if not moved and placeholder in block:
        block.remove(placeholder)
    if not block:
        block.append(gast.Pass())
    return moved


def _too_large(s: gast.stmt, value: gast.expr, t: str) -> bool:
    # the user's own expressions come back whole; what is added stays readable
    if hasattr(value, "lineno") and hasattr(s, "lineno"):
        return False
    whole = s.value if isinstance(s, (gast.Assign, gast.AugAssign, gast.Expr, gast.Return)) else s
    size = _size(value)
    return size > 3 and size + _size(whole) > LARGEST + 3


def _replace(s: gast.stmt, t: str, value: gast.expr) -> None:
    if isinstance(s, gast.If):
        s.test = substitute(s.test, {t: value})
    elif isinstance(s, gast.For):
        s.iter = substitute(s.iter, {t: value})
    else:
        substitute(s, {t: value})
        if isinstance(s, (gast.Assign, gast.AugAssign)) and not hasattr(s.value, "lineno"):
            s.value = normalize(s.value)
            _minus(s)


def _minus(s: gast.stmt) -> None:
    """`dx += -e` is `dx -= e`."""
    if (
        isinstance(s, gast.AugAssign)
        and isinstance(s.value, gast.UnaryOp)
        and isinstance(s.value.op, gast.USub)
    ):
        flipped = {gast.Add: gast.Sub, gast.Sub: gast.Add}.get(type(s.op))
        if flipped and not isinstance(s.value.operand, gast.Constant):
            s.op, s.value = flipped(), s.value.operand


def _merge_sum(body: list[gast.stmt], position: int, t: str) -> bool:
    """`t = a; ...; t = t + b` as `t = a + b`, where t is not read between,
    and what a reads does not change.
    """
    first = body[position]
    used = flow.reads(first.value)
    popped = changed_by(first.value)
    if t in used:
        return False
    for at in range(position + 1, len(body)):
        s = body[at]
        if popped and any(popped & flow.header_reads(x) for x in flow.statements([s])):
            return False
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and s.targets[0].id == t:
            value = s.value
            if (
                isinstance(value, gast.BinOp)
                and isinstance(value.op, (gast.Add, gast.Sub))
                and isinstance(value.left, gast.Name)
                and value.left.id == t
                and t not in flow.reads(value.right)
                and _size(first.value) + _size(value) <= LARGEST
            ):
                value.left = first.value
                s.value = normalize(value)
                del body[position]
                return True
            return False
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name) and s.target.id == t:
            if t in flow.reads(s.value) or _size(first.value) + _size(s.value) > LARGEST:
                return False
            merged = gast.Assign([s.target], normalize(gast.BinOp(first.value, s.op, s.value)), None)
            body[at] = gast.copy_location(merged, s) if hasattr(s, "lineno") else merged
            del body[position]
            return True
        if any(t in flow.header_reads(x) for x in flow.statements([s])) or changes(s) & (used | {t}):
            return False
        if not isinstance(s, (gast.Assign, gast.AugAssign, gast.Expr)):
            return False
    return False


def _copies(body: list[gast.stmt], movable: Callable[[str], bool], parameters: set[str]) -> bool:
    """Read the original instead of a copy of it, where neither changes after."""
    counts = _Counts(body)
    for p in parameters:
        counts.writes[p] = counts.writes.get(p, 0) + 1
    in_place: set[str] = set()
    for x in flow.statements(body):
        if isinstance(x, (gast.AugAssign, gast.Expr)):
            in_place |= changes(x)
    changed = False
    renamed: dict[str, str] = {}

    def block(statements: list[gast.stmt]) -> None:
        nonlocal changed
        for s in list(statements):
            for inner in flow.blocks(s):
                block(inner)
            if (
                isinstance(s, gast.Assign)
                and len(s.targets) == 1
                and isinstance(s.targets[0], gast.Name)
                and isinstance(s.value, gast.Name)
            ):
                copy, original = s.targets[0].id, s.value.id
                if (
                    movable(copy)
                    and counts.writes.get(copy) == 1
                    and counts.writes.get(original, 0) <= 1
                    and not {copy, original} & in_place
                    and copy != original
                ):
                    statements.remove(s)
                    if not statements:
                        statements.append(gast.Pass())
                    renamed[copy] = original
                    changed = True
                    counts.writes[copy] = 0

    block(body)
    for copy, original in renamed.items():
        while original in renamed:
            original = renamed[original]
        renamed[copy] = original
    if renamed:
        values: dict[str, gast.expr] = {copy: name(original) for copy, original in renamed.items()}
        for x in body:
            substitute(x, values)
    return changed
