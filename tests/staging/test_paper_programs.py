"""The programs of the paper (examples/staging) give staged what they give in Python."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging.structures import flatten

pytestmark = pytest.mark.row("A18")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "staging"
FUNCTIONS = {
    "dynamic_rnn": "dynamic_rnn",
    "training_loop": "train",
    "beam_search": "beam_search",
    "lbfgs": "minimize",
    "maml": "meta_train",
    "seq2seq": "seq2seq",
}


def loaded(name):
    spec = importlib.util.spec_from_file_location(f"staging_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_equal(found, expected):
    ours, theirs = flatten(found)[0], flatten(expected)[0]
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
        assert np.shape(one) == np.shape(other)


@pytest.mark.parametrize("backend", ["python", "jax", "lantern", "tensorflow"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_paper_program(name, backend):
    module = loaded(name)
    function = getattr(module, FUNCTIONS[name])
    arguments = module.data()
    expected = function(*arguments)
    if backend == "python":
        assert_equal(lsp_ad.staged(function)(*arguments), expected)
        return
    pytest.importorskip({"lantern": "numba"}.get(backend, backend))
    assert_equal(lsp_ad.staged(function, backend=backend)(*arguments), expected)


@pytest.mark.parametrize("backend", ["jax", "lantern"])
def test_without_teacher_forcing(backend):
    pytest.importorskip({"lantern": "numba"}.get(backend, backend))
    module = loaded("seq2seq")
    arguments = module.data(teacher_forcing=False)
    assert_equal(lsp_ad.staged(module.seq2seq, backend=backend)(*arguments), module.seq2seq(*arguments))


@pytest.mark.row("A16", "A17")
def test_tree_lstm():
    """A step of training on a tree of any form: the gradient goes through recursion."""
    pytest.importorskip("numba")
    module = loaded("tree_lstm")
    step = lsp_ad.staged(module.step, backend="lantern")
    for arguments in (module.data(), module.data(leaves=9, seed=1)):
        assert_equal(step(*arguments), module.step(*arguments))
