"""The names by which the fence tells what it refuses."""

from __future__ import annotations

import gast

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
ITERATORS = {"builtins.zip", "builtins.enumerate", "builtins.reversed", "builtins.range"}
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
    gast.Try: "try",
    gast.With: "with",
    gast.FunctionDef: "nested def",
    gast.ClassDef: "class",
    gast.Delete: "del",
    gast.Import: "import",
    gast.ImportFrom: "import",
    gast.Global: "global",
    gast.Nonlocal: "nonlocal",
    gast.AsyncFunctionDef: "async def",
    gast.AsyncFor: "async for",
    gast.AsyncWith: "async with",
    gast.Match: "match",
}
EXPRESSION_NAMES = {
    gast.Lambda: "lambda",
    gast.NamedExpr: "assignment expression `:=`",
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
