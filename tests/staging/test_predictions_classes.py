"""What the text tells of staging agrees with what happens in methods, properties and operators of classes."""

from __future__ import annotations

import pytest

from tests.staging.class_programs import CLASSES
from tests.staging.decided_classes import OBJECTS
from tests.staging.test_predictions import disagreements, predicted, reported

pytestmark = pytest.mark.row("A13", "A14")
CASES = [
    pytest.param(function, arguments, id=f"{function.__name__}-{number}")
    for function, several in [*CLASSES, *OBJECTS]
    for number, arguments in enumerate(several[:2])
]


@pytest.mark.parametrize("backend", ["jax", "lantern"])
@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_prediction_and_report_agree(function, arguments, backend):
    pytest.importorskip("jax" if backend == "jax" else "numba")
    expected = predicted(function, arguments, sizes=backend == "lantern")
    found = reported(function, arguments, backend)
    wrong, unclear = disagreements(expected, found)
    assert not wrong and not unclear
