"""The shape of `x[index]`, as far as it can be told.

What an index does with one axis is its *form*: ONE takes one element, None and Ellipsis stand for
themselves, a
string for a slice, and UNKNOWN is anything else. The length of a slice is a function of the length of
the axis
and of its form: equal forms of equal axes give equal lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Set

import gast

from lsp_ad.semantics.shapes import Kind, Opaque, Shape
from lsp_ad.source.printing import expression_text

ONE = object()
UNKNOWN = object()
FULL = ":"


def slice_form(part: gast.Slice, varying: Set[str]) -> object:
    """The form of a slice; `varying`: the names that may have several values in one iteration of a loop.

    A slice that leaves k elements out, `[1:-1]`, `[2:]` or `[:-2]`, is "-k" whichever they are.
    """
    lower, upper, step = (_bound(p) for p in (part.lower, part.upper, part.step))
    if step in (None, -1) and lower is None and upper is None:
        return FULL
    if step in (None, 1) and lower in (None, *range(64)) and upper in (None, *range(-64, 0)):
        cut = int(str(lower or 0)) - int(str(upper or 0))
        return f"-{cut}" if cut else FULL
    if UNKNOWN not in (lower, upper, step):
        return f"[{lower}:{upper}:{step}]"
    names = {n.id for n in gast.walk(part) if isinstance(n, gast.Name)}
    calls = any(isinstance(n, (gast.Call, gast.Subscript)) for n in gast.walk(part))
    # "@": another iteration of a loop may give another length
    return f"[@{expression_text(part)}]" if names.isdisjoint(varying) and not calls else UNKNOWN


def _bound(node: gast.expr | None) -> object:
    """A bound of a slice that is an integer or missing, else UNKNOWN."""
    if node is None:
        return None
    sign = 1
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        node, sign = node.operand, -1
    if isinstance(node, gast.Constant) and type(node.value) is int:
        return sign * node.value
    return UNKNOWN if not (isinstance(node, gast.Constant) and node.value is None) else None


def of_known(shape: tuple, forms: list[object]) -> Shape:
    """The shape of an element of a value of known rank, or None."""
    used = sum(1 for f in forms if f is not None and f is not Ellipsis)
    if UNKNOWN in forms or forms.count(Ellipsis) > 1 or used > len(shape):
        return None
    dims: list[object] = []
    at = 0
    for form in forms if Ellipsis in forms else [*forms, Ellipsis]:
        if form is None:
            dims.append(1)
        elif form is Ellipsis:
            dims += shape[at : at + len(shape) - used]
            at += len(shape) - used
        else:
            if form is not ONE:
                dims.append(_length(shape[at], str(form)))
            at += 1
    return tuple(dims)


def _length(dimension: object, form: str) -> object:
    """The length of a slice of an axis."""
    if form == FULL:
        return dimension
    if isinstance(dimension, int):
        if form.startswith("-"):
            return max(0, dimension + int(form))
        if "@" not in form:
            bounds = [None if b == "None" else int(b) for b in form[1:-1].split(":")]
            return len(range(dimension)[slice(*bounds)])
    text = str(dimension)
    head, minus, cut = text.rpartition("-")
    if form.startswith("-") and minus and cut.isdigit() and "*" not in text:
        return f"{head}-{int(cut) - int(form)}"
    # a product of dimensions is taken apart where shapes are broadcast; inside of a length it stays whole
    return f"{text}{form}" if "*" not in text else f"({text.replace('*', '·')}){form}"


def of_opaque(shape: Opaque, forms: list[object]) -> Shape:
    """The shape of an element of a value of unknown rank: equal forms of equal shapes give equal shapes."""
    if UNKNOWN in forms or Ellipsis in forms:
        return None
    while forms and forms[-1] == FULL:
        forms = forms[:-1]
    if not forms:
        return shape
    texts = ["i" if f is ONE else "new" if f is None else str(f) for f in forms]
    parts = "&".join(sorted(str(p) for p in shape.parts))
    return Opaque(f"{shape.key}{parts}[{','.join(texts)}]")


def picks(index: gast.expr, kind_of: Callable[[gast.expr], Kind]) -> bool:
    """Whether an index surely holds an array, of integers or truth values, so that what it reads is new."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return any(
        isinstance(p, gast.List) or (not isinstance(p, gast.Slice) and kind_of(p).type == "array")
        for p in parts
    )


def is_mask(index: gast.expr, kind_of: Callable[[gast.expr], Kind]) -> bool:
    """Whether an index surely is an array of truth values, which names no element twice."""
    return not isinstance(index, (gast.Slice, gast.Tuple)) and kind_of(index).dtype == "bool"
