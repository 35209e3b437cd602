"""Training inside the graph: many steps of gradient descent are one staged loop.

The gradient of the loss is the one that lsp-ad writes; it is staged with the loop around it.
"""

from __future__ import annotations

import numpy as np

import lsp_ad


def loss(w, b, x, y):
    """Mean cross-entropy of a linear classifier.

    w: (features, classes), b: (classes,), x: (n, features), y: (n, classes)
    """
    z = x @ w + b
    z = z - np.max(z, axis=1, keepdims=True)
    logits = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.sum(y * logits) / x.shape[0]


loss_grad = lsp_ad.grad(loss, ("w", "b"))


def train(w, b, x, y, rate, steps, batch):
    """Parameters after `steps` steps over batches of `batch` rows, taken from `x` and `y` in turn."""
    batches = x.shape[0] // batch
    for step in range(steps):
        start = step % batches * batch
        rows = start + np.arange(batch)
        dw, db = loss_grad(w, b, x[rows], y[rows])
        w = w - rate * dw
        b = b - rate * db
    return w, b


def data(samples=60, features=4, classes=3, steps=100, batch=20, seed=0):
    """Arguments of `train`."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(samples, features))
    label = np.argmax(x @ rng.normal(size=(features, classes)), axis=1)
    y = np.eye(classes)[label]
    return np.zeros((features, classes)), np.zeros(classes), x, y, 0.5, steps, batch
