"""What the text tells of staging agrees with what happens on Lantern."""

from __future__ import annotations

import numpy as np
import pytest

from tests.staging.test_predictions import CASES, disagreements, predicted, reported

pytestmark = pytest.mark.row("A13", "A15")


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_prediction_and_report_agree(function, arguments):
    pytest.importorskip("numba")
    expected, found = predicted(function, arguments, sizes=True), reported(function, arguments, "lantern")
    wrong, unclear = disagreements(expected, found)
    # `x.ndim == 1 and x.shape[0] > 2`: the number of dimensions, which says if a size is asked, is not known
    assert not wrong and unclear == (function.__name__ == "arrays")


def sized(x, n):
    total = 0.0
    if x.shape[0] > 2:
        total = total + 1.0
    if len(x) > 2:
        total = total + 1.0
    if x.ndim > 1:
        total = total + 1.0
    return total * n


def test_sizes_are_staged():
    pytest.importorskip("numba")
    arguments = (np.ones(3), 2.0)
    expected, found = predicted(sized, arguments, sizes=True), reported(sized, arguments, "lantern")
    assert disagreements(expected, found) == ({}, 0)
    outcomes = [{outcome for outcome, _ in expected[key]} for key in sorted(expected, key=lambda k: k[1])]
    assert outcomes == [{"staged"}, {"staged"}, {"decided in Python"}]
