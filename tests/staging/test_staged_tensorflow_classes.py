"""Methods that Python calls by itself are converted in a trace of TensorFlow."""

from __future__ import annotations

import pytest

from tests.staging.test_staged_classes import CASES
from tests.staging.test_staged_programs import assert_equal, compiled

pytestmark = pytest.mark.row("A2", "A15")


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_equal(function, arguments):
    assert_equal(compiled(function, "tensorflow")(*arguments), function(*arguments))
