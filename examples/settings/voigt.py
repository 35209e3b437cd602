"""A line profile with functions that the settings beside it have rules for."""

import time

import numpy as np
from scipy.special import erfcx, exprel


def profile(width, x):
    """Shapes: width (n,), x (n,)."""
    time.sleep(0.0)
    return np.sum(erfcx(width) * exprel(x * width))
