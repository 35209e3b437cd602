"""The names by which the fence tells what it refuses."""

from __future__ import annotations

import gast

from lsp_ad.rules import PASSIVE_ATTRIBUTES

DYNAMIC = {
    f"builtins.{n}"
    for n in (
        "eval",
        "exec",
        "compile",
        "globals",
        "locals",
        "vars",
        "getattr",
        "setattr",
        "delattr",
        "__import__",
        "input",
        "open",
        "breakpoint",
    )
}
# Functions that only tell something: a statement that calls one stays in the forward sweep.
EFFECTS = {"builtins.print", "warnings.warn", "warnings.simplefilter", "warnings.filterwarnings"}
MUTATORS = {
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "clear",
    "sort",
    "reverse",
    "update",
    "fill",
    "put",
    "setdefault",
    "add",
    "discard",
    "popitem",
    "resize",
    "setflags",
    "partition",
    "itemset",
    "setfield",
    "byteswap",
}
MUTATING_CALLS = {
    f"numpy.{n}"
    for n in (
        "copyto",
        "put",
        "place",
        "putmask",
        "fill_diagonal",
        "put_along_axis",
        "add.at",
        "subtract.at",
        "multiply.at",
        "random.shuffle",
    )
}
STATEMENT_NAMES = {
    gast.FunctionDef: "nested def",
    gast.ClassDef: "class",
    gast.Nonlocal: "nonlocal",
    gast.AsyncFunctionDef: "async def",
    gast.AsyncFor: "async for",
    gast.AsyncWith: "async with",
}
EXPRESSION_NAMES = {
    gast.Lambda: "lambda",
    gast.ListComp: "list comprehension",
    gast.SetComp: "set comprehension",
    gast.DictComp: "dict comprehension",
    gast.GeneratorExp: "generator expression",
    gast.Yield: "yield",
    gast.YieldFrom: "yield from",
    gast.Await: "await",
    gast.Dict: "dict",
    gast.Set: "set",
    gast.Starred: "starred expression",
}


def asks_for_form(node: gast.Call) -> bool:
    """`getattr(x, 'shape', ())`: the shape of an array, or that of a number."""
    name = node.args[1] if len(node.args) == 3 and not node.keywords else None
    return isinstance(name, gast.Constant) and name.value in PASSIVE_ATTRIBUTES
