"""Reverse-mode differentiation of one function of a file: the public entry of the compiler."""

from lsp_ad.differentiate.derivative import MODES, Derivative, Line
from lsp_ad.differentiate.insert import insertion
from lsp_ad.differentiate.pipeline import differentiable_parameters, differentiate

__all__ = ["MODES", "Derivative", "Line", "differentiable_parameters", "differentiate", "insertion"]
