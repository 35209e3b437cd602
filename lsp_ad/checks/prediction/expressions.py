"""The values of expressions, and what is decided in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from lsp_ad.checks.prediction import library
from lsp_ad.checks.prediction.classes import class_of
from lsp_ad.checks.prediction.values import (
    FALSE,
    MORE,
    NONE,
    STAGED,
    UNCLEAR,
    Frame,
    Function,
    Items,
    Known,
    Library,
    Meeting,
    Method,
    Object,
    Python,
    Staged,
    State,
    Super,
    Table,
    Type,
    Unclear,
    Value,
    combined,
    copied,
    truth,
)
from lsp_ad.checks.staged_functions import Functions, Place
from lsp_ad.semantics.names import HERE

OPERATORS: dict[type, str] = {
    gast.Add: "add", gast.Sub: "sub", gast.Mult: "mul", gast.Div: "truediv", gast.FloorDiv: "floordiv",
    gast.Mod: "mod", gast.Pow: "pow", gast.MatMult: "matmul", gast.BitAnd: "and", gast.BitOr: "or",
    gast.BitXor: "xor", gast.LShift: "lshift", gast.RShift: "rshift",
}  # fmt: skip
_UNARY: dict[type, str] = {gast.USub: "__neg__", gast.UAdd: "__pos__", gast.Invert: "__invert__"}
MOST = 20_000  # expressions that are looked at in a function


class Enough(Exception):
    """The program goes on for longer than anybody would wait for a prediction."""


@dataclass(frozen=True)
class Prediction:
    """What becomes of a construct: `outcome` is as in `lsp_ad.staging.decisions`, None where it is unclear.

    `count`: how often a loop is unrolled, None where that is not known.
    """

    node: gast.AST
    construct: str
    outcome: str | None
    count: int | None = None

    @property
    def line(self) -> int:
        return self.node.lineno


class Expressions:
    """Evaluates expressions in frames. `converts`: are constructs converted, as lsp_ad.staged does?"""

    def __init__(self, functions: Functions, converts: bool = True):
        self.functions, self.converts = functions, converts
        self.sizes = False  # whether those of arrays are staged
        self._found: dict[Prediction, None] = {}
        self.frames: list[Frame] = []
        self.frame: Frame
        self.steps, self.most = 0, MOST
        self._globals: Frame | None = None  # with the objects that they stand for
        self._depth = 0

    # States

    def state(self) -> State:
        """The state as it is; copied, so that what follows does not change it."""
        known: dict[int, Value] = {}
        self._step(sum(len(f.names) for f in self.frames) // 8)
        return {f: {name: copied(v, known) for name, v in f.names.items()} for f in self.frames}

    def restore(self, state: State) -> None:
        known: dict[int, Value] = {}
        for frame, names in state.items():
            frame.names = {name: copied(v, known) for name, v in names.items()}

    def either(self, how: Value, one: Callable[[], Any], other: Callable[[], Any]) -> tuple[Any, Any]:
        """Go both ways from here; `how` decides between them."""
        before = self.state()
        first = one()
        after = {f: f.names for f in self.frames}
        self.restore(before)
        second = other()
        Meeting(how).states(after, {f: f.names for f in self.frames})
        return first, second

    def decide(self, node: gast.AST, construct: str, value: Value) -> None:
        """Note how a construct is decided that depends on a value."""
        outcome: str | None = "decided in Python"
        if isinstance(value, Staged):
            outcome = "staged" if self.converts else "fails"
        elif isinstance(value, Unclear):
            outcome = None
        self.note(node, construct, outcome)

    def note(self, node: gast.AST, construct: str, outcome: str | None, count: int | None = None) -> None:
        self._found[Prediction(node, construct, outcome, count)] = None

    @property
    def found(self) -> list[Prediction]:
        return list(self._found)

    def forget(self, since: int) -> None:
        """Drop all predictions but the first ones."""
        while len(self._found) > since:
            self._found.popitem()

    def _step(self, number: int) -> None:
        self.steps += number
        if self.steps > self.most:
            raise Enough

    # Expressions, by the name of the node

    def value(self, node: gast.AST | None) -> Value:
        if node is None:
            return NONE
        self._step(1)
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        return method(node) if method else UNCLEAR

    def values(self, nodes: list[gast.expr]) -> list[Value]:
        found: list[Value] = []
        for node in nodes:
            if isinstance(node, gast.Starred):
                inner = self.elements(self.value(node.value))
                found += [MORE] if inner is None else inner
            else:
                found.append(self.value(node))
        return found

    def _constant(self, node: gast.Constant) -> Value:
        return Known(node.value)

    def _name(self, node: gast.Name) -> Value:
        frame: Frame | None = self.frame
        while frame is not None:
            if node.id in frame.names:
                return frame.names[node.id]
            frame = frame.parent
        place = self.functions.find(node, None)
        if place is not None:
            return Function(place, None)
        kind = class_of(self.functions, node.id)
        if kind is not None:
            return Type(kind)
        canonical = self.functions.program.canonical(node)
        if canonical is not None and not canonical.startswith(HERE):
            return Library(canonical)
        constant = self.functions.program.constants.get(node.id)
        object_ = self.global_object(constant) if isinstance(constant, gast.Call) else None
        if object_ is not None:
            return object_
        # A list may have been changed since.
        known = isinstance(constant, (gast.Constant, gast.UnaryOp, gast.Tuple)) and _is_literal(constant)
        return self.value(constant) if known else Python()

    def _attribute(self, node: gast.Attribute) -> Value:
        return self._of(self.value(node.value), node.attr)

    def _of(self, owner: Value, attribute: str) -> Value:
        if isinstance(owner, (Object, Type, Super)):
            return self.attribute(owner, attribute)
        found = library.attribute(owner, attribute, self.sizes)
        return Method(owner, attribute) if found is None else found

    def plain(self, value: Value) -> Value:
        """A value that is no method: an attribute that is read, not called, is as clear as its object."""
        if isinstance(value, Method):
            return STAGED if isinstance(value.owner, Staged) else combined(value.owner)
        return (
            Python() if isinstance(value, Library) and value.name.startswith(("numpy.", "math.")) else value
        )

    def _tuple(self, node: gast.Tuple) -> Value:
        return Items(self.values(node.elts), False)

    def _list(self, node: gast.List) -> Value:
        return Items(self.values(node.elts))

    def _dict(self, node: gast.Dict) -> Value:
        keys = [self.value(k) if k is not None else UNCLEAR for k in node.keys]
        values = self.values(node.values)
        if all(isinstance(k, Known) for k in keys):
            return Table({k.value: v for k, v in zip(keys, values, strict=True) if isinstance(k, Known)})
        return combined(*values)

    def _joinedstr(self, node: gast.JoinedStr) -> Value:
        return Python()

    def _binop(self, node: gast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        return self.binary(node.op, self.plain(left), self.plain(right))

    def binary(self, op: gast.AST, left: Value, right: Value) -> Value:
        """`left op right`."""
        name = OPERATORS.get(type(op), "")
        found = (
            self.operated(name, left, right)
            if isinstance(left, Object) or isinstance(right, Object)
            else None
        )
        return library.binary(op, left, right) if found is None else found

    def _unaryop(self, node: gast.UnaryOp) -> Value:
        value = self.plain(self.value(node.operand))
        if not isinstance(node.op, gast.Not):
            own = self.method(value, _UNARY[type(node.op)], []) if isinstance(value, Object) else None
            return library.unary(node.op, value) if own is None else own
        value = self.asked(value)
        self.decide(node, "not", value)
        known = truth(value)
        return Known(not known.value) if isinstance(known, Known) else combined(value)

    def _boolop(self, node: gast.BoolOp) -> Value:
        return self._logical(node, "and" if isinstance(node.op, gast.And) else "or", list(node.values))

    def _logical(self, node: gast.AST, word: str, operands: list[gast.expr]) -> Value:
        return self._either_side(
            node, word, self.plain(self.value(operands[0])), lambda: self._rest(node, word, operands)
        )

    def _rest(self, node: gast.AST, word: str, operands: list[gast.expr]) -> Value:
        if len(operands) == 2:
            return self.plain(self.value(operands[1]))
        return self._logical(node, word, operands[1:])

    def _either_side(self, node: gast.AST, word: str, left: Value, right: Callable[[], Value]) -> Value:
        asked = self.asked(left)
        self.decide(node, word, asked)
        known = truth(asked)
        if isinstance(known, Known):
            return right() if bool(known.value) == (word == "and") else left
        value, _ = self.either(asked, right, lambda: None)
        return Meeting(asked).values(left, value) if not isinstance(left, Staged) else STAGED

    def _compare(self, node: gast.Compare) -> Value:
        left = self.plain(self.value(node.left))
        return self._chain(node, left, list(zip(node.ops, node.comparators, strict=True)))

    def _chain(self, node: gast.Compare, left: Value, links: list[tuple[gast.AST, gast.expr]]) -> Value:
        (op, comparator), *rest = links
        right = self.plain(self.value(comparator))
        here = self.compared(op, left, right) or library.comparison(op, left, right)
        return (
            here if not rest else self._either_side(node, "and", here, lambda: self._chain(node, right, rest))
        )

    def _ifexp(self, node: gast.IfExp) -> Value:
        test = self.asked(self.plain(self.value(node.test)))
        self.decide(node, "conditional expression", test)
        known = truth(test)
        if isinstance(known, Known):
            return self.value(node.body if known.value else node.orelse)
        one, other = self.either(test, lambda: self.value(node.body), lambda: self.value(node.orelse))
        return Meeting(test).values(self.plain(one), self.plain(other))

    def _subscript(self, node: gast.Subscript) -> Value:
        whole = self.value(node.value.value) if _is_shape(node.value) else self.value(node.value)
        index = self.value(node.slice)
        if isinstance(whole, Object) and not _is_shape(node.value):
            return self._item(whole, index)
        if not _is_shape(node.value):
            return library.subscript(self.plain(whole), index)
        if self.sizes and isinstance(whole, Staged):
            return STAGED
        return library.subscript(self.plain(self._of(whole, "shape")), index)

    def _item(self, owner: Object, index: Value) -> Value:
        if owner.kind.is_tuple:
            return library.subscript(Items(list(owner.fields.values()), False), index)
        return self.method(owner, "__getitem__", [index]) or UNCLEAR

    def _slice(self, node: gast.Slice) -> Value:
        bounds = [self.value(n) for n in (node.lower, node.upper, node.step)]
        if all(isinstance(b, Known) for b in bounds):
            return Known(slice(*(b.value for b in bounds if isinstance(b, Known))))
        return combined(*bounds)

    def _namedexpr(self, node: gast.NamedExpr) -> Value:
        value = self.plain(self.value(node.value))
        self.frame.names[node.target.id] = value
        return value

    def _lambda(self, node: gast.Lambda) -> Value:
        place = self.functions.places.get(node)
        self.frame.kept = True
        return Function(place, self.frame) if place is not None else UNCLEAR

    def _listcomp(self, node: gast.ListComp) -> Value:
        made: list[Value] = []
        clear = self._generated(node.generators, lambda: made.append(self.plain(self.value(node.elt))))
        if clear is None:
            return Items(made)
        return combined(clear, *made)

    _generatorexp = _listcomp

    def _generated(self, generators: list[gast.comprehension], then: Callable[[], Any]) -> Value | None:
        """Go through a comprehension; what it goes over where that is not known."""
        generator, *rest = generators
        over = self.plain(self.value(generator.iter))
        items = self.elements(over)
        for item in [over if isinstance(over, Staged) else combined(over)] if items is None else items:
            self.bind(generator.target, item)
            tests = [truth(self.plain(self.value(test))) for test in generator.ifs]
            if any(not isinstance(t, Known) for t in tests):
                return UNCLEAR
            if all(isinstance(t, Known) and t.value for t in tests):
                inner = self._generated(rest, then) if rest else then()
                if isinstance(inner, (Python, Staged, Unclear)):
                    return inner
        return over if items is None else None

    def bind(self, target: gast.AST, value: Value) -> None:
        """Let a target have a value."""
        raise NotImplementedError

    # What `calls.py` knows

    def called(self, function: Value, arguments: list[Value], named: dict[str, Value]) -> Value:
        """What a function, class, method or object of the file gives."""
        raise NotImplementedError

    def attribute(self, owner: Value, name: str) -> Value:
        """An attribute of an object or class of the file."""
        raise NotImplementedError

    def elements(self, value: Value) -> list[Value] | None:
        """What a loop over a value goes over, if that is known."""
        raise NotImplementedError

    def global_object(self, made: gast.Call) -> Value | None:
        """The object of a class of the file that a global stands for."""
        raise NotImplementedError

    def method(self, owner: Value, name: str, arguments: list[Value]) -> Value | None:
        """What a method of an object or class gives; None where it has none."""
        raise NotImplementedError

    def operated(self, op: str, left: Value, right: Value) -> Value | None:
        """What a binary operator gives where an operand is an object with a method for it."""
        raise NotImplementedError

    def compared(self, op: gast.AST, left: Value, right: Value) -> Value | None:
        """What a comparison gives where an operand is an object."""
        raise NotImplementedError

    def asked(self, value: Value) -> Value:
        """What says if a value is true."""
        raise NotImplementedError

    def run(self, place: Place) -> Value:
        """The result of a function whose parameters are bound in the frame."""
        raise NotImplementedError


def _is_literal(node: gast.expr) -> bool:
    """A number, a text or a tuple of such, written out."""
    if isinstance(node, gast.Tuple):
        return all(map(_is_literal, node.elts))
    return isinstance(node.operand if isinstance(node, gast.UnaryOp) else node, gast.Constant)


__all__ = ["FALSE", "Enough", "Expressions", "Prediction"]


def _is_shape(node: gast.expr) -> bool:
    return isinstance(node, gast.Attribute) and node.attr == "shape"
