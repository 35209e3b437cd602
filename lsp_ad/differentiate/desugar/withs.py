"""`with` blocks that leave values as they are: which these are, and what stands around their adjoint.

A block under `np.errstate(divide="ignore")` divides by zero without a warning; so does its adjoint, which
gets the same `with`. A setting that raises is not repeated: what is fine in the value may not be so in the
adjoint.
"""

from __future__ import annotations

import copy

import gast

from lsp_ad.rules import literal
from lsp_ad.rules.resolve import Scope

MANAGERS = ("numpy.errstate", "numpy.printoptions", "warnings.catch_warnings", "contextlib.nullcontext")
_QUIET = ("ignore", "warn")
_FILTERS = ("warnings.simplefilter", "warnings.filterwarnings")


def is_known(manager: gast.expr, scope: Scope) -> bool:
    """Whether an expression is a call of a context manager that only changes warnings or printing."""
    return isinstance(manager, gast.Call) and scope.canonical(manager.func) in MANAGERS


def around(s: gast.With, adjoint: list[gast.stmt], scope: Scope) -> list[gast.stmt]:
    """The adjoint of a block, under what changes its warnings."""
    if not adjoint:
        return []
    items = [item for item in s.items if _silences(item.context_expr, s.body, scope)]
    if not items:
        return adjoint
    filters = [copy.deepcopy(x) for x in s.body if _is_filter(x, scope)]
    return [gast.With(copy.deepcopy(items), [*filters, *adjoint], None)]


def _silences(manager: gast.Call, body: list[gast.stmt], scope: Scope) -> bool:
    function = scope.canonical(manager.func)
    if function == "numpy.errstate":
        return not manager.args and all(
            k.arg is not None and k.arg != "call" and literal(k.value) in _QUIET for k in manager.keywords
        )
    return function == "warnings.catch_warnings" and any(_is_filter(x, scope) for x in body)


def _is_filter(s: gast.stmt, scope: Scope) -> bool:
    """Whether a statement turns warnings off, whatever the values of names."""
    return (
        isinstance(s, gast.Expr)
        and isinstance(s.value, gast.Call)
        and scope.canonical(s.value.func) in _FILTERS
        and bool(s.value.args)
        and literal(s.value.args[0]) == "ignore"
        and not any(isinstance(a, gast.Name) and a.id in scope.local for a in s.value.args)
    )
