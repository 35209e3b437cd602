"""One name, one value: a name that is used for several unrelated values is split.

A *web* is a set of assignments of a name that reach a common read. Each web after the first gets
a name of its own; `display.py` merges them again where nothing stands in the way.
Before: `y = a * b; y = np.sin(y)`. After: `y = a * b; w__y__1 = np.sin(y)`.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from lsp_ad.differentiate.fresh import WEB, Fresh
from lsp_ad.problems import Refusal, Span, problem
from lsp_ad.semantics import flow
from lsp_ad.semantics.names import parameters
from lsp_ad.semantics.reaching import reaching_definitions
from lsp_ad.source.parse import span_of


def split(function: gast.FunctionDef, fresh: Fresh) -> dict[str, str]:
    """Rename webs in place; returns new name to the user's name.

    Refuses reads of names that may be unbound (AD403).
    """
    graph = flow.Flow.of(function.body)
    local = flow.writes(function.body) | set(parameters(function))
    definitions = reaching_definitions(graph, sorted(local))
    parent = list(range(len(definitions.sites)))

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    unbound = local - set(parameters(function))
    uses: dict[tuple[int, str], int] = {}
    for point, step in enumerate(graph.points):
        if step is None:
            continue
        for name in sorted(step.reads & local):
            sites = definitions.reaching(point, name)
            real = [i for i in sites if definitions.sites[i][1] != 0 or name not in unbound]
            if not real:
                raise Refusal(
                    problem(
                        "AD403", f"`{name}` is read before it is assigned.", _read_span(step.statement, name)
                    )
                )
            for i in real[1:]:
                parent[find(i)] = find(real[0])
            uses[point, name] = real[0]
    names = _web_names(definitions.sites, find, unbound, fresh)
    at: dict[int, list[int]] = {}
    for number, (_, point) in enumerate(definitions.sites):
        at.setdefault(point, []).append(number)
    for point, step in enumerate(graph.points):
        if step is not None:
            read = {n: names[find(uses[point, n])] for n in step.reads if (point, n) in uses}
            written = {definitions.sites[i][0]: names[find(i)] for i in at.get(point, [])}
            if any(old != new for table in (read, written) for old, new in table.items()):
                _rename(step.statement, read, written)
    return {new: definitions.sites[root][0] for root, new in names.items()}


def _web_names(
    sites: list[tuple[str, int]], find: Callable[[int], int], unbound: set[str], fresh: Fresh
) -> dict[int, str]:
    """Root of each web to its name: the first web of a name keeps it."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for i, (name, point) in enumerate(sites):
        root = find(i)
        if root in names or (point == 0 and name in unbound):
            continue
        if name in taken:
            names[root] = fresh.new(WEB + name)
        else:
            names[root] = name
            taken.add(name)
    return names


def _rename(statement: gast.stmt, read: dict[str, str], written: dict[str, str]) -> None:
    """Rename in a point only: the header of a compound statement, or a whole simple one."""
    if isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name):
        raise AssertionError("augmented assignments are plain by now")
    for part in flow.header(statement):
        _visit(part, read, written)


def _visit(node: gast.AST, read: dict[str, str], written: dict[str, str]) -> None:
    for n in flow.walk(node):
        if isinstance(n, gast.Name):
            table = read if isinstance(n.ctx, gast.Load) else written
            n.id = table.get(n.id, n.id)


def _read_span(statement: gast.stmt, name: str) -> Span:
    for n in flow.walk(statement):
        if (
            isinstance(n, gast.Name)
            and n.id == name
            and isinstance(n.ctx, gast.Load)
            and hasattr(n, "lineno")
        ):
            return span_of(n)
    return span_of(statement)
