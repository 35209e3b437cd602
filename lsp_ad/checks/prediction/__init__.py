"""What staging will decide about each construct of a function, told from its text.

The run-time report (`lsp_ad.staging_report`) says what was decided; this says beforehand what will be, for
given parameters, and where it cannot be told.
"""

from lsp_ad.checks.prediction.expressions import Prediction
from lsp_ad.checks.prediction.loops import predict
from lsp_ad.checks.prediction.report import Foretold, foretold
from lsp_ad.checks.prediction.values import STAGED, UNCLEAR, Items, Known, Python, Table, Value

__all__ = [
    "STAGED",
    "UNCLEAR",
    "Foretold",
    "Items",
    "Known",
    "Prediction",
    "Python",
    "Table",
    "Value",
    "foretold",
    "predict",
]
