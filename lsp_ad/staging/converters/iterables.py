"""What Python goes over item by item by itself: comprehensions, and assignments to several names.

[v * v for v in x if v > 0]      [v * v for v in ag.items(x) if ag.kept(v > 0)]
a, b = x                         a, b = ag.items(x)
"""

from __future__ import annotations

import gast

from lsp_ad.staging.converters.building import operator
from lsp_ad.staging.converters.expressions import Expressions

_SEVERAL = (gast.Tuple, gast.List)
_KNOWN = (gast.Tuple, gast.List, gast.Set, gast.Dict, gast.Constant, gast.Call)
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


class Iterables(Expressions):
    kinds = (gast.Assign, gast.comprehension)

    def convert(self, node: gast.AST) -> gast.AST:
        if isinstance(node, gast.comprehension):
            node.iter = _items(node.iter)
            node.ifs = [operator("kept", test) for test in node.ifs]
        elif any(isinstance(target, _SEVERAL) for target in node.targets):
            node.value = _items(node.value)
        return node


def _items(value: gast.expr) -> gast.expr:
    """What is gone over; what is called gives something that can be, and shapes are tuples."""
    shape = isinstance(value, gast.Attribute) and value.attr == "shape"
    return value if shape or isinstance(value, (*_KNOWN, *_COMPREHENSIONS)) else operator("items", value)
