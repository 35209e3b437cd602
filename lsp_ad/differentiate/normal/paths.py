"""Items of dictionaries as parameters of their own: `params["w"]` is to the passes what `w` would be.
(Fields of objects are that too, from `records.py` on.)

Where a parameter is only ever read under keys that stand in the text, each of these reads becomes one name;
the generated code has `params["w"]` again, and the adjoints `dw`, `db` come together in one dict at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import gast

from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.semantics import flow
from lsp_ad.simplify.algebra import constant, name
from lsp_ad.source.trees import children, copied


class Step(str):
    """A key that is a field of an object."""

    __slots__ = ()


@dataclass(frozen=True)
class Path:
    """An item of a dictionary parameter: `params["layer"]["w"]` has two keys; or a field: `self.w`."""

    parameter: str
    keys: tuple[str, ...]

    def expression(self) -> gast.expr:
        found: gast.expr = name(self.parameter)
        for key in self.keys:
            if isinstance(key, Step):
                found = gast.Attribute(found, str(key), gast.Load())
            else:
                found = gast.Subscript(found, constant(key), gast.Load())
        return found


def split(tree: gast.FunctionDef, candidates: Iterable[str], fresh: Fresh) -> dict[str, Path]:
    """Give the items of dictionary parameters names of their own, in place; returns what each stands for.

    `candidates` are never assigned. A parameter that is read in any other way stays whole; so does one with
    an item that only some runs read, which other runs may do without.
    """
    wanted = set(candidates)
    reads = [(path, sure) for node, sure in _roots(tree.body) for path in _paths(node, wanted)]
    order = {p: at for at, (p, _) in reversed(list(enumerate(reads)))}
    whole = {p.parameter for p, _ in reads if not p.keys}
    paths = {p for p, _ in reads if p.parameter not in whole}
    shortest = {p for p in paths if not any(_inside(p, q) for q in paths)}
    sure = {q for p, certain in reads if certain for q in shortest if p == q or _inside(p, q)}
    unsure = {p.parameter for p in shortest - sure}
    chosen = sorted((p for p in shortest if p.parameter not in unsure), key=order.__getitem__)
    names = {p: fresh.new("t", _hint(p, chosen, fresh)) for p in chosen}
    if names:
        tree.body = [_renamed(s, names) for s in tree.body]
    return {n: p for p, n in names.items()}


def _inside(inner: Path, outer: Path) -> bool:
    return (
        inner.parameter == outer.parameter
        and len(inner.keys) > len(outer.keys)
        and inner.keys[: len(outer.keys)] == outer.keys
    )


def _hint(path: Path, chosen: list[Path], fresh: Fresh) -> str:
    """`w`, or where that is something else already, `params_w`."""
    last = path.keys[-1]
    if last.isidentifier() and last not in fresh.used and [p.keys[-1] for p in chosen].count(last) == 1:
        return last
    words = [w for w in (path.parameter, *path.keys) if w.isidentifier()]
    return "_".join(words)


def _roots(body: list[gast.stmt], sure: bool = True) -> Iterator[tuple[gast.AST, bool]]:
    """The expressions of a block, and whether every run evaluates them (a loop is taken to run)."""
    for s in body:
        for part in flow.header(s):
            yield part, sure
        for block in flow.blocks(s):
            yield from _roots(block, sure and not isinstance(s, (gast.If, gast.Try)))


def _paths(node: gast.AST, wanted: set[str]) -> Iterator[Path]:
    """The longest path of each read of a parameter; without keys where it is read as a whole."""
    found = path_of(node, wanted)
    if found is not None:
        yield found
        return
    for child in children(node):
        yield from _paths(child, wanted)


def path_of(node: gast.AST, wanted: set[str]) -> Path | None:
    """The path that an expression reads: a parameter under constant keys."""
    if isinstance(node, gast.Name):
        return Path(node.id, ()) if node.id in wanted else None
    if (
        isinstance(node, gast.Subscript)
        and isinstance(node.ctx, gast.Load)
        and isinstance(node.slice, gast.Constant)
        and isinstance(node.slice.value, str)
    ):
        base = path_of(node.value, wanted)
        return Path(base.parameter, (*base.keys, node.slice.value)) if base is not None else None
    return None


def _renamed(node: gast.AST, names: dict[Path, str]) -> gast.AST:
    """The tree with names for the paths."""
    parameters = {p.parameter for p in names}

    class Rename(gast.NodeTransformer):
        def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
            path = path_of(node, parameters)
            if path in names:
                return gast.copy_location(name(names[path]), node)
            return self.generic_visit(node)

    return Rename().visit(node)


def assembled(parameter: str, values: dict[Path, gast.expr]) -> gast.expr:
    """`{"w": dw, "layer": {"b": db}}`: the values of all paths of a parameter as one dict."""
    tree: dict = {}
    for path, value in values.items():
        if path.parameter == parameter:
            inner = tree
            for key in path.keys[:-1]:
                inner = inner.setdefault(key, {})
            inner[path.keys[-1]] = value
    return _dict(tree)


def _dict(tree: dict) -> gast.Dict:
    values = [_dict(v) if isinstance(v, dict) else v for v in tree.values()]
    return gast.Dict([constant(k) for k in tree], [copied(v) for v in values])
