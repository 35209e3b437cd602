"""Model-agnostic meta-learning (Finn et al., 2017): sine waves from ten points each.

The meta-gradient goes through a step of gradient descent, whose own gradient lsp-ad writes, too.
"""

from __future__ import annotations

import numpy as np

import lsp_ad


def network(w1, b1, w2, b2, w3, b3, x):
    """A network of two hidden layers. x: (n, 1); returns (n, 1)"""
    h = np.tanh(x @ w1 + b1)
    h = np.tanh(h @ w2 + b2)
    return h @ w3 + b3


def loss(w1, b1, w2, b2, w3, b3, x, y):
    """Mean squared error of the network."""
    error = network(w1, b1, w2, b2, w3, b3, x) - y
    return np.sum(error * error) / x.shape[0]


PARAMETERS = ("w1", "b1", "w2", "b2", "w3", "b3")


def task_loss(w1, b1, w2, b2, w3, b3, x, y, x_new, y_new, rate):
    """The loss on new points after one step on those that are known."""
    gradient = lsp_ad.grad(loss, ("w1", "b1", "w2", "b2", "w3", "b3"))
    d1, e1, d2, e2, d3, e3 = gradient(w1, b1, w2, b2, w3, b3, x, y)
    w1, b1, w2, b2 = w1 - rate * d1, b1 - rate * e1, w2 - rate * d2, b2 - rate * e2
    return loss(w1, b1, w2, b2, w3 - rate * d3, b3 - rate * e3, x_new, y_new)


task_grad = lsp_ad.grad(task_loss, PARAMETERS)


def meta_train(w1, b1, w2, b2, w3, b3, xs, ys, xs_new, ys_new, rate, meta_rate, steps):
    """Parameters after `steps` meta-steps, each over all tasks. xs, ys: (tasks, points, 1)"""
    tasks = xs.shape[0]
    for _ in range(steps):
        g1, f1, g2, f2, g3, f3 = w1 * 0.0, b1 * 0.0, w2 * 0.0, b2 * 0.0, w3 * 0.0, b3 * 0.0
        for t in range(tasks):
            task = xs[t], ys[t], xs_new[t], ys_new[t]
            d1, e1, d2, e2, d3, e3 = task_grad(w1, b1, w2, b2, w3, b3, *task, rate)
            g1, f1, g2, f2, g3, f3 = g1 + d1, f1 + e1, g2 + d2, f2 + e2, g3 + d3, f3 + e3
        scale = meta_rate / tasks
        w1, b1 = w1 - scale * g1, b1 - scale * f1
        w2, b2 = w2 - scale * g2, b2 - scale * f2
        w3, b3 = w3 - scale * g3, b3 - scale * f3
    return w1, b1, w2, b2, w3, b3


def data(tasks=4, points=10, hidden=8, steps=3, seed=0):
    """Arguments of `meta_train`."""
    rng = np.random.default_rng(seed)
    height, phase = rng.uniform(0.1, 5.0, (tasks, 1, 1)), rng.uniform(0.0, np.pi, (tasks, 1, 1))
    x, x_new = rng.uniform(-5.0, 5.0, (2, tasks, points, 1))
    return (
        rng.normal(size=(1, hidden)),
        np.zeros(hidden),
        rng.normal(size=(hidden, hidden)) / np.sqrt(hidden),
        np.zeros(hidden),
        rng.normal(size=(hidden, 1)) / np.sqrt(hidden),
        np.zeros(1),
        x,
        height * np.sin(x + phase),
        x_new,
        height * np.sin(x_new + phase),
        0.01,
        0.1,
        steps,
    )
