"""Text that is made of values.

    f"loss {x:.3f}"      ag.text("loss {:.3f}", x)
    "%d steps" % n       ag.percent("%d steps", n)

What has staged values in it is known when the code runs only: it can be printed.
"""

from __future__ import annotations

import gast

from lsp_ad.staging.converters.building import constant, operator
from lsp_ad.staging.converters.expressions import Expressions

_CONVERSIONS = {-1: "", 115: "!s", 114: "!r", 97: "!a"}


class Texts(Expressions):
    kinds = (gast.JoinedStr, gast.BinOp)

    def convert(self, node: gast.JoinedStr | gast.BinOp) -> gast.AST:
        if isinstance(node, gast.BinOp):
            is_text = isinstance(node.left, gast.Constant) and isinstance(node.left.value, str)
            return operator("percent", node.left, node.right) if is_text and _is_mod(node) else node
        values: list[gast.expr] = []
        template = _template(node, values)
        return operator("text", constant(template), *values) if values else node

    def visit(self, node: gast.AST) -> gast.AST:
        if isinstance(node, gast.JoinedStr):  # with the parts of its formats
            for part in gast.walk(node):
                if isinstance(part, gast.FormattedValue):
                    part.value = self.visit(part.value)
            return self.converted(node)
        return super().visit(node)


def _is_mod(node: gast.BinOp) -> bool:
    return isinstance(node.op, gast.Mod)


def _template(node: gast.JoinedStr, values: list[gast.expr]) -> str:
    """The text as a format; its values are added to `values` in the order in which the format takes them."""
    found = ""
    for part in node.values:
        if isinstance(part, gast.FormattedValue):
            values.append(part.value)
            form = _template(part.format_spec, values) if part.format_spec is not None else ""
            found += "{" + _CONVERSIONS[part.conversion] + (f":{form}" if form else "") + "}"
        else:
            found += str(part.value).replace("{", "{{").replace("}", "}}")
    return found
