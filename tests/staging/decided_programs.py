"""Programs whose constructs are decided in many ways: with arguments, as in programs.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import lsp_ad

DECIDED: list[tuple] = []
DEPTH = 3
SCALES = (1.0, 2.0, 4.0)


def decided(*arguments: tuple) -> Callable:
    def kept(function: Callable) -> Callable:
        DECIDED.append((function, list(arguments)))
        return function

    return kept


@decided((2.0, 5, True), (2.0, 0, False))
def flags(x, n, flip):
    if flip and n > 3:
        x = -x
    elif not flip or x > 100.0:
        x = x + 1.0
    y = x if flip else 2.0 * x
    z = y if y > 0 else -y
    return z * n if n else z


@decided((1.5, 6))
def counted(x, n):
    i = 0
    while i < n:
        x = x * 1.1
        i += 1
    j = 10
    while True:
        j -= 3
        if j < 0:
            break
        x = x + j
    return x


@decided((1.5,))
def staged_later(x):
    i = 0
    y = 0.0
    while i < 3 or y < 10.0:
        i += 1
        if i > 2:
            y = y + x
    return y


@decided((0.5, 4), (8.0, 4))
def returns_early(x, n):
    for i in range(n):
        if i == 2:
            continue
        if x > i + 5:
            return x
        x = x + 1.0
    else:
        x = x * 2.0
    if n > 10:
        return 0.0
    return x


def _clipped(x, low=0.0, high=None):
    if high is None:
        high = 1.0
    if x < low:
        return low
    return high if x > high else x


@decided((0.3,), (7.0,))
def helpers(x):
    a = _clipped(x)
    b = _clipped(x, high=0.5)
    return a + b


def _power(x, n):
    if n == 0:
        return 1.0
    return x * _power(x, n - 1)


@decided((1.1, 3))
def recursive(x, n):
    return _power(x, n)


@decided((np.linspace(0.0, 1.0, 4),))
def arrays(x):
    total = 0.0
    if x.ndim == 1 and x.shape[0] > 2:
        for v in x:
            total = total + v if v > 0.5 else total
    for scale in SCALES:
        if scale > 3.0:
            total = total * scale
    for k, scale in enumerate((1.0, 2.0)):
        if k == 1:
            total = total + scale
    return total


@decided(([1.0, 2.0, 3.0], 0.5))
def lists(values, x):
    total = 0.0
    for i, v in enumerate(values):
        if i:
            total = total + v * x
    found = []
    for v in values:
        found.append(v * x)
    for a, b in zip(values, found, strict=False):
        if a > b and len(found) == 3:
            total = total + a
    return total


@decided((0.5,))
def grows(x):
    found = []
    for i in range(3):
        found.append(x * i)
    while len(found) < 5:
        found.append(x)
    total = 0.0
    for v in found:
        total = total + v
    return total


@decided((2.0,), (-2.0,))
def nested(x):
    def twice(v):
        return 2.0 * v if v > 0 else v

    count = 0

    def step(v):
        nonlocal count
        count += 1
        if count > 1:
            return twice(v)
        return v + DEPTH

    for _ in range(2):
        x = step(x)
    return x if count == 2 else 0.0


@decided((1.0, 3))
def table(x, n):
    options = {"rate": 0.1, "steps": n, "deep": False}
    for _ in range(options["steps"]):
        x = x - options["rate"] * x
    if options["deep"] or "momentum" in options:
        x = x * 2.0
    state = {"x": x, "count": 0}
    while state["x"] > 0.5 and state["count"] < 4:
        state["x"] = state["x"] * 0.9
        state["count"] += 1
    return state["x"]


@decided((1.0,))
def long_range(x):
    for i in range(100):
        if i % 2 == 0:
            x = x + 0.01
    for _ in range(100):
        lsp_ad.loop_options(unroll=True)
        x = x * 1.001
    for i in range(3):
        lsp_ad.loop_options(unroll=False)
        x = x + i
    return x


@decided((4.0,))
def inner_loops(x):
    y = 0.0
    for i in range(3):
        for j in range(i):
            y = y + x * j
        k = 0
        while k < i:
            k += 1
            if y > 100.0:
                break
    return y


@decided((3.0,))
def in_staged_loop(x):
    n = 0
    m = 2
    while x > 0.1:
        x = x * 0.5
        if m > 1:
            n += 1
        if n > 3 and m > 0:
            x = x * 0.9
        for i in range(m):
            x = x - 0.01 * i
    return x + n


@decided((3.0, None), (3.0, 2.0))
def optional(x, y):
    if y is None:
        y = 1.0
    if y is not None and x > y:
        x = x - y
    return x


@decided((3.0, "double"), (3.0, "half"))
def modes(x, mode):
    match mode:
        case "double":
            x = 2.0 * x
        case "half":
            x = 0.5 * x
    if mode in ("double", "triple"):
        x = x + 1.0
    while (x := x - 1.0) > 2.0:
        x = x * 0.9
    return x


@decided((np.arange(3.0), 2))
def comprehended(x, n):
    scaled = [v * 2.0 for v in range(n)]
    total = x.sum()
    for s in scaled:
        total = total + s
    pairs = [(a, b) for a in range(n) for b in range(n) if a < b]
    for a, b in pairs:
        total = total + a * b
    return total


@decided((1.5, 3, 2.0), (-1.5, 3, 0.5))
def jumps_everywhere(x, n, limit):
    for i in range(n):
        if not x > i:
            continue
        for j in range(2):
            if x > limit + j and not j > i:
                break
            x = x * 1.5
        else:
            x = x + 0.25
        if x > 40.0:
            return x
    while x < 10.0 or n > 5:
        x = x + 2.0
        if x > 7.0:
            break
        x = x + 0.5
    while True:
        x = x * 0.5
        if x < 1.0:
            return x
        if n == 0:
            break
    return -x


@decided((2.0, 4), (9.0, 4))
def assigns_in_tests(x, n):
    while (n := n - 1) > 0:
        x = x + n
    if n == 0 and (y := x * 2.0) > 8.0:
        x = y
    z = (w := x - 1.0) if x > 3.0 else (w := 1.0)
    while not (x := x * 0.5) < 1.0:
        z = z + w
    return z


@decided((2.0, 1, None), (2.0, 4, "slow"), (2.0, 7, None))
def cases(x, n, mode):
    match n:
        case 1 | 2:
            x = x + 1.0
        case k if k > 5 and mode is None:
            x = x * k
        case _:
            x = -x
    match mode:
        case None if x > 0.0:
            x = x * 3.0
        case None | "slow":
            x = x * 0.5
    return x


@decided((2.0, ()), (2.0, (1.0, 2.0)))
def negations(x, items):
    if not items:
        pass
    else:
        x = x + len(items)
    if 2.0 not in items and x is not None:
        x = x * 2.0
    if x > 100.0:
        pass
    return x if not x < 0.0 else -x


@decided((9.0, 5, True), (9.0, 2, False), (1.0, 3, True))
def breaks_first(x, n, checked):
    while x > 1.5:
        if x < 2.0:
            break
        if checked and x < 2.5:
            break
        x = x * 0.8
    while n > 0:
        if n == 2:
            break
        n -= 1
    while True:
        if x > 20.0:
            break
        x = x * 1.5
        if x > 10.0 and n > 3:
            break
    i = 0
    while i < 4:
        if x < n:
            break
        if i == 1:
            x = x - 1.0
        i += 1
    while x > n:
        if n > 100:
            break
        x = x * 0.5
    else:
        x = x + 0.125
    return x * n + i


@decided((2.0, 3))
def backwards(x, n):
    for i in reversed(range(100)):
        x = x * 0.99 + i
    for i in reversed(range(n)):
        x = x + i
    return x


@decided((3.0, True), (3.0, False))
def breaks_of_both_kinds(x, flag):
    while x > 1.0:
        if flag:
            break
        if x < 2.0 and x > 1.5:
            break
        x = x * 0.9
    return x
