"""A loop whose steps depend on where it stands: the gradient keeps the way on one tape."""

import numpy as np


def walk(x, n):
    """The square of the place after n steps: down where x is large, up where it is small."""
    for _ in range(n):
        if x > 1.0:
            x = x - 0.8
        else:
            x = x + 0.1 * np.exp(-x)
    return x * x
