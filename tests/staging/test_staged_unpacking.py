"""Assignments to several names of arrays whose size is known when the code runs, and uses of what may be None."""

from __future__ import annotations

import enum

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging import StagingError

pytest.importorskip("numba")
pytestmark = pytest.mark.row("A8", "A15")
POINTS = np.arange(6.0).reshape(3, 2)


def unpacked(points):
    total = 0.0
    for x, y in points:
        total += x * y
    for i, (x, y) in enumerate(points):
        total += x * i - y
    (a, b), c = points[0], points[1]
    u, v = c
    return total, a, b, u, v


def two(p):
    a, b = p
    return a - b


def listed(p):
    return [v for v in p]  # noqa: C416


def test_an_assignment_says_how_many_items_there_are():
    assert lsp_ad.staged(unpacked, backend="lantern")(POINTS) == unpacked(POINTS)
    f = lsp_ad.staged(two, backend="lantern")
    assert f(POINTS[1]) == two(POINTS[1])
    with pytest.raises(ValueError, match="other than 2 values to unpack"):
        f(np.zeros(3))
    with pytest.raises(StagingError, match=r"How many items an array of lantern has .* Write a `for`"):
        lsp_ad.staged(listed, backend="lantern")(POINTS)


def saved(s):
    kept, values = None, None
    if s <= 200.0:
        values = s * np.arange(4.0)
        kept = [values, values * s]
    return s, kept, values


def used(state):
    s, kept, values = state
    total = 0.0
    if s <= 200.0:
        for one in reversed(kept):
            total = total + one[1]
        for i, (one, other) in enumerate(zip(kept, values[:2], strict=False)):
            total = total + i * one[2] * other
        total = total * len(kept) * values[1]
    return total


def through_a_call(s):
    return used(saved(s))


def test_what_may_be_none_is_gone_over_and_handed_on():
    f = lsp_ad.staged(through_a_call, backend="lantern")
    for s in (1.5, 300.0):
        assert f(s) == through_a_call(s)


def early(s, k):
    if s > 200.0:
        return 0.0
    v = np.maximum(k - s * np.arange(4.0), 0.0)
    for _ in range(3):
        v = np.where(v > 1.0, v * s, v)
    return v[0]


def loss(s, k):
    return early(s, k) * k + s


def test_the_gradient_of_an_early_return_in_a_callee():
    gradient = lsp_ad.grad(loss)
    f = lsp_ad.staged(gradient, backend="lantern")
    for arguments in ((1.5, 2.0), (100.0, 1.0), (300.0, 1.0)):
        np.testing.assert_allclose(f(*arguments), gradient(*arguments))


class Light(enum.Enum):
    RED = 0
    GREEN = 1


class Belief:
    def __init__(self, mean):
        self.mean = mean


def switched(x):
    light = Light.RED
    if x > 0.0:
        light = Light.GREEN
    return light


def chosen(x):
    belief = Belief(x)
    if x > 0.0:
        belief = Belief(2.0 * x)
    return belief.mean


@pytest.mark.parametrize(
    "f, message",
    [(switched, r"Let its number depend on them"), (chosen, r"is a Belief in one branch, another Belief")],
)
def test_what_cannot_depend_on_a_staged_value_is_told_with_a_way_out(f, message):
    with pytest.raises(StagingError, match=message):
        lsp_ad.staged(f, backend="lantern")(1.0)
