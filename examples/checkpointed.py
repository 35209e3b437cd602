"""A simulation of which the gradient keeps every fiftieth state, and computes the states between again."""

import numpy as np

import lsp_ad


def amplitude(x: float, v: float, k: float, steps: int):
    """How far a damped pendulum swings in the end."""
    largest = 0.0
    with lsp_ad.checkpoint(every=50):
        for t in range(steps):
            v = v - 0.01 * (k * np.sin(x) + 0.1 * v)
            x = x + 0.01 * v
            if t >= steps - 300:
                largest = largest + x * x / 300
    return largest
