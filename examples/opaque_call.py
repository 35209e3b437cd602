"""A model that is not written for differentiation: its derivative is taken when the gradient runs."""

import numpy as np

import lsp_ad


@lsp_ad.opaque(by="numerical")
def settled(rates):
    """The concentrations of three substances after a while, by a table that is worked on in place."""
    state = np.array([1.0, 0.0, 0.0])
    for _ in range(50):
        flow = rates * state
        state[:] -= 0.1 * flow
        state[1:] += 0.1 * flow[:-1]
    return state


def loss(a, b, measured):
    """Shapes: a (3,), b (3,), measured (3,)."""
    return np.sum((settled(np.exp(a) * b) - measured) ** 2)
