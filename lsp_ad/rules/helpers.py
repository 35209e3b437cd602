"""The functions of lsp_ad.runtime: their text, and the derivatives of those that a second derivative meets.

Each is linear in the adjoint that it takes, which is called d here, and in most also in one other argument.
"""

from __future__ import annotations

import ast
import importlib.resources
from collections.abc import Set
from dataclasses import replace
from functools import cache

import gast

from lsp_ad.rules.rule import LINEAR, Adjoint, Bound, Rule, Tangent
from lsp_ad.semantics.names import HERE, Program
from lsp_ad.semantics.shapes import BOOL, Kind, elementwise

RUNTIME = "lsp_ad.runtime."


@cache
def helper_sources() -> dict[str, str]:
    """The text of each function of lsp_ad.runtime, read as text: NumPy is not imported for this."""
    files = [
        f for f in importlib.resources.files("lsp_ad").joinpath("runtime").iterdir() if f.name[-3:] == ".py"
    ]
    texts = [f.read_text(encoding="utf-8") for f in sorted(files, key=lambda f: f.name)]
    return {
        s.name: ast.get_source_segment(text, s) or ""
        for text in texts
        for s in ast.parse(text).body
        if isinstance(s, ast.FunctionDef)
    }


def is_our_helper(program: Program, helper: str) -> bool:
    """Whether a name of the file stands for our helper: imported from lsp_ad.runtime, or the same text."""
    if program.imports.get(helper) == RUNTIME + helper:
        return True
    key = ("helper", helper)
    if key not in program.derived:
        function = program.functions.get(helper)
        program.derived[key] = function is not None and gast.dump(function) == _dumped(helper)
    return program.derived[key]


@cache
def _dumped(helper: str) -> str:
    return gast.dump(gast.parse(helper_sources()[helper]).body[0])


def canonical_helper(program: Program, canonical: str | None) -> str | None:
    """The canonical name of a helper that stands in the file and has a rule; any other name as it is."""
    if canonical is None or not canonical.startswith(HERE):
        return canonical
    name = canonical[len(HERE) :]
    known = RUNTIME + name
    return known if known in _NAMES and is_our_helper(program, name) else canonical


def _like(name: str):
    """A new value in the shape of another."""

    def kind(bound: Bound) -> Kind:
        return bound.kind(name)._replace(dtype=bound.kind("d").dtype, fresh=True)

    return kind


def _unbroadcast(bound: Bound) -> Kind:
    """What was broadcast to a number was a number; what was not broadcast is handed on as it is."""
    kind, d = _like("x")(bound)._replace(fresh=False), bound.kind("d")
    return kind._replace(type="number", shape=()) if d.type == "number" and d.is_scalar else kind


def _zeros(bound: Bound) -> Kind:
    kind = bound.kind("x")
    return kind if kind.is_structure else kind._replace(dtype="float", fresh=_is_array(kind))


def _is_array(kind: Kind) -> bool:
    """Whether a value is surely a number or an array; the items of a list have no one shape."""
    return kind.fresh or not kind.may_be_list


def _copied(bound: Bound) -> Kind:
    kind = bound.kind("d")
    return kind if kind.is_structure else kind._replace(fresh=_is_array(kind))


def _same(bound: Bound) -> Kind:
    """An adjoint as it was, or its items put together anew."""
    return bound.kind("d")._replace(fresh=False)


def _part(bound: Bound) -> Kind:
    """An adjoint without broadcasting: in the shape of its variable, unless it is a list."""
    kinds = bound.kind("d"), bound.kind("x")
    if any(k.is_structure for k in kinds):
        return _same(bound)
    return _unbroadcast(bound) if all(map(_is_array, kinds)) else _same(bound)._replace(shape=None)


def _in_form(bound: Bound) -> Kind:
    """An adjoint in the structure of another value."""
    kind = bound.kind("x")
    return kind._replace(fresh=True) if kind.is_structure else _same(bound)


def _in_array(bound: Bound) -> Kind:
    """The items of an adjoint, in one array where another value is one."""
    kinds = [bound.kind(p) for p in ("d", "x")]
    return Kind("numeric", elementwise(*kinds).dtype)


def _sum(bound: Bound) -> Kind:
    d, e = bound.kind("d"), bound.kind("e")
    structure = next((k for k in (d, e) if k.is_structure), None)
    return structure or elementwise(d, e)._replace(fresh=False)


def _sum_adjoints(bound: Bound) -> dict[str, Adjoint]:
    """The items of structures have one form; numbers and arrays are broadcast to one another."""
    kinds = [bound.kind("d"), bound.kind("e")]
    if any(k.is_structure for k in kinds):
        return {p: Adjoint("dy") for p in ("d", "e")}
    if not all(map(_is_array, kinds)):
        return {p: Adjoint(f"part_of_sum(dy, {p})") for p in ("d", "e")}
    return {p: Adjoint("dy", elementwise=True) for p in ("d", "e")}


def _sum_tangent(bound: Bound, moved: Set[str]) -> str:
    if len(moved) == 2:
        return "sum_of(dd, de)"
    return "sum_of(dd, zeros_of(e))" if "d" in moved else "sum_of(zeros_of(d), de)"


def _number(bound: Bound) -> Kind:
    return Kind("number", bound.kind("d").dtype, (), fresh=True)


def _unknown(bound: Bound) -> Kind:
    kinds = [bound.kind(p) for p in bound.given]
    return Kind("numeric", elementwise(*kinds).dtype, None, fresh=True)


def _rule(
    name: str, parameters: str, kind, tangent: Tangent | None = None, **adjoints: str | Adjoint
) -> Rule:
    """A rule with the texts of its adjoints; the other parameters only give a shape or an option."""
    names = tuple(parameters.split())
    found = {p: a if isinstance(a, Adjoint) else Adjoint(a) for p, a in adjoints.items()}

    def each(bound: Bound, moved: Set[str]) -> str:
        """The function with one argument after the other replaced by its tangent."""
        terms = [f"{name}({', '.join('d' + p if p == q else p for p in names)})" for q in names if q in moved]
        return " + ".join(terms)

    return Rule(
        RUNTIME + name,
        names,
        adjoints=lambda bound: found,
        tangent=tangent or (LINEAR if list(found) == ["d"] else each),
        kind=kind,
        differentiable=tuple(found),
        passive=tuple(n for n in names if n not in found),
    )


def _solve_tangent(bound: Bound, moved: Set[str]) -> str:
    right = "dd - np.transpose(dx1) @ y" if "d" in moved else "-(np.transpose(dx1) @ y)"
    return f"solve_adjoint_right({right if 'x1' in moved else 'dd'}, x1)"


RULES = [
    _rule("sum_adjoint", "d", _number, d=Adjoint("dy", spread=True, any_shape=True)),
    _rule("unbroadcast", "d x", _unbroadcast, d=Adjoint("dy", spread=True, any_shape=True)),
    _rule(
        "matmul_adjoint_left",
        "d x1 x2",
        _like("x1"),
        d="dy @ x2",
        x2="matmul_adjoint_right(d, dy, x2)",
    ),
    _rule(
        "matmul_adjoint_right",
        "d x1 x2",
        _like("x2"),
        d="x1 @ dy",
        x1="matmul_adjoint_left(d, x1, dy)",
    ),
    _rule("dot_adjoint_left", "d x1 x2", _like("x1"), d="np.dot(dy, x2)", x2="dot_adjoint_right(d, dy, x2)"),
    _rule("dot_adjoint_right", "d x1 x2", _like("x2"), d="np.dot(x1, dy)", x1="dot_adjoint_left(d, x1, dy)"),
    _rule(
        "solve_adjoint_right",
        "d x1",
        _like("d"),
        _solve_tangent,
        d="np.linalg.solve(x1, dy)",
        x1="solve_adjoint_left(y, np.linalg.solve(x1, dy))",
    ),
    _rule("solve_adjoint_left", "d y2", _unknown, d="-(dy @ y2)", y2="-(dy.T @ d)"),
    _rule("diff_adjoint", "d x axis", _like("x"), d="np.diff(dy, axis=axis)"),
    _rule("diagonal_adjoint", "d x offset", _like("x"), d="unbroadcast(np.diagonal(dy, offset), d)"),
    _rule("diag_adjoint", "d x k", _like("x"), d="np.diag(dy, k)"),
    _rule("zeros_of", "x", _zeros),
    _rule("copy_of", "d", _copied, d="dy"),
    replace(
        _rule("sum_of", "d e", _sum, _sum_tangent, d="dy", e="dy"),
        adjoints=_sum_adjoints,
    ),
    _rule("like", "d x", _in_form, d="joined_like(dy, d)"),
    _rule("joined_like", "d x", _in_array, d="like(dy, d)"),
    _rule("part_of_sum", "d x", _part, d="sum_of(dy, zeros_of(d))"),
    _rule("same_form", "dx x", lambda bound: BOOL),
    _rule("filled", "d x", _same, d="dy"),
]
_NAMES = frozenset(rule.name for rule in RULES)


# What these make of a list is a list; the first two give memory of their own.
OWN = frozenset(RUNTIME + n for n in ("zeros_of", "copy_of"))
STRUCTURED = OWN | {
    RUNTIME + n for n in ("sum_of", "part_of_sum", "like", "joined_like", "filled", "same_form")
}


def has_rule(helper: str) -> bool:
    return RUNTIME + helper in _NAMES
