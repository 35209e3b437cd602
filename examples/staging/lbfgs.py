"""L-BFGS with circular buffers and a backtracking line search, on the logistic loss of a linear classifier.

Nocedal and Wright, Numerical Optimization, algorithms 7.4 (the two-loop recursion) and 3.1.
"""

from __future__ import annotations

import numpy as np

import lsp_ad


def loss(w, x, y):
    """Mean logistic loss with a small penalty. w: (features,), x: (n, features), y: (n,), of -1 and 1"""
    return np.sum(np.logaddexp(0.0, -y * (x @ w))) / x.shape[0] + 1e-3 * np.sum(w * w)


loss_and_grad = lsp_ad.value_and_grad(loss, "w")


def direction(g, steps, changes, count, memory):
    """Minus the gradient times the inverse Hessian that the last steps and gradient changes show."""
    q = g
    alphas = np.zeros(memory)
    kept = np.minimum(count, memory)
    for i in range(kept):
        k = (count - 1 - i) % memory
        alpha = (steps[k] @ q) / (changes[k] @ steps[k])
        alphas[k] = alpha
        q = q - alpha * changes[k]
    if count > 0:
        k = (count - 1) % memory
        q = q * ((steps[k] @ changes[k]) / (changes[k] @ changes[k]))
    for i in range(kept):
        k = (count - kept + i) % memory
        beta = (changes[k] @ q) / (changes[k] @ steps[k])
        q = q + (alphas[k] - beta) * steps[k]
    return -q


def minimize(w, x, y, memory, iterations, tolerance):
    """The minimum of `loss` from `w` on, and how many iterations it took."""
    steps = np.zeros((memory, w.shape[0]))
    changes = np.zeros((memory, w.shape[0]))
    count = np.zeros((), dtype=np.int64)[()]
    value, g = loss_and_grad(w, x, y)
    done = 0
    while np.max(np.abs(g)) > tolerance and done < iterations:
        d = direction(g, steps, changes, count, memory)
        slope = g @ d
        size = 1.0
        new_value, new_g = loss_and_grad(w + size * d, x, y)
        while new_value > value + 1e-4 * size * slope and size > 1e-10:
            size = 0.5 * size
            new_value, new_g = loss_and_grad(w + size * d, x, y)
        k = count % memory
        if (new_g - g) @ d > 0.0:
            steps[k] = size * d
            changes[k] = new_g - g
            count = count + 1
        w = w + size * d
        value, g = new_value, new_g
        done = done + 1
    return w, value, done


def data(samples=40, features=6, memory=4, iterations=30, tolerance=1e-8, seed=0):
    """Arguments of `minimize`."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(samples, features))
    y = np.where(x @ rng.normal(size=features) + 0.5 * rng.normal(size=samples) > 0.0, 1.0, -1.0)
    return np.zeros(features), x, y, memory, iterations, tolerance
