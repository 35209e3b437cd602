"""The names of the file around it that a function reads."""

from __future__ import annotations

from collections.abc import Iterator, Set

import gast

from lsp_ad.semantics.names import bound_names, local_names

_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def references(statement: gast.stmt, annotations: bool = False) -> Iterator[tuple[gast.expr, Set[str]]]:
    """Names and whole dotted names (`np.linalg.inv`) that are not local, with the names that are, there.

    `annotations`: also those in annotations; nothing that a function computes depends on them.
    """
    pending: list[tuple[gast.AST, Set[str]]] = [(statement, frozenset())]
    while pending:
        node, local = pending.pop()
        if isinstance(node, gast.Name):
            if isinstance(node.ctx, gast.Load) and node.id not in local:
                yield node, local
        elif isinstance(node, gast.Attribute) and (root := _root(node)) is not None:
            if root.id not in local:
                yield node, local
        elif isinstance(node, gast.AnnAssign):
            parts = (node.target, node.value, node.annotation if annotations else None)
            pending += [(part, local) for part in parts if part is not None]
        elif isinstance(node, gast.FunctionDef):
            pending += [(part, local) for part in (*node.decorator_list, *_defaults(node.args))]
            if annotations:
                pending += [(a, local) for a in _annotations(node)]
            inside = local | local_names(node)
            pending += [(s, inside) for s in node.body]
        elif isinstance(node, gast.ClassDef):
            options = [k.value for k in node.keywords]
            pending += [(part, local) for part in (*node.decorator_list, *node.bases, *options)]
            inside = local | bound_names(node.body)
            for s in node.body:
                pending.append((s, local if isinstance(s, gast.FunctionDef) else inside))
        elif isinstance(node, gast.Lambda):
            pending += [(part, local) for part in _defaults(node.args)]
            pending.append((node.body, local | _parameters(node.args) | bound_names([node])))
        elif isinstance(node, _COMPREHENSIONS):
            inside = local | bound_names([g.target for g in node.generators])
            pending.append((node.generators[0].iter, local))
            pending += [(g.iter, inside) for g in node.generators[1:]]
            pending += [(part, inside) for g in node.generators for part in (g.target, *g.ifs)]
            results = (node.key, node.value) if isinstance(node, gast.DictComp) else (node.elt,)
            pending += [(part, inside) for part in results]
        else:
            pending += [(child, local) for child in gast.iter_child_nodes(node)]


def dotted(node: gast.expr) -> list[gast.expr]:
    """`a.b.c` as `a`, `a.b`, `a.b.c`."""
    found = [node]
    while isinstance(found[-1], gast.Attribute):
        found.append(found[-1].value)
    return found[::-1]


def words(node: gast.expr) -> list[str]:
    """`a.b.c` as its words; nothing for another expression."""
    found: list[str] = []
    while isinstance(node, gast.Attribute):
        found.append(node.attr)
        node = node.value
    return [node.id, *found[::-1]] if isinstance(node, gast.Name) else []


def _root(node: gast.expr) -> gast.Name | None:
    while isinstance(node, gast.Attribute):
        node = node.value
    return node if isinstance(node, gast.Name) else None


def _annotations(function: gast.FunctionDef) -> list[gast.expr]:
    a = function.args
    every = (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg)
    return [p.annotation for p in every if p is not None and p.annotation is not None]


def _defaults(arguments: gast.arguments) -> list[gast.expr]:
    return [d for d in (*arguments.defaults, *arguments.kw_defaults) if d is not None]


def _parameters(a: gast.arguments) -> set[str]:
    return {p.id for p in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg) if p is not None}
