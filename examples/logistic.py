"""Logistic regression: the mean cross-entropy of a linear classifier of two classes."""

import numpy as np


def loss(w, b, x, y):
    """Mean cross-entropy of the predictions for a batch.

    Parameters
    ----------
    w : ndarray, shape (d,)
        Weights.
    b : float
        Bias.
    x : ndarray, shape (n, d)
        One example in each row.
    y : ndarray, shape (n,)
        1 for the first class, 0 for the second.
    """
    z = x @ w + b
    p = 1.0 / (1.0 + np.exp(-z))
    # the two classes
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))
