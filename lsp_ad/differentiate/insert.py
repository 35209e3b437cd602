"""Where generated code goes: below its primal, with the helpers and imports it needs."""

from __future__ import annotations

from lsp_ad.differentiate.derivative import Derivative
from lsp_ad.semantics.names import Program
from lsp_ad.source.edits import Edit


def insertion(program: Program, derivative: Derivative, helpers: str = "inline") -> list[Edit]:
    """Edits of the document that insert the derivative below its primal, in the document's own line ends.

    `helpers`: "inline" writes the helper functions into the file, once; "import" imports them from lsp_ad.runtime.
    """
    raise NotImplementedError
