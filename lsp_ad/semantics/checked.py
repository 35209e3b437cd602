"""What a function makes sure of: `if getattr(a, 'shape', ()) != getattr(b, 'shape', ()): raise ...`.

Generated code checks its seed so. What comes to its end has passed the check, and both have one shape.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.semantics import flow


def equal_shapes(body: list[gast.stmt], names: set[str]) -> dict[str, gast.expr]:
    """For names that a function never binds anew, the value that each has the shape of, as it checks."""
    found: dict[str, gast.expr] = {}
    bound = flow.writes(body)
    for test in _checks(body):
        if not isinstance(test, gast.Compare) or not isinstance(test.ops[0], gast.NotEq):
            continue
        left, right = _shaped(test.left), _shaped(test.comparators[0])
        if isinstance(left, gast.Name) and right is not None and left.id in names - bound:
            found.setdefault(left.id, right)
    return found


def _checks(body: list[gast.stmt]) -> Iterator[gast.expr]:
    """The conditions of which none holds where the function comes to its end."""
    for s in body:
        if not isinstance(s, gast.If):
            continue
        if s.body and isinstance(s.body[-1], gast.Raise):
            is_or = isinstance(s.test, gast.BoolOp) and isinstance(s.test.op, gast.Or)
            yield from s.test.values if is_or else [s.test]
            yield from _checks(s.orelse)


def _shaped(node: gast.expr) -> gast.expr | None:
    """`x` of `getattr(x, 'shape', ())` and `np.shape(x)`; an empty tuple as it is."""
    if isinstance(node, gast.Tuple) and not node.elts:
        return node
    if isinstance(node, gast.Call) and len(node.args) == 3 and isinstance(node.func, gast.Name):
        attribute, default = node.args[1], node.args[2]
        plain = isinstance(attribute, gast.Constant) and attribute.value == "shape"
        empty = isinstance(default, gast.Tuple) and not default.elts
        if node.func.id == "getattr" and plain and empty:
            return node.args[0]
    return None
