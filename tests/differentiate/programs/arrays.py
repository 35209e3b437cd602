"""Broadcasting, reductions, shapes, products of matrices, joining."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "concatenate",
        """
        def f(a, b):
            return np.concatenate([a, b * b, a * 2]) * 3
        """,
        (normal(2), normal(3)),
    ),
    *case(
        "stack along a later axis",
        """
        def f(a, b):
            return np.stack([a, b * b], axis=1) ** 2
        """,
        (normal(3), normal(3)),
    ),
    *case(
        "concatenate along the last axis, and a product",
        """
        def f(a, b):
            return np.concatenate((a, b), axis=-1) @ np.ones((5, 2))
        """,
        (normal(2, 2), normal(2, 3)),
    ),
    *case(
        "a Gram matrix, summed along an axis",
        """
        def f(x):
            y = x.T @ x
            return y.sum(axis=0) * 2
        """,
        (normal(3, 2),),
    ),
    *case(
        "maxima of rows",
        """
        def f(x, w):
            return np.mean(np.max(x @ w, axis=1))
        """,
        (normal(3, 2), normal(2, 4)),
    ),
    *case(
        "maximum with zero",
        """
        def f(x):
            return np.sum(np.maximum(x, 0.0) * x) + np.min(x)
        """,
        (normal(3, 2),),
    ),
    *case(
        "where",
        """
        def f(x):
            return np.where(x > 0, x * x, -x).mean(axis=0, keepdims=True)
        """,
        (normal(3, 2),),
    ),
    *case(
        "clip, as function and as method",
        """
        def f(x, y):
            return np.clip(x, -0.5, y) + x.clip(0, 1)
        """,
        (normal(3), 0.4),
    ),
    *case(
        "dot and outer",
        """
        def f(x, y):
            return np.dot(x, y) + np.outer(x, y).sum()
        """,
        (normal(3), normal(3)),
    ),
    *case(
        "dot of whatever ranks",
        """
        def f(x, y):
            return np.dot(x, y)
        """,
        (normal(2, 3), normal(3, 2)),
        (normal(2, 3), normal(3)),
        (normal(3), normal(3, 2)),
        (0.7, normal(3)),
        (normal(4, 2, 3), normal(3, 2)),
    ),
    *case(
        "matmul of whatever ranks",
        """
        def f(x, y):
            return x @ y
        """,
        (normal(3), normal(3)),
        (normal(2, 3), normal(3, 2)),
        (normal(4, 2, 3), normal(3, 2)),
        (normal(4, 1, 2, 3), normal(5, 3, 2)),
        (normal(3), normal(4, 3, 2)),
        (normal(4, 2, 3), normal(3)),
    ),
    *case(
        "reshape, transpose, ravel",
        """
        def f(x):
            y = np.reshape(x, (2, -1)).transpose()
            return y.ravel() * x.reshape(6)
        """,
        (normal(6),),
    ),
    *case(
        "products with a zero among the factors",
        """
        def f(x):
            return np.prod(x, axis=1) * np.prod(x)
        """,
        (np.array([[0.0, 2.0], [1.0, 3.0]]),),
        (np.array([[0.0, 2.0], [0.0, 3.0]]),),
    ),
    *case(
        "the variance of columns",
        """
        def f(x):
            m = x.mean(axis=0)
            return ((x - m) ** 2).mean(axis=0)
        """,
        (normal(4, 2),),
    ),
    *case(
        "squeeze and expand_dims",
        """
        def f(x):
            return np.squeeze(np.expand_dims(x, 1)) * 2
        """,
        (normal(4),),
    ),
    *case(
        "the built-in sum",
        """
        def f(x):
            return sum(x) * 2
        """,
        (normal(4),),
    ),
    *case(
        "whole maximum times minimum along an axis",
        """
        def f(x):
            return np.max(x) * np.min(x, axis=0)
        """,
        (normal(4, 2),),
    ),
    *case(
        "row and column",
        """
        def f(row, column):
            return row * column - row / (1.5 + column**2)
        """,
        (normal(1, 4), normal(3, 1)),
        (normal(4), normal(3, 1)),
        (normal(4), 0.5),
        (normal(1), normal(1)),
    ),
    *case(
        "a scalar against a stack of matrices",
        """
        def f(a, x, b):
            return a * x + b
        """,
        (0.7, normal(2, 3, 2), normal(3, 1)),
    ),
    *case(
        "shapes in arithmetic",
        """
        def f(x):
            n, d = x.shape
            return x.sum() / n + x[0].sum() * d / x.size + x.ndim * x
        """,
        (normal(3, 2),),
    ),
    *case(
        "zeros, ones and eye as constants",
        """
        def f(x, a):
            return (a * np.eye(3) + np.ones_like(x)) @ x + np.zeros(3)
        """,
        (normal(3, 3), 0.4),
    ),
    *case(
        "learning: layer normalization",
        """
        def f(x, gain, shift, eps=1e-5):
            mean = np.mean(x, axis=-1, keepdims=True)
            var = np.mean((x - mean) ** 2, axis=-1, keepdims=True)
            return gain * (x - mean) / np.sqrt(var + eps) + shift
        """,
        (normal(2, 4), normal(4), normal(4), 1e-5),
    ),
    *case(
        "learning: attention with one head",
        """
        def f(q, k, v):
            scores = q @ k.T / np.sqrt(q.shape[1])
            weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
            weights = weights / np.sum(weights, axis=1, keepdims=True)
            return weights @ v
        """,
        (normal(3, 2), normal(4, 2), normal(4, 5)),
    ),
    *case(
        "learning: contrastive loss of a batch",
        """
        def f(a, b, temperature):
            a = a / np.sqrt(np.sum(a * a, axis=1, keepdims=True))
            b = b / np.sqrt(np.sum(b * b, axis=1, keepdims=True))
            s = a @ b.T / temperature
            logz = np.log(np.sum(np.exp(s), axis=1, keepdims=True))
            return -np.mean(np.sum((s - logz) * np.eye(3), axis=1))
        """,
        (normal(3, 4), normal(3, 4), 0.7),
    ),
    *case(
        "kernels: squared exponential covariance",
        """
        def f(x, y, scale):
            d2 = np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)
            return np.exp(-0.5 * d2 / scale**2)
        """,
        (normal(3, 2), normal(4, 2), 0.9),
    ),
    *case(
        "physics: Coulomb energy of charges",
        """
        def f(q, r):
            d = r[:, None, :] - r[None, :, :]
            distance = np.sqrt(np.sum(d * d, axis=2) + np.eye(len(q)))
            pairs = np.outer(q, q) / distance
            return 0.5 * (np.sum(pairs) - np.sum(q**2))
        """,
        (normal(4), normal(4, 3)),
    ),
    *case(
        "economics: utility of bundles with constant elasticity",
        """
        def f(x, share, rho):
            inside = np.sum(share * x**rho, axis=1)
            return np.mean(inside ** (1 / rho))
        """,
        (positive(3, 2), positive(2), 0.6),
    ),
    *case(
        "ranking: pairwise logistic loss",
        """
        def f(scores, above):
            margin = np.expand_dims(scores, 1) - np.expand_dims(scores, 0)
            return np.sum(above * np.log1p(np.exp(-margin))) / np.sum(above)
        """,
        (normal(4), positive(4, 4)),
        wrt=("scores",),
    ),
]
