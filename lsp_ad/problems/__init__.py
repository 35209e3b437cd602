"""What a problem is, and the one catalogue of problem codes.

The ground floor of the package: every stage returns a value *and* a list of
problems, and imports nothing above this.
"""

from lsp_ad.problems.catalogue import CATALOGUE, Entry, entry
from lsp_ad.problems.problem import Problem, Refusal, Related, Severity, Span, problem

__all__ = ["CATALOGUE", "Entry", "Problem", "Refusal", "Related", "Severity", "Span", "entry", "problem"]
