"""A faulty program made smaller: statements go, blocks are put in the place of their statement, expressions shrink."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from .judge import Fault, check
from .strategy import Program


def reduced(program: Program, fault: str, tries: int = 1500) -> Program:
    """The least program found that has a fault of the same kind."""
    sort = _sort(fault)
    best = Program(ast.unparse(ast.parse(program.source)) + "\n", program.seed)
    if not _fails(best, sort):
        return program
    progress = True
    while progress and tries > 0:
        progress = False
        position = 0
        while tries > 0:
            tree = ast.parse(best.source)
            changes = list(_changes(tree))
            if position >= len(changes):
                break
            changes[position]()
            tries -= 1
            try:
                smaller = Program(ast.unparse(ast.fix_missing_locations(tree)) + "\n", program.seed)
                compile(smaller.source, "smaller", "exec")
            except (SyntaxError, ValueError, AttributeError):
                position += 1
                continue
            if len(smaller.source) < len(best.source) and _fails(smaller, sort):
                best, progress = smaller, True
            else:
                position += 1
    return best


def _sort(fault: str) -> str:
    """The beginning of the first line of a fault, as far as it holds no numbers."""
    first = fault.split("\n")[0]
    return first[: next((k for k, c in enumerate(first) if c.isdigit() or c == "`"), 60)].rstrip(" -")


def _fails(program: Program, sort: str) -> bool:
    try:
        check(program)
    except Fault as fault:
        return str(fault).startswith(sort) and not str(fault)[len(sort) :].startswith("nan")
    except Exception:
        return False
    return False


def _changes(tree: ast.Module) -> Iterator[Callable[[], None]]:
    """The ways to make a tree smaller by one step, the large ones first."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(node, field, None)
            if not isinstance(block, list):
                continue
            for k, s in enumerate(block):
                yield lambda block=block, k=k: block.__setitem__(
                    slice(k, k + 1), [] if len(block) > 1 else [ast.Pass()]
                )
                if inner := getattr(s, "body", None):
                    yield lambda block=block, k=k, inner=inner: block.__setitem__(slice(k, k + 1), inner)
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and not isinstance(getattr(value, "ctx", None), ast.Store):
                for inner in ast.iter_child_nodes(value):
                    if isinstance(inner, ast.expr):
                        yield lambda node=node, field=field, inner=inner: setattr(node, field, inner)
            elif isinstance(value, list) and len(value) > 1 and isinstance(value[0], ast.expr):
                for k in range(len(value)):
                    yield lambda value=value, k=k: value.__delitem__(k)
                    for inner in ast.iter_child_nodes(value[k]):
                        if isinstance(inner, ast.expr):
                            yield lambda value=value, k=k, inner=inner: value.__setitem__(k, inner)
