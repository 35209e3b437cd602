"""Several targets with elements among them, loops with `else`, generators, patterns of `match`."""

from __future__ import annotations

import re
from collections import deque

import numpy as np
import pytest

import lsp_ad
from tests.staging.test_staged_programs import assert_equal

pytestmark = pytest.mark.row("A8", "A12")
pytest.importorskip("jax")


def elements_of_several_targets(a):
    x = np.zeros(2)
    if a > 0:
        x[0], x[1] = 1.0, 2.0
    return x


def one_value_for_several_targets(a):
    x, y = np.zeros(2), np.zeros(2)
    z = 3.0
    if a > 0:
        z = x[0] = y[1] = a
    return x, y, z


def elements_of_a_list(a):
    xs = [a, 2.0, 3.0]
    if a > 0:
        xs[0], xs[2] = xs[2], xs[0]
    (b, xs[1]), *c = (a, 7.0), 1.0, 2.0
    return xs[0], xs[1], xs[2], b, c[1]


def bound_by_break_or_else(a):
    for i, x in enumerate((1.0, 2.0, 3.0)):
        if x > a:
            r = i
            break
    else:
        r = -1
    n = 0
    while n < 5:
        n += 1
        if a * n > 6:
            out = a * n
            break
    else:
        out = -1.0
    return r, out


def generators(a):
    def multiples(n):
        for i in range(n):
            yield i * a

    total = 0.0
    for v in multiples(4):
        if v > 1:
            total = total + v
    return total + sum(multiples(3)), max(multiples(3)), min(v + 1.0 for v in multiples(2))


@pytest.mark.parametrize("backend", ["python", "jax", "lantern"])
@pytest.mark.parametrize("a", [2.0, -2.0, 9.0])
@pytest.mark.parametrize(
    "function",
    [
        elements_of_several_targets,
        one_value_for_several_targets,
        elements_of_a_list,
        bound_by_break_or_else,
        generators,
    ],
)
def test_right(function, a, backend):
    pytest.importorskip({"lantern": "numba", "python": "numpy"}.get(backend, backend))
    made = lsp_ad.staged(function, backend=backend) if backend != "python" else lsp_ad.staged(function)
    assert_equal(made(a), function(a))


def test_bubble_sort():
    def sort(x):
        x = x.copy()
        for i in range(len(x)):
            for j in range(len(x) - 1 - i):
                if x[j] > x[j + 1]:
                    x[j], x[j + 1] = x[j + 1], x[j]
        return x

    assert_equal(lsp_ad.staged(sort, backend="jax")(np.array([3.0, 1.0, 2.0])), np.array([1.0, 2.0, 3.0]))


def of_a_class(a):
    match a:
        case float():
            return a
    return 0.0


def in_a_loop(a):
    xs = [0.0]
    for xs[0] in (1.0, 2.0):
        a = a + xs[0]
    return a


def deciding(a):
    def positive(n):
        for i in range(n):
            if i * a > 1:
                yield i * a

    return sum(positive(3))


def of_a_queue(a):
    queue = deque([1.0, a])
    while queue[0] < a:
        queue.popleft()
    return queue[0]


@pytest.mark.parametrize(
    ("function", "line", "message"),
    [
        (of_a_class, 2, "This pattern of `match` cannot be converted"),
        (in_a_loop, 2, "An element of an array or a list is the target of a statement"),
        (deciding, 4, "This is a generator, which cannot be staged"),
        (of_a_queue, 2, "`queue` is changed in code that is staged"),
    ],
)
def test_refused(function, line, message):
    with pytest.raises((lsp_ad.StagingError, lsp_ad.ConversionError), match=re.escape(message)) as raised:
        lsp_ad.staged(function, backend="jax")(2.0)
    assert f":{function.__code__.co_firstlineno + line}: " in str(raised.value)
