"""What cannot be converted, each by the line where it stands."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.desugar import matches
from lsp_ad.staging.converters import generators
from lsp_ad.staging.errors import Unsupported

_WAY_OUT = "Mark the function by `lsp_ad.do_not_convert` if it needs no conversion."
_NAMES = {
    "locals": "the variables of a converted function are not those of the blocks in it",
    "eval": "its text would not see the variables of the blocks of a converted function",
    "exec": "its text would not see the variables of the blocks of a converted function",
}
_WITHOUT_ARGUMENTS = {"vars": _NAMES["locals"], "dir": _NAMES["locals"]}


def check(function: gast.FunctionDef) -> None:
    """Raise Unsupported for the first construct of a function that the converters have no answer to."""
    bound = {
        n.id for n in gast.walk(function) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)
    }
    inner = [n for n in gast.walk(function) if n is not function and generators.is_plain(n)]
    plain = {id(n) for generator in inner for n in gast.walk(generator)}
    for node in gast.walk(function):
        if isinstance(node, (gast.Yield, gast.YieldFrom)) and id(node) not in plain:
            raise Unsupported(
                node, "This is a generator, which cannot be staged.", f"Return a list. {_WAY_OUT}"
            )
        if isinstance(node, gast.match_case) and not matches.supported(node):
            raise Unsupported(
                node.pattern,
                "This pattern of `match` cannot be converted.",
                f"Write `if` statements. {_WAY_OUT}",
            )
        target = getattr(node, "target", None) if isinstance(node, gast.For) else None
        target = node.optional_vars if isinstance(node, gast.withitem) else target
        if target is not None and any(isinstance(n, gast.Subscript) for n in gast.walk(target)):
            raise Unsupported(
                target, "An element of an array or a list is the target of a statement.", "Assign it inside."
            )
        if isinstance(node, (gast.AsyncFunctionDef, gast.AsyncFor, gast.AsyncWith, gast.Await)):
            raise Unsupported(node, "`async` code cannot be staged.", _WAY_OUT)
        if isinstance(node, gast.comprehension) and node.is_async:
            raise Unsupported(node.target, "`async` code cannot be staged.", _WAY_OUT)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id not in bound:
            name = node.func.id
            why = _NAMES.get(name) or (_WITHOUT_ARGUMENTS.get(name) if not node.args else None)
            if why:
                raise Unsupported(node, f"`{name}` cannot be converted: {why}.", _WAY_OUT)
