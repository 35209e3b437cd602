"""Copies, sums and multiples of a list have the same arrays in them: a write into one of these is refused."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad


def sum_of_displays(x):
    a = x * 1.0
    items = [a] + [x * 2.0]  # noqa: RUF005
    a[0] *= 3.0
    return np.sum(items[0] ** 2) + np.sum(a)


def multiple(x):
    a = x * 1.0
    first = [a]
    items = first * 2
    a[0] *= 3.0
    return np.sum(items[1] ** 2) + np.sum(a)


def copy_of_a_list(x):
    a = x * 1.0
    first = [a]
    items = first.copy()
    a[0] *= 3.0
    return np.sum(items[0] ** 2) + np.sum(a)


def sum_of_names(x):
    a = x * 1.0
    first = [a]
    second = [x * 2.0]
    items = second + first
    a[0] *= 3.0
    return np.sum(items[1] ** 2) + np.sum(a)


@pytest.mark.parametrize("function", [sum_of_displays, multiple, copy_of_a_list, sum_of_names])
def test_refused(function):
    with pytest.raises(lsp_ad.DifferentiationError, match="AD302"):
        lsp_ad.grad(function)
