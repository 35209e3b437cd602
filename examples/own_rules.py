"""Derivatives that the user knows better: of a root that an iteration finds, and of a function with a cut."""

import numpy as np

import lsp_ad


def root_vjp(a, y, dy):
    """The implicit function theorem: y**3 + a * y = 1 gives (3 * y**2 + a) dy + y da = 0."""
    return -dy * y / (3.0 * y**2 + a)


@lsp_ad.custom_vjp(root_vjp)
def root(a):
    """The real y with y**3 + a * y = 1, for positive a."""
    y = np.ones_like(a)
    while np.max(np.abs(y**3 + a * y - 1.0)) > 1e-14:
        y = y - (y**3 + a * y - 1.0) / (3.0 * y**2 + a)
    return y


@lsp_ad.non_differentiable
def bucket(x):
    """Which of ten buckets a value falls into."""
    return np.clip(np.floor(10.0 * x), 0, 9)


def loss(a, x):
    """Shapes: a (n,), x (n,)."""
    return np.sum(root(a * x) * bucket(x))
