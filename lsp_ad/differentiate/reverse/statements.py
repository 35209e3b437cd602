"""The backward sweep: the statements of a function in normal form, last to first, as adjoint statements.

For each statement the adjoint of its target is taken, handed on to the operands by the rule of
the operation, and forgotten. `State` says which adjoints exist at a point, and in what form.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from lsp_ad.differentiate.desugar import withs
from lsp_ad.differentiate.desugar.insertions import Insertions
from lsp_ad.differentiate.fresh import adjoint_name
from lsp_ad.differentiate.quoting import quoted
from lsp_ad.differentiate.reverse.adjoints import Adjoints
from lsp_ad.differentiate.reverse.forms import State
from lsp_ad.differentiate.reverse.operations import Operations
from lsp_ad.differentiate.reverse.values import ForwardValues
from lsp_ad.differentiate.writes.overwrite import Overwrites
from lsp_ad.problems import Refusal, problem
from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import change_of, is_access
from lsp_ad.semantics.memory import stored_value, written_root
from lsp_ad.semantics.names import parameters
from lsp_ad.simplify.algebra import assign, constant, name, negation
from lsp_ad.source.parse import span_of
from lsp_ad.source.trees import copied, located


@dataclass
class LoopPair:
    """A loop of the forward sweep and what goes back through it; `node` stands in the backward sweep."""

    forward: gast.For | gast.While
    node: gast.For


@dataclass
class Reverse:
    """Writes the backward sweep of one function."""

    operations: Operations
    insertions: Insertions
    loops: list[LoopPair] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values: ForwardValues = self.operations.values
        self.adjoints: Adjoints = self.operations.adjoints
        self.active = self.operations.active
        self.overwrites = Overwrites(self.values, self.adjoints, self.active)
        self.carries = self.operations.carries
        self.given = frozenset(parameters(self.values.function))

    def block(self, body: list[gast.stmt], state: State) -> list[gast.stmt]:
        """The adjoint statements of a block;
        `state` is changed from what holds after it to what holds before it.
        """
        found: list[gast.stmt] = []
        for s in reversed(body):
            made = self.statement(s, state)
            for m in made:
                if not hasattr(m, "lineno") and hasattr(s, "lineno"):
                    located(m, s)
            found += made
        return found

    def statement(self, s: gast.stmt, state: State) -> list[gast.stmt]:
        change = change_of(s)
        if change is not None and change.base in self.active and self.adjoints.kind(change.base).is_structure:
            return self.operations.structures.change(s, change, state)
        if self.values.kinds.writes_array(s):
            return self.overwrites.backward(s, state)
        if isinstance(s, gast.Assign):
            return self.assignment(s, state)
        if isinstance(s, gast.If):
            return self.branch(s, state)
        if isinstance(s, (gast.For, gast.While)):
            return self.loop(s, state)
        if isinstance(s, gast.With):
            return withs.around(s, self.block(s.body, state), self.values.scope)
        if isinstance(s, gast.Try):
            return self.attempt(s, state)
        return self.insertions.backward(s, state, self.values, self.adjoints)

    # --- assignments -------------------------------------------------------------------------

    def assignment(self, s: gast.Assign, state: State) -> list[gast.stmt]:
        targets = flow.stored(s)
        present = [t for t in targets if t in state]
        if not present:
            return []
        target = s.targets[0]
        if not (isinstance(target, gast.Name) and self.carries(s.value) & self.active):
            for t in present:
                del state[t]
            return []
        out: list[gast.stmt] = []
        dy: gast.expr = name(adjoint_name(target.id))
        form = state.pop(target.id)
        if target.id in flow.reads(s.value):
            # the adjoint of the new value, before that of the old one takes its name
            kept = self.values.fresh.new("b")
            out.append(assign(kept, dy))
            dy = name(kept)
        self.operations.hand_on(s, target.id, dy, form, state, out)
        return out

    # --- branches ----------------------------------------------------------------------------

    def branch(self, s: gast.If, state: State) -> list[gast.stmt]:
        for block, other in ((s.body, s.orelse), (s.orelse, s.body)):
            if block and isinstance(block[-1], gast.Raise):
                # the backward sweep never comes from a path that raised
                return self.block(other, state)
        yes, no = self._paths(s, [s.body, s.orelse], state)
        if not yes and not no:
            return []
        test = self.values.operand(s.test, s) if self._is_cheap(s.test) else self._saved_test(s)
        if not yes:
            yes, no, test = no, [], negation(test)
        return [gast.If(test, yes, no)]

    def _paths(self, s: gast.stmt, paths: list[list[gast.stmt]], state: State) -> list[list[gast.stmt]]:
        """The adjoints of blocks of which a run takes one; they leave the same adjoints behind."""
        states = [state.copy() for _ in paths]
        blocks = [self.block(path, inside) for path, inside in zip(paths, states, strict=True)]
        live = self.values.stability.live[id(s)]
        state.clear()
        for v in sorted({v for inside in states for v in inside}):
            if v not in live:
                continue
            for inside, block in zip(states, blocks, strict=True):
                if v not in inside:
                    self.values.bind_first(v, s)
                    # an array where another path has one of this function's own: so has what follows
                    made = any(v in other and other[v].owned for other in states if other is not inside)
                    made = made and v in self.given and self.values.stability.is_stable(v)
                    inside[v] = self.adjoints.zero(v, s, block, whole=made)
                state[v] = state[v].meet(inside[v]) if v in state else inside[v]
        return blocks

    def attempt(self, s: gast.Try, state: State) -> list[gast.stmt]:
        """`try`: the adjoint of the body, or of the handler that ran."""
        handlers = [
            (number, h.body)
            for number, h in enumerate(s.handlers, start=1)
            if not isinstance(h.body[-1], gast.Raise)
        ]
        blocks = self._paths(s, [[*s.body, *s.orelse], *(body for _, body in handlers)], state)
        if len(blocks) == 1 or not any(blocks):
            return blocks[0]
        handled = self.values.handled.setdefault(id(s), self.values.fresh.new("t", "handled"))
        found: list[gast.stmt] = blocks[0]
        for (number, _), block in zip(handlers, blocks[1:], strict=True):
            test: gast.expr = name(handled)
            if len(s.handlers) > 1:
                test = gast.Compare(test, [gast.Eq()], [constant(number)])
            found = [gast.If(test, block or [gast.Pass()], found)]
        return found

    def _is_cheap(self, test: gast.expr) -> bool:
        nodes = list(gast.walk(test))
        moving = {
            n
            for n in flow.reads(test)
            if n in self.values.scope.local and not self.values.stability.is_stable(n)
        }
        return (
            not any(isinstance(n, (gast.Call, gast.BinOp, gast.Subscript)) for n in nodes)
            and len(nodes) < 16
            and len(moving) < 2
        )

    def _saved_test(self, s: gast.If) -> gast.expr:
        """The truth of a predicate under a name, for a predicate that costs something to evaluate again."""
        kept = self.values.fresh.new("t", "taken")
        self.values.tests[id(s)] = (kept, s.test)
        return name(kept)

    # --- loops -------------------------------------------------------------------------------

    def loop(self, s: gast.For | gast.While, state: State) -> list[gast.stmt]:
        live = self.values.stability.live[id(s)]
        written = flow.writes(s.body) | flow.header_writes(s)
        touched = self._touched(s) & self.active
        carried = sorted(v for v in touched if v in live or (v in state and v in written))
        # the adjoint of a list lives on from iteration to iteration, and asks for the form of the list
        stability = self.values.stability
        stability.carried |= {v for v in carried if v in written and self.adjoints.kind(v).is_structure}
        assumed = dict.fromkeys(carried, self.adjoints.best)
        mark = len(self.loops)
        settled: set[str] = set()
        while True:
            del self.loops[mark:]
            before: list[gast.stmt] = []
            inside = state.copy()
            for v in carried:
                self.adjoints.enter_loop(v, v in written, inside, before, s)
                inside[v] = inside[v].meet(assumed[v])
            entry = inside.copy()
            body = self.block(s.body, inside)
            if isinstance(s, gast.For):
                body += self._elements(s, inside)
            for v in carried:
                if v not in inside:
                    # a list that the iteration bound anew had the form that it has where the iteration starts
                    at = s.body[0] if v in written else s
                    self.values.bind_first(v, at)
                    inside[v] = self.adjoints.zero(v, at, body)
            weaker = {v: assumed[v].meet(inside[v]) for v in carried if not inside[v].covers(entry[v])}
            late = [
                v
                for v in carried
                if v in self.adjoints.in_place
                and v not in settled
                and (v not in written or self.adjoints.kind(v).is_structure)
                and not self.adjoints.is_own(v, entry[v])
            ]
            if not weaker and not late:
                break
            assumed.update(weaker)
            if late and not weaker:
                assumed.update(dict.fromkeys(late, self.adjoints.best))
                settled.update(late)  # one that does not stay its own is made so in each iteration
        for v in list(state):
            if v in written and v not in live:
                del state[v]
        for v in carried:
            if v in live:
                state[v] = entry[v]
            else:
                state.pop(v, None)
        if not body:
            return before
        node = gast.For(name("_"), name("_"), body, [], None)
        self.loops.append(LoopPair(s, node))
        return [*before, node]

    def _touched(self, s: gast.For | gast.While) -> set[str]:
        """The names whose adjoints the body may read or change."""
        found: set[str] = set()
        for x in flow.statements([s]):
            array = written_root(x)
            if array is not None:
                found |= {array} | self.carries(stored_value(x))
            elif isinstance(x, gast.Assign):
                found |= flow.stored(x) | (self.carries(x.value) if flow.stored(x) & self.active else set())
            elif isinstance(x, gast.For):
                found |= flow.stored(x.target) | (
                    self.carries(x.iter) if flow.stored(x.target) & self.active else set()
                )
            else:
                found |= self.insertions.touched(x)
            change = change_of(x)
            if change is not None:
                found |= {change.base}.union(*map(flow.reads, change.args))
        return found

    def _elements(self, s: gast.For, state: State) -> list[gast.stmt]:
        """What a loop over arrays does at the start of an iteration: `x = xs[i]`."""
        found: list[gast.stmt] = []
        targets = flow.stored(s.target)
        if not targets & set(state):
            return found
        if targets & self.active and self.carries(s.iter) & self.active:
            position, target = s.target.elts
            # a position that lives on after the loop is that of this iteration only inside the body
            at = s if self.values.stability.is_stable(position.id) else s.body[0]
            if not hasattr(at, "lineno"):
                located(at, s)
            over = s.iter.func.value if is_access(s.iter) else s.iter.args[0]
            for part, element in self._parts(target, over, name(position.id)):
                if part in state:
                    del state[part]
                    self.adjoints.element(element, part, name(adjoint_name(part)), at, state, found)
        for t in targets & set(state):
            del state[t]
        for f in found:
            located(f, s)
        return found

    def _quoted(self, node: gast.expr) -> str:
        return quoted(node, self.values.scope.program)

    def _parts(
        self, target: gast.expr, iterable: gast.expr, index: gast.expr
    ) -> list[tuple[str, gast.Subscript]]:
        """(name, element) for each active name that an iteration binds: `x` is `xs[i]`."""
        if isinstance(iterable, gast.Call):
            function = self.values.scope.canonical(iterable.func)
            if (
                function == "builtins.zip"
                and isinstance(target, gast.Tuple)
                and len(target.elts) == len(iterable.args)
            ):
                return [
                    p
                    for t, i in zip(target.elts, iterable.args, strict=True)
                    for p in self._parts(t, i, index)
                ]
            if function == "builtins.enumerate" and isinstance(target, gast.Tuple) and len(target.elts) == 2:
                return self._parts(target.elts[1], iterable.args[0], index)
            if function == "builtins.reversed":
                return self._parts(target, iterable.args[0], gast.UnaryOp(gast.Invert(), copied(index)))
            if function in ("builtins.zip", "builtins.enumerate"):
                raise Refusal(
                    problem(
                        "AD102",
                        f"`{self._quoted(target)}` does not match `{self._quoted(iterable)}`.",
                        span_of(iterable),
                        "Unpack each element in the `for` itself.",
                    )
                )
        if not self.carries(iterable) & self.active:
            return []
        if not isinstance(iterable, gast.Name):
            raise Refusal(
                problem(
                    "AD102",
                    f"A `for` over `{self._quoted(iterable)}` cannot be differentiated.",
                    span_of(iterable),
                )
            )
        if isinstance(target, gast.Name):
            return [(target.id, gast.Subscript(name(iterable.id), copied(index), gast.Load()))]
        found = []
        for position, part in enumerate(target.elts):
            inner = gast.Subscript(name(iterable.id), copied(index), gast.Load())
            if isinstance(part, gast.Name):
                found.append((part.id, gast.Subscript(inner, gast.Constant(position, None), gast.Load())))
            else:
                raise Refusal(
                    problem(
                        "AD102", "A nested target of a `for` cannot be differentiated.", span_of(iterable)
                    )
                )
        return found
