"""The gradient of examples/logistic.py, by hand."""

import numpy as np


def loss_grad(w, b, x, y, dloss=1.0):
    z = x @ w + b
    e = np.exp(-z)
    p = 1.0 / (1.0 + e)
    # backward
    dmean = -dloss / y.size
    dp = dmean * (y / p - (1.0 - y) / (1.0 - p))
    dz = dp * p * p * e
    dw = x.T @ dz
    db = np.sum(dz)
    return dw, db


WRT = ("w", "b")


def inputs(rng):
    n, d = 64, 5
    labels = (rng.random(n) > 0.5).astype(float)
    return {"w": rng.normal(size=d), "b": 0.3, "x": rng.normal(size=(n, d)), "y": labels}
