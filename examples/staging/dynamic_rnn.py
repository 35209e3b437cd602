"""A recurrent network over a batch of sequences of different lengths.

The loop runs as far as the longest sequence goes; the state of a sequence that has ended stays as it is.
"""

from __future__ import annotations

import numpy as np


def dynamic_rnn(x, lengths, w, u, b):
    """Outputs (time, batch, hidden) and the last state (batch, hidden) of a tanh cell.

    x: (time, batch, feature), lengths: (batch,), w: (feature, hidden), u: (hidden, hidden), b: (hidden,)
    """
    state = np.zeros((x.shape[1], u.shape[0]))
    outputs = []
    for t in range(x.shape[0]):
        new = np.tanh(x[t] @ w + state @ u + b)
        active = (lengths > t)[:, None]
        state = np.where(active, new, state)
        outputs.append(np.where(active, new, 0.0))
    return np.stack(outputs), state


def data(time=6, batch=4, feature=3, hidden=5, seed=0):
    """Arguments of `dynamic_rnn`."""
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(time, batch, feature)),
        rng.integers(1, time + 1, size=batch),
        rng.normal(size=(feature, hidden)) / np.sqrt(feature),
        rng.normal(size=(hidden, hidden)) / np.sqrt(hidden),
        np.zeros(hidden),
    )
