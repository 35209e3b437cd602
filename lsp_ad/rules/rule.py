"""What a derivative rule is, and how a call is matched with one.

A rule gives, for each argument that has a derivative, the adjoint that one call adds to it: an
expression in the parameters of the rule, the result `y` and its adjoint `dy`. Three forms:

- elementwise: the expression is linear in `dy`; broadcasting is undone by the differentiator;
- general: a function of the bound call chooses the expressions (by rank, axis, option);
- zero: the result carries no derivative (`floor`, `argmax`, `zeros`).

Forward mode adds up the elementwise expressions, with the tangents of the arguments for `dy`. Any other rule
says what its tangent is: LINEAR, the function itself of the tangents; EACH, a sum of the function with one
argument after the other replaced by its tangent; or a text in the parameters, their tangents (`dx` for the
parameter x) and the result `y`, chosen by the call and by which parameters have a tangent.

`np` and `math` in an expression stand for whatever the file calls these modules; any other
function in it is one of `lsp_ad.runtime`.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

import gast

from lsp_ad.semantics.shapes import Kind, Shape, elementwise
from lsp_ad.source.trees import children

REQUIRED = object()
UNKNOWN_VALUE = object()

LINEAR, EACH = "linear", "each"


class Unsupported(Exception):
    """A call that the rule does not cover; the message says which part of it."""


class Adjoint(NamedTuple):
    """One adjoint expression of a general rule.

    `text` may hold statements before the last line, which is the expression. `spread`: its value
    only broadcasts to the argument's shape (the adjoint of a sum is a number). `any_shape`: the
    expression is also right for a `dy` that only broadcasts to the result's shape. `elementwise`: it
    has the shape of the result, and broadcasting is undone as for an elementwise rule. `wide`: the expression
    is also right for a `dy` with the shape of something that the result was broadcast to.
    """

    text: str
    spread: bool = False
    any_shape: bool = False
    elementwise: bool = False
    wide: bool = False

    @property
    def selects(self) -> bool:
        """Whether it only selects elements of `dy`, by truth values: a `dy` that is a Python number would
        make of them an array of doubles, whatever the type of the arguments."""
        return _selects(self.text)


class Bound(NamedTuple):
    """A call matched with the parameters of its rule: `given` holds the arguments, `kind_of` tells their
    kinds; `symmetric`: those that are symmetric wherever they are matrices, and so are their derivatives."""

    rule: Rule
    given: dict[str, gast.expr]
    kind_of: Callable[[gast.expr], Kind]
    symmetric: frozenset[str] = frozenset()

    def kind(self, name: str) -> Kind:
        return self.kind_of(self.given[name])

    def has(self, name: str) -> bool:
        """Whether an argument is given, and is not the constant None."""
        return name in self.given and self.constant(name) is not None

    def constant(self, name: str) -> object:
        """The value of an argument or default that is a literal, else UNKNOWN_VALUE."""
        if name not in self.given:
            return self.rule.defaults.get(name, UNKNOWN_VALUE)
        return literal(self.given[name])


@dataclass(frozen=True)
class Rule:
    """The derivative of one library function or operator.

    `parameters` are those that a call may use, in order; a call with any other is refused. A
    parameter written `*xs` takes the elements of a literal list or tuple. `passive`: those through which no
    derivative flows, whatever is passed. `of_complex`: the adjoints of an elementwise function that makes
    real numbers of complex ones, where the argument is complex.
    """

    name: str
    parameters: tuple[str, ...]
    defaults: dict[str, object] = field(default_factory=dict)
    elementwise: dict[str, str] | None = None
    adjoints: Callable[[Bound], dict[str, Adjoint]] | None = None
    tangent: Tangent | None = None
    kind: Callable[[Bound], Kind] | None = None
    scalar: bool = False
    differentiable: tuple[str, ...] = ()
    keyword_only: tuple[str, ...] = ()
    constant_only: bool = False
    passive: tuple[str, ...] = ()
    of_complex: dict[str, str] | None = None

    @classmethod
    def of(
        cls, name: str, text: str, adjoints, kind, differentiable: str = "x", tangent: Tangent | None = None
    ) -> Rule:
        """The rule of a function with a signature that is written out: `x, axis=None, *, keepdims=False`."""
        names, defaults, only = signature(text)
        return cls(
            name,
            names,
            defaults,
            adjoints=adjoints,
            tangent=tangent,
            kind=kind,
            keyword_only=only,
            differentiable=tuple(differentiable.split()),
        )

    @cached_property
    def positional(self) -> tuple[str, ...]:
        """The parameters that may be given by their position."""
        return tuple(p for p in self.parameters if p not in self.keyword_only)

    @cached_property
    def each(self) -> dict[str, Adjoint]:
        """The adjoints of an elementwise rule."""
        return {p: Adjoint(text, elementwise=True) for p, text in (self.elementwise or {}).items()}

    @property
    def is_zero(self) -> bool:
        return not self.differentiable and not self.constant_only

    def bind(
        self, args: list[gast.expr], keywords: list[gast.keyword], kind_of: Callable[[gast.expr], Kind]
    ) -> Bound:
        """Match arguments with parameters; raises Unsupported for what the rule does not name."""
        positional = self.positional
        if gast.Starred in map(type, args) or (keywords and any(k.arg is None for k in keywords)):
            raise Unsupported("starred arguments")
        if len(args) > len(positional):
            raise Unsupported(f"more than {len(positional)} positional arguments")
        given = dict(zip(positional, args, strict=False))
        for keyword in keywords:
            if keyword.arg not in self.parameters:
                raise Unsupported(f"the option `{keyword.arg}`")
            if keyword.arg in given:
                raise Unsupported(f"the argument `{keyword.arg}` given twice")
            given[keyword.arg] = keyword.value
        for p in self.parameters if len(given) < len(self.parameters) else ():
            if p not in given and p not in self.defaults:
                raise Unsupported(f"a call without `{p}`")
        return Bound(self, given, kind_of)

    def result_kind(self, bound: Bound) -> Kind:
        if self.kind is not None:
            return self.kind(bound)
        kind = elementwise(*(bound.kind(p) for p in self.parameters if p in bound.given))
        if self.scalar:
            return Kind("number", "float", (), fresh=True)
        # a function of float values gives float; of integers, most give float too
        dtype = kind.dtype
        integers = dtype in ("int", "bool") and self.name not in _KEEP_INT
        if integers or (dtype == "complex" and self.of_complex is not None):
            dtype = "float"
        return Kind(kind.type, dtype, kind.shape, fresh=True)


Tangent = str | Callable[[Bound, Set[str]], str]

_KEEP_INT = {"+", "-", "*", "**", "%", "u-", "u+", "builtins.abs"} | {
    f"numpy.{n}"
    for n in (
        "add",
        "subtract",
        "multiply",
        "power",
        "negative",
        "positive",
        "absolute",
        "abs",
        "square",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "where",
        "clip",
        "remainder",
        "mod",
    )
}


@cache
def _selects(text: str) -> bool:
    """Whether an expression compares its parameters, and does nothing else with them.

    >>> _selects("dy * (x1 > x2)"), _selects("dy * np.sign(x)"), _selects("np.where(condition, dy, 0.0)")
    (True, False, True)
    """
    pending: list[gast.AST] = [gast.parse(text)]
    compares = False
    while pending:
        node = pending.pop()
        if isinstance(node, gast.Compare):
            compares = True
        elif isinstance(node, gast.Call) and getattr(node.func, "attr", "") in _TESTS:
            compares = True
            pending += node.args[1:]
        elif isinstance(node, gast.Name) and node.id not in ("dy", "np", "math"):
            return False
        else:
            pending += children(node)
    return compares


_TESTS = ("isnan", "where")


def literal(node: gast.expr) -> object:
    """The value of a literal (numbers with a sign, None, tuples of them), else UNKNOWN_VALUE."""
    if isinstance(node, gast.Constant):
        return node.value
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        value = literal(node.operand)
        return -value if isinstance(value, (int, float)) else UNKNOWN_VALUE
    if isinstance(node, (gast.Tuple, gast.List)):
        values = [literal(e) for e in node.elts]
        return UNKNOWN_VALUE if UNKNOWN_VALUE in values else tuple(values)
    return UNKNOWN_VALUE


def shape_of(bound: Bound) -> Shape:
    """The shape that a call gives as its argument `shape`: a literal, or that of another value."""
    shape = bound.constant("shape")
    if isinstance(shape, int):
        return (shape,)
    if isinstance(shape, tuple):
        return shape
    node = bound.given.get("shape")
    if isinstance(node, gast.Attribute) and node.attr == "shape":
        return bound.kind_of(node.value).shape
    if isinstance(node, gast.Call) and len(node.args) == 1 and getattr(node.func, "attr", "") == "shape":
        return bound.kind_of(node.args[0]).shape
    return None


def signature(text: str) -> tuple[tuple[str, ...], dict[str, object], tuple[str, ...]]:
    """Parameters, defaults and keyword-only names of `x, axis=None, *, keepdims=False`."""
    args = gast.parse(f"def f({text}): pass").body[0].args
    names = [a.id for a in args.args]
    only = [a.id for a in args.kwonlyargs]
    defaults = dict(zip(names[len(names) - len(args.defaults) :], map(literal, args.defaults), strict=True))
    defaults.update({n: literal(d) for n, d in zip(only, args.kw_defaults, strict=True) if d is not None})
    return tuple(names + only), defaults, tuple(only)
