"""The few functions that generated code may call: plain NumPy, and one another.

They are imported from here, or written into the user's file once, as they stand.
"""

import numpy as np


def unbroadcast(dx, x):
    """Sum an adjoint over the axes along which x was broadcast; the result has the shape of x."""
    if getattr(dx, "shape", None) == getattr(x, "shape", ()):
        return dx
    shape, large = np.shape(x), np.shape(dx)
    added = len(large) - len(shape)
    axes = tuple(range(added))
    if large[added:] == shape:
        return dx.sum(axes) if axes else dx
    stretched = tuple(added + i for i, n in enumerate(shape) if n == 1)
    return np.reshape(dx.sum(axes + stretched), shape)


def summed_to_product(dy, x1, x2):
    """The adjoint of y = x1 @ x2, two arrays, from that of something that y was broadcast to."""
    a, b = x1.shape, x2.shape
    shape = np.broadcast_shapes(a[:-2], b[:-2]) + a[-2:-1] + b[-1:] * (len(b) > 1)
    return dy if np.shape(dy) == shape else unbroadcast(dy, np.empty(shape))


def sum_adjoint(dx):
    """The sum of an adjoint, whose type a number keeps."""
    return dx.sum() if getattr(dx, "ndim", 0) else dx


def matmul_adjoint_left(dy, x1, x2):
    """The adjoint of x1 in y = x1 @ x2, for operands of any rank from one on."""
    x1, x2 = np.asarray(x1), np.asarray(x2)
    if x1.ndim == x2.ndim == 2:
        if getattr(dy, "shape", ()) != (len(x1), x2.shape[1]):
            dy = summed_to_product(dy, x1, x2)
        return dy @ x2.T
    if getattr(dy, "shape", ()) != x1.shape[:-1] + x2.shape[1:]:
        dy = summed_to_product(dy, x1, x2)
    if x2.ndim == 1:
        return dy * x2 if x1.ndim == 1 else np.expand_dims(dy, -1) * x2
    if x1.ndim == 1:
        return unbroadcast(np.squeeze(np.matmul(x2, np.expand_dims(dy, -1)), -1), x1)
    return unbroadcast(np.matmul(dy, np.swapaxes(x2, -1, -2)), x1)


def matmul_adjoint_right(dy, x1, x2):
    """The adjoint of x2 in y = x1 @ x2, for operands of any rank from one on."""
    x1, x2 = np.asarray(x1), np.asarray(x2)
    if x1.ndim == x2.ndim == 2:
        if getattr(dy, "shape", ()) != (len(x1), x2.shape[1]):
            dy = summed_to_product(dy, x1, x2)
        return x1.T @ dy
    if getattr(dy, "shape", ()) != x1.shape[:-1] + x2.shape[1:]:
        dy = summed_to_product(dy, x1, x2)
    if x1.ndim == 2 and x2.ndim == 1:
        return x1.T @ dy
    if x2.ndim == 1:
        return dy * x1 if x1.ndim == 1 else np.ravel(dy) @ np.reshape(x1, (-1, len(x2)))
    if x1.ndim == 1:
        return unbroadcast(np.expand_dims(x1, -1) * np.expand_dims(dy, -2), x2)
    return unbroadcast(np.matmul(np.swapaxes(x1, -1, -2), dy), x2)


def dot_adjoint_left(dy, x1, x2):
    """The adjoint of x1 in y = np.dot(x1, x2)."""
    if np.ndim(x1) == 0:
        return np.sum(dy * x2)
    if np.ndim(x2) <= 1:
        return np.expand_dims(dy, -1) * x2 if np.ndim(x2) and np.ndim(x1) > 1 else dy * x2
    other = np.moveaxis(x2, -2, -1)
    return np.tensordot(dy, other, axes=(range(np.ndim(x1) - 1, np.ndim(dy)), range(np.ndim(x2) - 1)))


def dot_adjoint_right(dy, x1, x2):
    """The adjoint of x2 in y = np.dot(x1, x2)."""
    if np.ndim(x2) == 0:
        return np.sum(dy * x1)
    if np.ndim(x1) == 0 or np.ndim(x1) == np.ndim(x2) == 1:
        return dy * x1
    rows = range(np.ndim(x1) - 1)
    return np.moveaxis(np.tensordot(x1, dy, axes=(rows, rows)), 0, np.ndim(x2) - 2 if np.ndim(x2) > 1 else 0)


def product_of_others(x, axis):
    """For each element of x, the product of the others along an axis (None: of all), exact at zeros."""
    whole = np.ravel(x) if axis is None else np.moveaxis(np.asarray(x), axis, 0)
    ones = np.ones_like(whole[:1])
    before = np.cumprod(np.concatenate([ones, whole[:-1]]), axis=0)
    after = np.cumprod(np.concatenate([ones, whole[:0:-1]]), axis=0)[::-1]
    others = before * after
    return np.reshape(others, np.shape(x)) if axis is None else np.moveaxis(others, 0, axis)


def sinc_slope(x):
    """The derivative of np.sinc: (cos(pi x) - sinc(x)) / x, and its series where these two cancel."""
    near = np.abs(x) < 0.01
    far = np.where(near, 1.0, x)
    u = (np.pi * x) ** 2
    series = -(np.pi**2) / 3.0 * x * (1.0 - u / 10.0 + u * u / 280.0)
    return np.where(near, series, (np.cos(np.pi * far) - np.sinc(far)) / far)


def diff_adjoint(dy, x, axis):
    """The adjoint of x in y = np.diff(x, axis=axis)."""
    dx = np.zeros_like(x, dtype=np.result_type(x, dy))
    along = np.moveaxis(dx, axis, 0)
    along[1:] += np.moveaxis(dy, axis, 0)
    along[:-1] -= np.moveaxis(dy, axis, 0)
    return dx


def diagonal_adjoint(dy, x, offset):
    """The adjoint of x in y = np.diagonal(x, offset): zeros in the shape of x, with dy on the diagonal."""
    dx = np.zeros_like(x, dtype=np.result_type(x, dy))
    matrices = np.moveaxis(dx, (0, 1), (-2, -1))
    n, m = np.shape(dx)[:2]
    i = np.arange(max(-offset, 0), max(min(n, m - offset), 0))
    matrices[..., i, i + offset] = dy
    return dx


def diag_adjoint(dy, x, k):
    """The adjoint of x in y = np.diag(x, k), for a vector or a matrix."""
    return np.diagonal(dy, k).copy() if np.ndim(x) == 1 else diagonal_adjoint(dy, x, k)


def solve_adjoint_right(dy, x1):
    """The adjoint of x2 in y = np.linalg.solve(x1, x2): what solves with the transposed matrix."""
    x1 = np.asarray(x1)
    if x1.ndim != 2:
        raise ValueError("the derivative of np.linalg.solve takes one matrix, not a stack of matrices")
    return np.linalg.solve(x1.T, dy)


def solve_adjoint_left(dx2, y):
    """The adjoint of x1 in y = np.linalg.solve(x1, x2), from that of x2."""
    return dx2[:, None] * -y if y.ndim == 1 else -(dx2 @ y.T)


def written_last(x, index):
    """Which parts of `e` stay in x after `x[index] = e`: where places are named twice, the last."""
    places = np.zeros(np.shape(x), dtype=int)
    numbers = np.arange(np.size(places[index])).reshape(np.shape(places[index]))
    places[index] = numbers
    return places[index] == numbers


def numerical_vjp(function, arguments, position, dy):
    """The adjoint of one argument of a function, by central differences: four calls for each element."""
    x = arguments[position]
    flat = np.array(x, dtype=np.result_type(x, 1.0)).ravel()
    dx = np.zeros_like(flat)
    for i in range(flat.size):
        h = np.finfo(flat.dtype).eps ** 0.2 * max(1.0, abs(flat[i]))
        for factor, weight in ((1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)):
            moved = flat.copy()
            moved[i] += factor * h
            value = np.reshape(moved, np.shape(x)) if np.ndim(x) else moved[0]
            y = function(*arguments[:position], value, *arguments[position + 1 :])
            dx[i] += weight * np.sum(dy * np.asarray(y)) / (12.0 * h)
    return np.reshape(dx, np.shape(x))[()]


def autograd_vjp(function, arguments, position, dy):
    """The adjoint of one argument of a function that is written for Autograd."""
    from autograd import make_vjp

    pull_back, y = make_vjp(function, position)(*arguments)
    if isinstance(y, (tuple, list, dict)):
        raise TypeError("a function that Autograd differentiates returns one number or array")
    return pull_back(dy)


def jax_vjp(function, arguments, position, dy):
    """The adjoint of one argument of a function that is written for JAX, in double precision where it is."""
    import jax
    import jax.experimental

    double = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
    with double(True):
        y, pull_back = jax.vjp(
            lambda x: function(*arguments[:position], x, *arguments[position + 1 :]), arguments[position]
        )
        return np.asarray(pull_back(jax.numpy.asarray(dy, dtype=y.dtype))[0])[()]


def numerical_jvp(function, arguments, tangents):
    """The tangent of a function, by central differences: four calls. None: an argument that stands still."""
    moving = [i for i, dx in enumerate(tangents) if dx is not None]
    size = max([np.max(np.abs(tangents[i]), initial=0.0) for i in moving])
    scale = max([1.0] + [np.max(np.abs(arguments[i]), initial=0.0) for i in moving])
    exact = np.result_type(*[arguments[i] for i in moving], *[tangents[i] for i in moving], 1.0)
    h = float(np.finfo(exact).eps ** 0.2 * scale / size) if size > 0.0 else 1.0
    values = []
    for step in (h, -h, 2.0 * h, -2.0 * h):
        moved = [x if dx is None else x + step * dx for x, dx in zip(arguments, tangents, strict=True)]
        values.append(np.asarray(function(*moved)))
    return ((8.0 * (values[0] - values[1]) - (values[2] - values[3])) / (12.0 * h))[()]


def autograd_jvp(function, arguments, tangents):
    """The tangent of a function that is written for Autograd; None for an argument that stands still."""
    from autograd import make_jvp

    dy = 0.0
    for i, dx in enumerate(tangents):
        if dx is not None:
            y, part = make_jvp(function, i)(*arguments)(dx)
            if isinstance(y, (tuple, list, dict)):
                raise TypeError("a function that Autograd differentiates returns one number or array")
            dy = dy + part
    return dy


def jax_jvp(function, arguments, tangents):
    """The tangent of a function that is written for JAX; None for an argument that stands still."""
    import jax
    import jax.experimental

    moving = [i for i, dx in enumerate(tangents) if dx is not None]

    def of_moving(*values):
        given = list(arguments)
        for i, value in zip(moving, values, strict=True):
            given[i] = value
        return function(*given)

    double = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
    with double(True):
        primals = [jax.numpy.asarray(arguments[i]) for i in moving]
        values = [jax.numpy.asarray(tangents[i], dtype=x.dtype) for i, x in zip(moving, primals, strict=True)]
        return np.asarray(jax.jvp(of_moving, primals, values)[1])[()]


def holds_complex(x):
    """Whether a number or an array is complex, or an item of a list is."""
    if not isinstance(x, (list, tuple)):
        return np.iscomplexobj(x)
    found = False
    for item in x:
        found = found or holds_complex(item)
    return found
