"""Helpers that are one function together, cheaper than one after the other.

Before: `dy = diag_adjoint(d, y, 0); dx = cholesky_adjoint(dy, y)`.
After: `t = d; dx = cholesky_adjoint_of_diagonal(t, y)`, without a matrix of zeros.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Set

import gast

from lsp_ad.semantics import flow
from lsp_ad.semantics.points import Points
from lsp_ad.simplify.algebra import constant, name, store
from lsp_ad.source.printing import key

# A helper and the one that makes its first argument: what takes their place, and the arguments of the inner
# one that come after its first and those of the outer one.
COMPOSED = {
    ("cholesky_adjoint", inner): ("cholesky_adjoint_of_diagonal", [constant(0)])
    for inner in ("diag_adjoint", "diagonal_adjoint")
}


def compose(
    body: list[gast.stmt],
    helpers: Set[str],
    temporary: Callable[[], str],
    points: Points,
    is_matrix: Callable[[str], bool],
) -> set[str]:
    """Put helpers together, in place; the names of those that are new.

    `helpers`: those that are called; `temporary` makes a name; `points`: what is known of the statements;
    `is_matrix`: whether a name surely stands for one, and not for a stack of them.
    """
    found: set[str] = set()
    if not any(helpers >= set(pair) for pair in COMPOSED):
        return found
    statements = list(flow.statements(body))
    counts = Counter(n.id for s in statements for n in points.of(s).names)
    made = {
        s.targets[0].id: s
        for s in statements
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and _calls(s.value)
    }
    for s in statements:
        for call in [n for part in flow.header(s) for n in flow.walk(part) if _calls(n)]:
            given = call.args[0].id if call.args and isinstance(call.args[0], gast.Name) else ""
            first = made.get(given)
            composed = None if first is None else COMPOSED.get((_calls(call), _calls(first.value)))
            if first is None or composed is None or counts[given] != 2:
                continue
            helper, rest = composed
            if [key(a) for a in first.value.args[1:]] != [key(a) for a in [*call.args[1:], *rest]]:
                continue
            if _calls(first.value) == "diagonal_adjoint" and not is_matrix(getattr(call.args[1], "id", "")):
                continue
            kept = temporary()
            first.targets, first.value = [store(kept)], first.value.args[0]
            call.func, call.args[0] = name(helper), name(kept)
            found.add(helper)
            points.forget_header(first)
            points.forget_header(s)
    return found


def _calls(node: gast.AST) -> str:
    """The name of the function that an expression calls, if it is one."""
    return node.func.id if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) else ""
