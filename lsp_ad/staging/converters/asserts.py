"""`assert test, message`  becomes  `ag.assert_(test, lambda: message)`."""

from __future__ import annotations

import gast

from lsp_ad.staging.converters.building import later, operator
from lsp_ad.staging.converters.expressions import Expressions


class Asserts(Expressions):
    kinds = (gast.Assert,)

    def convert(self, node: gast.Assert) -> gast.AST:
        message = [later(node.msg)] if node.msg is not None else []
        return gast.Expr(operator("assert_", node.test, *message))
