"""`a if c else b`  becomes  `ag.if_exp(c, lambda: a, lambda: b)`."""

from __future__ import annotations

import gast

from lsp_ad.staging.converters.building import later, operator
from lsp_ad.staging.converters.expressions import Expressions


class ConditionalExpressions(Expressions):
    kinds = (gast.IfExp,)

    def convert(self, node: gast.IfExp) -> gast.AST:
        return operator("if_exp", node.test, later(node.body), later(node.orelse))
