"""`f(x)`  becomes  `ag.call(f)(x)`: what is called is converted, too.

Left as they are: what Python needs to see in place (`super`, `locals`), what makes and looks at types
(`isinstance`, `ValueError(...)`), and the functions of `jax.numpy` and `tensorflow`, which stage themselves.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable

import gast

from lsp_ad.staging.converters.building import operator
from lsp_ad.staging.converters.expressions import Expressions

_PLAIN = frozenset(
    [
        "super",
        "isinstance",
        "issubclass",
        "getattr",
        "hasattr",
        "setattr",
        "type",
        "id",
        "repr",
        "callable",
        "dict",
        "list",
        "tuple",
        "set",
        "frozenset",
        "str",
        "slice",
        "object",
        "property",
        "classmethod",
        "staticmethod",
        "vars",
        "dir",
        "globals",
    ]
) | {n for n, v in vars(builtins).items() if isinstance(v, type) and issubclass(v, BaseException)}
_THEIRS = ("jax.numpy.", "jax.nn.", "jax.random.", "tensorflow.")


class Calls(Expressions):
    kinds = (gast.Call,)

    def __init__(self, canonical: Callable[[gast.AST], str | None], shadowed: frozenset[str]):
        """`canonical`: the dotted name of an expression; `shadowed`: names that hide those of Python."""
        self.canonical, self.shadowed = canonical, shadowed

    def convert(self, node: gast.Call) -> gast.AST:
        function = node.func
        if (
            isinstance(function, gast.Attribute)
            and isinstance(function.value, gast.Name)
            and function.value.id == "ag"
        ):
            return node
        if isinstance(function, gast.Name) and function.id in _PLAIN and function.id not in self.shadowed:
            return node
        dotted = self.canonical(function) or ""
        if dotted.startswith(_THEIRS):
            return node
        node.func = operator("call", function)
        return node
