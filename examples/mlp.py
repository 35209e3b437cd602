"""A network of two hidden layers with softmax cross-entropy; its helper is written out in the gradient."""

import numpy as np


def logsumexp(x):
    """The logarithm of the sum of exponentials of each row, safe from overflow: (n, k) to (n, 1)."""
    m = np.max(x, axis=1, keepdims=True)
    return m + np.log(np.sum(np.exp(x - m), axis=1, keepdims=True))


def loss(w1, b1, w2, b2, wout, bout, x, label):
    """Mean softmax cross-entropy of a batch.

    Parameters
    ----------
    w1, w2, wout : ndarray, shapes (p, h), (h, h), (h, k)
    b1, b2, bout : ndarray, shapes (h,), (h,), (k,)
    x : ndarray, shape (n, p)
    label : ndarray, shape (n, k)
        A one in each row, at the class of the example.
    """
    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    out = h2 @ wout + bout
    logp = out - logsumexp(out)
    return -np.mean(np.sum(label * logp, axis=1))
