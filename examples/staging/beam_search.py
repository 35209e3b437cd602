"""Beam search over a small language model, with an early stop when every beam has ended."""

from __future__ import annotations

import numpy as np


def beam_search(embed, w, u, out, start, end, beams, longest):
    """The best sequences and their log-probabilities.

    embed: (vocabulary, hidden), w: (hidden, hidden), u: (hidden, hidden), out: (hidden, vocabulary); `start`,
    `end`: tokens; `beams`: how many sequences are kept; `longest`: how long they may become.
    """
    vocabulary = embed.shape[0]
    state = np.zeros((beams, w.shape[0]))
    tokens = np.full(beams, start)
    scores = np.zeros(beams)
    scores[1:] = -1e30  # at first all beams are the same
    sequences = np.full((beams, longest), end)
    ended = np.zeros(beams, dtype=bool)
    for t in range(longest):
        state = np.tanh(embed[tokens] @ w + state @ u)
        z = state @ out
        z = z - np.max(z, axis=1, keepdims=True)
        chances = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
        # a beam that has ended goes on with `end` at no cost
        only_end = np.where(np.arange(vocabulary) == end, 0.0, -1e30)
        chances = np.where(ended[:, None], only_end, chances)
        totals = (scores[:, None] + chances).reshape(-1)
        best = np.argsort(-totals)[:beams]
        scores = totals[best]
        parent = best // vocabulary
        tokens = best % vocabulary
        state = state[parent]
        sequences = sequences[parent]
        sequences[:, t] = tokens
        ended = ended[parent] | (tokens == end)
        if np.all(ended):
            break
    return sequences, scores


def data(vocabulary=12, hidden=6, beams=3, longest=8, seed=0):
    """Arguments of `beam_search`."""
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(vocabulary, hidden)),
        rng.normal(size=(hidden, hidden)),
        rng.normal(size=(hidden, hidden)),
        2.0 * rng.normal(size=(hidden, vocabulary)),
        1,
        0,
        beams,
        longest,
    )
