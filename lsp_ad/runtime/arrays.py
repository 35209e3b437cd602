"""Functions that generated code may call where elements are chosen, moved, or summed along axes."""

import numpy as np

from lsp_ad.runtime.basic import unbroadcast


def fitted_adjoint(dx, x):
    """An adjoint cut, or filled up with zeros, to the shape of x: what a transform of n points does to x."""
    full = np.zeros(np.shape(x), dx.dtype)
    kept = tuple([slice(n) for n in np.minimum(np.shape(x), np.shape(dx))])
    full[kept] = dx[kept]
    return full


def irfft_adjoint(dy, x, axis, norm):
    """The adjoint of x in y = np.fft.irfft(x, axis=axis): a frequency that stands for two counts twice."""
    n = np.shape(dy)[axis]
    dx = np.moveaxis(np.fft.rfft(dy, axis=axis, norm=norm), axis, -1)
    dx[..., 1 : (n + 1) // 2] *= 2.0
    return fitted_adjoint(np.moveaxis(dx, -1, axis), x)


def take_adjoint(dy, x, indices, axis):
    """The adjoint of x in y = np.take(x, indices, axis), where an element may be taken several times."""
    dx = np.zeros_like(x, dtype=np.result_type(x, dy))
    if axis is None:
        flat = np.zeros(np.size(x), dx.dtype)
        np.add.at(flat, indices, np.reshape(dy, np.shape(indices)))
        return np.reshape(flat, np.shape(x))
    added = np.ndim(indices)
    first = axis % np.ndim(x)
    along = np.moveaxis(dx, first, 0)
    np.add.at(along, indices, np.moveaxis(dy, range(first, first + added), range(added)))
    return dx


def take_along_adjoint(dy, x, indices, axis):
    """The adjoint of x in y = np.take_along_axis(x, indices, axis)."""
    dx = np.zeros_like(x, dtype=np.result_type(x, dy))
    at = list(np.indices(np.shape(indices), sparse=True))
    at[axis] = indices
    np.add.at(dx, tuple(at), dy)
    return dx


def untiled(dy, x, reps):
    """The adjoint of x in y = np.tile(x, reps): the sum of the copies."""
    reps = (reps,) if np.ndim(reps) == 0 else tuple(reps)
    rank = max(len(reps), np.ndim(x))
    reps = (1,) * (rank - len(reps)) + reps
    shape = (1,) * (rank - np.ndim(x)) + np.shape(x)
    parts = np.reshape(dy, sum(zip(reps, shape, strict=True), ()))
    return np.reshape(np.sum(parts, axis=tuple(range(0, 2 * rank, 2))), np.shape(x))


def unpadded(dy, x, pad_width):
    """The adjoint of x in y = np.pad(x, pad_width): without the border."""
    before = np.broadcast_to(pad_width, (np.ndim(x), 2))[:, 0]
    return dy[tuple([slice(b, b + n) for b, n in zip(before, np.shape(x), strict=True)])]


def unstacked(dy, xs, axis):
    """The adjoints of the arrays xs that np.hstack, vstack, dstack or column_stack joins along an axis."""
    axis = min(axis, np.ndim(dy) - 1)
    each = max(np.size(dy) // max(np.shape(dy)[axis], 1), 1)
    pieces = np.split(dy, np.cumsum([np.size(x) // each for x in xs])[:-1], axis)
    return [np.reshape(piece, np.shape(x)) for piece, x in zip(pieces, xs, strict=True)]


def tensordot_adjoint_left(dy, x1, x2, axes):
    """The adjoint of x1 in y = np.tensordot(x1, x2, axes)."""
    n, m = np.ndim(x1), np.ndim(x2)
    left, right = (range(n - axes, n), range(axes)) if np.ndim(axes) == 0 else axes
    left, right = np.atleast_1d(left).astype(int) % max(n, 1), np.atleast_1d(right).astype(int) % max(m, 1)
    free = [i for i in range(n) if i not in left]
    dx = np.tensordot(dy, x2, axes=(range(len(free), np.ndim(dy)), [i for i in range(m) if i not in right]))
    return np.transpose(dx, np.argsort(free + list(left[np.argsort(right)])))


def tensordot_adjoint_right(dy, x1, x2, axes):
    """The adjoint of x2 in y = np.tensordot(x1, x2, axes)."""
    n = np.ndim(x1)
    pair = (range(axes), range(n - axes, n)) if np.ndim(axes) == 0 else (axes[1], axes[0])
    kept = n - np.size(pair[1])
    swapped = np.moveaxis(dy, range(kept), range(np.ndim(dy) - kept, np.ndim(dy)))
    return tensordot_adjoint_left(swapped, x2, x1, pair)


def inner_adjoint_left(dy, x1, x2):
    """The adjoint of x1 in y = np.inner(x1, x2)."""
    if np.ndim(x1) == 0 or np.ndim(x2) == 0:
        return unbroadcast(dy * x2, x1)
    return tensordot_adjoint_left(dy, x1, x2, (-1, -1))


def inner_adjoint_right(dy, x1, x2):
    """The adjoint of x2 in y = np.inner(x1, x2)."""
    if np.ndim(x1) == 0 or np.ndim(x2) == 0:
        return unbroadcast(dy * x1, x2)
    return tensordot_adjoint_right(dy, x1, x2, (-1, -1))


def kron_blocks(dy, x1, x2):
    """The adjoint of y = np.kron(x1, x2) by the elements of x1 and x2: their axes take turns."""
    rank = max(np.ndim(x1), np.ndim(x2))
    outer = (1,) * (rank - np.ndim(x1)) + np.shape(x1)
    inner = (1,) * (rank - np.ndim(x2)) + np.shape(x2)
    return np.reshape(dy, sum(zip(outer, inner, strict=True), ())), outer, inner


def kron_adjoint_left(dy, x1, x2):
    """The adjoint of x1 in y = np.kron(x1, x2)."""
    blocks, outer, inner = kron_blocks(dy, x1, x2)
    factor = np.reshape(x2, sum([(1, n) for n in inner], ()))
    return np.reshape(np.sum(blocks * factor, axis=tuple(range(1, 2 * len(outer), 2))), np.shape(x1))


def kron_adjoint_right(dy, x1, x2):
    """The adjoint of x2 in y = np.kron(x1, x2)."""
    blocks, outer, inner = kron_blocks(dy, x1, x2)
    factor = np.reshape(x1, sum([(n, 1) for n in outer], ()))
    return np.reshape(np.sum(blocks * factor, axis=tuple(range(0, 2 * len(inner), 2))), np.shape(x2))


def interp_slope(x, xp, fp):
    """The slope of np.interp(x, xp, fp): that of the line that x is on, zero outside."""
    xp, fp = np.asarray(xp), np.asarray(fp)
    i = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, len(xp) - 2)
    slopes = np.diff(fp) / np.diff(xp)
    return slopes[i] * ((x >= xp[0]) & (x < xp[-1]))


def interp_adjoint(dy, x, xp, fp):
    """The adjoint of fp in y = np.interp(x, xp, fp)."""
    xp = np.asarray(xp)
    inside = np.clip(x, xp[0], xp[-1])
    i = np.clip(np.searchsorted(xp, inside, side="right") - 1, 0, len(xp) - 2)
    t = (inside - xp[i]) / (xp[i + 1] - xp[i])
    dfp = np.zeros_like(fp, dtype=np.result_type(fp, dy))
    np.add.at(dfp, i, dy * (1.0 - t))
    np.add.at(dfp, i + 1, dy * t)
    return dfp


def gradient_adjoint(dy, x, axis):
    """The adjoint of x in y = np.gradient(x, axis=axis): central differences, one-sided ones at the ends."""
    dx = np.zeros_like(x, dtype=np.result_type(x, dy))
    to, of = np.moveaxis(dx, axis, 0), np.moveaxis(dy, axis, 0)
    to[2:] += 0.5 * of[1:-1]
    to[:-2] -= 0.5 * of[1:-1]
    to[1] += of[0]
    to[0] -= of[0]
    to[-1] += of[-1]
    to[-2] -= of[-1]
    return dx


def trapezoid_adjoint(dy, f, x, dx, axis):
    """The adjoint of f in y = np.trapezoid(f, x, dx, axis): half of the width on each side."""
    df = np.zeros_like(f, dtype=np.result_type(f, dy))
    to = np.moveaxis(df, axis, -1)
    width = (
        dx if x is None else np.diff(x) if np.ndim(x) == 1 else np.moveaxis(np.diff(x, axis=axis), axis, -1)
    )
    half = 0.5 * np.expand_dims(dy, -1) * width
    to[..., 1:] += half
    to[..., :-1] += half
    return df


def convolve_adjoint(dy, x1, x2, mode):
    """The adjoint of x1 in y = np.convolve(x1, x2, mode)."""
    n, m = len(x1), len(x2)
    cut = {"full": 0, "same": (min(n, m) - 1) // 2, "valid": min(n, m) - 1}[mode]
    whole = np.zeros(n + m - 1, np.result_type(dy, x2))
    whole[cut : cut + len(dy)] = dy
    return np.correlate(whole, x2, "valid")


def cumprod_adjoint(dy, x, y, axis):
    """The adjoint of x in y = np.cumprod(x, axis), exact at zeros."""
    shape = np.shape(x)
    x, axis = (np.ravel(x), 0) if axis is None else (x, axis)
    xs, ys, dys = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0), np.moveaxis(dy, axis, 0)
    dxs, carried = np.zeros_like(dys), np.zeros_like(dys[:1])[0:1].sum(axis=0)
    for i in range(len(xs) - 1, -1, -1):
        carried = carried + dys[i]
        dxs[i] = carried * ys[i - 1] if i else carried
        carried = carried * xs[i]
    return np.reshape(np.moveaxis(dxs, 0, axis), shape)


def cumprod_tangent(dx, x, y, axis):
    """The tangent of y = np.cumprod(x, axis)."""
    dx, x, axis = (np.ravel(dx), np.ravel(x), 0) if axis is None else (dx, x, axis)
    dxs, xs, ys = np.moveaxis(dx, axis, 0), np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0)
    dys = np.array(dxs)
    for i in range(1, len(xs)):
        dys[i] = dys[i - 1] * xs[i] + ys[i - 1] * dxs[i]
    return np.moveaxis(dys, 0, axis)
