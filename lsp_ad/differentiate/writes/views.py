"""Arrays with several names: a write through one is a write through all.

What is written in place is copied on entry where it is a parameter's. Where a write changes an array that has
another name which is read later, that name is replaced by the path that it stands for:

Before: `row = y[1]; row *= 2.0; return y.sum()`.   After: `y[1][...] *= 2.0; return y.sum()`.

What cannot be replaced (a view that depends on a branch, an item of a list) is refused (AD302).
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from lsp_ad.differentiate.fresh import WEB, Fresh, plain
from lsp_ad.differentiate.normal.stable import carried_names
from lsp_ad.differentiate.writes.assumptions import Assumptions, is_update, put
from lsp_ad.differentiate.writes.mutations import DIRECT
from lsp_ad.differentiate.writes.regions import Paths, parts_bound_once
from lsp_ad.differentiate.writes.unshared import MAKERS
from lsp_ad.problems import Refusal, Span, problem
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow, indexing
from lsp_ad.semantics.aliases import Given, aliases, gone_over
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.semantics.memory import Sharing, are_apart, mutated, root, written, written_root
from lsp_ad.semantics.names import parameters
from lsp_ad.semantics.shapes import UNKNOWN, Kind
from lsp_ad.simplify.algebra import assign, constant, expression, name, store, substitute
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import expression_text
from lsp_ad.source.trees import copied

MODULES = ("numpy", "math", "scipy")
NUMERIC = ("number", "array", "numeric")


def resolve(
    tree: gast.FunctionDef, kinds: Kinds, scope: Scope, fresh: Fresh, webs: dict[str, str]
) -> frozenset[Span]:
    """Bring a function, in place, to a form in which a write changes what one name stands for, and no other.

    Returns the places of augmented assignments that would change an array of the caller's: they are to
    be written
    as plain ones.
    """
    if mutated(tree.body) or any(is_update(s) for s in flow.statements(tree.body)):
        return _Views(tree, kinds, scope, fresh, webs).run()
    return frozenset()


@dataclass(frozen=True)
class _Conflict:
    """A statement that writes into the array of `array`, and other names of the array that are read later."""

    statement: gast.stmt
    array: str
    others: frozenset[str]


class _Views:
    def __init__(
        self, tree: gast.FunctionDef, kinds: Kinds, scope: Scope, fresh: Fresh, webs: dict[str, str]
    ):
        self.tree = tree
        self.kinds = kinds
        self.scope = scope
        self.fresh = fresh
        self.webs = webs
        self.assumptions = Assumptions(tree.body, kinds, scope)
        self.paths = Paths(tree.body, kinds, scope, fresh)
        self.sharing = Sharing(scope.makes_new, self._picks, kinds.is_structure, kinds.is_structure)

    def _picks(self, index: gast.expr) -> bool:
        return indexing.picks(index, self.kinds.of)

    def run(self) -> frozenset[Span]:
        self.tree.body[:] = _one_target_each(self.tree.body)
        for s in flow.statements(self.tree.body):
            target = written(s)
            if target is not None and not hasattr(target, "lineno") and self.kinds.writes_array(s):
                _without_ellipsis(s)
        self._updates()
        self._copy_parameters()
        for r in sorted(mutated(self.tree.body)):
            kind = self.kinds.names.get(r, UNKNOWN)
            if kind.type == "numeric" and not self.assumptions.as_list(r, kind):
                self.kinds.names[r] = Kind("array", kind.dtype, kind.shape, fresh=kind.fresh)
        self.kinds.forget()
        for _ in range(100):
            conflict = self._conflict()
            if conflict is None:
                self._copy_parameters()  # an update may have become a write
                return self._rebinding()
            if not self._settle(conflict):
                self._refuse(conflict)
        raise AssertionError("every round takes a name away")

    def _edges(self, s: gast.stmt) -> list[tuple[str, set[str]]]:
        """What the names that a statement binds may share memory with: nothing, where they are numbers."""
        return [(n, sources) for n, sources in self.sharing.edges(s) if self._is_memory(n)]

    def _list_edges(self, s: gast.stmt) -> list[tuple[str, set[str]]]:
        """The same, of lists themselves: a slice, sum or copy of a list that holds no lists is another."""
        if isinstance(s, gast.Assign) and self._is_new_list(s.value):
            return []
        return self._edges(s)

    def _is_new_list(self, value: gast.expr) -> bool:
        kind = self.kinds.of(value)
        if kind.type != "list" or kind.element is None or kind.element.type not in NUMERIC:
            return False
        if isinstance(value, gast.Call):
            return self.scope.canonical(value.func) in MAKERS
        is_slice = isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice)
        return is_slice or isinstance(value, (gast.BinOp, gast.List, gast.ListComp))

    def _is_memory(self, n: str) -> bool:
        if n not in self.scope.local and self.scope.canonical(name(n)) in MODULES:
            return False
        return self.kinds.names.get(n, UNKNOWN).type not in ("number", "str", "none", "bottom")

    def _updates(self) -> None:
        """`y[s] = y[s] + e` is `y[s] += e` and the other way round: the one for parts of arrays, the other
        for items of lists, and where an element may be named twice, which NumPy then reads once."""
        for s in list(flow.statements(self.tree.body)):
            array, target = written_root(s), written(s)
            if array is None or target is None or isinstance(s, gast.Expr):
                continue
            part = not self.kinds.names.get(array, UNKNOWN).is_structure and (
                self.paths.selects_once(target.slice) or indexing.is_mask(target.slice, self.kinds.of)
            )
            if isinstance(s, gast.AugAssign) and not part:
                old = gast.copy_location(
                    copied(gast.Subscript(target.value, target.slice, gast.Load())), target
                )
                made: gast.stmt = gast.Assign([target], gast.BinOp(old, s.op, s.value), None)
                put(self.tree.body, s, [gast.copy_location(made, s)])
            elif part and _accumulates(s):
                made = gast.AugAssign(target, s.value.op, s.value.right)
                put(self.tree.body, s, [gast.copy_location(made, s)])

    def _rebinding(self) -> frozenset[Span]:
        graph = flow.Flow.of(self.tree.body)
        states = aliases(graph, self._edges, self._is_memory)
        callers = set(parameters(self.tree))
        return frozenset(
            span_of(s)
            for s in flow.statements(self.tree.body)
            if is_update(s)
            and self._is_memory(left := s.value.left.id)
            and id(s) in graph.index
            and ({left} | states[graph.index[id(s)]].get(left, frozenset())) & callers
        )

    # --- parameters ------------------------------------------------------------------------------

    def _copy_parameters(self) -> None:
        """The caller's arrays are never changed: a parameter that may be written is copied on entry."""
        writes = [s for s in flow.statements(self.tree.body) if self.kinds.writes_array(s)]
        if not writes:
            return
        given = Given(self.tree.body, parameters(self.tree), self._edges, self._is_memory)
        changed = {p for s in writes for p in given.at(s, written_root(s) or "")}
        numpy = self.assumptions.numpy()
        copies: list[gast.stmt] = []
        for p in parameters(self.tree):
            kind = self.kinds.names.get(p, UNKNOWN)
            if p not in changed or kind.type in ("list", "tuple", "other", "number"):
                continue
            own = self.fresh.new(WEB + p)
            self.webs[own] = self.webs.get(p, p)
            for s in self.tree.body:
                _rename(s, p, own)
            text = f"{p}.copy()" if kind.type == "array" else f"{numpy}.array({p})"
            copies.append(gast.copy_location(assign(own, expression(text)), self.tree.body[0]))
            self.kinds.names[own] = Kind("array", kind.dtype, kind.shape, fresh=True)
        self.tree.body[:0] = copies

    # --- conflicts -------------------------------------------------------------------------------

    def _conflict(self) -> _Conflict | None:
        """The first write that changes what another name, read later, stands for."""
        body = self.tree.body
        writes = [s for s in flow.statements(body) if self._written(s) is not None]
        if not writes:
            return None
        graph = flow.Flow.of(body)
        live = flow.live_before(graph)
        states = aliases(graph, self._edges, self._is_memory)
        of_lists = states
        if any(self._is_list_update(s) for s in writes):
            of_lists = aliases(graph, self._list_edges, self._is_memory)
        over = gone_over(body, frozenset())
        parts = parts_bound_once(self.tree, self.kinds)
        for s in writes:
            point = graph.index.get(id(s))
            if point is None:
                continue
            array = self._written(s)
            assert array is not None
            after = live.unmask(live.after(graph, point))
            shared = (of_lists if self._is_list_update(s) else states)[point].get(array, frozenset())
            if is_update(s):  # what is read later under this name is what another name stood for
                shared = shared | {array}
            own = set() if is_update(s) else {array}
            others = shared & after - own - flow.stored(s)
            if array in parts:
                others -= {n for n in others if n in parts and are_apart(parts[array], parts[n])}
            if is_update(s):  # a loop sees what is written into the array that it goes over
                others |= over[id(s)] & ({array} | shared)
            if others:
                return _Conflict(s, array, frozenset(others))
        return None

    def _is_list_update(self, s: gast.stmt) -> bool:
        """Whether a statement is `xs += ys` of lists: it changes the list, and none of the arrays in it."""
        return is_update(s) and self.kinds.names.get(s.value.left.id, UNKNOWN).is_structure

    def _written(self, s: gast.stmt) -> str | None:
        """The name through which a statement writes into an array, or may do so."""
        if is_update(s):
            left = s.value.left.id
            return left if self._is_memory(left) else None
        return written_root(s) if self.kinds.writes_array(s) else None

    # --- settling --------------------------------------------------------------------------------

    def _settle(self, conflict: _Conflict) -> bool:
        """Take one name out of a conflict; False where none can be."""
        s, array = conflict.statement, conflict.array
        if is_update(s):
            return not self._is_list_update(s) and self._in_place(s, array)
        carried = carried_names(
            self.tree.body, graph := flow.Flow.of(self.tree.body), flow.live_before(graph)
        )
        counts: dict[str, int] = dict.fromkeys(parameters(self.tree), 1)
        for x in flow.statements(self.tree.body):
            for n in flow.header_writes(x):
                counts[n] = counts.get(n, 0) + 1
        fixed = {n for n, count in counts.items() if count == 1 and n not in carried}
        for n in [*sorted(conflict.others, reverse=True), array]:
            definition = next(
                (x for x in flow.statements(self.tree.body) if n in flow.header_writes(x)), None
            )
            if definition is None or n not in fixed:
                continue
            if self.assumptions.as_number(n, definition) or self._as_path(n, definition, fixed):
                self.kinds.forget()
                return True
        return False

    def _in_place(self, s: gast.Assign, array: str) -> bool:
        """`w = y + e`, which stands for `y += e`, as `y[...] += e; w = y`."""
        if self.kinds.names.get(array, UNKNOWN).type != "array" and not self.assumptions.as_array(array):
            return self.assumptions.as_numbers(array) or self.assumptions.either(s, array)
        part = gast.Subscript(name(array), constant(Ellipsis), gast.Store())
        if isinstance(s.value.op, DIRECT):
            write: gast.stmt = gast.AugAssign(part, s.value.op, s.value.right)
        else:
            write = gast.Assign([part], s.value, None)
        made = [gast.copy_location(write, s)]
        target = s.targets[0].id
        if target != array:
            made.append(gast.copy_location(assign(target, name(array)), s))
            self.kinds.names[target] = self.kinds.names[array]
        put(self.tree.body, s, made)
        return True

    def _as_path(self, n: str, definition: gast.stmt, fixed: set[str]) -> bool:
        """Replace a name by the path that it stands for: `row` by `y[1]`. Where it is updated, `row *= 2`,
        that becomes a write first: a path would be read only."""
        for s in flow.statements(self.tree.body):
            if is_update(s) and s.value.left.id == n:
                return not self._is_list_update(s) and self._in_place(s, n)
        if isinstance(definition, gast.For):
            return self._element(n, definition, fixed)
        if not isinstance(definition, gast.Assign) or not isinstance(definition.targets[0], gast.Name):
            return False
        base = root(definition.value)
        if base is None or self.kinds.names.get(base.id, UNKNOWN).is_structure:
            return False
        if base.id not in fixed or not self.paths.is_view(definition.value):
            return False
        before: list[gast.stmt] = []
        path = self.paths.fixed(copied(definition.value), fixed, before)
        put(self.tree.body, definition, [gast.copy_location(b, definition) for b in before])
        self._replace(n, path)
        return True

    def _element(self, n: str, loop: gast.For, fixed: set[str]) -> bool:
        """`for row in y` as `for i, row in enumerate(y)`, and `row` as `y[i]`."""
        array = loop.iter
        if not (isinstance(array, gast.Name) and array.id in fixed and isinstance(loop.target, gast.Name)):
            return False
        if self.kinds.names.get(array.id, UNKNOWN).type not in ("array", "numeric"):
            return False
        position = self.fresh.new("t", "i")
        self.kinds.names[position] = Kind("number", "int", (), fresh=True)
        loop.target = store(position)
        loop.iter = expression("range(len(y))")
        loop.iter.args[0].args[0] = array
        path = gast.Subscript(name(array.id), name(position), gast.Load())
        self._replace(n, path)
        return True

    def _replace(self, n: str, path: gast.expr) -> None:
        for s in self.tree.body:
            substitute(s, {n: path})
        if isinstance(path, gast.Subscript):
            for s in flow.statements(self.tree.body):
                _without_ellipsis(s)

    def _refuse(self, conflict: _Conflict) -> None:
        s = conflict.statement
        array, other = plain(conflict.array), plain(min(conflict.others))
        if is_update(s) and conflict.array in conflict.others:
            changed = "an array that has another name"
            if conflict.array in gone_over(self.tree.body, frozenset())[id(s)]:
                changed = "what a loop around it goes over"
            message = f"An augmented assignment to `{array}` changes {changed}."
            raise Refusal(problem("AD302", message, span_of(s), f"Write `{array} = {array} + ...`."))
        if is_update(s):
            what = "a list" if self._is_list_update(s) else "an array"
            raise Refusal(
                problem(
                    "AD302",
                    f"An augmented assignment to `{array}` changes {what} that `{other}` may share.",
                    span_of(s),
                    f"Write `{array} = {array} + ...`, which makes a new value, or annotate `{array}`.",
                )
            )
        way_out = f"Copy it first (`{other} = {other}.copy()`), or write through one name only."
        if self.kinds.is_structure(min(conflict.others)):
            way_out = f"Let `{other}` hold a copy: `{array}.copy()`."
        message = f"The write into `{array}` may change `{other}`, which is read later."
        raise Refusal(problem("AD302", message, span_of(s), way_out))


def _one_target_each(body: list[gast.stmt]) -> list[gast.stmt]:
    """`y = z = e` as `y = e; z = y`, and as `y = e; z = e` where that is a number."""
    found: list[gast.stmt] = []
    for s in body:
        for field in ("body", "orelse"):
            inner = getattr(s, field, None)
            if isinstance(inner, list) and inner:
                setattr(s, field, _one_target_each(inner))
        found.append(s)
        if isinstance(s, gast.Assign) and len(s.targets) > 1 and isinstance(s.targets[0], gast.Name):
            same = s.value if _is_literal(s.value) else name(s.targets[0].id)
            found += [gast.copy_location(gast.Assign([t], copied(same), None), s) for t in s.targets[1:]]
            s.targets = s.targets[:1]
    return found


def _is_literal(value: gast.expr) -> bool:
    inner = value.operand if isinstance(value, gast.UnaryOp) else value
    return isinstance(inner, gast.Constant)


def _accumulates(s: gast.stmt) -> bool:
    """Whether a statement is `a[s] = a[s] + e`, or with another operator that has an augmented assignment."""
    return (
        isinstance(s, gast.Assign)
        and isinstance(s.value, gast.BinOp)
        and isinstance(s.value.op, DIRECT)
        and isinstance(s.value.left, gast.Subscript)
        and not any(isinstance(n, gast.Call) for n in flow.walk(s.targets[0]))
        and expression_text(s.value.left) == expression_text(s.targets[0])
    )


def _without_ellipsis(s: gast.stmt) -> None:
    """`y[1][...] = e` as `y[1] = e`."""
    target = written(s)
    if (
        target is not None
        and isinstance(target.value, gast.Subscript)
        and isinstance(target.slice, gast.Constant)
        and target.slice.value is Ellipsis
        and not isinstance(s, gast.Expr)
    ):
        part = gast.Subscript(target.value.value, target.value.slice, gast.Store())
        if isinstance(s, gast.Assign):
            s.targets = [part]
        else:
            s.target = part


def _rename(node: gast.AST, old: str, new: str) -> None:
    for n in flow.walk(node):
        if isinstance(n, gast.Name) and n.id == old:
            n.id = new
