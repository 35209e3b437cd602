"""What a problem is, and the one catalogue of problem codes.

The ground floor of the package: every stage returns a value *and* a list of
problems, and imports nothing above this.
"""

from lsp_ad.problems.catalogue import CATALOGUE, entry
from lsp_ad.problems.entry import Entry
from lsp_ad.problems.problem import Fix, Problem, Refusal, Related, Severity, Span, problem

__all__ = [
    "CATALOGUE",
    "Entry",
    "Fix",
    "Problem",
    "Refusal",
    "Related",
    "Severity",
    "Span",
    "entry",
    "problem",
]
