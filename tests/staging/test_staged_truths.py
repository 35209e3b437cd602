"""Truth values: sums of them, and conditions whose parts are numbers, lists and truth values."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging import StagingError
from tests.staging.test_staged_programs import assert_equal

pytest.importorskip("jax")
pytest.importorskip("numba")
pytestmark = pytest.mark.row("A4", "A8")


def added(x):
    return (x > 0.0) + (x > 1.0)


def added_by_name(x):
    first = x > 0.0
    second = not first
    return first - second


def counted(x):
    count = False
    count += x > 0.0
    return count


@pytest.mark.parametrize("backend", ["jax", "lantern"])
@pytest.mark.parametrize("f", [added, added_by_name, counted], ids=lambda f: f.__name__)
def test_a_sum_of_two_truth_values_is_refused(f, backend):
    # 2 for a float of Python, True for one of NumPy
    with pytest.raises(StagingError, match=r"of two staged truth values.*int\(a\)"):
        lsp_ad.staged(f, backend=backend)(2.0)


def numbers(x):
    return int(x > 0.0) + int(x > 1.0), 1 + (x > 0.0), (x > 0.0) * 2.5, (x > 0.0) * (x > 1.0)


def arrays(x):
    return (x > 0.0) + (x > 1.0), (x > 0.0) * (x > 1.0), np.sum(x > 0.0) + np.sum(x > 1.0)


@pytest.mark.parametrize("backend", ["jax", "lantern"])
def test_truth_values_count_beside_numbers_and_join_in_arrays(backend):
    for x in (2.0, 0.5, -1.0):
        assert lsp_ad.staged(numbers, backend=backend)(x) == numbers(x)
    x = np.array([2.0, 0.5, -1.0])
    assert_equal(lsp_ad.staged(arrays, backend=backend)(x), arrays(x))


def edges(adjacent, limit):
    count = 0
    for i in range(3):
        if adjacent[i] and i < limit:
            count += 1
        if not (adjacent[i] or limit < 2.0):
            count += 10
    while count and limit > 5.0:
        count -= 1
    return count


def stack(heights):
    left, best = [], 0.0
    for i in range(len(heights)):
        while left and heights[left[-1]] >= heights[i]:
            best = max(best, heights[left.pop()])
        left.append(i)
    return best, len(left)


@pytest.mark.parametrize("backend", ["jax", "lantern"])
def test_parts_of_a_condition_are_numbers_or_truth_values(backend):
    f = lsp_ad.staged(edges, backend=backend)
    for adjacent in (np.array([1, 0, 2]), np.array([0, 0, 0])):
        for limit in (1.5, 2.5, 6.0):
            assert f(adjacent, limit) == edges(adjacent, limit)


def test_a_list_is_a_part_of_a_condition():
    heights = np.array([2.0, 1.0, 5.0, 6.0, 2.0, 3.0])
    assert lsp_ad.staged(stack, backend="lantern")(heights) == stack(heights)
