"""TreeLSTM (Tai et al., 2015): a recurrent network over binary trees, and a step of training it.

A tree is three arrays, with a row for each node: its left child, its right child (-1: none), its word. Node 0
is the root.
"""

from __future__ import annotations

import numpy as np

import lsp_ad


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def cell(i, left, right, word, embed, w, u, v, b):
    """State h and memory c below node i, in one array of two rows.

    i: a number; embed: (words, features), w: (5 * hidden, features), u, v: (5 * hidden, hidden),
    b: (5 * hidden,)
    """
    hidden = u.shape[1]
    if i < 0:
        return np.zeros((2, hidden))
    below_left = cell(left[i], left, right, word, embed, w, u, v, b)
    below_right = cell(right[i], left, right, word, embed, w, u, v, b)
    z = w @ embed[word[i]] + u @ below_left[0] + v @ below_right[0] + b
    kept_left = sigmoid(z[hidden : 2 * hidden]) * below_left[1]
    kept_right = sigmoid(z[2 * hidden : 3 * hidden]) * below_right[1]
    c = sigmoid(z[:hidden]) * np.tanh(z[4 * hidden :]) + kept_left + kept_right
    h = sigmoid(z[3 * hidden : 4 * hidden]) * np.tanh(c)
    return np.stack([h, c])


def loss(embed, w, u, v, b, out, left, right, word, label):
    """Cross-entropy of the class of the root. out: (classes, hidden), label: a number"""
    z = out @ cell(0, left, right, word, embed, w, u, v, b)[0]
    z = z - np.max(z)
    return np.log(np.sum(np.exp(z))) - z[label]


loss_grad = lsp_ad.grad(loss, ("embed", "w", "u", "v", "b", "out"))


def step(embed, w, u, v, b, out, left, right, word, label, rate):
    """The parameters after one step of gradient descent on one tree."""
    d_embed, d_w, d_u, d_v, d_b, d_out = loss_grad(embed, w, u, v, b, out, left, right, word, label)
    embed, w, u = embed - rate * d_embed, w - rate * d_w, u - rate * d_u
    return embed, w, u, v - rate * d_v, b - rate * d_b, out - rate * d_out


def data(leaves=5, words=7, features=3, hidden=4, classes=3, seed=0):
    """Arguments of `step`."""
    rng = np.random.default_rng(seed)
    left, right, ends = [-1], [-1], [0]
    while len(ends) < leaves:
        node = ends.pop(int(rng.integers(len(ends))))
        for side in (left, right):
            side[node] = len(left)
            ends.append(len(left))
            left.append(-1)
            right.append(-1)

    def matrix(rows, columns):
        return rng.normal(size=(rows, columns)) / np.sqrt(columns)

    return (
        matrix(words, features),
        matrix(5 * hidden, features),
        matrix(5 * hidden, hidden),
        matrix(5 * hidden, hidden),
        np.zeros(5 * hidden),
        matrix(classes, hidden),
        np.array(left),
        np.array(right),
        rng.integers(0, words, size=len(left)),
        np.int64(1),
        0.1,
    )
