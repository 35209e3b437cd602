"""What converted code calls, as `ag`: one operator a construct, decided by the types of its operands."""

from typing import Any

from lsp_ad.staging.backends.base import Options
from lsp_ad.staging.operators.arrays import (
    add_at,
    get_item,
    set_item,
    subtract_at,
    update,
    update_item,
)
from lsp_ad.staging.operators.bounds import unseen
from lsp_ad.staging.operators.branches import if_, if_exp
from lsp_ad.staging.operators.builtins import BY_NAME
from lsp_ad.staging.operators.calls import call
from lsp_ad.staging.operators.checks import assert_, no_errors
from lsp_ad.staging.operators.directives import element_type, must_stage
from lsp_ad.staging.operators.folds import items, kept
from lsp_ad.staging.operators.jumps import if_jumped, negated, no_break, unless
from lsp_ad.staging.operators.logical import and_, both, compare, either, eq, in_, is_, ne, not_, or_
from lsp_ad.staging.operators.loops import for_, while_
from lsp_ad.staging.operators.paths import shape, view
from lsp_ad.staging.operators.state import NOTHING, State
from lsp_ad.staging.operators.texts import percent, text
from lsp_ad.staging.operators.truth import add, subtract
from lsp_ad.staging.operators.variables import peek, read, set_attribute, set_entry, undefined
from lsp_ad.staging.operators.views import positive, view_of

__all__ = [
    "NOTHING",
    "Options",
    "State",
    "add",
    "add_at",
    "and_",
    "assert_",
    "both",
    "call",
    "compare",
    "either",
    "element_type",
    "eq",
    "for_",
    "get_item",
    "if_",
    "if_exp",
    "if_jumped",
    "in_",
    "is_",
    "items",
    "kept",
    "must_stage",
    "ne",
    "negated",
    "no_break",
    "no_errors",
    "not_",
    "or_",
    "peek",
    "percent",
    "positive",
    "read",
    "set_attribute",
    "set_entry",
    "set_item",
    "shape",
    "subtract",
    "subtract_at",
    "text",
    "undefined",
    "unless",
    "unseen",
    "update",
    "update_item",
    "view",
    "view_of",
    "while_",
]


def __getattr__(name: str) -> Any:
    """Functions of Python, as in `ag.range`."""
    if name not in BY_NAME:
        raise AttributeError(f"there is no operator {name!r}")
    globals()[name] = BY_NAME[name]
    return BY_NAME[name]
