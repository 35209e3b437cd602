"""Writes expressions: the value of each, after the statements that it needs.

Where there is no value, because an error is raised instead, it is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsp_ad.staging.lantern.compiler import indexing, lists
from lsp_ad.staging.lantern.compiler.joins import Joins
from lsp_ad.staging.lantern.compiler.operands import (
    NOTHING,
    Computed,
    Group,
    Listed,
    Number,
    Operand,
    Roots,
    Stored,
    code_of,
    leaf_types,
    leaves,
    rebuilt,
    roots_of,
    stored,
    type_of,
)
from lsp_ad.staging.lantern.compiler.primitives import primitive
from lsp_ad.staging.lantern.compiler.renaming import Fresh
from lsp_ad.staging.lantern.compiler.scalars import constant, part
from lsp_ad.staging.lantern.compiler.slots import Slots
from lsp_ad.staging.lantern.compiler.uses import Updates, has_updates, size_of, uses
from lsp_ad.staging.lantern.ir import (
    Array,
    Call,
    Const,
    Error,
    Expr,
    Function,
    Get,
    If,
    Index,
    Item,
    Let,
    List,
    NewAxis,
    Op,
    Print,
    Scalar,
    Slice,
    Type,
    Update,
    Var,
    While,
)
from lsp_ad.staging.lantern.operations import result_type


@dataclass
class Signature:
    """What callers know: a function writes into `consumed` parameters, and nobody shares `fresh` results."""

    name: str
    params: tuple[Type, ...]
    result: Type
    consumed: frozenset[int]
    fresh: tuple[bool, ...]


class Expressions(Joins):
    """Writes the expressions of one function, whose names are each bound once.

    `extra` are the parameters that every function hands on; `messages` collects the errors that it may raise.
    """

    def __init__(
        self,
        function: Function,
        fresh: Fresh,
        signatures: Mapping[str, Signature],
        messages: list[Error | Print],
        places: list[str] | None,
        stretching: bool,
    ) -> None:
        consumed = {name: s.consumed for name, s in signatures.items()}
        super().__init__(fresh, uses(function.body), Updates(function, consumed).names, stretching)
        self.signatures, self.consumed = signatures, consumed
        self.messages, self.places = messages, places
        self.extra: tuple[str, ...] = ()

    def value(self, expr: Expr) -> Operand | None:
        match expr:
            case Const():
                return constant(expr)
            case Var(name):
                return self.read(name)
            case Let():
                return self.let(expr)
            case If():
                return self.branch(expr)
            case While():
                return self.loop(expr)
            case Call():
                return self.call(expr)
            case Op(name, args, params):
                sized = size_of(expr)
                operands = self.values(args) if sized is None else [self.env[sized]]
                if operands is None:
                    return None
                result = result_type(name, [*map(type_of, operands)], dict(params))
                with self.holding(*operands):
                    return primitive(self, name, operands, dict(params), result)
            case Item():
                return self.item(expr)
            case Get(value, index):
                return self.part(expr, value, index, None)
            case Update(_, value, index, new):
                return self.part(expr, value, index, new)
            case Error() | Print():
                return self.report(expr)

    def values(self, exprs: Sequence[Expr]) -> list[Operand] | None:
        """Values one after the other; those that come first are not changed by what comes later."""
        found: list[Operand] = []
        start = len(self.held)
        for k, expr in enumerate(exprs):
            operand = self.value(expr)
            if operand is None:
                del self.held[start:]
                return None
            later = [e for e in exprs[k + 1 :] if not isinstance(e, Var | Const)]
            if later:
                operand = self.settled(operand, deep=any(has_updates(e, self.consumed) for e in later))
            found.append(operand)
            self.held.append(operand)
        del self.held[start:]
        return found

    def read(self, name: str) -> Operand:
        self.left[name] -= 1
        if self.left[name] == 0:
            self.pending.pop(name, None)
        return self.env[name]

    def item(self, expr: Item) -> Operand | None:
        if isinstance(expr.value, Var):
            name = expr.value.name
            self.left[name, expr.index] -= 1
            group = self.env[name]
        else:
            found = self.value(expr.value)
            if found is None:
                return None
            group = found
        assert isinstance(group, Group)
        return group.items[expr.index]

    # bindings and branches

    def let(self, expr: Let) -> Operand | None:
        for b in expr.bindings:
            self.at(b.place)
            operand = self.value(b.value)
            if operand is None:
                return None
            self.bind(b.name, self._named(b.name, operand))
        return self.value(expr.body)

    def _named(self, name: str, operand: Operand) -> Operand:
        """A value as it is bound: computed now, unless that is as well done where it is read."""
        if isinstance(operand, Number):
            is_size = operand.code.endswith("]") and ".shape[" in operand.code
            return Number((self.size if is_size else self.atom)(operand.code), operand.dtype)
        if isinstance(operand, Computed):
            now = self.left[name] == 0 if operand.risky else self.left[name] > 1
            return self.store(operand, name) if now and not operand.cheap else operand
        if isinstance(operand, Group):
            return self.settled(operand, deep=True)
        return operand

    def at(self, place: str | None) -> None:
        """Note where in the user's text the program is."""
        if self.places is not None and place is not None:
            if place not in self.places:
                self.places.append(place)
            self.line(f"place[0] = {self.places.index(place)}")

    def _before(self, *inside: Expr) -> None:
        """Compute what is yet to be computed and what code of its own block is going to read or to change."""
        used = {use if isinstance(use, str) else use[0] for use in uses(*inside)}
        for name in used & self.env.keys():
            self.settle(name)
        if any(has_updates(e, self.consumed) for e in inside):
            for name in list(self.pending):
                self.settle(name)

    def branch(self, expr: If) -> Operand | None:
        test = self.value(expr.test)
        if test is None:
            return None
        assert isinstance(test, Number)
        if test.code in ("True", "False"):
            taken, other = (expr.then, expr.orelse)[:: 1 if test.code == "True" else -1]
            self.left.subtract(uses(other))
            return self.value(taken)
        self._before(expr.then, expr.orelse)
        later = uses(expr.orelse)
        self.left.subtract(later)
        with self.captured() as first:
            then = self.value(expr.then)
        self.left.update(later)
        if then is None:
            with self.nested(f"if {test.code}:"):
                self.splice(first)
            return self.value(expr.orelse)
        with self.captured() as second:
            orelse = self.value(expr.orelse)
        if orelse is None:
            with self.nested(f"if not {part(test.code)}:"):
                self.splice(second)
            self.splice(first)
            return then
        return self.joined(test.code, (first, then), (second, orelse))

    # loops

    def loop(self, expr: While) -> Operand | None:
        entry = self.values([b.value for b in expr.bindings])
        if entry is None:
            return None
        with self.holding(*entry):
            self._before(expr.test, expr.body)
            slots = Slots(self, expr.bindings, entry)
        inside = {use if isinstance(use, str) else use[0] for use in uses(expr.test, expr.body)}
        outer = [n for n in inside if n in self.env]
        slots.bind()
        self.pinned.update(outer)
        count = self.assign("count", "0") if expr.limit is not None else None
        with self.captured() as lines:
            test = self.value(expr.test)
            assert isinstance(test, Number | None)
            simple = test is not None and not self.lines
            if test is not None and not simple:
                with self.nested(f"if not {part(test.code)}:"):
                    self.line("break")
            if count is not None:
                with self.nested(f"if {count} == {expr.limit}:"):
                    message = f"the loop goes on after the {expr.limit} iterations that are its limit"
                    self.line(f'raise RuntimeError("{message}")')
                self.line(f"{count} += 1")
            value = None if test is None else self.value(expr.body)
            if value is not None:
                assert isinstance(value, Group)
                slots.next(value)
        with self.nested(f"while {test.code}:" if simple and test is not None else "while True:"):
            self.splice(lines)
        self.pinned.subtract(outer)
        return None if test is None else slots.result()

    # calls

    def call(self, expr: Call) -> Operand | None:
        operands = self.values(expr.args)
        if operands is None:
            return None
        signature = self.signatures[expr.function]
        codes, shared = list(self.extra), NOTHING
        with self.holding(*operands):
            for k, operand in enumerate(operands):
                passed = [self._passed(leaf, k in signature.consumed) for leaf in leaves(operand)]
                codes += map(code_of, passed)
                if k not in signature.consumed:
                    shared |= NOTHING.union(*map(roots_of, passed))
        call = f"{signature.name}({', '.join(codes)})"
        types = list(leaf_types(signature.result))
        if not types:
            self.line(call)
            return rebuilt(signature.result, iter(()))
        name = self.assign(expr.function, call)
        parts = [name] if len(types) == 1 else [self.assign("t", f"{name}[{k}]") for k in range(len(types))]
        shared |= {self.new_root(False)}
        return rebuilt(
            signature.result,
            (
                self._result(code, t, is_fresh, shared)
                for code, t, is_fresh in zip(parts, types, signature.fresh, strict=True)
            ),
        )

    def _passed(self, leaf: Operand, consumed: bool) -> Operand:
        if isinstance(leaf, Stored | Computed):
            with self.released(leaf):
                return self.own_array(leaf) if consumed else self.contiguous(leaf)
        if isinstance(leaf, Number):
            return Number(self.atom(leaf.code), leaf.dtype)
        assert isinstance(leaf, Listed)
        return lists.owned(self, leaf) if consumed else leaf

    def _result(self, code: str, t: Scalar | Array | List, is_fresh: bool, shared: Roots) -> Operand:
        if isinstance(t, Scalar):
            return Number(code, t.dtype)
        if isinstance(t, Array):
            return stored(code, t, frozenset({self.new_root(True)}) if is_fresh else shared)
        own = self.new_root(is_fresh)
        return Listed(code, t, own, shared | {own})

    # arrays and messages

    def part(self, expr: Expr, value: Expr, index: tuple[Index, ...], new: Expr | None) -> Operand | None:
        """What a `get` picks, or an array that an `update` changed."""
        exprs = [value]
        for i in index:
            if isinstance(i, Slice):
                exprs += [p for p in (i.start, i.stop, i.step) if p is not None]
            elif not isinstance(i, NewAxis):
                exprs.append(i)
        operands = self.values(exprs if new is None else [*exprs, new])
        if operands is None:
            return None
        following = iter(operands)
        array = next(following)
        assert isinstance(array, Stored | Computed)
        entries: list[indexing.Entry] = []
        for i in index:
            if isinstance(i, Slice):
                parts = ["" if p is None else self.number(next(following)) for p in (i.start, i.stop, i.step)]
                entries.append(indexing.Cut(*parts))
            else:
                entries.append(indexing.New() if isinstance(i, NewAxis) else next(following))  # type: ignore[arg-type]
        if not isinstance(expr, Update):
            with self.holding(*operands):
                return indexing.get(self, array, entries)
        return indexing.update(self, expr.kind, array, entries, next(following))

    def number(self, operand: Operand) -> str:
        assert isinstance(operand, Number)
        return self.atom(operand.code, "k")

    def report(self, expr: Error | Print) -> Operand | None:
        """Raises or prints by number: the message is made outside of compiled code."""
        operands = self.values([p for p in expr.parts if not isinstance(p, str)])
        if operands is None:
            return None
        number = len(self.messages)
        self.messages.append(expr)
        codes = [str(number)]
        with self.holding(*operands):
            codes += [lists.kept(self, operand)[1] for operand in operands]
        if isinstance(expr, Error):
            self.line(f"raise Raised({', '.join(codes)})")
            return None
        self.line("with numba.objmode():")
        with self.indented():
            self.line(f"printed({', '.join(codes)})")
        return Group(())
