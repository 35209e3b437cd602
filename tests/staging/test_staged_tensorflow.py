"""Programs for NumPy, compiled by TensorFlow: equal results, tracing once, graphs that hold them."""

from __future__ import annotations

import copy

import pytest

import lsp_ad
from tests.staging.programs import PROGRAMS
from tests.staging.test_staged_programs import assert_equal

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.row("A3", "A4", "A5", "A6", "A15")
CASES = [
    pytest.param(function, arguments, id=f"{function.__name__}-{number}")
    for function, several in PROGRAMS
    for number, arguments in enumerate(several)
]


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_equal(function, arguments):
    expected = function(*copy.deepcopy(arguments))
    assert_equal(lsp_ad.staged(function, backend="tensorflow")(*arguments), expected)
