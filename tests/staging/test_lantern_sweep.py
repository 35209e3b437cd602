"""A sample of the generated gradients of the oracle sweep on Lantern, run by the interpreter of its language.

`python -m tests.staging.gradient_sweep --backend lantern --interpret` runs all.
"""

from __future__ import annotations

from functools import partial

import pytest

from lsp_ad.staging.backends import lantern
from lsp_ad.staging.lantern.interpreter import interpret
from tests.staging.gradient_sweep import cases, outcome

pytestmark = pytest.mark.row("A16", "A17")

SAMPLE = list(cases())[::15]
STENCIL = "a stencil whose slices have names, input 1"
# tapes of tapes, of views and of numbers, of arrays that are written into
RUN = [
    STENCIL,
    "Thomas algorithm",
    "Cholesky decomposition by elements",
    "LU decomposition",
    "triangular solve",
]


@pytest.mark.parametrize("name", RUN)
def test_a_gradient_is_equal(monkeypatch, name):
    monkeypatch.setattr(lantern.BACKEND, "enter", lambda program: partial(interpret, program))
    found = [case for file, case in cases() if file == "in_place" and case.name == name]
    assert outcome(found[0], "lantern") == ("equal", "")


@pytest.mark.parametrize(("file", "case"), SAMPLE, ids=[f"{file}: {case.name}" for file, case in SAMPLE])
def test_a_gradient_is_equal_or_refused(monkeypatch, file, case):
    monkeypatch.setattr(lantern.BACKEND, "enter", lambda program: partial(interpret, program))
    kind, message = outcome(case, "lantern")
    assert kind in ("equal", "equal by a bound", "not differentiated", "StagingError"), message
