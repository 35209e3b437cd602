"""Functions that generated code may call for the factors of matrices."""

import numpy as np

from lsp_ad.runtime.basic import matmul_adjoint_right, solve_adjoint_right, sum_adjoint


def lower_adjoint(dx):
    """The adjoint of a symmetric matrix, as one of the lower triangle that is read."""
    both = np.tril(dx + np.swapaxes(dx, -1, -2))
    return both - np.tril(np.triu(dx))


def symmetric_tangent(dx):
    """The tangent of a symmetric matrix of which the lower triangle is read."""
    return np.tril(dx) + np.swapaxes(np.tril(dx, -1), -1, -2)


def cholesky_adjoint(dy, y):
    """The adjoint of x in y = np.linalg.cholesky(x), which reads the lower triangle of x (Giles 2008)."""
    halved = np.ones_like(y) - 0.5 * np.eye(np.shape(y)[-1], dtype=y.dtype)
    inverse = np.linalg.inv(y)
    inner = np.tril(np.swapaxes(y, -1, -2) @ dy) * halved
    s = np.swapaxes(inverse, -1, -2) @ inner @ inverse
    return np.tril(s + np.swapaxes(s, -1, -2)) * halved


def cholesky_adjoint_of_diagonal(d, y):
    """What cholesky_adjoint(dy, y) is for a diagonal dy that has d on its diagonal."""
    inverse = np.linalg.inv(y)
    lower = np.tril((inverse * (d * np.diag(y))[:, None]).T @ inverse)
    return lower * (1.0 - 0.5 * np.eye(len(y), dtype=y.dtype))


def solved_adjoint(dy, factor, x1, x, y):
    """The adjoint of x2 in y = np.linalg.solve(x, x2), a symmetric x, from the adjoint of factor * x1 @ y.

    x1 is x2 or x2.T. For vectors there is no need to solve once more.
    """
    if y.ndim == 1:
        return sum_adjoint(dy) * factor * y
    return solve_adjoint_right(matmul_adjoint_right(dy, factor * x1, y), x)


def cholesky_tangent(dx, y):
    """The tangent of y = np.linalg.cholesky(x), which reads the lower triangle of x (Giles 2008)."""
    halved = np.ones_like(y) - 0.5 * np.eye(np.shape(y)[-1], dtype=y.dtype)
    lower = np.tril(dx) * halved
    inner = np.linalg.solve(y, lower + np.swapaxes(lower, -1, -2))
    return y @ (np.tril(np.linalg.solve(y, np.swapaxes(inner, -1, -2))) * halved)


def eigh_tangent(dx, w, v):
    """The tangents of w, v = np.linalg.eigh(x), for distinct eigenvalues."""
    gaps = np.expand_dims(w, -2) - np.expand_dims(w, -1)
    same = np.eye(np.shape(w)[-1], dtype=w.dtype)
    turned = np.swapaxes(v, -1, -2) @ symmetric_tangent(dx) @ v
    return np.sum(turned * same, axis=-1), v @ (turned / (gaps + same) * (1.0 - same))


def pinv_tangent(dx, x, y):
    """The tangent of y = np.linalg.pinv(x), for matrices of full rank."""
    yt, dxt = np.swapaxes(y, -1, -2), np.swapaxes(dx, -1, -2)
    return y @ yt @ (dxt - dxt @ x @ y) + (dxt - y @ x @ dxt) @ yt @ y - y @ dx @ y


def eigh_adjoint(dw, dv, w, v):
    """The adjoint of x in w, v = np.linalg.eigh(x), for distinct eigenvalues."""
    gaps = np.expand_dims(w, -2) - np.expand_dims(w, -1)
    same = np.eye(np.shape(w)[-1], dtype=w.dtype)
    turned = np.swapaxes(v, -1, -2) @ dv / (gaps + same) * (1.0 - same)
    return lower_adjoint(v @ (turned + same * np.expand_dims(dw, -2)) @ np.swapaxes(v, -1, -2))


def svd_adjoint(du, ds, dvh, u, s, vh):
    """The adjoint of x in u, s, vh = np.linalg.svd(x, full_matrices=False), for distinct singular values."""
    v, dv, ut = np.swapaxes(vh, -1, -2), np.swapaxes(dvh, -1, -2), np.swapaxes(u, -1, -2)
    same = np.eye(np.shape(s)[-1], dtype=s.dtype)
    row, column = np.expand_dims(s, -2), np.expand_dims(s, -1)
    f = (1.0 - same) / ((row - column) * (row + column) + same)
    left, right = ut @ du, vh @ dv
    left, right = f * (left - np.swapaxes(left, -1, -2)), f * (right - np.swapaxes(right, -1, -2))
    dx = u @ (left * row + column * right + same * np.expand_dims(ds, -2)) @ vh
    dx = dx + (du - u @ (ut @ du)) / row @ vh
    return dx + u / row @ np.swapaxes(dv - v @ (vh @ dv), -1, -2)


def qr_adjoint(dq, dr, q, r):
    """The adjoint of x in q, r = np.linalg.qr(x), for at least as many rows as columns."""
    if np.shape(r)[-2] != np.shape(r)[-1]:
        raise ValueError(
            "the derivative of np.linalg.qr takes matrices with at least as many rows as columns"
        )
    m = r @ np.swapaxes(dr, -1, -2) - np.swapaxes(dq, -1, -2) @ q
    both = np.tril(m) + np.swapaxes(np.tril(m, -1), -1, -2)
    return np.swapaxes(np.linalg.solve(r, np.swapaxes(dq + q @ both, -1, -2)), -1, -2)


def pinv_adjoint(dy, x, y):
    """The adjoint of x in y = np.linalg.pinv(x), for matrices of full rank."""
    yt, dyt = np.swapaxes(y, -1, -2), np.swapaxes(dy, -1, -2)
    rows = dyt - x @ (y @ dyt)
    columns = dyt - dyt @ y @ x
    return rows @ y @ yt + yt @ y @ columns - yt @ dy @ yt
