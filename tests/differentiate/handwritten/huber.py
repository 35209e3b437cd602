"""The gradient of examples/huber.py, by hand."""

import numpy as np


def huber_grad(w, x, y, delta=1.0, dhuber=1.0):
    e = x @ w - y
    r = np.sqrt(np.mean(e * e))
    # backward
    if r <= delta:
        dr = dhuber * r
    else:
        dr = dhuber * delta
    de = dr / (r * e.size) * e
    return x.T @ de


WRT = ("w",)


def inputs(rng):
    return {"w": rng.normal(size=4), "x": rng.normal(size=(30, 4)), "y": rng.normal(size=30)}
