"""Each program gives on every back end what Python gives."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import lsp_ad
from tests.staging.programs import PROGRAMS

pytestmark = pytest.mark.row("A3", "A4", "A5", "A6", "A15")
BACKENDS = ["python", "jax", "lantern", "toy"]
TOO_MUCH_FOR_A_TOY = ("written_through_views", "none_until_there_is_one", "none_in_one_branch")
CASES = [
    pytest.param(function, arguments, id=f"{function.__name__}-{number}")
    for function, several in PROGRAMS
    for number, arguments in enumerate(several)
]


def compiled(function, backend):
    if backend == "python":
        return lsp_ad.staged(function)
    if backend == "toy":
        loaded("toy_backend").install()
    else:
        pytest.importorskip({"lantern": "numba"}.get(backend, backend))
    return lsp_ad.staged(function, backend=backend)


@cache
def loaded(name):
    """A module of the examples."""
    path = Path(__file__).resolve().parents[2] / "examples" / "staging" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_equal(found, expected):
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_equal(one, other)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        assert np.shape(found) == np.shape(expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_equal(function, arguments, backend):
    if backend == "toy" and function.__name__ in TOO_MUCH_FOR_A_TOY:
        with pytest.raises(lsp_ad.StagingError):
            compiled(function, backend)(*arguments)
        return
    expected = function(*arguments)
    assert_equal(compiled(function, backend)(*arguments), expected)


@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_the_form_of_a_result_is_that_of_its_own_trace(backend):
    def named(x):
        if x.shape[0] == 2:
            return {"a": x.sum()}
        return {"b": x.sum()}

    function = compiled(named, backend)
    for size in (2, 3, 2):
        assert function(np.ones(size)) == named(np.ones(size))
