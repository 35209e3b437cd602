"""All functions of NumPy that have a counterpart, by name without `numpy.`."""

from lsp_ad.staging.backends.tensorflow import linear, places, reductions, spectra, structural
from lsp_ad.staging.backends.tensorflow.elementwise import FUNCTIONS

__all__ = ["FUNCTIONS", "linear", "places", "reductions", "spectra", "structural"]
