"""The gradient of examples/walk.py, by hand."""

import numpy as np


def walk_grad(x, n, dwalk=1.0):
    xs = []
    for _ in range(n):
        xs.append(x)
        if x > 1.0:
            x = x - 0.8
        else:
            x = x + 0.1 * np.exp(-x)
    # backward
    dx = dwalk * 2.0 * x
    for _ in reversed(range(n)):
        x = xs.pop()
        if not x > 1.0:
            dx = dx * (1.0 - 0.1 * np.exp(-x))
    return dx


WRT = ("x",)


def inputs(rng):
    return {"x": 0.37, "n": 50}
