"""Statement forms that stand for others are written out as these, in one place, before all other passes.

Each form has a file of its own; what is left is the core that `structure.py` and all later passes know.
"""

from __future__ import annotations

import gast

from lsp_ad.differentiate.desugar import checkpoints, iterators, loop_else, matches, walrus
from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow

_INERT = (gast.Delete, gast.Global, gast.Import, gast.ImportFrom)


def desugar(tree: gast.FunctionDef, scope: Scope, fresh: Fresh) -> None:
    """Rewrite a function in place: no checkpoint, `match`, loop `else`, `:=`, iterator with a name, `del`."""
    _drop(tree)
    checkpoints.expand(tree, scope, fresh)
    matches.expand(tree, fresh)
    loop_else.expand(tree, fresh)
    walrus.expand(tree, fresh)
    iterators.expand(tree, scope, fresh)


def _drop(tree: gast.FunctionDef) -> None:
    """Without what binds nothing: imports (`Scope` knows them), declarations, and `del`.

    After `del y` nothing may read y, but the backward sweep may need its value.
    """
    for holder in [tree, *flow.statements(tree.body)]:
        for block in flow.blocks(holder) if holder is not tree else [tree.body]:
            kept = [s for s in block if not isinstance(s, _INERT)]
            if len(kept) < len(block):
                block[:] = kept or [gast.Pass()]
