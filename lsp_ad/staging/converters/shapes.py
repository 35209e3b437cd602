"""`x.shape`  becomes  `ag.shape(x)`: a size that a library does not know yet is a staged number."""

from __future__ import annotations

import gast

from lsp_ad.staging.converters.building import operator
from lsp_ad.staging.converters.expressions import Expressions


class Shapes(Expressions):
    kinds = (gast.Attribute,)

    def convert(self, node: gast.Attribute) -> gast.AST:
        read = node.attr == "shape" and isinstance(node.ctx, gast.Load)
        return operator("shape", node.value) if read else node
