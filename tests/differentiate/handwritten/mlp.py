"""The gradient of examples/mlp.py, by hand."""

import numpy as np


def loss_grad(w1, b1, w2, b2, wout, bout, x, label, dloss=1.0):
    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    out = h2 @ wout + bout
    m = np.max(out, axis=1, keepdims=True)
    e = np.exp(out - m)
    s = np.sum(e, axis=1, keepdims=True)
    # backward
    dlogp = -dloss / x.shape[0] * label
    dout = dlogp - np.sum(dlogp, axis=1, keepdims=True) * e / s
    dwout = h2.T @ dout
    dbout = np.sum(dout, axis=0)
    da2 = dout @ wout.T * (1.0 - h2 * h2)
    dw2 = h1.T @ da2
    db2 = np.sum(da2, axis=0)
    da1 = da2 @ w2.T * (1.0 - h1 * h1)
    dw1 = x.T @ da1
    db1 = np.sum(da1, axis=0)
    return dw1, db1, dw2, db2, dwout, dbout


WRT = ("w1", "b1", "w2", "b2", "wout", "bout")


def inputs(rng):
    batch, hidden, n_in, n_out = 16, 32, 20, 10
    return {
        "w1": rng.normal(size=(n_in, hidden)) / 4,
        "b1": rng.normal(size=hidden),
        "w2": rng.normal(size=(hidden, hidden)) / 6,
        "b2": rng.normal(size=hidden),
        "wout": rng.normal(size=(hidden, n_out)) / 6,
        "bout": rng.normal(size=n_out),
        "x": rng.normal(size=(batch, n_in)),
        "label": np.eye(n_out)[rng.integers(n_out, size=batch)],
    }
