"""Random programs of branches, loops, jumps and logic: equal on every back end, or refused by name."""

from __future__ import annotations

import importlib.util
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lsp_ad
from tests.staging.random_decisions import Generator

pytestmark = pytest.mark.row("A3", "A4", "A5", "A6", "A15")
ARGUMENTS = [(0.7, -1.2, 3, 1, True), (-2.0, 0.4, 2, 0, False), (1.5, 1.5, 0, 2, True)]


def loaded(seed, folder):
    """The program of a seed, in a file of its own."""
    path = folder / f"random_{seed}.py"
    path.write_text(Generator(seed).program(), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


@contextmanager
def interpreted():
    """Lantern with its programs interpreted: compiling each takes a second."""
    from lsp_ad.staging.backends.lantern import Lantern
    from lsp_ad.staging.lantern.interpreter import interpret

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lantern, "enter", lambda self, program: partial(interpret, program))
        yield partial(lsp_ad.staged, backend="lantern")


def agrees(seed, folder, stage):
    """Whether a program was staged, in which case it gave what Python gives; False where it was refused."""
    function = loaded(seed, folder)
    for arguments in ARGUMENTS:
        expected = function(*arguments)
        try:
            found = stage(function)(*arguments)
        except (lsp_ad.StagingError, lsp_ad.ConversionError) as error:
            assert f"random_{seed}.py" in str(error), f"seed {seed}: no place in {error}"
            return False
        np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=f"seed {seed}, arguments {arguments}")
    return True


@pytest.mark.parametrize("backend", ["python", "jax", "lantern", "tensorflow"])
@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**6))
def test_random_programs(backend, seed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    if backend == "python":
        assert agrees(seed, folder, lsp_ad.staged)
    elif backend != "lantern":
        pytest.importorskip(backend)
        agrees(seed, folder, partial(lsp_ad.staged, backend=backend))
    else:
        with interpreted() as stage:
            agrees(seed, folder, stage)
