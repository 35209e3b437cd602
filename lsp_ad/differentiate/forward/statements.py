"""The forward sweep: each statement of a function in normal form, and directly after it its tangent.

Where paths meet, a name that has a tangent on one of them gets a zero on the others. Where a tangent reads
what its own statement overwrites, it stands before that statement.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

import gast

from lsp_ad.differentiate.desugar.insertions import Insertions
from lsp_ad.differentiate.desugar.structure import endless, leaves
from lsp_ad.differentiate.fence.refused import EFFECTS
from lsp_ad.differentiate.forward.elements import Elements
from lsp_ad.differentiate.forward.tangents import RESULT, Present, Tangents
from lsp_ad.differentiate.forward.tries import attempt
from lsp_ad.differentiate.fresh import adjoint_name, is_temporary, plain
from lsp_ad.differentiate.functions.arguments import match
from lsp_ad.differentiate.normal.stable import LiveBefore
from lsp_ad.differentiate.quoting import quoted
from lsp_ad.differentiate.reverse.calls import Callees
from lsp_ad.differentiate.writes.tangents import beside
from lsp_ad.problems import Refusal, problem
from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import Change, change_of
from lsp_ad.semantics.memory import written_root
from lsp_ad.simplify.algebra import assign, name, normalize, store, substitute
from lsp_ad.source.parse import span_of


@dataclass
class Loop:
    """The names that have a tangent wherever an iteration of a loop begins (`head`), and wherever the loop is
    `left`; the names that are `bound` at each `break`."""

    head: set[str]
    left: set[str]
    bound: list[set[str]] = field(default_factory=list)


@dataclass
class Forward:
    """Writes the forward sweep of one function.

    `changing`: what changes in place, which has a tangent from the start; `written`: the names that may share
    memory with arrays of these. `live`: the
    names that are read at or after a statement, by its id. `loops`: those around.
    """

    tangents: Tangents
    active: set[str]
    callees: Callees
    insertions: Insertions
    changing: set[str]
    written: set[str]
    live: LiveBefore
    loops: list[Loop] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values = self.tangents.values
        self.scope = self.values.scope
        self.carries = self.tangents.carries
        self.elements = Elements(self.tangents, self.active)

    def block(self, body: list[gast.stmt], present: Present, after: Set[str]) -> list[gast.stmt]:
        """The statements of a block with their tangents.

        `present` is changed from what holds before the block to what holds after it; `after` are the names
        that are read after it.
        """
        found: list[gast.stmt] = []
        for position, s in enumerate(body):
            later = after
            if flow.blocks(s) and position + 1 < len(body):
                later = self.live[id(body[position + 1])]
            for made in self.statement(s, present, later):
                if not hasattr(made, "lineno") and hasattr(s, "lineno"):
                    gast.copy_location(made, s)
                found.append(made)
        return found

    def statement(self, s: gast.stmt, present: Present, after: Set[str]) -> list[gast.stmt]:
        if self.values.kinds.writes_array(s):
            array = written_root(s)
            return beside(s, array, self.tangents, present) if array in present.tangents else [s]
        method = getattr(self, f"_{type(s).__name__.lower()}", None)
        if method is None:
            raise self.unknown(s)
        return method(s, present, after)

    def quoted(self, node: gast.AST) -> str:
        return quoted(node, self.scope.program)

    def unknown(self, s: gast.stmt) -> Refusal:
        text = self.quoted(s)
        return Refusal(
            problem("AD101", f"`{text}` is of a form that forward mode does not know yet.", span_of(s))
        )

    def _pass(self, s: gast.stmt, present: Present, after: Set[str]) -> list[gast.stmt]:
        return [s]

    _assert = _raise = _pass

    def _expr(self, s: gast.Expr, present: Present, after: Set[str]) -> list[gast.stmt]:
        change = change_of(s)
        if change is not None:
            return self._change(s, change, present) if change.base in self.active else [s]
        insertion = self.insertions.of(s)
        if insertion is not None:
            if insertion.assigned:
                message = "Code for the backward sweep would do nothing here: forward mode has none."
                raise Refusal(
                    problem("AD601", message, span_of(s), "Use reverse mode, or take the code out.")
                )
            return []
        known = self.scope.declared(s.value)
        if known is not None and known.rule is not None and known.rule.is_zero:
            return [s]
        if isinstance(s.value, gast.Call) and self.scope.canonical(s.value.func) not in EFFECTS:
            raise self.unknown(s)
        return [s]

    # --- assignments -------------------------------------------------------------------------

    def _assign(self, s: gast.Assign, present: Present, after: Set[str]) -> list[gast.stmt]:
        change = change_of(s)
        if change is not None and change.base in self.active:
            return self._change(s, change, present)
        targets, target = flow.stored(s), s.targets[0]
        if not targets & self.active or not self.tangents.moves(s.value, present):
            present.bind(targets)
            if isinstance(target, gast.Name):
                present.constants[target.id] = self.values.kinds.of(s.value)
            return [s, *self._start(s, present)]
        if not isinstance(target, gast.Name) or len(s.targets) > 1:
            raise self.unknown(s)
        if self.scope.callee(s.value) is not None:
            made = [self._call(s, s.value, target.id, present)]
        else:
            before, tangent = self.tangents.of(s, target.id, present)
            if target.id in self.written and not isinstance(s.value, (gast.Name, gast.Subscript)):
                tangent = self._own(tangent, target.id)
            made = self._beside(s, target.id, before, tangent)
        present.bind(targets)
        present.tangents |= targets
        return made

    def _beside(
        self, s: gast.Assign, target: str, before: list[gast.stmt], value: gast.expr
    ) -> list[gast.stmt]:
        """The statement and its tangent, in an order in which the tangent finds the values that it reads."""
        tangent = [*before, assign(adjoint_name(target), value)]
        reads = {n for t in tangent for n in flow.reads(t)}
        operands = flow.reads(s.value)
        updates = target in operands or (
            not is_temporary(target) and plain(target) in {plain(n) for n in operands if not is_temporary(n)}
        )
        if updates and RESULT not in reads:
            return [*tangent, s]
        kept: list[gast.stmt] = []
        if target in reads:
            old = self.values.fresh.new("s__" + target)
            kept = [assign(old, name(target))]
            tangent = [substitute(t, {target: name(old)}) for t in tangent]
        return [*kept, s, *(substitute(t, {RESULT: name(target)}) for t in tangent)]

    def _own(self, tangent: gast.expr, target: str) -> gast.expr:
        """A tangent that will be written into, in memory of its own."""
        tangent = normalize(tangent)
        if self.values.kinds.of(name(target)).is_structure or not isinstance(
            tangent, (gast.Name, gast.Subscript)
        ):
            return tangent
        return gast.Call(gast.Attribute(self.values.module("numpy"), "array", gast.Load()), [tangent], [])

    def _start(self, s: gast.Assign, present: Present) -> list[gast.stmt]:
        """The tangents of what is new and will change: `hs = []`, `dhs = []`."""
        made: list[gast.stmt] = []
        for target in s.targets:
            single = isinstance(target, gast.Name)
            for n in sorted(flow.stored(target) & self.changing & self.active):
                written_out = single and isinstance(s.value, (gast.List, gast.Tuple, gast.Dict))
                zero = self.tangents.zero(s.value if written_out else name(n), present, s)
                if isinstance(zero, gast.Constant):  # an array without axes, which will be written into
                    zeros = gast.Attribute(self.values.module("numpy"), "zeros_like", gast.Load())
                    zero = gast.Call(zeros, [name(n)], [])
                present.tangents.add(n)
                made.append(assign(adjoint_name(n), zero))
        return made

    def _change(self, s: gast.Expr | gast.Assign, change: Change, present: Present) -> list[gast.stmt]:
        """`hs.append(h)` and `dhs.append(dh)`: the tangent of a list changes as the list does."""
        base = name(adjoint_name(change.base))
        if change.base not in present.tangents:
            raise self.unknown(s)
        if change.method == "set":
            index, item = change.args
            place = gast.Subscript(base, self.values.operand(index, s), gast.Store())
            made: gast.stmt = gast.Assign([place], self.tangents.operand(item, present, s), None)
        else:
            counted = 1 if change.method != "pop" else 0
            arguments = [self.values.operand(a, s) for a in change.args[: len(change.args) - counted]]
            arguments += [self.tangents.operand(a, present, s) for a in change.args[len(arguments) :]]
            made = gast.Expr(gast.Call(gast.Attribute(base, change.method, gast.Load()), arguments, []))
        if change.method == "pop" and isinstance(s, gast.Assign):
            target = s.targets[0].id
            present.bind({target})
            if target in self.active:
                present.tangents.add(target)
                made = assign(adjoint_name(target), made.value)
        # where to change is read before the list changes
        return [s, made] if change.method == "append" else [made, s]

    def _call(self, s: gast.Assign, call: gast.Call, target: str, present: Present) -> gast.stmt:
        """`y = g(a, b)` as `y, dy = g_jvp(a, b, da, db)`."""
        function = self.scope.callee(call)
        assert function is not None
        given = match(call, function, self.scope)
        wrt = tuple(p for p, a in given.items() if self.tangents.moves(a, present))
        positional = [p.id for p in [*function.args.posonlyargs, *function.args.args]]
        arguments = [given[p] for p in positional]
        arguments += [self.tangents.operand(given[p], present, s) for p in wrt]
        options = [gast.keyword(p, a) for p, a in given.items() if p not in positional]
        made = gast.Call(name(self.callees.tangent(function.name, wrt).name), arguments, options)
        return gast.Assign(
            [gast.Tuple([store(target), store(adjoint_name(target))], gast.Store())], made, None
        )

    def _with(self, s: gast.With, present: Present, after: Set[str]) -> list[gast.stmt]:
        s.body = self.block(s.body, present, after)
        return [s]

    def _try(self, s: gast.Try, present: Present, after: Set[str]) -> list[gast.stmt]:
        return attempt(self, s, present, after)

    # --- branches ----------------------------------------------------------------------------

    def _if(self, s: gast.If, present: Present, after: Set[str]) -> list[gast.stmt]:
        before: list[gast.stmt] = []
        entry, other = present.copy(), present.copy()
        s.body = self.block(s.body, present, after)
        s.orelse = self.block(s.orelse, other, after)
        if leaves(s.body):
            present.become(other)
        elif not leaves(s.orelse):
            for v in sorted((present.tangents ^ other.tangents) & after):
                lacking, block = (other, s.orelse) if v in present.tangents else (present, s.body)
                if v in flow.writes(block):
                    self.give(v, lacking, block, s)
                else:
                    self.give(v, entry, before, s)
            present.tangents = (present.tangents | other.tangents) & after
            present.bound &= other.bound
            present.seen |= other.seen
            present.constants = {n: k for n, k in present.constants.items() if other.constants.get(n) == k}
        return [*before, s]

    def give(self, v: str, present: Present, out: list[gast.stmt], s: gast.stmt) -> None:
        """Write the tangent of a name that has none: zero, unless the name is not bound either."""
        if v not in present.seen:
            return
        if v not in present.bound and self.values.kinds.of(name(v)).shape != ():
            message = f"`{plain(v)}` may have no value here, and where it has one, that does not move."
            raise Refusal(problem("AD403", message, span_of(s), f"Assign `{plain(v)}` before."))
        made = assign(adjoint_name(v), self.tangents.zero(name(v), present, s))
        out.append(gast.copy_location(made, s) if hasattr(s, "lineno") else made)

    # --- loops -------------------------------------------------------------------------------

    def _while(self, s: gast.While, present: Present, after: Set[str]) -> list[gast.stmt]:
        return self._loop(s, present, after)

    def _for(self, s: gast.For, present: Present, after: Set[str]) -> list[gast.stmt]:
        return self._loop(s, present, after)

    def _loop(self, s: gast.For | gast.While, present: Present, after: Set[str]) -> list[gast.stmt]:
        before: list[gast.stmt] = []
        at_head = self.live[id(s)]
        written = flow.writes([s])
        carried = present.tangents | self._moved_in(s)
        head, left = carried & at_head, carried & after
        for v in sorted(head - present.tangents):
            self.give(v, present, before, s)
        present.tangents, present.seen = head, present.seen | written
        present.constants = {n: k for n, k in present.constants.items() if n not in written}
        inside = present.copy()
        if isinstance(s, gast.For):
            inside.bind(flow.stored(s.target))
            inside.tangents |= self.elements.go_along(s, present)
        loop = Loop(head, left)
        self.loops.append(loop)
        s.body = self.block(s.body, inside, at_head)
        self.loops.pop()
        s.body[:0] = self.elements.first.pop(id(s), [])
        if not leaves(s.body):
            self._fill(head, inside, s.body, s)
        present.tangents = set(left)
        if endless(s):
            present.bound = set.intersection(*loop.bound) if loop.bound else present.bound
        return [*before, s]

    def _fill(self, wanted: Set[str], present: Present, out: list[gast.stmt], s: gast.stmt) -> None:
        for v in sorted(wanted - present.tangents):
            self.give(v, present, out, s)

    def _break(self, s: gast.Break, present: Present, after: Set[str]) -> list[gast.stmt]:
        made: list[gast.stmt] = []
        self._fill(self.loops[-1].left, present, made, s)
        self.loops[-1].bound.append(present.bound)
        return [*made, s]

    def _continue(self, s: gast.Continue, present: Present, after: Set[str]) -> list[gast.stmt]:
        made: list[gast.stmt] = []
        self._fill(self.loops[-1].head, present, made, s)
        return [*made, s]

    def _moved_in(self, s: gast.stmt) -> set[str]:
        """The names to which a loop may give a tangent."""
        found: set[str] = set()
        for x in flow.statements([s]):
            source = x.value if isinstance(x, gast.Assign) else x.iter if isinstance(x, gast.For) else None
            targets = flow.header_writes(x) & self.active
            if source is not None and targets and self.carries(source) & self.active:
                found |= targets
            found |= targets & self.changing
            if self.values.kinds.writes_array(x):
                found |= {str(written_root(x))} & self.active
        return found
