"""Reverse-mode differentiation of one function of a file: the public entry of the compiler."""

from lsp_ad.differentiate.derivative import MODES, Derivative, Line
from lsp_ad.differentiate.options import SEEDS, STAGES, Options, Stages
from lsp_ad.differentiate.output.insert import insertion
from lsp_ad.differentiate.pipeline import differentiable_parameters, differentiate

__all__ = [
    "MODES",
    "SEEDS",
    "STAGES",
    "Derivative",
    "Line",
    "Options",
    "Stages",
    "differentiable_parameters",
    "differentiate",
    "insertion",
]
