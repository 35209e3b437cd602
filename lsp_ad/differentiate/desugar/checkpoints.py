"""Loops of which the forward sweep keeps the state only now and then: `with lsp_ad.checkpoint(every=100):`.

Before all other passes such a loop becomes a loop over segments with a loop over one segment in it:

    for t in range(n):              for start in range(0, n, 100):
        h = step(h, t)                  "a segment"
                                        for t in range(start, min(start + 100, n)):
                                            h = step(h, t)

Both are differentiated like any other. Then, before tapes are made, the forward sweep gets back its loop
over a segment without anything that is saved in it, and the backward sweep runs the one that saves again,
from the state at the start of the segment, before it goes back through the segment.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.differentiate.fresh import Fresh, is_temporary
from lsp_ad.problems import Problem, problem
from lsp_ad.rules.resolve import Scope
from lsp_ad.rules.rule import UNKNOWN_VALUE, literal
from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import changed_by
from lsp_ad.simplify.algebra import assign, call, constant, name, store
from lsp_ad.source.parse import span_of
from lsp_ad.source.trees import copied

MANAGER = "lsp_ad.checkpoint"
SEGMENT = "a segment"
_ITERATED = ("builtins.range", "builtins.zip", "builtins.enumerate")


def is_checkpoint(s: gast.stmt, scope: Scope) -> bool:
    return isinstance(s, gast.With) and any(_marks(i.context_expr, scope) for i in s.items)


def _marks(node: gast.expr, scope: Scope) -> bool:
    return isinstance(node, gast.Call) and scope.canonical(node.func) == MANAGER


# --- what is allowed -----------------------------------------------------------------------------


def check(s: gast.With, scope: Scope) -> Iterator[Problem]:
    """What is wrong with a checkpointed loop, besides what would be wrong with the loop alone."""
    manager = s.items[0].context_expr
    every = _every(s)
    if len(s.items) > 1 or s.items[0].optional_vars is not None or every is None:
        yield _wrong("`with lsp_ad.checkpoint(every=100):` stands alone and takes one number.", manager)
        return
    number = literal(every)
    if number is UNKNOWN_VALUE:
        if not isinstance(every, gast.Name):
            yield _wrong("`every` is a number or the name of one.", every)
    elif type(number) is not int or number < 1:
        yield _wrong("`every` has to be a positive integer.", every)
    loop = s.body[0]
    if len(s.body) > 1 or not isinstance(loop, (gast.For, gast.While)) or loop.orelse:
        yield _wrong("It holds one loop, without an `else`, and nothing else.", manager)
        return
    if isinstance(loop, gast.For) and not _indexable(loop.iter, scope):
        yield _wrong("Its `for` goes over a range, a sequence, or zip or enumerate of these.", loop.iter)
    for x in flow.statements(loop.body):
        targets = x.targets if isinstance(x, gast.Assign) else [getattr(x, "target", None)]
        if changed_by(x) or any(isinstance(t, (gast.Subscript, gast.Attribute)) for t in targets):
            way_out = "Build a new value in each iteration."
            yield _wrong("An array or list is changed in place in it.", x, way_out)
    yield from _unrepeatable(loop, scope, set())


def _every(s: gast.With) -> gast.expr | None:
    manager = s.items[0].context_expr
    given = [*manager.args, *(k.value for k in manager.keywords if k.arg == "every")]
    return given[0] if len(given) == len(manager.args) + len(manager.keywords) == 1 else None


def _indexable(node: gast.expr, scope: Scope) -> bool:
    if not isinstance(node, gast.Call):
        return True
    function = scope.canonical(node.func)
    if function in _ITERATED and (node.keywords or any(isinstance(a, gast.Starred) for a in node.args)):
        return False
    if function == "builtins.range":
        step = literal(node.args[2]) if len(node.args) > 2 else 1
        return isinstance(step, int) and step != 0
    if function == "builtins.enumerate":
        return len(node.args) == 1 and _indexable(node.args[0], scope)
    if function == "builtins.zip":
        return all(_indexable(a, scope) for a in node.args)
    return function not in ("builtins.reversed", "builtins.map", "builtins.filter") and not (
        isinstance(node.func, gast.Attribute) and node.func.attr in ("items", "keys", "values")
    )


def _step(iterable: gast.Call) -> int:
    """The step of a range, which is a literal."""
    step = literal(iterable.args[2]) if len(iterable.args) > 2 else 1
    assert isinstance(step, int)
    return step


def _unrepeatable(node: gast.AST, scope: Scope, seen: set[int]) -> Iterator[Problem]:
    """Calls that may give another value when a segment is run again: what they compute is not looked at."""
    for n in flow.walk(node):
        if not isinstance(n, gast.Call):
            continue
        known = scope.declared(n)
        if known is not None and known.rule is not None and known.rule.is_zero:
            message = "A function without a derivative is called in it, which may differ the second time."
            yield _wrong(message, n, "Call it before the loop, for all iterations.")
        callee = scope.callee(n)
        if callee is not None and id(callee) not in seen:
            seen.add(id(callee))
            inner = Scope.of(scope.program, callee)
            if any(True for s in callee.body for _ in _unrepeatable(s, inner, seen)):
                message = f"`{callee.name}` calls a function without a derivative, which may differ."
                yield _wrong(message, n, "Call that before the loop, for all iterations.")


def _wrong(message: str, node: gast.AST, way_out: str = "") -> Problem:
    text = f"A checkpointed loop: {message[:1].lower()}{message[1:]}"
    return problem("AD604", text, span_of(node), way_out)


# --- two loops for one -------------------------------------------------------------------------


def expand(tree: gast.FunctionDef, scope: Scope, fresh: Fresh) -> None:
    """Write checkpointed loops out as loops over segments, in place."""
    _block(tree.body, scope, fresh)


def _block(body: list[gast.stmt], scope: Scope, fresh: Fresh) -> None:
    position = 0
    while position < len(body):
        s = body[position]
        for block in flow.blocks(s):
            _block(block, scope, fresh)
        if is_checkpoint(s, scope):
            written = _Segments(s, scope, fresh).written()
            for x in written:
                if not hasattr(x, "lineno"):
                    gast.copy_location(x, s)
            body[position : position + 1] = written
            position += len(written) - 1
        position += 1


class _Segments:
    def __init__(self, s: gast.With, scope: Scope, fresh: Fresh):
        self.scope = scope
        self.fresh = fresh
        self.before: list[gast.stmt] = []
        self.loop = s.body[0]
        self.changing = flow.writes([self.loop])
        self.every = self._kept(_every(s), "every")

    def written(self) -> list[gast.stmt]:
        body, stop = self.loop.body, None
        if _breaks(body):
            stop = self.fresh.new("t", "stopped")
            _flag(body, stop)
            self.before.append(assign(stop, constant(False)))
        outer = self._while(stop) if isinstance(self.loop, gast.While) else self._for(stop)
        return [*self.before, gast.copy_location(outer, self.loop)]

    def _while(self, stop: str | None) -> gast.stmt:
        test = self.loop.test
        leave = gast.If(gast.UnaryOp(gast.Not(), copied(test)), [gast.Break()], [])
        endless = isinstance(test, gast.Constant) and bool(test.value)
        body = self.loop.body if endless else [leave, *self.loop.body]
        steps = call("range", copied(self.every))
        inner = gast.For(store(self.fresh.new("t", "step")), steps, body, [], None)
        if stop is not None:
            going = gast.UnaryOp(gast.Not(), name(stop))
            test = going if endless else gast.BoolOp(gast.And(), [going, test])
        return gast.While(test, [_segment(), gast.copy_location(inner, self.loop)], [])

    def _for(self, stop: str | None) -> gast.stmt:
        iterable, target, first = self.loop.iter, self.loop.target, []
        if isinstance(iterable, gast.Call) and self.scope.canonical(iterable.func) == "builtins.range":
            args = [self._kept(a, "end") for a in iterable.args]
            begin, end = (constant(0), args[0]) if len(args) == 1 else args[:2]
            step = _step(iterable)
        else:
            position = self.fresh.new("t", "i")
            begin, step = constant(0), 1
            lengths: list[gast.expr] = []
            first = self._items(target, iterable, position, lengths)
            end = lengths[0] if len(lengths) == 1 else call("min", *lengths)
            if not isinstance(end, gast.Constant):
                kept = self.fresh.new("t", "end")
                self.before.append(assign(kept, end))
                end = name(kept)
            target = store(position)
        start = self.fresh.new("t", "start")
        size = self.every if step == 1 else gast.BinOp(self.every, gast.Mult(), constant(step))
        until = call(
            "min" if step > 0 else "max", gast.BinOp(name(start), gast.Add(), copied(size)), copied(end)
        )
        steps = [] if step == 1 else [constant(step)]
        inner = gast.For(
            target, call("range", name(start), until, *steps), [*first, *self.loop.body], [], None
        )
        body = [_segment(), gast.copy_location(inner, self.loop)]
        if stop is not None:
            body.append(gast.If(name(stop), [gast.Break()], []))
        return gast.For(store(start), call("range", begin, copied(end), copied(size)), body, [], None)

    def _items(
        self, target: gast.expr, iterable: gast.expr, position: str, lengths: list[gast.expr]
    ) -> list[gast.stmt]:
        """What an iteration binds, by its position; `lengths` gets how long each sequence is."""
        function = self.scope.canonical(iterable.func) if isinstance(iterable, gast.Call) else None
        parts = target.elts if isinstance(target, (gast.Tuple, gast.List)) else None
        if function == "builtins.zip" and parts is not None and len(parts) == len(iterable.args):
            pairs = zip(parts, iterable.args, strict=True)
            return [s for t, i in pairs for s in self._items(t, i, position, lengths)]
        if function == "builtins.enumerate" and parts is not None and len(parts) == 2:
            inner = self._items(parts[1], iterable.args[0], position, lengths)
            return [self._bound(parts[0], name(position)), *inner]
        over = self._kept(iterable, "over")
        lengths.append(call("len", copied(over)))
        return [self._bound(target, gast.Subscript(copied(over), name(position), gast.Load()))]

    def _bound(self, target: gast.expr, value: gast.expr) -> gast.stmt:
        return gast.copy_location(gast.Assign([target], value, None), self.loop)

    def _kept(self, node: gast.expr, hint: str) -> gast.expr:
        """A number, or a name that keeps the value that the expression has before the loop."""
        if literal(node) is not UNKNOWN_VALUE or (
            isinstance(node, gast.Name) and node.id not in self.changing
        ):
            return node
        kept = self.fresh.new("t", hint)
        self.before.append(assign(kept, node))
        return name(kept)


def _breaks(body: list[gast.stmt]) -> bool:
    """Whether a block leaves the loop around it by a `break`."""
    return any(
        isinstance(s, gast.Break)
        or (not isinstance(s, (gast.For, gast.While)) and any(map(_breaks, flow.blocks(s))))
        for s in body
    )


def _flag(body: list[gast.stmt], flag: str) -> None:
    """Set a flag before every such `break`."""
    for position in range(len(body) - 1, -1, -1):
        s = body[position]
        if isinstance(s, gast.Break):
            body.insert(position, gast.copy_location(assign(flag, constant(True)), s))
        elif not isinstance(s, (gast.For, gast.While)):
            for block in flow.blocks(s):
                _flag(block, flag)


def _segment() -> gast.stmt:
    return gast.Expr(constant(SEGMENT))


def is_segment(s: gast.stmt) -> bool:
    """Whether a statement marks that the loop after it goes over one segment."""
    return isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant) and s.value.value == SEGMENT


# --- run again ---------------------------------------------------------------------------------


class Reruns:
    """The loops over segments as they were before anything was saved in them, by the id of the loop."""

    def __init__(self, body: list[gast.stmt], carried: set[str], fresh: Fresh):
        self.plain: dict[int, gast.stmt] = {}
        self._collect(body, carried, fresh)

    def _collect(self, body: list[gast.stmt], carried: set[str], fresh: Fresh) -> None:
        for position, s in enumerate(body):
            if is_segment(s):
                loop = body[position + 1]
                self.plain[id(loop)] = _renamed(copied(loop), carried, fresh)
            for block in flow.blocks(s):
                self._collect(block, carried, fresh)


def _renamed(loop: gast.stmt, carried: set[str], fresh: Fresh) -> gast.stmt:
    """A loop with temporaries of its own, so that each is still bound in one place."""
    own = {n for n in flow.writes([loop]) if is_temporary(n) and n not in carried}
    names = {n: fresh.new("t", fresh.hints.get(n, "")) for n in sorted(own)}
    for node in flow.walk(loop):
        if isinstance(node, gast.Name):
            node.id = names.get(node.id, node.id)
    return loop


def necessary(body: list[gast.stmt], wanted: set[str]) -> list[gast.stmt]:
    """What of a block is run again for the names that are wanted after it: nothing that only prints."""
    relevant = set(wanted)
    while True:
        before = len(relevant)
        for s in flow.statements(body):
            if not isinstance(s, gast.Assign) or flow.stored(s) & relevant:
                relevant |= flow.header_reads(s)
        if len(relevant) == before:
            return _of(body, relevant)


def _of(body: list[gast.stmt], relevant: set[str]) -> list[gast.stmt]:
    kept = []
    for s in body:
        for block in flow.blocks(s):
            if block:
                block[:] = _of(block, relevant) or [gast.Pass()]
        effect = (
            isinstance(s, gast.Expr)
            and isinstance(s.value, gast.Call)
            and isinstance(s.value.func, gast.Name)
        )
        idle = isinstance(s, gast.Assign) and not flow.stored(s) & relevant
        if not effect and not idle:
            kept.append(s)
    return kept


def removed(body: list[gast.stmt]) -> list[gast.stmt]:
    """A block without the marks of segments."""
    for s in body:
        for block in flow.blocks(s):
            block[:] = removed(block)
    return [s for s in body if not is_segment(s)]
