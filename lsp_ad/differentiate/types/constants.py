"""The kinds of the constants of a file, as far as their expressions tell: `G = 4 * np.pi**2` is a float."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.types.realness import mentions_complex
from lsp_ad.rules import CONSTANTS, RULES, literal
from lsp_ad.semantics.names import Program
from lsp_ad.semantics.shapes import COMPLEX, FLOAT, INT, UNKNOWN, Kind

_EXACT = (gast.Add, gast.Sub, gast.Mult)


def constant_kind(program: Program, name: str) -> Kind:
    """The kind of what a name of the file stands for: a number, or unknown."""
    value = program.constants.get(name)
    if value is not None and mentions_complex(value, program):
        return COMPLEX if isinstance(literal(value), complex) else Kind("numeric", "complex")
    return _kind(gast.Name(name, gast.Load(), None, None), program, frozenset())


def _kind(node: gast.expr, program: Program, seen: frozenset[str]) -> Kind:
    """`seen`: the constants on the way here, which cannot stand for themselves."""
    if isinstance(node, gast.Constant):
        return {int: INT, float: FLOAT}.get(type(node.value), UNKNOWN)
    canonical = program.canonical(node) if isinstance(node, (gast.Name, gast.Attribute)) else None
    if canonical is not None:
        is_number = canonical in CONSTANTS and canonical.rpartition(".")[2] in _NUMBERS
        return FLOAT if is_number else UNKNOWN
    if isinstance(node, gast.Name):
        value = program.constants.get(node.id)
        if value is None or node.id in seen:
            return UNKNOWN
        return _kind(value, program, seen | {node.id})
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, (gast.USub, gast.UAdd)):
        return _kind(node.operand, program, seen)
    if isinstance(node, gast.BinOp):
        return _operation(node, program, seen)
    if isinstance(node, gast.Call) and not node.keywords:
        return _call(node, program, seen)
    return UNKNOWN


_NUMBERS = ("pi", "e", "inf", "nan", "tau", "euler_gamma")


def _operation(node: gast.BinOp, program: Program, seen: frozenset[str]) -> Kind:
    kinds = [_kind(part, program, seen) for part in (node.left, node.right)]
    if UNKNOWN in kinds:
        return UNKNOWN
    if isinstance(node.op, gast.Pow):
        # a negative number to a broken power is complex
        return FLOAT if kinds == [FLOAT, INT] else UNKNOWN
    if isinstance(node.op, gast.Div) or (isinstance(node.op, _EXACT) and FLOAT in kinds):
        return FLOAT
    return INT if isinstance(node.op, _EXACT) else UNKNOWN


def _call(node: gast.Call, program: Program, seen: frozenset[str]) -> Kind:
    """A function of numbers that gives a float: `math.sqrt(2)`, `np.log(10.0)`."""
    function = program.canonical(node.func) or ""
    rule = RULES.get(function)
    if rule is None or rule.elementwise is None or function.partition(".")[0] not in ("math", "numpy"):
        return UNKNOWN
    kinds = [_kind(a, program, seen) for a in node.args]
    return FLOAT if kinds and UNKNOWN not in kinds and (FLOAT in kinds or rule.scalar) else UNKNOWN
