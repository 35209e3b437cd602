"""Types of expressions, and the check that a program has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lsp_ad.staging.lantern.dtypes import Mismatch, array, dtype_of, is_index, promote, rank_of
from lsp_ad.staging.lantern.errors import LanternTypeError
from lsp_ad.staging.lantern.ir import (
    BOOL,
    NEVER,
    UNIT,
    Array,
    Binding,
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
    NewAxis,
    Op,
    Print,
    Program,
    Scalar,
    Slice,
    Tuple,
    Type,
    Update,
    Var,
    While,
    children,
    ranked,
)
from lsp_ad.staging.lantern.operations import result_type
from lsp_ad.staging.lantern.printing import expression_text
from lsp_ad.staging.lantern.printing import type_text as shown

Scope = Mapping[str, Type]


def check(program: Program) -> None:
    """Raise a LanternTypeError unless every expression of a program has a type."""
    if program.entry not in program.table:
        raise LanternTypeError(f"the program has no function {program.entry} to enter")
    if len(program.table) < len(program.functions):
        raise LanternTypeError("two functions have one name")
    for function in program.functions:
        _check_function(function, program.table)


def _check_function(function: Function, functions: Mapping[str, Function]) -> None:
    names = [name for name, _ in function.params]
    if len(set(names)) < len(names):
        raise LanternTypeError(f"in {function.name}: two parameters have one name")
    found = Types(functions, function.name).of(function.body, dict(function.params))
    if found not in (function.result, NEVER):
        raise LanternTypeError(
            f"in {function.name}: the result is {shown(found)}, and {shown(function.result)} is declared"
        )


class Types:
    """Finds types of the expressions of one function."""

    def __init__(self, functions: Mapping[str, Function], function: str) -> None:
        self.functions, self.function = functions, function
        self.place: str | None = None

    def fail(self, expr: Expr, message: str) -> LanternTypeError:
        text = expression_text(expr)
        where = f"{self.place}: " if self.place else ""
        return LanternTypeError(f"{where}in {self.function}: {message}: {_short(text)}")

    def of(self, expr: Expr, scope: Scope) -> Type:
        """The type of an expression; what it consists of is checked."""
        try:
            return HANDLERS[type(expr)](self, expr, scope)
        except Mismatch as mismatch:
            given = ", ".join(shown(self.of(e, scope)) for e in children(expr))
            raise self.fail(expr, f"{mismatch} (given: {given})") from None

    def const(self, expr: Const, scope: Scope) -> Type:
        if not _fits(expr.value, expr.type.dtype):
            raise self.fail(expr, f"{expr.value!r} is no {expr.type.dtype}")
        return expr.type

    def var(self, expr: Var, scope: Scope) -> Type:
        if expr.name not in scope:
            raise self.fail(expr, "the name is not bound")
        return scope[expr.name]

    def let(self, expr: Let, scope: Scope) -> Type:
        inner = dict(scope)
        ends = False
        for binding in expr.bindings:
            inner[binding.name] = self.bound(binding, inner)
            ends = ends or inner[binding.name] == NEVER
        result = self.of(expr.body, inner)
        return NEVER if ends else result

    def bound(self, binding: Binding, scope: Scope) -> Type:
        outer, self.place = self.place, binding.place or self.place
        found = self.of(binding.value, scope)
        self.place = outer
        return found

    def branch(self, expr: If, scope: Scope) -> Type:
        return self.joined(expr, *(self.of(e, scope) for e in (expr.test, expr.then, expr.orelse)))

    def joined(self, expr: If, test: Type, then: Type, orelse: Type) -> Type:
        """The type of an `if` whose parts have these types."""
        if test not in (BOOL, NEVER):
            raise self.fail(expr.test, f"the condition is {shown(test)}, not bool")
        if then != orelse and NEVER not in (then, orelse):
            raise self.fail(expr, f"one branch gives {shown(then)}, the other {shown(orelse)}")
        if test == NEVER:
            return NEVER
        return orelse if then == NEVER else then

    def loop(self, expr: While, scope: Scope) -> Type:
        names = [b.name for b in expr.bindings]
        if len(set(names)) < len(names):
            raise self.fail(expr, "two loop variables have one name")
        entry = [self.bound(b, scope) for b in expr.bindings]
        inner = {**scope, **dict(zip(names, entry, strict=True))}
        return self.carried(expr, entry, self.of(expr.test, inner), self.of(expr.body, inner))

    def carried(self, expr: While, entry: list[Type], test: Type, body: Type) -> Type:
        """The type of a `while` whose initial values, condition and body have these types."""
        names = [b.name for b in expr.bindings]
        if test not in (BOOL, NEVER):
            raise self.fail(expr.test, f"the condition is {shown(test)}, not bool")
        if NEVER in (*entry, test):
            return NEVER
        if body == NEVER:
            return Tuple(tuple(entry))
        if not isinstance(body, Tuple) or len(body.items) != len(names):
            raise self.fail(expr, f"the body gives {shown(body)}, not a tuple of {len(names)} values")
        for name, before, after in zip(names, entry, body.items, strict=True):
            if before != after:
                message = f"{name} is {shown(before)} on entry and {shown(after)} after an iteration"
                raise self.fail(expr, message)
        return body

    def call(self, expr: Call, scope: Scope) -> Type:
        function = self.functions.get(expr.function)
        if function is None:
            raise self.fail(expr, "there is no such function")
        types = [self.of(a, scope) for a in expr.args]
        if NEVER in types:
            return NEVER
        if types != [t for _, t in function.params]:
            given = ", ".join(shown(t) for t in types)
            wanted = ", ".join(shown(t) for _, t in function.params)
            raise self.fail(expr, f"{expr.function} takes ({wanted}), and is given ({given})")
        return function.result

    def operation(self, expr: Op, scope: Scope) -> Type:
        return result_type(expr.name, [self.of(a, scope) for a in expr.args], dict(expr.params))

    def item(self, expr: Item, scope: Scope) -> Type:
        found = self.of(expr.value, scope)
        if found == NEVER:
            return NEVER
        if not isinstance(found, Tuple) or not 0 <= expr.index < len(found.items):
            raise self.fail(expr, f"{shown(found)} has no item {expr.index}")
        return found.items[expr.index]

    def get(self, expr: Get, scope: Scope) -> Type:
        return self.part(self.of(expr.value, scope), expr.index, scope)

    def part(self, value: Type, index: tuple[Index, ...], scope: Scope) -> Type:
        """The type of a part of an array."""
        found: list[Type | Slice | NewAxis] = []
        for i in index:
            if isinstance(i, Slice):
                parts = [self.of(e, scope) for e in (i.start, i.stop, i.step) if e is not None]
                if not all(is_index(t) for t in parts):
                    raise Mismatch("the parts of a slice are integers")
                found.append(i)
            else:
                found.append(i if isinstance(i, NewAxis) else self.of(i, scope))
        return NEVER if value == NEVER or NEVER in found else ranked(dtype_of(value), part_rank(value, found))

    def update(self, expr: Update, scope: Scope) -> Type:
        value, new = self.of(expr.value, scope), self.of(expr.new, scope)
        part = self.part(value, expr.index, scope)
        if NEVER in (value, new, part):
            return NEVER
        if rank_of(new) > rank_of(part):
            raise Mismatch("the new values have a higher rank than the part that they are for")
        if promote(dtype_of(new), dtype_of(value)) != dtype_of(value):
            raise Mismatch("the new values do not fit the array's dtype: cast them")
        if expr.kind == "add-at" and dtype_of(value) == "bool":
            raise Mismatch("arithmetic needs numbers: cast the bool")
        return value

    def error(self, expr: Error, scope: Scope) -> Type:
        self.report(expr, scope)
        return NEVER

    def report(self, expr: Error | Print, scope: Scope) -> Type:
        for part in children(expr):
            self.of(part, scope)
        return UNIT


HANDLERS: dict[type, Callable] = {
    Const: Types.const,
    Var: Types.var,
    Let: Types.let,
    If: Types.branch,
    While: Types.loop,
    Call: Types.call,
    Op: Types.operation,
    Item: Types.item,
    Get: Types.get,
    Update: Types.update,
    Error: Types.error,
    Print: Types.report,
}


def part_rank(value: Type, index: list[Type | Slice | NewAxis]) -> int:
    """The rank of a part of an array, from the types of the index."""
    left, kept, gathered = array(value).rank, 0, 0
    for i in index:
        if isinstance(i, NewAxis):
            kept += 1
        elif isinstance(i, Slice):
            left, kept = left - 1, kept + 1
        elif isinstance(i, Array) and i.dtype == "bool":
            left, gathered = left - i.rank, max(gathered, 1)
        elif is_index(i) or (isinstance(i, Array) and is_index(Scalar(i.dtype))):
            left, gathered = left - 1, max(gathered, rank_of(i))
        else:
            raise Mismatch("an index is an integer, a slice, an array of integers or a mask")
    if left < 0:
        raise Mismatch("there are more indices than axes")
    return left + kept + gathered


def _fits(value: object, dtype: str) -> bool:
    kind = {"bool": bool, "complex128": complex}.get(dtype, int if dtype.startswith("int") else float)
    if type(value) is not kind:
        return False
    bits = {"int32": 31, "int64": 63}.get(dtype)
    return bits is None or -(2**bits) <= value < 2**bits


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 160 else text[:157] + "..."
