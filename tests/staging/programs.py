"""Programs that every back end runs: each with arguments, of which floats and arrays are staged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PROGRAMS: list[tuple[Callable[..., Any], list[tuple]]] = []


def program(*arguments: tuple) -> Callable:
    def kept(function: Callable) -> Callable:
        PROGRAMS.append((function, list(arguments)))
        return function

    return kept


@program((3.0,), (-2.0,), (0.0,))
def branch(x):
    if x > 0:
        y = 2.0 * x
    else:
        y = -x
    return y + 1.0


@program((3.5, 4), (-1.0, 3), (0.0, 2))
def loops_and_jumps(x, n):
    y = 0
    for i in range(n):
        if x > i:
            y = y + x * i
        elif x < 0:
            return -1.0
        else:
            break
    while y < 100 and x > 0:
        y = y * 2 + 1
    z = y if y > 50 else x
    return z


@program((27.0,), (2.0,))
def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


@program((np.linspace(0.0, 1.0, 5),), (np.zeros(3),))
def sums(x):
    total = 0.0
    for v in x:
        if v > 0.3:
            continue
        total = total + np.sin(v) + 1.0
    return total


@program((np.linspace(0.1, 1.0, 6), 0.1))
def stencil(u, c):
    v = u.copy()
    steps = 0
    while np.max(v) > 0.5 and steps < 40:
        v[1:-1] = v[1:-1] + c * (v[2:] - 2.0 * v[1:-1] + v[:-2])
        v[-1] = 0.9 * v[-1]
        steps += 1
    return v, steps


@program((0.3, 2.0), (0.9, 2.0))
def chained(x, y):
    if (0.0 < x < 0.5 and not y < 1.0) or x == y:
        return x * y
    return x + y


@program((np.array([1.0, 5.0, 2.0, 7.0]), 6.0), (np.array([1.0, 5.0]), 6.0))
def found_first(scores, limit):
    i, best, at = 0, scores[0], 0
    while i < len(scores):
        if scores[i] > limit:
            break
        if scores[i] > best:
            best, at = scores[i], i
        i += 1
    return best, at, i


@program((9.0, 0.5), (1.0, 0.5), (-4.0, 0.25))
def breaks_first(x, rate):
    steps = 0
    while True:
        if abs(x) < 1.5:
            break
        if steps > 6:
            break
        x = x * rate
        if x < -2.0:
            continue
        x = x + 0.1
        if x > 3.0 and steps > 4:
            break
        steps += 1
    while x < 5.0 and steps < 20:
        if not x < 4.5 or x != x:
            break
        while steps < 12:
            if steps > x + 8.0:
                break
            steps += 2
        x = x * 1.25 + 1.0
        steps += 1
    return x, steps


@program((np.arange(1.0, 4.0),), (-np.arange(1.0, 4.0),))
def written_through_views(x):
    y = np.outer(x, x)
    y.T[0] = 1.0
    y.transpose(1, 0)[2] = x
    y.swapaxes(0, 1)[0, 1] *= 9.0
    y.flat[2] = x[0]
    if x[0] > 0:
        y.T[1] = x
    for i in range(3):
        y.T[i, 0] += i
    z = np.zeros((2, 3))
    z.reshape(-1)[0] = x[0]
    z.reshape(3, 2)[1] += x[1]
    z.ravel()[5] = 7.0 * x[0]
    w = np.zeros((2, 3, 4))
    w.transpose(2, 0, 1)[1] = x[0]
    w.transpose(-1, 0, -2)[1, 0, 2] = 3.0 * x[0]
    w.T[1][2][0] = x[1]
    np.add.at(w.T, ([0, 0], [1, 1], [0, 1]), x[2])
    ys = [np.outer(x, x), 2.0 * x]
    ys[0].T[1] = x
    return y, z, w, ys[0]


def _parts(u, n):
    v = np.array(u)
    for i in range(1, n):
        v[i] = v[i] + v[i - 1]
    return v, (u, n)


@program((np.arange(4.0),))
def results_of_callees_share_nothing(x):
    y = 2.0 * x
    before = y[[0, 1]]
    y[[0, 1]] = y[[1, 0]]
    z, (kept, _) = _parts(y, 3)
    y[0] = 5.0
    places = np.nonzero(np.arange(4) > 1)
    y[places] = z[places] + 1.0
    return y, z, kept, before


@program((np.arange(4.0), 1.5), (np.arange(4.0), 10.0))
def none_until_there_is_one(xs, limit):
    best = None
    for x in xs:
        if best is None or x * limit > best:
            best = x * limit
    last = None
    for x in xs:
        if x > limit:
            last = x
    if last is not None and last > 0.0:
        return best, last + 1.0
    return best, -1.0


@program((1.0,), (-1.0,))
def none_in_one_branch(x):
    y = None
    if x > 0:
        y = x
    z = 3.0
    if y is not None:
        z = y * 2.0
    return z, 1.0 if y is None else y


@program((np.arange(3.0),))
def numbers_of_two_types_in_a_list(x):
    total = 0
    kept = []
    for i, item in enumerate(x):
        kept.append((item, i, total))
        total = total + item
    found = 0.0
    for item, i, before in kept:
        found = found + item * i - before
    return total, found
