"""Findings that need more than a refusal: what is silently not as it looks. One rule is one module."""

from __future__ import annotations

from lsp_ad.checks.staging_bypass import staging_bypass
from lsp_ad.problems import Problem
from lsp_ad.semantics.names import Program

RULES = (staging_bypass,)


def check(program: Program) -> list[Problem]:
    """The findings of all rules in a file, in the order of the text; no code of the file is run."""
    return sorted((found for rule in RULES for found in rule(program)), key=lambda p: (p.span, p.code))


__all__ = ["RULES", "check"]
