"""Building expressions so that they come out as one writes them.

Only rewrites that are exact for NaN, infinities and shapes: signs move outwards, factors 1 go;
nothing is ever folded to zero.
"""

from __future__ import annotations

from functools import lru_cache

import gast

from lsp_ad.source.numerals import is_moderate, product_of
from lsp_ad.source.trees import PARTS, copied, walk

_LOAD, _STORE = gast.Load(), gast.Store()  # trees share them


def name(identifier: str) -> gast.Name:
    return _name(identifier, _LOAD)


def store(identifier: str) -> gast.Name:
    return _name(identifier, _STORE)


def _name(identifier: str, context: gast.expr_context) -> gast.Name:
    new = gast.Name.__new__(gast.Name)  # its constructor takes three times as long
    content = new.__dict__
    content["id"], content["ctx"] = identifier, context
    content["annotation"] = content["type_comment"] = None
    return new


def constant(value: object) -> gast.Constant:
    return gast.Constant(value, None)


def assign(target: str, value: gast.expr) -> gast.Assign:
    new = gast.Assign.__new__(gast.Assign)
    content = new.__dict__
    content["targets"], content["value"], content["type_comment"] = [store(target)], value, None
    return new


def call(function: str, *args: gast.expr) -> gast.Call:
    return gast.Call(expression(function), list(args), [])


def expression(text: str) -> gast.expr:
    return copied(_parsed(text))


@lru_cache(1024)
def _parsed(text: str) -> gast.expr:
    return bare(gast.parse(text, mode="eval")).body


def bare(node: gast.AST) -> gast.AST:
    """The tree without locations: it did not come from the user's text."""
    for n in walk(node):
        for attribute in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            n.__dict__.pop(attribute, None)
    return node


def is_neg(node: gast.expr) -> bool:
    return (
        isinstance(node, gast.UnaryOp)
        and isinstance(node.op, gast.USub)
        and not isinstance(node.operand, gast.Constant)
    )


def is_one(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and type(node.value) in (int, float) and node.value == 1


def is_factor(node: gast.expr) -> bool:
    """Whether a node is a number that may be put together with others."""
    return isinstance(node, gast.Constant) and is_moderate(node.value)


def _multiplied(node: gast.expr, factor: int | float) -> gast.expr | None:
    """A generated product times a number, which goes into a number of it: `d * 0.5 / r * 2.0` is `d / r`.

    None where it has none.
    """
    if hasattr(node, "lineno") or not isinstance(node, gast.BinOp):
        return None
    if isinstance(node.op, gast.Mult) and is_factor(node.right):
        total = constant(product_of([node.right.value, factor]))
        return node.left if is_one(total) else gast.BinOp(node.left, node.op, total)
    if isinstance(node.op, gast.Mult) and is_factor(node.left):
        total = constant(product_of([node.left.value, factor]))
        return node.right if is_one(total) else gast.BinOp(total, node.op, node.right)
    if not isinstance(node.op, (gast.Mult, gast.Div)):
        return None
    left = _multiplied(node.left, factor)
    return None if left is None else gast.BinOp(left, node.op, node.right)


def neg(a: gast.expr) -> gast.expr:
    if isinstance(a, gast.UnaryOp) and isinstance(a.op, gast.USub):
        return a.operand
    return gast.UnaryOp(gast.USub(), a)


def add(a: gast.expr, b: gast.expr) -> gast.expr:
    if is_neg(b):
        return gast.BinOp(a, gast.Sub(), b.operand)
    if is_neg(a):
        return gast.BinOp(b, gast.Sub(), a.operand)
    return gast.BinOp(a, gast.Add(), b)


def negation(test: gast.expr) -> gast.expr:
    """`not test`, without a double `not`."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    return gast.UnaryOp(gast.Not(), test)


def uncopied(node: gast.expr) -> gast.expr:
    """The x of a generated `x.copy()` that is an operand: the operation makes a new value anyway."""
    if (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Attribute)
        and node.func.attr == "copy"
        and not node.args
        and not hasattr(node, "lineno")
    ):
        return node.func.value
    return node


def normalize(node: gast.expr) -> gast.expr:
    """An equal expression with its signs outside and without factors 1; the node itself is used up.

    >>> import ast
    >>> ast.unparse(gast.gast_to_ast(normalize(expression("-(-d * p) * 1.0 + -q"))))
    'd * p - q'
    """
    for field in PARTS[type(node)]:
        value = node.__dict__.get(field)
        if type(value) is gast.Name or type(value) is gast.Constant:
            continue
        if type(value) is list:
            value[:] = [normalize(item) if item is not None else None for item in value]
        elif value is not None:
            node.__dict__[field] = normalize(value)
    if isinstance(node, gast.BinOp):
        return _normal_operation(node)
    if isinstance(node, gast.Call) and _is_sum(node) and is_neg(node.args[0]):
        node.args[0] = node.args[0].operand
        return gast.UnaryOp(gast.USub(), node)
    if is_neg(node):
        node.operand = uncopied(node.operand)
        return node.operand.operand if is_neg(node.operand) else node
    return node


def _is_sum(node: gast.Call) -> bool:
    """Whether a generated call is a sum of its first argument: `np.sum(d, axis=0)`, `unbroadcast(d, x)`."""
    if hasattr(node, "lineno") or not node.args:
        return False
    if isinstance(node.func, gast.Name):
        return node.func.id in ("unbroadcast", "sum_adjoint")
    if not isinstance(node.func, gast.Attribute) or node.func.attr != "sum":
        return False
    return isinstance(node.func.value, gast.Name) and node.func.value.id in ("np", "numpy")


def _normal_operation(node: gast.BinOp) -> gast.expr:
    """An operation on operands that are normalized already."""
    left, right = node.left, node.right = uncopied(node.left), uncopied(node.right)
    if isinstance(node.op, (gast.Mult, gast.Div, gast.MatMult)):
        if is_neg(left) and is_neg(right):
            return _normal_operation(gast.BinOp(left.operand, node.op, right.operand))
        if is_neg(left):
            return gast.UnaryOp(gast.USub(), gast.BinOp(left.operand, node.op, right))
        if is_neg(right):
            return gast.UnaryOp(gast.USub(), gast.BinOp(left, node.op, right.operand))
    if isinstance(node.op, gast.Mult):
        if is_one(right):
            return left
        if is_one(left):
            return right
        if is_factor(right) and (product := _multiplied(left, right.value)) is not None:
            return product
    if isinstance(node.op, gast.Div) and is_one(right):
        return left
    if isinstance(node.op, gast.Add):
        return add(left, right)
    if isinstance(node.op, gast.Sub) and is_neg(right):
        return gast.BinOp(left, gast.Add(), right.operand)
    return node


def substitute(node: gast.AST, values: dict[str, gast.expr]) -> gast.AST:
    """Replace the names that are read, in place;
    the result differs from the node only if that is such a name.
    """
    if isinstance(node, gast.Name):
        return copied(values[node.id]) if node.id in values and isinstance(node.ctx, gast.Load) else node
    pending = [node] if values else []
    for parent in pending:
        content = parent.__dict__
        for field in PARTS[type(parent)]:
            value = content.get(field)
            if type(value) is gast.Name:
                if value.id in values and isinstance(value.ctx, gast.Load):
                    content[field] = copied(values[value.id])
            elif type(value) is list:
                for position, item in enumerate(value):
                    if type(item) is gast.Name:
                        if item.id in values and isinstance(item.ctx, gast.Load):
                            value[position] = copied(values[item.id])
                    elif item is not None:
                        pending.append(item)
            elif value is not None:
                pending.append(value)
    return node
