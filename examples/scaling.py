"""Two tasks share a trunk; the gradient of one of them counts less there (gradient scaling)."""

import numpy as np

import lsp_ad


def loss(trunk, head, other_head, x):
    """Shapes: trunk (n, m), head (n,), other_head (n,), x (m,)."""
    z = np.tanh(trunk @ x)
    side = z * 1.0
    with lsp_ad.insert_grad_of(side) as dside:
        dside = 0.1 * dside
    return (head @ z - 1.0) ** 2 + (other_head @ side) ** 2
