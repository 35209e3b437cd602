"""Reading elements, slices, by lists of positions and by masks."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "by positions, repeated ones too",
        """
        def f(x, k):
            return x[k] * 2
        """,
        (normal(5), np.array([0, 0, 3])),
        wrt=("x",),
    ),
    *case(
        "columns by positions, rows by slice",
        """
        def f(x, k):
            return x[:, k] * x[1:2]
        """,
        (normal(2, 5), np.array([0, 0, 3, 1, 1])),
        wrt=("x",),
    ),
    *case(
        "by mask",
        """
        def f(x, m):
            return x[m] * 2
        """,
        (normal(5), np.array([True, False, True, True, False])),
        wrt=("x",),
    ),
    *case(
        "by a mask made from the array",
        """
        def f(x):
            return np.sum(x[x > 0.2] ** 2)
        """,
        (normal(6),),
        (normal(2, 3),),
    ),
    *case(
        "new axes",
        """
        def f(x):
            return x[..., None] * x[None, :]
        """,
        (normal(4),),
    ),
    *case(
        "slices with and without steps",
        """
        def f(x):
            return x[1:] * x[:-1] + x[::2][0]
        """,
        (normal(6),),
    ),
    *case(
        "single elements",
        """
        def f(x):
            return x[0] * x[-1] + x[1]
        """,
        (normal(4),),
        (normal(4, 2),),
    ),
    *case(
        "an element of an element",
        """
        def f(x, i):
            return x[i][1] * x[1, i] + x[0][0]
        """,
        (normal(3, 3), 2),
    ),
    *case(
        "positions that are computed",
        """
        def f(x):
            order = np.argsort(x)
            k = len(x) // 2
            return x[order][k] * x[np.argmax(x)]
        """,
        (normal(5),),
    ),
    *case(
        "bounds that change before the backward sweep",
        """
        def f(x, n):
            y = x[:n]
            n = n + 1
            return np.sum(y * y) + np.sum(x[:n])
        """,
        (normal(5), 2),
        (normal(5), 0),
    ),
    *case(
        "an array that is rebound between reads",
        """
        def f(x):
            a = x[0]
            x = x * x
            b = x[0]
            x = np.sin(x)
            return a * b * x[0] * x[1]
        """,
        (normal(3),),
    ),
    *case(
        "the middle, by an ellipsis",
        """
        def f(x):
            return x[..., 0] * x[1, ..., -1]
        """,
        (normal(2, 3, 4),),
    ),
    *case(
        "pairs of positions",
        """
        def f(x, i, j):
            return x[i, j] ** 2
        """,
        (normal(3, 3), np.array([0, 1, 1]), np.array([2, 0, 0])),
        wrt=("x",),
    ),
    *case(
        "learning: a row of an embedding for each token",
        """
        def f(table, tokens, w):
            e = table[tokens]
            return np.tanh(e @ w).sum()
        """,
        (normal(5, 3), np.array([1, 4, 1]), normal(3)),
        wrt=("table", "w"),
    ),
    *case(
        "learning: cross-entropy by label",
        """
        def f(logits, labels):
            rows = np.arange(len(labels))
            top = np.max(logits, axis=1, keepdims=True)
            logz = np.log(np.sum(np.exp(logits - top), axis=1)) + top[:, 0]
            return np.mean(logz - logits[rows, labels])
        """,
        (normal(3, 4), np.array([1, 0, 3])),
        wrt=("logits",),
    ),
    *case(
        "physics: second differences along a line",
        """
        def f(u, k):
            return k * (u[2:] - 2 * u[1:-1] + u[:-2])
        """,
        (normal(6), 0.3),
    ),
    *case(
        "images: total variation",
        """
        def f(image):
            across = image[:, 1:] - image[:, :-1]
            down = image[1:, :] - image[:-1, :]
            return np.sum(np.abs(across)) + np.sum(np.abs(down))
        """,
        (normal(4, 5),),
    ),
    *case(
        "images: a convolution written as slices",
        """
        def f(image, kernel):
            h, w = image.shape
            out = 0.0
            for i in range(2):
                for j in range(2):
                    out = out + kernel[i, j] * image[i : h - 1 + i, j : w - 1 + j]
            return out
        """,
        (normal(4, 5), normal(2, 2)),
    ),
    *case(
        "signal: an autocorrelation at one lag",
        """
        def f(x, lag):
            centred = x - x.mean()
            return np.sum(centred[lag:] * centred[: len(x) - lag]) / np.sum(centred**2)
        """,
        (normal(6), 2),
        (normal(6), 0),
    ),
    *case(
        "dynamic programming: the cheapest path, softly",
        """
        def f(cost):
            best = cost[0]
            for i in range(1, len(cost)):
                left = np.concatenate([best[:1], best[:-1]])
                best = cost[i] - np.log(np.exp(-best) + np.exp(-left))
            return best[-1]
        """,
        (positive(4, 3),),
    ),
]
