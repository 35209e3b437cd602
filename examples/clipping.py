"""A recurrent network whose gradient is kept in bounds on its way back through the time steps."""

import numpy as np

import lsp_ad


def loss(w, h, xs):
    """The squared distance of the last state from one. Shapes: w (n, n), h (n,), xs (t, n)."""
    for x in xs:
        h = np.tanh(w @ h + x)
        with lsp_ad.insert_grad_of(h) as dh:
            size = np.linalg.norm(dh)
            if size > 0.5:
                dh = 0.5 * dh / size
    return np.sum((h - 1.0) ** 2)
