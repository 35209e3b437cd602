"""What the text tells of staging agrees with what happens in methods, properties and operators of classes."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from tests.staging.class_programs import CLASSES
from tests.staging.decided_classes import OBJECTS
from tests.staging.random_decisions import Generator, with_an_object
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


@pytest.mark.parametrize("seed", range(45))
def test_they_agree_on_random_programs_with_an_object(seed, tmp_path):
    pytest.importorskip("jax")
    file = tmp_path / f"objects_{seed}.py"
    file.write_text(with_an_object(Generator(seed).program(), seed))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = sys.modules[file.stem] = importlib.util.module_from_spec(spec)  # dataclasses look for it there
    spec.loader.exec_module(module)
    arguments = (1.2, 0.7, 3, 1, bool(seed % 2))
    try:
        wrong, unclear = disagreements(predicted(module.f, arguments), reported(module.f, arguments, "jax"))
    finally:
        del sys.modules[file.stem]
    assert not wrong and not unclear
