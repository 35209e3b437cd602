"""The few functions that generated code may call: plain NumPy, and one another.

They are imported from here, or written into the user's file once, as they stand.
"""

from lsp_ad.runtime.arrays import *  # noqa: F403
from lsp_ad.runtime.basic import *  # noqa: F403
from lsp_ad.runtime.factors import *  # noqa: F403
from lsp_ad.runtime.structures import *  # noqa: F403
