"""`f(x)`  becomes  `ag.call(f)(x)`: what is called is converted, too. `len(x)` becomes `ag.len(x)`.

Left as they are: what Python needs to see in place (`super`), what makes errors and empty containers, a range
of constants, and the functions of `jax.numpy` and `tensorflow`, which stage themselves.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Set

import gast

from lsp_ad.semantics.names import HERE
from lsp_ad.staging.converters.building import at, is_of_operators, operator
from lsp_ad.staging.converters.expressions import Expressions
from lsp_ad.staging.operators.builtins import BY_NAME

_PLAIN = frozenset(
    [
        "super",
        "issubclass",
        "getattr",
        "hasattr",
        "setattr",
        "delattr",
        "id",
        "callable",
        "dict",
        "frozenset",
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

    def __init__(self, canonical: Callable[[gast.AST, Set[str]], str | None], shadowed: Set[str]):
        """`canonical`: the dotted name of an expression; `shadowed`: names that hide those of Python."""
        self.canonical, self.shadowed = canonical, shadowed

    def around(self, node: gast.AST) -> None:
        super().around(node)
        node.decorator_list = [
            d if self._is_known(d) else at(operator("call", d), d) for d in node.decorator_list
        ]

    def _is_known(self, decorator: gast.expr) -> bool:
        """Whether a decorator is no function of the user's: it calls one, or is of a library."""
        dotted = self.canonical(decorator, self.shadowed) or ""
        return isinstance(decorator, gast.Call) or (bool(dotted) and not dotted.startswith(HERE))

    def convert(self, node: gast.Call) -> gast.AST:
        function = node.func
        if is_of_operators(function):
            return node
        dotted = self.canonical(function, self.shadowed) or ""
        if dotted.startswith(_THEIRS):
            return node
        if dotted.startswith("builtins."):
            name = dotted.removeprefix("builtins.")
            if name in _PLAIN or (not node.args and not node.keywords and name in ("list", "tuple", "set")):
                return node
            if name in BY_NAME:
                known = name == "range" and all(isinstance(a, gast.Constant) for a in node.args)
                if not known:
                    node.func = operator(name).func
                return node
        node.func = operator("call", function)
        return node
