"""Sequence to sequence: an encoder, and a decoder fed the right tokens (teacher forcing) or its own."""

from __future__ import annotations

import numpy as np


def seq2seq(source, target, embed, w_in, u_in, w_out, u_out, out, teacher_forcing: bool):
    """The loss (mean cross-entropy) and the tokens that the decoder finds most likely.

    source: (time, batch), target: (steps, batch), tokens; embed: (vocabulary, features),
    w: (features, hidden), u: (hidden, hidden), out: (hidden, vocabulary)
    """
    state = np.zeros((source.shape[1], u_in.shape[0]))
    for t in range(source.shape[0]):
        state = np.tanh(embed[source[t]] @ w_in + state @ u_in)
    tokens = np.zeros(source.shape[1], dtype=np.int64)
    rows = np.arange(source.shape[1])
    loss = 0.0
    found = []
    for t in range(target.shape[0]):
        state = np.tanh(embed[tokens] @ w_out + state @ u_out)
        z = state @ out
        z = z - np.max(z, axis=1, keepdims=True)
        chances = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
        loss = loss - np.sum(chances[rows, target[t]])
        best = np.argmax(chances, axis=1)
        found.append(best)
        tokens = target[t] if teacher_forcing else best
    return loss / (target.shape[0] * target.shape[1]), np.stack(found)


def data(time=5, steps=4, batch=3, vocabulary=11, features=4, hidden=6, teacher_forcing=True, seed=0):
    """Arguments of `seq2seq`."""
    rng = np.random.default_rng(seed)

    def matrix(rows, columns):
        return rng.normal(size=(rows, columns)) / np.sqrt(rows)

    return (
        rng.integers(0, vocabulary, size=(time, batch)),
        rng.integers(0, vocabulary, size=(steps, batch)),
        rng.normal(size=(vocabulary, features)),
        matrix(features, hidden),
        matrix(hidden, hidden),
        matrix(features, hidden),
        matrix(hidden, hidden),
        matrix(hidden, vocabulary),
        teacher_forcing,
    )
