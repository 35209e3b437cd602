"""Looking at a gradient on its way back: printed where it is large, a breakpoint where it is not a number."""

import numpy as np

import lsp_ad


def loss(w, x):
    """Shapes: w (n,), x (n,)."""
    r = np.sqrt(w * x)
    with lsp_ad.insert_grad_of(r) as dr:
        if np.max(np.abs(dr)) > 10.0:
            print(f"a large gradient arrives at r: {dr}")
        if not np.all(np.isfinite(dr)):
            breakpoint()
    return np.sum(r * r * r)
