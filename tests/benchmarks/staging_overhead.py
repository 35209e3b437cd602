"""What converted code costs on plain Python values: the time of the user's function, and of the staged one.

Run: python tests/benchmarks/staging_overhead.py
"""

from __future__ import annotations

import math
import timeit

import numpy as np

import lsp_ad


def helper(x):
    return x + 1.0


def calls(n):
    x = 0.0
    for _ in range(n):
        x = helper(x)
    return x


def branches(n):
    x = 0.0
    for i in range(n):
        if x > 10 and i > 3:
            x = x - 10.0
        else:
            x = x + 3.0
    return x


def whiles(n):
    x = 0
    while x < n:
        x += 1
    return x


def builtins_(n):
    x = 0.0
    for i in range(n):
        x = abs(x - math.sin(i)) + max(x, 1.0)
    return x


class Model:
    def __init__(self, scale):
        self.scale = scale

    def apply(self, x):
        return self.scale * x


def methods(n):
    model = Model(0.5)
    x = 1.0
    for _ in range(n):
        x = model.apply(x) + 1.0
    return x


def arrays(n):
    x = np.ones(1000)
    for _ in range(n):
        x = np.sin(x) * np.sum(x)
    return x


def main() -> None:
    print(f"{'':12}{'Python':>10}{'staged':>10}{'ratio':>8}{'added per step':>18}")
    for function in (calls, branches, whiles, builtins_, methods, arrays):
        staged = lsp_ad.staged(function)
        assert np.all(staged(10) == function(10))
        plain, made = (
            min(timeit.repeat(lambda f=f: f(1000), number=5, repeat=7)) / 5 for f in (function, staged)
        )
        per_step = (made - plain) / 1000 * 1e9
        print(
            f"{function.__name__:12}{plain * 1e3:8.3f}ms{made * 1e3:8.3f}ms{made / plain:8.1f}{per_step:15.0f} ns"
        )


if __name__ == "__main__":
    main()
